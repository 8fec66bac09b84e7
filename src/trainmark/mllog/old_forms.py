"""The forms that result logs had before round 0.7.

Round 0.6: ``:::MLL 1563477912.345 key: {"value": ..., "metadata": {...}}``, the time in seconds.
Round 0.5: ``:::MLPv0.5.0 benchmark seconds (file:line) key: value``; there are no rules for it.
"""

import re
from collections.abc import Iterator

from trainmark.mllog.exact import broken, is_too_deep, parse_json, problem
from trainmark.mllog.faults import shown
from trainmark.types import Event, Finding, Severity

__all__ = ["TOKEN_0_5", "TOKEN_0_6", "read_0_6", "round_0_5"]

TOKEN_0_5 = b":::MLPv0.5"
TOKEN_0_6 = b":::MLL"
# What the official reader of round 0.6 accepts.
_LINE = re.compile(rb":::MLL ([\d.]+) ([A-Za-z0-9_]+) ?:\s+(.+)", re.DOTALL)
_SECOND_MS = 1e3
_FORM = "A record is ':::MLL SECONDS KEY: ' and an object with value and metadata (an object)."


def read_0_6(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The event of one line of a log of round 0.6, and what is wrong with the line.

    As the official reader has it, the line counts from its last token on.

    Args:
        record: The line from its first token on, without its end.
        source: The name that findings carry.
        line_no: The line's number in the file.
    """
    record = record[record.rfind(TOKEN_0_6) :].strip()
    match = _LINE.fullmatch(record)
    try:
        seconds = None if match is None else float(match[1])
    except ValueError:
        seconds = None
    if match is None or seconds is None:
        text = "expected the time in seconds, a key, a colon and an object after :::MLL"
        yield problem(source, line_no, record, "log.record", text, _FORM)
        return
    try:
        content = parse_json(match[3])
    except (ValueError, RecursionError) as error:
        yield broken(error, record, source, line_no, torn=False)
        return
    if is_too_deep(content):
        text = "lists and objects nested too deep; the record was not read"
        yield problem(source, line_no, record, "log.depth", text, "Log flat values.")
        return
    if not isinstance(content, dict) or "value" not in content:
        text = "expected an object with value and metadata after the key"
        yield problem(source, line_no, record, "log.metadata", text, _FORM)
        return  # the official checker goes on as if the line were not there
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        text = f"metadata must be an object, this is {shown(metadata)}"
        yield problem(source, line_no, record, "log.metadata", text, _FORM)
    yield Event(
        key=match[2].decode("ascii"),
        value=content["value"],
        metadata=metadata if isinstance(metadata, dict) else {},
        time_ms=seconds * _SECOND_MS,
        kind="",
        line_no=line_no,
    )


def round_0_5(source: str, line_no: int) -> Finding:
    """What is said of a log of round 0.5.

    Args:
        source: The name that the finding carries.
        line_no: The first line in that form.
    """
    return Finding(
        rule="log.round_0_5",
        severity=Severity.ERROR,
        message="the log is in the form of round 0.5 (:::MLPv0.5.0); there are no rules for this "
        "round, and it was not checked",
        fix="Give a log of round 0.6 or later.",
        path=source,
        line_no=line_no,
    )
