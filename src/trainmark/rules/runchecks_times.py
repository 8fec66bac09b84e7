"""Times that cannot be: none at all, intervals that end before they begin, clocks run backwards."""

import math
import operator
from collections.abc import Iterator

from trainmark.mllog import keys
from trainmark.rules.runchecks_facts import Facts
from trainmark.rules.subjects import show
from trainmark.types import Event, Finding, Severity

__all__ = ["backwards", "intervals"]

_BACK_MS = 1_000.0
_OTHER_CLOCK_MS = 60_000.0
_EARLIEST_MS = 1e11  # 1973: what stands before is a count from the start of the process
_LATEST_MS = 1e14  # the year 5138: what stands after is in microseconds
_TIME = operator.attrgetter("time_ms")
# What a run does while its clock runs.
_STEPS = (keys.BLOCK_START, keys.EPOCH_START)
_TRAINING = (*_STEPS, keys.EVAL_START, keys.EVAL_ACCURACY, keys.EVAL_ERROR)
# Each node writes these by itself; where its lines come to stand among the others is chance.
_BY_EACH_NODE = frozenset({keys.CACHE_CLEAR, keys.INIT_START})
# Records that are dated back where checkpoints are evaluated after the clock has stopped.
_DATED_BACK = frozenset({keys.RUN_STOP, keys.EVAL_START, keys.EVAL_STOP, keys.EVAL_ACCURACY})


def intervals(facts: Facts) -> Iterator[Finding]:
    """Intervals that end before they begin, and times that are none.

    Args:
        facts: The log and what is known of it.
    """
    pairs = (
        # Building a small model may take less than a millisecond; training never does.
        (facts.log.first(keys.INIT_START), facts.log.first(keys.INIT_STOP), 0),
        (facts.start, facts.stop, 1),
    )
    units: set[str] = set()
    for begin, end, shortest_ms in pairs:
        for event in (begin, end):
            if event is None or _EARLIEST_MS <= event.time_ms <= _LATEST_MS:
                continue
            unit = _other_unit(event.time_ms)
            if unit not in units:  # then all records are like that
                units |= {unit} if unit else set()
                yield _no_time(facts, event, unit)
        if begin is not None and end is not None and end.time_ms - begin.time_ms < shortest_ms:
            found = _distance((end.time_ms - begin.time_ms) / 1e3)
            yield facts.finding(
                "run.time",
                f"{end.key} (line {end.line_no}) is {found} {begin.key} (line {begin.line_no}); "
                f"expected {shortest_ms} ms or more after it",
                "Log times from one clock that never runs backwards.",
                event=end,
                expected=f"{shortest_ms} ms or more after {begin.key}",
                found=f"{found} it",
            )

    late = _late_start(facts)
    if late is not None and facts.start is not None:
        start, first = facts.start, late
        seconds = (start.time_ms - first.time_ms) / 1e3
        yield facts.finding(
            "run.time",
            f"run_start (line {start.line_no}) is dated {seconds:g} seconds after {first.key} "
            f"(line {first.line_no}): the score leaves that time out",
            "Date run_start when the first training data is touched.",
            event=start,
            expected="run_start before the records of the training",
            found=f"{seconds:g} seconds after {first.key}",
        )


def _no_time(facts: Facts, event: Event, unit: str) -> Finding:
    time = f"{event.time_ms:.0f}" if math.isfinite(event.time_ms) else show(event.time_ms)
    return facts.finding(
        "run.time",
        f"{event.key} has the time {time}{unit}; expected milliseconds since 1970",
        "Log time_ms from the wall clock.",
        event=event,
        expected="milliseconds since 1970",
        found=time,
    )


def _other_unit(time_ms: float) -> str:
    """What a time that is not in milliseconds looks like; 2001 to 2286 in seconds and so on."""
    for unit, scale in (("seconds", 1), ("microseconds", 1e6), ("nanoseconds", 1e9)):
        if 1e9 <= time_ms / scale < 1e10:
            return f", which looks like {unit}"
    return ""


def _late_start(facts: Facts) -> Event | None:
    """The earliest record of the training that is dated before the run_start.

    An evaluation above it may look at the untrained model. Other writers (namespaces) have clocks
    of their own, which differ by seconds.
    """
    start = facts.start
    if start is None or facts.log.count(keys.RUN_START) > 1 or start.time_ms > _LATEST_MS:
        return None
    training = [
        event
        for event in facts.log.all(*_TRAINING)
        if event.line_no > start.line_no or event.key in _STEPS
    ]
    early = [
        event
        for event in training
        if _EARLIEST_MS <= event.time_ms < start.time_ms - _slack(event, start)
    ]
    # One that is not the first has a wrong time itself.
    return min(early, key=_TIME) if len(early) > 1 or (early and early[0] is training[0]) else None


def _slack(event: Event, start: Event) -> float:
    return _BACK_MS if event.namespace == start.namespace else _OTHER_CLOCK_MS


def _distance(seconds: float) -> str:
    if seconds == 0:
        return "at the same time as"
    return f"{abs(seconds):g} seconds {'before' if seconds < 0 else 'after'}"


def backwards(facts: Facts) -> Iterator[Finding]:
    """Times that run backwards by more than a second inside one stream of records.

    A stream is what one writer wrote: the records of one namespace. 0 and other small numbers
    stand for "no time" and are passed over, and so is what every node writes, and what the written
    rules let a benchmark date back.

    Args:
        facts: The log and what is known of it.
    """
    times = list(map(_TIME, facts.log.events))
    if times == sorted(times):  # nearly free for what is in order already
        return
    minutes = facts.run.minutes
    if minutes is None or minutes <= 0:  # then run_start and run_stop have a finding that says more
        return
    if _late_start(facts) is not None:  # so has that
        return
    skipped = _BY_EACH_NODE | (_DATED_BACK if facts.judged_later else frozenset())
    steps = list(_steps_back(sorted(facts.log.events, key=_line), skipped))
    if not steps:
        return
    before, event = max(steps, key=lambda step: step[0].time_ms - step[1].time_ms)
    seconds = (before.time_ms - event.time_ms) / 1e3
    others = len(steps) - 1
    are = "record is" if others == 1 else "records are"
    more = f"; {others} more {are} dated back" if others else ""
    yield facts.finding(
        "run.time_backwards",
        f"{show(event.key)} on line {event.line_no} is dated {seconds:.1f} seconds before "
        f"{show(before.key)} on line {before.line_no}, which stands above it{more}",
        "Log every record when it happens, with the time of one clock. An evaluation or run_stop "
        "may be dated back only where the reference judges saved checkpoints afterwards.",
        event=event,
        severity=Severity.WARNING,
        expected="times that never run back by more than 1 second",
        found=f"{seconds:.1f} seconds before",
    )


def _steps_back(events: list[Event], skipped: frozenset[str]) -> Iterator[tuple[Event, Event]]:
    """Every record dated back, after the latest one above it in its stream."""
    latest: dict[str, Event] = {}
    for event in events:
        # NaN compares as false: a record without a time is passed over.
        if not _EARLIEST_MS < event.time_ms < math.inf or event.key in skipped:
            continue
        before = latest.get(event.namespace)
        if before is None or event.time_ms > before.time_ms:
            latest[event.namespace] = event
        elif before.time_ms - event.time_ms > _BACK_MS:
            yield before, event


def _line(event: Event) -> int:
    return event.line_no
