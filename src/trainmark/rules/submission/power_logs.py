"""Read one power log: ``node_<j>.txt`` (measured) or ``sw_<k>.txt`` (a switch, often estimated).

Power logs are written as result logs are, one record a line, with these keys: power_reading
(watts), power_measurement_start and _stop, conversion_eff (what part of the metered AC power
arrives as DC) and interconnect_power_est (watts). No published folder has another format.
"""

import math
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from trainmark import mllog
from trainmark.rules.subjects import show
from trainmark.rules.submission.power_readings import Sample, plain_readings
from trainmark.types import Event, Finding, RunLog, Severity, UsageError

__all__ = ["LARGEST_BYTES", "POWER_NAME", "PowerLog", "Sample", "power_log_in", "read_power_log"]

POWER_NAME = re.compile(r"(?P<kind>node|sw)_(?P<number>[0-9]{1,9})\.txt")
LARGEST_BYTES = 256 << 20  # a reading a second for two weeks
_HELD_BYTES = 16 << 20  # a larger log is read in pieces
READING = "power_reading"
START = "power_measurement_start"
STOP = "power_measurement_stop"
EFFICIENCY = "conversion_eff"
ESTIMATE = "interconnect_power_est"
_MOST_SHOWN = 5
_EXPECTED = {
    READING: "watts as a number, at a time",
    EFFICIENCY: "a number above 0, at a time",
    ESTIMATE: "watts as a number, 0 or more, at a time",
}
# The reader's findings on records that can be used all the same.
_HARMLESS = frozenset({"log.metadata", "log.two_records"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerLog:
    """One power log.

    Attributes:
        path: The file.
        is_node: Whether it is of a node; else of a switch.
        number: The number in its name.
        samples: The readings in the order of the file.
        start: The first power_measurement_start, None without one.
        stop: The first power_measurement_stop, None without one.
        efficiency: What every reading is multiplied by; 1 if the log does not say.
        estimate_watts: The estimated power of a switch, None without an estimate.
        findings: What could not be read.
    """

    path: PurePath
    is_node: bool
    number: int
    samples: tuple[Sample, ...] = ()
    start: Event | None = None
    stop: Event | None = None
    efficiency: float = 1.0
    estimate_watts: float | None = None
    findings: tuple[Finding, ...] = ()


def read_power_log(path: Path) -> PowerLog:
    """Read a power log; whatever is wrong with it is a finding.

    Args:
        path: A file named as ``POWER_NAME`` has it.
    """
    try:
        trouble = _why_not(path)
        if not trouble and path.stat().st_size > _HELD_BYTES:
            return _read_by_lines(mllog.read(path), path)
        data = b"" if trouble else path.read_bytes()
    except (OSError, UsageError) as error:
        trouble, data = str(error), b""
    if trouble:
        finding = _found(path, "power.unreadable", trouble, "Make it a readable file.")
        return _named(path, findings=(finding,))
    return power_log_in(data, path)


def power_log_in(data: bytes, path: PurePath) -> PowerLog:
    """A power log from its bytes; whatever is wrong with it is a finding.

    Args:
        data: What it holds.
        path: The name that it and its findings carry, as ``POWER_NAME`` has it.
    """
    readings = plain_readings(data, str(path))
    if readings is None:
        return _read_by_lines(mllog.read_bytes(data, str(path)), path)
    return _made(path, *readings)


def _read_by_lines(log: RunLog, path: PurePath) -> PowerLog:
    return _made(path, tuple(_samples(log)), log)


def _made(path: PurePath, samples: tuple[Sample, ...], log: RunLog) -> PowerLog:
    """The power log of some readings, and of the log that has all else."""
    efficiency, estimate = _number(log, EFFICIENCY), _number(log, ESTIMATE)
    return _named(
        path,
        samples=samples,
        start=log.first(START),
        stop=log.first(STOP),
        efficiency=efficiency if efficiency else 1.0,
        estimate_watts=estimate,
        findings=tuple(_problems(path, log)),
    )


def _named(path: PurePath, **facts: Any) -> PowerLog:
    """A power log of that name."""
    match = POWER_NAME.fullmatch(path.name)
    assert match is not None, path.name
    return PowerLog(
        path=path, is_node=match["kind"] == "node", number=int(match["number"]), **facts
    )


def _why_not(path: Path) -> str:
    """Why a file is not read; "" if it is."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return "it is no file"
    if status.st_size > LARGEST_BYTES:
        return f"it has {status.st_size >> 20} MiB; at most {LARGEST_BYTES >> 20} MiB are read"
    return ""


def _samples(log: RunLog) -> Iterator[Sample]:
    """The readings that can be used."""
    for event in log.all(READING):
        if _is_number(event.value) and _is_time(event.time_ms):
            yield Sample(time_ms=event.time_ms, watts=float(event.value), line_no=event.line_no)


def _number(log: RunLog, key: str) -> float | None:
    """The first usable value of a key."""
    usable = (
        float(event.value) for event in log.all(key) if _is_number(event.value) and event.value >= 0
    )
    return next(usable, None)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a meter may give; NaN, infinity and true are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12


def _is_time(time_ms: float) -> bool:
    return math.isfinite(time_ms) and time_ms > 0


def _problems(path: PurePath, log: RunLog) -> Iterator[Finding]:
    """Lines and values that cannot be used, a few of each log."""
    broken = [one for one in log.findings if one.rule not in _HARMLESS]
    for one in broken[:_MOST_SHOWN]:
        yield Finding(
            rule="power.record",
            severity=Severity.ERROR,
            message=f"{one.message}{_more(len(broken))}",
            fix=one.fix or "Repair the line.",
            path=str(path),
            line_no=one.line_no,
            line=one.line,
        )
    odd = [event for event in log.events if _is_odd(event)]
    for event in odd[:_MOST_SHOWN]:
        yield _found(
            path,
            "power.value",
            f"{event.key} is {show(event.value)} at time_ms {event.time_ms:.0f}; expected "
            f"{_EXPECTED.get(event.key, 'a time')} in milliseconds since 1970{_more(len(odd))}",
            "Log the meter's reading as a number; leave a reading out that the meter did not give.",
            line_no=event.line_no,
        )


def _is_odd(event: Event) -> bool:
    if event.key == READING:
        return not (_is_number(event.value) and _is_time(event.time_ms))
    if event.key == EFFICIENCY:
        return not _is_number(event.value) or event.value <= 0
    if event.key == ESTIMATE:
        return not _is_number(event.value) or event.value < 0
    return event.key in (START, STOP) and not _is_time(event.time_ms)


def _more(count: int) -> str:
    return f" ({count} such lines)" if count > 1 else ""


def _found(
    path: PurePath, rule: str, message: str, fix: str, *, line_no: int | None = None
) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        path=str(path),
        line_no=line_no,
    )
