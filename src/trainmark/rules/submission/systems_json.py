"""Read the file of a system description: bytes in, fields with their lines and findings out.

Nothing that a file can hold raises. A fault that can be bridged (a trailing comma, a missing one,
a byte order mark) is a finding, and the rest of the file is still read.
"""

import codecs
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

from trainmark.rules.subjects import show
from trainmark.rules.submission.systems_faults import (
    NO_COMMA,
    after_spaces,
    explain,
    line_at,
    line_breaks,
    line_no,
)
from trainmark.rules.submission.systems_fields import count
from trainmark.types import Finding, Severity

__all__ = ["MAX_BYTES", "Description", "Form", "Reading", "parse_description", "read_description"]

MAX_BYTES = 4 << 20  # the largest published description has 6 kB
MAX_DEPTH = 100  # of lists and objects in one another, as in a log
_MAX_MEMBERS = 10_000
_MOST_FAULTS = 20  # bridged in one file before reading ends
_LONGEST_INTEGER = 100  # digits; Python refuses to convert more than 4,300
_OLD_LINE = re.compile(r"[ \t]*(\w{1,100})[ \t]*:[ \t]*(\{.*\})[ \t]*")
_OLD_NAMES = {"org": "submitter", "platform": "system_name"}
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Form(StrEnum):
    """How a description is written."""

    JSON = "json"
    LINES = "lines"  # "key: {json}" on every line, found in round 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A system description as data.

    Attributes:
        path: The file.
        fields: Values by name, in the order of the file; of a repeated name the last one.
        lines: The line of the file on which each stands, counted from 1.
        repeated: Names that stand there more than once, with all their values.
        form: How it is written.
        complete: Whether the whole file could be read.
    """

    path: str
    fields: Mapping[str, Any]
    lines: Mapping[str, int]
    repeated: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    form: Form = Form.JSON
    complete: bool = True

    def text(self, name: str) -> str | None:
        """The field's text without spaces around it; None if it is missing or no text."""
        value = self.fields.get(name)
        return value.strip() if isinstance(value, str) else None

    def count(self, name: str) -> int | None:
        """The field's whole number, also one written as text; None if it is none."""
        return count(self.fields.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of a file: a description if there was one, and what was wrong."""

    description: Description | None
    findings: tuple[Finding, ...]


def read_description(path: str | Path) -> Reading:
    """Read one system description.

    Args:
        path: The file. Links are followed: whoever lists a folder leaves out those that lead out.
    """
    reader = _Reader(str(path))
    data = reader.load(Path(path))
    return reader.read(data)


def parse_description(data: bytes, path: str) -> Reading:
    """Read one system description from its bytes.

    Args:
        data: The whole file.
        path: The name that the findings carry.
    """
    return _Reader(path).read(data)


class _Reader:
    """One reading of one file; findings gather in it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self._text = ""

    def read(self, data: bytes | None) -> Reading:
        """What was read of the file's bytes; None if they could not be had."""
        text = None if data is None else self.decode(data)
        description = None if text is None else self.parse(text)
        return Reading(description=description, findings=tuple(self.findings))

    def find(self, rule: str, message: str, fix: str, *, at: int | None = None) -> None:
        """Add an error, at a place in the text if one is at fault."""
        self.findings.append(
            Finding(
                rule=f"system.{rule}",
                severity=Severity.ERROR,
                message=message,
                fix=fix,
                path=self.path,
                line_no=None if at is None else line_no(self._text, at),
                line="" if at is None else line_at(self._text, at),
            )
        )

    def load(self, path: Path) -> bytes | None:
        """The file's bytes; None if they cannot be had or are too many."""
        try:
            # A pipe without a writer would block for ever.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as stream:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    self.find(
                        "unreadable",
                        "this is no file: pipes and devices are not read",
                        "Put the description itself here.",
                    )
                    return None
                data = stream.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.find(
                "unreadable",
                f"the file cannot be read: {reason}",
                "Make it a file that you may read.",
            )
            return None
        if len(data) <= MAX_BYTES:
            return data
        self.find(
            "length",
            f"the file is larger than {MAX_BYTES >> 20} MiB; a description has some 2 kB",
            "Give the description alone.",
        )
        return None

    def decode(self, data: bytes) -> str | None:
        """The file's text, its byte order mark dropped; None for UTF-16 and for no text."""
        as_utf8 = "Save it as UTF-8 without a byte order mark."
        if data.startswith(_UTF16) or b"\0" in data[:4]:
            self.find("encoding", "the file is UTF-16 or UTF-32; JSON files are UTF-8", as_utf8)
            return None
        if data.startswith(codecs.BOM_UTF8):
            self.find(
                "encoding",
                "the file starts with a byte order mark, at which the official checker stops",
                as_utf8,
            )
            data = data[len(codecs.BOM_UTF8) :]
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self._text = text = data.decode("latin-1")
            self.find(
                "encoding",
                f"the file is not UTF-8: byte {data[error.start]:#04x}; it was read as latin-1",
                as_utf8,
                at=error.start,
            )
        if not text.strip():
            self.find("json", "the file is empty", "Write the description into it.")
            return None
        return text

    def parse(self, text: str) -> Description | None:
        """The description in a text; None if there is no object in it."""
        self._text = text
        start = after_spaces(text, 0)
        if text[start] == "{":
            return _Members(self, text).read(start)
        old = self._old_form(text)
        if old is not None:
            return old
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            message, place = explain(text, start)
            self.find("json", message, "Write one JSON object in braces.", at=place)
        else:
            held = "a list" if isinstance(value, list) else show(value)
            self.find(
                "object",
                f"the file holds {held}; expected one JSON object with the fields",
                "Write the fields into one object in braces.",
                at=start,
            )
        return None

    def _old_form(self, text: str) -> Description | None:
        """The form of round 0.6: on every line a key, a colon and an object with the value."""
        fields: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            match = _OLD_LINE.fullmatch(line)
            if match is None:
                return None
            try:
                value = _DECODER.decode(match[2])["value"]
            except (ValueError, RecursionError, KeyError):
                return None
            name = _OLD_NAMES.get(match[1], match[1])
            fields[name], lines[name] = value, number
        return Description(path=self.path, fields=fields, lines=lines, form=Form.LINES)


class _Stop(Exception):  # noqa: N818 - no error: the finding is made, reading ends
    """Reading of the object ends here."""


class _Members:
    """The members of the outermost object, one by one, so that each keeps its line."""

    def __init__(self, reader: _Reader, text: str) -> None:
        self._reader = reader
        self._text = text
        self._values: dict[str, list[Any]] = {}
        self._lines: dict[str, int] = {}
        self._line_at = (0, 1)

    def read(self, start: int) -> Description:
        """Read the object that opens at ``start``."""
        complete = True
        try:
            self._read(start)
        except _Stop:
            complete = False
        return Description(
            path=self._reader.path,
            fields={name: values[-1] for name, values in self._values.items()},
            lines=self._lines,
            repeated={
                name: tuple(values) for name, values in self._values.items() if len(values) > 1
            },
            complete=complete,
        )

    def _read(self, start: int) -> None:
        place = self._next(start + 1)
        members = 0
        while self._char(place) != "}":
            place = self._separator(self._member(place))
            members += 1
            if members > _MAX_MEMBERS:
                self._stop(
                    "length",
                    f"there are more than {_MAX_MEMBERS} fields; a description has 33",
                    "Give the description alone.",
                    place,
                )
        place = self._next(place + 1)
        if place < len(self._text):
            self._reader.find(
                "json",
                f"after the object's closing brace stands {show(self._text[place : place + 40])}",
                "Leave one object in the file.",
                at=place,
            )

    def _member(self, place: int) -> int:
        """Read a name, a colon and a value; returns the place after them."""
        if self._char(place) != '"':
            self._broken(place)
        name, place = self._value(place)
        line = self._line(place)
        place = self._next(place)
        if self._char(place) != ":":
            self._broken(place)
        value, place = self._value(self._next(place + 1))
        self._lines[name] = line
        self._values.setdefault(name, []).append(value)
        return place

    def _separator(self, place: int) -> int:
        """Step over the comma; say so where one is missing, or one too many."""
        place = self._next(place)
        char = self._char(place)
        if char == "}":
            return place
        if char == '"' and len(self._reader.findings) < _MOST_FAULTS:
            message, before = explain(self._text, place, NO_COMMA)
            self._reader.find("json", message, "Write a comma between the fields.", at=before)
            return place
        if char != ",":
            self._broken(place)
        after = self._next(place + 1)
        if self._char(after) == "}":
            message, place = explain(self._text, place)
            self._reader.find("json", message, "Remove the comma.", at=place)
        return after

    def _value(self, place: int) -> tuple[Any, int]:
        """The value at a place, and the place after it."""
        try:
            value, after = _DECODER.raw_decode(self._text, place)
        except json.JSONDecodeError as error:
            self._broken(error.pos, error.msg)
        except RecursionError:
            self._too_deep(place)
        if isinstance(value, list | dict) and _is_deep(value):
            self._too_deep(place)
        return value, after

    def _too_deep(self, place: int) -> NoReturn:
        self._stop(
            "json",
            f"there are more than {MAX_DEPTH} lists and objects in one another here",
            "Write other_software_stack as one object of names and versions.",
            place,
        )

    def _broken(self, place: int, reason: str = "") -> NoReturn:
        message, place = explain(self._text, place, reason)
        self._stop("json", message, "Write this as JSON.", place)

    def _stop(self, rule: str, message: str, fix: str, place: int) -> NoReturn:
        self._reader.find(rule, message, fix, at=place)
        raise _Stop

    def _next(self, place: int) -> int:
        return after_spaces(self._text, place)

    def _char(self, place: int) -> str:
        return self._text[place : place + 1]

    def _line(self, place: int) -> int:
        """The line of a place that lies after the one asked for before."""
        last, line = self._line_at
        self._line_at = (place, line + line_breaks(self._text, last, place))
        return self._line_at[1]


def _is_deep(value: Any) -> bool:
    """Whether a value has more than ``MAX_DEPTH`` lists and objects in one another."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, list | dict)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, list | dict)
        ]
        if not level:
            return False
    return True


def _integer(digits: str) -> int | float:
    """A whole number; one that is too long for any count becomes infinite."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


_DECODER = json.JSONDecoder(parse_int=_integer)
