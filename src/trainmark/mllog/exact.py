"""Read one line exactly: every record on it, and what is wrong with each.

``trainmark.mllog.batch`` reads many good lines at once; whatever it has a doubt about comes here,
and means the same whichever of the two has read it.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from trainmark.mllog.faults import json_fault, kind_of, shown
from trainmark.types import Event, Finding, Severity, printable

__all__ = [
    "MAX_DEPTH",
    "ONLY_WHOLE",
    "TOKEN",
    "broken",
    "is_too_deep",
    "parse_json",
    "problem",
    "read_line",
    "shorten",
]

TOKEN = b":::MLLOG"
MAX_DEPTH = 100  # of lists and objects in one another; beyond some 900 Python's own tools give up
# From here on orjson gives the nearest float for a whole number, and Python all its digits.
ONLY_WHOLE = float(1 << 63)
_SHOWN_CHARACTERS = 160
_MOST_BROKEN_ON_A_LINE = 100
_REQUIRED = ("time_ms", "key", "value", "metadata")
_SECONDS = "time_s"  # one submitter of round 0.7 has this in place of time_ms
_KEPT = (*_REQUIRED, _SECONDS, "event_type", "namespace")
_WHAT_TO_DO = {
    "log.record": "Log each record as an object with time_ms (a number), key (text), value and "
    "metadata (an object).",
    "log.key": "Log the key as text.",
    "log.metadata": "Log metadata as an object: {} where there is nothing to say.",
    "log.time": "Log time_ms as a number: milliseconds since 1970, from the wall clock.",
}
_DECODER = json.JSONDecoder()
_SPACES = re.compile(r"\s*")
_TOKEN_TEXT = TOKEN.decode()


def read_line(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The events of one line and what is doubtful about them; often one event and no more.

    Args:
        record: The line from its first token on, without its end.
        source: The name that findings carry.
        line_no: The line's number in the file.
    """
    try:
        fields = orjson.loads(record[len(TOKEN) :].strip())
    except orjson.JSONDecodeError:
        fields = None
    value = fields.get("value") if isinstance(fields, dict) else None
    if fields is None or (isinstance(value, float) and abs(value) >= ONLY_WHOLE):
        yield from _read_slowly(record, source, line_no)
    else:
        yield from _event(fields, record, source, line_no)


def parse_json(text: bytes) -> Any:
    """One JSON value as Python reads it: NaN, Infinity and Latin-1 are taken.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deep.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _DECODER.decode(_text(text))


def problem(source: str, line_no: int, record: bytes, rule: str, message: str, fix: str) -> Finding:
    """An error about a line, which it shows shortened."""
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        path=source,
        line_no=line_no,
        line=shorten(record, _SHOWN_CHARACTERS),
    )


def broken(error: Exception, record: bytes, source: str, line_no: int, *, torn: bool) -> Finding:
    """A record that is no JSON; torn if another record follows on the line, which is read."""
    return problem(
        source,
        line_no,
        record,
        "log.torn" if torn else "log.json",
        f"not valid JSON after the token: {json_fault(error)}",
        "Repair the line, or write the log from one process so that lines do not mix.",
    )


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects stand more than ``MAX_DEPTH`` deep in one another."""
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


def _text(record: bytes) -> str:
    try:
        return record.decode("utf-8")
    except UnicodeDecodeError:
        return record.decode("latin-1")


def _read_slowly(record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """What orjson refuses: NaN, Infinity, Latin-1, damaged lines, several records on a line."""
    text = _text(record)
    token, failures, several = 0, 0, False
    while token >= 0:
        if failures >= _MOST_BROKEN_ON_A_LINE:
            yield _not_read(record, source, line_no)
            return
        begin = _skip_spaces(text, token + len(_TOKEN_TEXT))
        try:
            fields, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            failures += 1
            token = text.find(_TOKEN_TEXT, begin)
            yield broken(error, record, source, line_no, torn=token >= 0)
            continue
        for item in _event(fields, record, source, line_no):
            failures += isinstance(item, Finding)
            yield item
        rest = _skip_spaces(text, end)
        token = text.find(_TOKEN_TEXT, rest)
        if token == rest and not several:
            several = True
            yield _second(record, source, line_no)
        elif rest < len(text) and token != rest:
            failures += 1
            yield problem(
                source,
                line_no,
                record,
                "log.json" if token < 0 else "log.torn",
                f"text after the record: {shorten(text[rest : rest + 40].encode(), 40)}",
                "Write each record on a line of its own.",
            )


def _second(record: bytes, source: str, line_no: int) -> Finding:
    return problem(
        source,
        line_no,
        record,
        "log.two_records",
        "two records or more on one line",
        "End every record with a line feed; let one process write the log.",
    )


def _not_read(record: bytes, source: str, line_no: int) -> Finding:
    return problem(
        source,
        line_no,
        record,
        "log.json",
        f"more than {_MOST_BROKEN_ON_A_LINE} broken records on one line; the rest was not read",
        "Repair the line.",
    )


def _skip_spaces(text: str, start: int) -> int:
    """The first place from ``start`` on that holds no white space."""
    match = _SPACES.match(text, start)
    assert match is not None, "a pattern that matches nothing too"
    return match.end()


def _event(fields: Any, record: bytes, source: str, line_no: int) -> Iterator[Event | Finding]:
    """The event of one JSON object, and what is doubtful about it."""
    if isinstance(fields, dict):  # what else a record says is not kept
        fields = {name: fields[name] for name in _KEPT if name in fields}
        if is_too_deep(fields):
            yield problem(
                source,
                line_no,
                record,
                "log.depth",
                f"lists and objects nested more than {MAX_DEPTH} deep; the record was not read",
                "Log flat values.",
            )
            return
    wrong = _shape_problem(fields)
    if wrong is not None:
        yield problem(
            source,
            line_no,
            record,
            *wrong,
            _WHAT_TO_DO[wrong[0]],
        )
    if not isinstance(fields, dict) or not isinstance(fields.get("key"), str):
        return
    metadata = fields.get("metadata")
    yield Event(
        key=fields["key"],
        value=fields.get("value"),
        metadata=metadata if isinstance(metadata, dict) else {},
        time_ms=_time(fields),
        kind=str(fields.get("event_type", "")),
        line_no=line_no,
        namespace=str(fields.get("namespace", "")),
    )


def _shape_problem(fields: Any) -> tuple[str, str] | None:
    """The rule that a record breaks and how, None if it is well-formed.

    ``log.record`` is what the official reader cannot take either; the other rules are about
    records that it lets through.
    """
    if not isinstance(fields, dict):
        return "log.record", f"a record must be an object, this is {kind_of(fields)}"
    missing = [name for name in _REQUIRED if name not in fields]
    if missing:
        return "log.record", f"the record lacks {', '.join(missing)}"
    key, time, metadata = fields["key"], fields["time_ms"], fields["metadata"]
    try:
        float(time)
    except (TypeError, ValueError, OverflowError):
        return "log.record", f"time_ms must be a number, this is {shown(time)}"
    if not isinstance(key, str):
        return "log.key", f"key must be text, this is {shown(key)}"
    if not isinstance(metadata, dict):
        return "log.metadata", f"metadata must be an object, this is {shown(metadata)}"
    if isinstance(time, bool | str):
        return "log.time", f"time_ms must be a number, this is {shown(time)}"
    if not math.isfinite(time) or time < 0:  # 0 stands for "no time" on keys that need none
        return (
            "log.time",
            f"time_ms must be a time in milliseconds since 1970, this is {shown(time)}",
        )
    return None


def _time(fields: Mapping[str, Any]) -> float:
    """Milliseconds since 1970; numeric text counts as the official reader has it, else NaN."""
    value, unit = fields.get("time_ms"), 1.0
    if "time_ms" not in fields and _SECONDS in fields:
        value, unit = fields[_SECONDS], 1e3
    try:
        return float(value) * unit  # type: ignore[arg-type]  # anything that JSON has
    except (TypeError, ValueError, OverflowError):
        return math.nan


def shorten(record: bytes, limit: int) -> str:
    """The start of a line, safe to show: no control characters, at most ``limit`` characters."""
    text = record[: 4 * limit].decode("utf-8", "replace")
    shown = printable(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
