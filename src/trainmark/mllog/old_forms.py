"""The forms that result logs had before round 0.7.

Round 0.6: ``:::MLL 1563477912.345 key: {"value": ..., "metadata": {...}}``, the time in seconds.
Round 0.5: ``:::MLPv0.5.0 benchmark seconds (file:line) key: value``, the value as JSON, as bare
text or left out; there are no rules for it, ``trainmark.mllog.scan`` reads it.
"""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from trainmark.mllog.batch import Batch
from trainmark.mllog.exact import broken, is_too_deep, parse_json, problem
from trainmark.mllog.faults import shown
from trainmark.types import Event, Finding, Severity

__all__ = [
    "TOKEN_0_5",
    "TOKEN_0_6",
    "read_0_5",
    "read_0_5_block",
    "read_0_6",
    "read_0_6_block",
    "round_0_5",
]

_LineReader = Callable[[bytes, str, int], Iterator[Event | Finding]]

TOKEN_0_5 = b":::MLPv0.5"
TOKEN_0_6 = b":::MLL"
# What the official reader of round 0.6 accepts.
_LINE = re.compile(rb":::MLL ([\d.]+) ([A-Za-z0-9_]+) ?:\s+(.+)", re.DOTALL)
_LINE_0_5 = re.compile(
    rb":::MLPv0\.5\S* +\S+ +([\d.]+) +\(.*?\) +([A-Za-z0-9_]+) ?(?::(.*))?", re.DOTALL
)
_SECOND_MS = 1e3
_FORM_0_5 = "A record is ':::MLPv0.5.0 BENCHMARK SECONDS (FILE:LINE) KEY: VALUE'."
_FORM = "A record is ':::MLL SECONDS KEY: ' and an object with value and metadata (an object)."


def read_0_6_block(
    data: bytes,
    line_no: int,
    source: str,
    wanted: Collection[str] | None = None,
    *,
    any_quotes: bool = False,
) -> Batch:
    """The records of some whole lines of a log of round 0.6.

    Args:
        data: The lines, each with a line feed at its end.
        line_no: The number of the first of them.
        source: The name that findings carry.
        wanted: The keys to make events of; None for all.
        any_quotes: As for ``read_0_6``.
    """
    read = partial(read_0_6, any_quotes=any_quotes)
    return _read_block(data, line_no, source, wanted, TOKEN_0_6, read)


def read_0_5_block(
    data: bytes, line_no: int, source: str, wanted: Collection[str] | None = None
) -> Batch:
    """The records of some whole lines of a log of round 0.5, as ``read_0_6_block`` has them."""
    return _read_block(data, line_no, source, wanted, TOKEN_0_5, read_0_5)


def _read_block(
    data: bytes,
    line_no: int,
    source: str,
    wanted: Collection[str] | None,
    token: bytes,
    read: _LineReader,
) -> Batch:
    batch = Batch()
    lines = data.split(b"\n")
    batch.lines = len(lines) - 1
    for place, line in enumerate(lines):
        if token not in line:
            continue
        batch.token_lines += 1
        for part in line.split(b"\r"):
            begin = part.find(token)
            if begin >= 0:
                batch.text_bytes += len(part) - begin
                _add(batch, read(part[begin:], source, line_no + place), wanted)
    return batch


def _add(batch: Batch, items: Iterator[Event | Finding], wanted: Collection[str] | None) -> None:
    for item in items:
        if isinstance(item, Finding):
            batch.findings.append(item)
        elif wanted is None or item.key in wanted:
            batch.events.append(item)
        else:
            batch.dropped[item.key] += 1


def read_0_6(
    record: bytes, source: str, line_no: int, *, any_quotes: bool = False
) -> Iterator[Event | Finding]:
    """The event of one line of a log of round 0.6, and what is wrong with the line.

    As the official reader has it, the line counts from its last token on.

    Args:
        record: The line from its first token on, without its end.
        source: The name that findings carry.
        line_no: The line's number in the file.
        any_quotes: Whether single quotes may stand for double ones: one submitter wrote metadata
            as Python does.
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
        content = _content(match[3], any_quotes=any_quotes)
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


def _content(text: bytes, *, any_quotes: bool) -> Any:
    """The object of a record.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deep.
    """
    try:
        return parse_json(text)
    except ValueError:
        if any_quotes and b"'" in text:
            return parse_json(text.replace(b"'", b'"'))
        raise


def read_0_5(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The event of one line of a log of round 0.5, with its value as written.

    The line counts from its last token on.

    Args:
        record: The line from its first token on, without its end.
        source: The name that findings carry.
        line_no: The line's number in the file.
    """
    record = record[record.rfind(TOKEN_0_5) :].strip()
    match = _LINE_0_5.fullmatch(record)
    try:
        seconds = None if match is None else float(match[1])
    except ValueError:
        seconds = None
    if match is None or seconds is None:
        text = "expected a benchmark, the time in seconds, a place in brackets and a key"
        yield problem(source, line_no, record, "log.record", text, _FORM_0_5)
        return
    written = (match[3] or b"").strip()
    try:
        value = parse_json(written) if written else None
    except (ValueError, RecursionError):
        value = written.decode("utf-8", "replace")
    if is_too_deep(value):
        text = "lists and objects nested too deep; the record was not read"
        yield problem(source, line_no, record, "log.depth", text, "Log flat values.")
        return
    yield Event(
        key=match[2].decode("ascii"),
        value=value,
        metadata={},
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
