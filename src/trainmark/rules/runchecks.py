"""What the official checker lets through: faults of the run that its rule tables do not see."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainmark.mllog import keys
from trainmark.rules.constraints import limits_a_number
from trainmark.rules.engine import Outcome, TargetRule
from trainmark.rules.subjects import named, show
from trainmark.types import Event, Finding, Run, RunLog, Severity

__all__ = ["Facts", "extra_findings", "torn_end"]

_MINUTE_MS = 60_000.0
_QUALITIES = (keys.EVAL_ACCURACY, keys.EVAL_ERROR)
_COUNTED = (
    *_QUALITIES,
    keys.GLOBAL_BATCH_SIZE,
    keys.GRADIENT_ACCUMULATION_STEPS,
    keys.TRAIN_SAMPLES,
    keys.EVAL_SAMPLES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a log when the rule tables have been run.

    Attributes:
        log: The log, each record once.
        ranks: How many ranks wrote it.
        run: Its numbers.
        start: The run_start that counts, None without one.
        stop: The run_stop that counts, None without one.
        outcome: What the rule tables say.
    """

    log: RunLog
    ranks: int
    run: Run
    start: Event | None
    stop: Event | None
    outcome: Outcome

    def finding(
        self,
        rule: str,
        message: str,
        fix: str,
        *,
        event: Event | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """A finding about this log."""
        return Finding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            path=self.log.source,
            line_no=None if event is None else event.line_no,
        )

    def quality(self) -> str:
        """The last quality and the target, in words; "" if the log has none."""
        targets = " and ".join(
            named(target.constraint, target.key) for target in self.outcome.targets
        )
        last = "" if self.run.quality is None else f"the last quality is {self.run.quality:g}"
        wanted = f"the target is that {targets}" if targets else ""
        return "; ".join(part for part in (last, wanted) if part)


def extra_findings(facts: Facts) -> Iterator[Finding]:
    """Everything that these checks find, most telling first.

    Args:
        facts: The log and what the rule tables say of it.
    """
    for check in _CHECKS:
        yield from check(facts)


def _interval(facts: Facts) -> Iterator[Finding]:
    """Missing, repeated or misplaced run_start and run_stop."""
    starts, stops = list(facts.log.all(keys.RUN_START)), list(facts.log.all(keys.RUN_STOP))
    if not stops:
        yield facts.finding(
            "run.no_stop",
            _how_far(facts),
            "The run was cut short (killed, out of memory, machine lost): run it again. A run "
            "without run_stop has no time.",
            event=facts.log.events[-1],
        )
    elif not starts:
        yield facts.finding(
            "run.no_start",
            f"there is a run_stop (line {stops[0].line_no}) but no run_start: the run has no time",
            "Log run_start when the first training data is touched.",
            event=stops[0],
        )
    elif facts.stop is None or stops[0].line_no < starts[0].line_no:
        yield facts.finding(
            "run.order",
            f"run_stop (line {stops[0].line_no}) comes before run_start (line {starts[0].line_no})",
            "Log run_start when the first training data is touched, run_stop when the target is "
            "met.",
            event=stops[0],
        )
    if len(starts) > 1:
        yield facts.finding(
            "run.two_starts",
            f"{len(starts)} run_starts, on lines {_lines(starts)}: a later one shortens the score",
            "Log run_start once, from one process; keep each run in a file of its own.",
            event=starts[1],
        )
    if len(stops) > 1:
        said = ", ".join(show(stop.metadata.get(keys.STATUS)) for stop in stops[:5])
        yield facts.finding(
            "run.two_stops",
            f"{len(stops)} run_stops, on lines {_lines(stops)}, with status {said}",
            "Log run_stop once, when the run ends.",
            event=stops[1],
        )


def _how_far(facts: Facts) -> str:
    """Up to where a log without run_stop goes."""
    last, start = facts.log.events[-1], facts.start
    text = f"there is no run_stop: the log ends at line {last.line_no} with {show(last.key)}"
    if torn_end(facts.log) is not None:
        text = f"{text} and a broken line after it"
    if start is None:
        return f"{text}, before run_start"
    minutes = (last.time_ms - start.time_ms) / _MINUTE_MS
    text = f"{text}, {minutes:.2f} minutes after run_start"
    quality = facts.quality()
    return f"{text}; {quality}" if quality else text


def torn_end(log: RunLog) -> Finding | None:
    """The broken line that a writer left which was stopped in the middle of it.

    None without one, and for a line that was to be the run_stop: that one is worth repairing.
    """
    if not log.findings or not log.events:
        return None
    last = log.findings[-1]
    after = last.line_no is not None and last.line_no > log.events[-1].line_no
    return last if after and last.rule == "log.json" and keys.RUN_STOP not in last.line else None


def _status(facts: Facts) -> Iterator[Finding]:
    """A run that says of itself that it did not succeed."""
    status = None if facts.stop is None else facts.stop.metadata.get(keys.STATUS)
    if facts.stop is None or status in (keys.SUCCESS, None):
        return
    met = [target for target in facts.outcome.targets if target.met_on_line is not None]
    quality = facts.quality()
    although = f", although the target was met on line {met[0].met_on_line}" if met else ""
    yield facts.finding(
        "run.status",
        f"the run did not succeed: run_stop says status {show(status)}{although}"
        + (f"; {quality}" if quality else ""),
        "A run counts only with status success: run it again, or let it take the place of the "
        "slowest run.",
        event=facts.stop,
    )


def _target_in_time(facts: Facts) -> Iterator[Finding]:
    """A target that was met only after the clock had stopped."""
    if facts.stop is None:
        return
    for target in facts.outcome.targets:
        if _met_after(target, facts.stop):
            yield facts.finding(
                "run.target_after_stop",
                f"the target is met on line {target.met_on_line}, after run_stop (line "
                f"{facts.stop.line_no}): expected before it that "
                f"{named(target.constraint, target.key)}",
                "Log run_stop after the evaluation that met the target.",
                event=facts.stop,
            )


def _met_after(target: TargetRule, stop: Event) -> bool:
    return target.met_on_line is not None and target.met_on_line > stop.line_no


def _times(facts: Facts) -> Iterator[Finding]:
    """Intervals that end before they begin, and times that are none."""
    pairs = (
        # Building a small model may take less than a millisecond; training never does.
        (facts.log.first(keys.INIT_START), facts.log.first(keys.INIT_STOP), 0),
        (facts.start, facts.stop, 1),
    )
    for begin, end, shortest_ms in pairs:
        for event in (begin, end):
            if event is not None and not (event.time_ms > 0 and math.isfinite(event.time_ms)):
                yield facts.finding(
                    "run.time",
                    f"{event.key} has the time {event.time_ms:g}; expected milliseconds since 1970",
                    "Log time_ms from the wall clock.",
                    event=event,
                )
        if begin is not None and end is not None and end.time_ms - begin.time_ms < shortest_ms:
            seconds = (end.time_ms - begin.time_ms) / 1e3
            yield facts.finding(
                "run.time",
                f"{end.key} (line {end.line_no}) is {seconds:g} seconds after {begin.key} (line "
                f"{begin.line_no}); expected {shortest_ms} ms or more",
                "Log times from one clock that never runs backwards.",
                event=end,
            )


def _numbers(facts: Facts) -> Iterator[Finding]:
    """True and NaN where a number is meant."""
    for key in _COUNTED:
        rule = facts.outcome.rules.get(key)
        limited = rule is None or any(
            limits_a_number(one) for one in (*rule.checks, *([rule.target] if rule.target else []))
        )
        for event in facts.log.all(key):
            if isinstance(event.value, bool) and limited:
                yield facts.finding(
                    "log.bool_as_number",
                    f"{key} is {show(event.value)}; expected a number",
                    f"Log {key} as a number.",
                    event=event,
                )
            elif isinstance(event.value, float) and math.isnan(event.value):
                yield facts.finding(
                    "run.not_a_number",
                    f"{key} is NaN; the training has probably diverged",
                    "Lower the learning rate or use a wider number format, then run again.",
                    event=event,
                    severity=Severity.WARNING,
                )


def _several_ranks(facts: Facts) -> Iterator[Finding]:
    """A log that every rank has written into."""
    if facts.ranks > 1:
        yield facts.finding(
            "run.ranks",
            f"every record stands {facts.ranks} times in the log: {facts.ranks} ranks write it; "
            "the times are those of the first",
            "Let only rank 0 write the log.",
            severity=Severity.WARNING,
        )


def _lines(events: list[Event]) -> str:
    shown = ", ".join(str(event.line_no) for event in events[:5])
    return shown if len(events) <= 5 else f"{shown}, ..."


_CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    _interval,
    _status,
    _target_in_time,
    _times,
    _numbers,
    _several_ranks,
)
