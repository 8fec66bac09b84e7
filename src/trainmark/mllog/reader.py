"""Read a result log: bytes in, events and findings out, in one streaming pass.

A record is the JSON object after the token ``:::MLLOG`` on a line; what stands before the token
(a rank, a date) is dropped. Nothing that a file can hold raises: a line that cannot be read
becomes a finding with its line number in the file, and the next line goes on.

Memory is bounded: the file is read in pieces, a line without the token is never held whole, and
a record longer than ``MAX_RECORD_BYTES`` is reported and skipped.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trainmark.types import Event, Finding, RunLog, Severity, UsageError, printable

__all__ = ["MAX_DEPTH", "MAX_RECORD_BYTES", "TOKEN", "iter_log", "read"]

TOKEN = b":::MLLOG"
MAX_RECORD_BYTES = 16 << 20
MAX_DEPTH = 100  # of lists and objects in one another; beyond some 900 Python's own tools give up
_PIECE_BYTES = 1 << 20
_SHOWN_CHARACTERS = 160
_MOST_BROKEN_ON_A_LINE = 100
_REQUIRED = ("time_ms", "key", "value", "metadata")
_DECODER = json.JSONDecoder()
_SPACES = re.compile(r"\s*")
_TOKEN_TEXT = TOKEN.decode()


def read(path: str | Path) -> RunLog:
    """Read a whole result log.

    Args:
        path: The file.

    Raises:
        UsageError: The file cannot be opened or read.
    """
    source = str(path)
    events: list[Event] = []
    findings: list[Finding] = []
    token_lines = set[int]()
    try:
        with Path(path).open("rb") as stream:
            for item in iter_log(stream, source):
                if isinstance(item, Event):
                    events.append(item)
                else:
                    findings.append(item)
                if item.line_no is not None:
                    token_lines.add(item.line_no)
    except OSError as error:
        raise UsageError(
            f"cannot read {source}: {error.strerror or error}",
            hint="Give the path of a result log, for example result_0.txt.",
        ) from error
    return RunLog(
        events=tuple(events),
        source=source,
        findings=tuple(findings),
        token_lines=len(token_lines),
    )


def iter_log(stream: BinaryIO, source: str) -> Iterator[Event | Finding]:
    """Every record and every unreadable line of an open log, in order.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
    """
    start = stream.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        yield Finding(
            rule="log.encoding",
            severity=Severity.ERROR,
            message="the file is UTF-16; result logs are ASCII or UTF-8",
            fix=f"Convert it: iconv -f UTF-16 -t UTF-8 {Path(source).name}",
            path=source,
            line_no=1,
        )
        return
    for line_no, record in _records(stream, start):
        if record is None:
            yield _problem(
                source,
                line_no,
                b"",
                "log.length",
                f"a record longer than {MAX_RECORD_BYTES >> 20} MiB; it was not read",
                "Log large values to another file.",
            )
        else:
            yield from _parse(record, source, line_no)


def _records(stream: BinaryIO, start: bytes) -> Iterator[tuple[int, bytes | None]]:
    """(line number, bytes from the first token to the end of the line); None if too long."""
    carry, line_no, too_long = start, 1, False
    newline = b""
    while True:
        piece = stream.read(_PIECE_BYTES)
        data = carry + piece
        if newline != b"\n" and data:
            # A file of carriage returns alone (old editors) has no line feed at all.
            lone_returns = b"\n" not in data and b"\r" in data
            line_no = line_no if lone_returns or not newline else 1
            newline = b"\r" if lone_returns else b"\n"
        end = data.rfind(newline) + 1 if piece else len(data)
        position = 0
        while (token := data.find(TOKEN, position, end)) >= 0:
            line_no += data.count(newline, position, token)
            stop = _end_of_line(data, token, end)
            if too_long and position == 0 and data.find(newline, 0, token) < 0:
                pass  # still inside the record that was reported as too long
            else:
                yield line_no, data[token:stop]
            position = stop
        line_no += data.count(newline, position, end)
        if end:
            too_long = False
        if not piece:
            return
        carry = data[end:]
        token = carry.find(TOKEN)
        if token < 0:
            carry = carry[-(len(TOKEN) - 1) :]
        elif len(carry) - token > MAX_RECORD_BYTES:
            if not too_long:
                yield line_no, None
            too_long, carry = True, b""


def _end_of_line(data: bytes, start: int, end: int) -> int:
    """Where the line ends: at a line feed or, as the official reader has it, a carriage return."""
    stop = data.find(b"\n", start, end)
    stop = end if stop < 0 else stop
    inner = data.find(b"\r", start, stop)
    return stop if inner < 0 else inner


def _parse(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The events of one line; more than one only on a line with several records."""
    try:
        fields = orjson.loads(record[len(TOKEN) :].strip())
    except orjson.JSONDecodeError:
        yield from _parse_slowly(record, source, line_no)
    else:
        yield from _event(fields, record, source, line_no)


def _parse_slowly(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """What orjson refuses: NaN, Infinity, Latin-1, damaged lines, several records on a line."""
    try:
        text = record.decode("utf-8")
    except UnicodeDecodeError:
        text = record.decode("latin-1")
    token, broken, several = 0, 0, False
    while token >= 0:
        if broken >= _MOST_BROKEN_ON_A_LINE:
            yield _not_read(record, source, line_no)
            return
        begin = _skip_spaces(text, token + len(_TOKEN_TEXT))
        try:
            fields, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            broken += 1
            token = text.find(_TOKEN_TEXT, begin)
            yield _broken(error, record, source, line_no, torn=token >= 0)
            continue
        for item in _event(fields, record, source, line_no):
            broken += isinstance(item, Finding)
            yield item
        rest = _skip_spaces(text, end)
        token = text.find(_TOKEN_TEXT, rest)
        if token == rest and not several:
            several = True
            yield _second(record, source, line_no)
        elif rest < len(text) and token != rest:
            broken += 1
            yield _problem(
                source,
                line_no,
                record,
                "log.json" if token < 0 else "log.torn",
                f"text after the record: {_shorten(text[rest : rest + 40].encode(), 40)!r}",
                "Write each record on a line of its own.",
            )


def _second(record: bytes, source: str, line_no: int) -> Finding:
    return _problem(
        source,
        line_no,
        record,
        "log.two_records",
        "two records or more on one line",
        "End every record with a line feed; let one process write the log.",
    )


def _not_read(record: bytes, source: str, line_no: int) -> Finding:
    return _problem(
        source,
        line_no,
        record,
        "log.json",
        f"more than {_MOST_BROKEN_ON_A_LINE} broken records on one line; the rest was not read",
        "Repair the line.",
    )


def _broken(error: Exception, record: bytes, source: str, line_no: int, *, torn: bool) -> Finding:
    """A record that is no JSON; torn if another record follows on the line, which is read."""
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return _problem(
        source,
        line_no,
        record,
        "log.torn" if torn else "log.json",
        f"not valid JSON after the token: {reason}",
        "Repair the line, or write the log from one process so that lines do not mix.",
    )


def _skip_spaces(text: str, start: int) -> int:
    """The first place from ``start`` on that holds no white space."""
    match = _SPACES.match(text, start)
    assert match is not None, "a pattern that matches nothing too"
    return match.end()


def _event(fields: Any, record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The event of one JSON object, and what is doubtful about it."""
    if _is_too_deep(fields):
        yield _problem(
            source,
            line_no,
            record,
            "log.depth",
            f"lists and objects nested more than {MAX_DEPTH} deep; the record was not read",
            "Log flat values.",
        )
        return
    problem = _shape_problem(fields)
    if problem is not None:
        yield _problem(
            source,
            line_no,
            record,
            *problem,
            "A record is an object with time_ms (a number), key (text), value and metadata "
            "(an object).",
        )
    if not isinstance(fields, dict) or not isinstance(fields.get("key"), str):
        return
    metadata = fields.get("metadata")
    yield Event(
        key=fields["key"],
        value=fields.get("value"),
        metadata=metadata if isinstance(metadata, dict) else {},
        time_ms=_time(fields.get("time_ms")),
        kind=str(fields.get("event_type", "")),
        line_no=line_no,
        namespace=str(fields.get("namespace", "")),
    )


def _is_too_deep(value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def _shape_problem(fields: Any) -> tuple[str, str] | None:
    """The rule that a record breaks and how, None if it is well-formed.

    ``log.record`` is what the official reader cannot take either; the other rules are about
    records that it lets through.
    """
    if not isinstance(fields, dict):
        return "log.record", f"a record must be an object, this is a {type(fields).__name__}"
    missing = [name for name in _REQUIRED if name not in fields]
    if missing:
        return "log.record", f"the record lacks {' and '.join(missing)}"
    key, time, metadata = fields["key"], fields["time_ms"], fields["metadata"]
    try:
        float(time)
    except (TypeError, ValueError, OverflowError):
        return "log.record", f"time_ms must be a number, this is {time!r:.60}"
    if not isinstance(key, str):
        return "log.key", f"key must be text, this is {key!r:.60}"
    if not isinstance(metadata, dict):
        return "log.metadata", f"metadata must be an object, this is {metadata!r:.60}"
    if isinstance(time, bool | str):
        return "log.time", f"time_ms must be a number, this is {time!r:.60}"
    if not math.isfinite(time) or time < 0:  # 0 stands for "no time" on keys that need none
        return "log.time", f"time_ms must be a time in milliseconds since 1970, this is {time!r}"
    return None


def _time(value: Any) -> float:
    """Milliseconds since 1970; numeric text counts as the official reader has it, else NaN."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _problem(
    source: str, line_no: int, record: bytes, rule: str, message: str, fix: str
) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        path=source,
        line_no=line_no,
        line=_shorten(record, _SHOWN_CHARACTERS),
    )


def _shorten(record: bytes, limit: int) -> str:
    """The start of a line, safe to show: no control characters, at most ``limit`` characters."""
    text = record[: 4 * limit].decode("utf-8", "replace")
    shown = printable(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
