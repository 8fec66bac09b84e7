"""What the official checker lets through: faults of the run that its rule tables do not see."""

from collections.abc import Callable, Iterator

from trainmark.mllog import keys
from trainmark.rules import runchecks_times, runchecks_values, schedule
from trainmark.rules.engine import TargetRule
from trainmark.rules.runchecks_facts import Facts
from trainmark.rules.subjects import named, show
from trainmark.types import Event, Finding, RunLog, Severity

__all__ = ["Facts", "extra_findings", "torn_end"]

_MINUTE_MS = 60_000.0
_SECOND_MS = 1_000.0


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
    """A target that was met only after the clock had stopped, by line or by time."""
    stop = facts.stop
    if stop is None:
        return
    for target in facts.outcome.targets:
        late = _how_late(facts, target, stop)
        if late:
            yield facts.finding(
                "run.target_after_stop",
                f"the target is met on line {target.met_on_line}, {late} run_stop (line "
                f"{stop.line_no}): expected before it that {named(target.constraint, target.key)}",
                "Log run_stop after the evaluation that met the target, with the time of that "
                "moment.",
                event=stop,
                expected=named(target.constraint, target.key),
            )


def _target_too_early(facts: Facts) -> Iterator[Finding]:
    """A target that was met before the clock had started: by another run, or by no training."""
    start = facts.log.first(keys.RUN_START)
    for target in facts.outcome.targets if start is not None else ():
        line_no = target.met_on_line
        if start is not None and line_no is not None and 0 < line_no < start.line_no:
            yield facts.finding(
                "run.target_before_start",
                f"the target is met on line {line_no}, before run_start (line {start.line_no}): "
                f"expected after it that {named(target.constraint, target.key)}",
                "Log run_start before the training that is to meet the target; keep the records "
                "of other runs out of the log.",
                event=start,
                expected=named(target.constraint, target.key),
            )


def _how_late(facts: Facts, target: TargetRule, stop: Event) -> str:
    """How long after run_stop the target was met, in words; "" if it was met in time."""
    line_no = target.met_on_line
    if line_no is None:
        return ""
    if line_no > stop.line_no:
        return "after"
    met = next((one for one in facts.log.all(target.key) if one.line_no == line_no), None)
    if met is None or facts.judged_later or not facts.run.minutes or facts.run.minutes < 0:
        return ""
    late_ms = met.time_ms - stop.time_ms
    return f"{late_ms / _SECOND_MS:g} seconds by the clock after" if late_ms > _SECOND_MS else ""


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
    _target_too_early,
    runchecks_times.intervals,
    runchecks_values.qualities,
    runchecks_values.numbers,
    runchecks_values.names,
    _several_ranks,
    runchecks_times.backwards,
    schedule.evaluations,
)
