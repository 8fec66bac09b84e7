"""The readings of a power log at the speed of a search, where its lines are plainly well-formed.

A power log has a reading a second and little else. What these lines look like is known; every other
line goes to the reader of result logs, and so does every log with anything odd in it.
"""

import re
from functools import partial
from typing import NamedTuple

from trainmark.mllog.batch import read_block
from trainmark.mllog.blocks import MAX_RECORD_BYTES
from trainmark.types import RunLog

__all__ = ["Sample", "plain_readings"]

# JSON as every published power log has it, and no reading that could be read in two ways.
_TEXT = rb'"[ !#-\[\]-~]*"'
_READING = re.compile(
    rb'^:::MLLOG \{"namespace": ?"[A-Za-z0-9_]*", ?"time_ms": ?([1-9][0-9]{12}), ?'
    rb'"event_type": ?"[A-Z_]*", ?"key": ?"power_reading", ?'
    rb'"value": ?((?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?), ?'
    rb'"metadata": ?(?:""|\{\}|\{"file": ?%b, ?"lineno": ?[1-9][0-9]{0,8}\})\}\n' % _TEXT,
    re.MULTILINE,
)
_START = b":::MLLOG "
_MOST_OTHERS = 1_000  # lines


class Sample(NamedTuple):
    """One reading.

    Attributes:
        time_ms: When, in milliseconds since 1970.
        watts: The power since the reading before; below 0 where a meter says so.
        line_no: The line it stands on.
    """

    time_ms: float
    watts: float
    line_no: int


_make_sample: partial[Sample] = partial(tuple.__new__, Sample)


def plain_readings(data: bytes, source: str) -> tuple[tuple[Sample, ...], RunLog] | None:
    """The readings of a log, and the log of its other lines.

    Args:
        data: The power log.
        source: The name that findings carry.

    Returns:
        None where the log is not plainly one: it is to be read line by line.
    """
    # No line of a shorter log is too long to be read.
    if len(data) > MAX_RECORD_BYTES or not data.startswith(_START):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\r" in data:
            return None
    parts = _READING.split(data if data.endswith(b"\n") else data + b"\n")
    others = parts[::3]
    if len(parts) == 1 or sum(map(bool, others)) > _MOST_OTHERS:
        return None
    line_no, numbers, batches = 1, [], []
    for other in others:
        if other:
            batches.append(read_block(other, line_no, source))
            line_no += batches[-1].lines
        numbers.append(line_no)
        line_no += 1
    if any(event.key == "power_reading" for batch in batches for event in batch.events):
        return None  # in another form
    samples = map(
        _make_sample,
        zip(map(float, parts[1::3]), map(float, parts[2::3]), numbers[:-1], strict=True),
    )
    log = RunLog(
        events=tuple(event for batch in batches for event in batch.events),
        source=source,
        findings=tuple(finding for batch in batches for finding in batch.findings),
        token_lines=len(numbers) - 1 + sum(batch.token_lines for batch in batches),
    )
    return tuple(samples), log
