"""What a result log says of the system it was made on, small enough to be kept for every log."""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainmark.mllog import keys
from trainmark.rules.submission.systems_fields import count
from trainmark.types import RunLog

__all__ = ["Claims", "LoggedSystem", "claims", "logged_system", "logged_system_in"]

_TOKEN = b":::SYSJSON"
_SEARCHED_BYTES = 64 << 10  # the line stands there in all published logs but one
_LONGEST_LINE = 64 << 10
_LONGEST = 200  # characters of a name that are kept
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSystem:
    """What a line ``:::SYSJSON`` says that the scripts of a submitter counted on the machine.

    Attributes:
        nodes: Number of nodes, None if it does not say.
        accelerators_per_node: Accelerators of one node, None if it does not say.
        accelerator: Their name, "" if it does not say.
        line_no: The line of the log.
    """

    nodes: int | None
    accelerators_per_node: int | None
    accelerator: str
    line_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one result log says of its system, as written.

    Attributes:
        organisation: The value of submission_org, None if it is missing or no text.
        division: The value of submission_division.
        status: The value of submission_status.
        platform: The value of submission_platform.
        benchmark: The value of submission_benchmark.
        lines: The line of each of these keys that the log has.
        counted: What a line ``:::SYSJSON`` says, None without one.
    """

    organisation: str | None = None
    division: str | None = None
    status: str | None = None
    platform: str | None = None
    benchmark: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    counted: LoggedSystem | None = None


_ATTRIBUTES = {
    "organisation": keys.SUBMISSION_ORG,
    "division": keys.SUBMISSION_DIVISION,
    "status": keys.SUBMISSION_STATUS,
    "platform": keys.SUBMISSION_PLATFORM,
    "benchmark": keys.SUBMISSION_BENCHMARK,
}


def claims(log: RunLog, *, counted: LoggedSystem | None = None) -> Claims:
    """What a log says of its system.

    Args:
        log: The log as read.
        counted: What ``logged_system`` found in its file.
    """
    said: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for attribute, key in _ATTRIBUTES.items():
        event = log.first(key)
        if event is not None:
            lines[key] = event.line_no
            said[attribute] = event.value[:_LONGEST] if isinstance(event.value, str) else None
    return Claims(**said, lines=lines, counted=counted)


def logged_system(path: str | Path) -> LoggedSystem | None:
    """What the line ``:::SYSJSON`` at the beginning of a log says; None without such a line.

    Only the first 64 KiB are searched. A file that cannot be read has none: whoever reads the
    log itself says so.

    Args:
        path: The log.
    """
    try:
        start = _start_of(path)
    except (OSError, ValueError):  # ValueError: a NUL byte in the path
        return None
    return logged_system_in(start)


def logged_system_in(start: bytes) -> LoggedSystem | None:
    """What the line ``:::SYSJSON`` in the first bytes of a log says; None without such a line.

    Args:
        start: The first bytes, 64 KiB of them.
    """
    place = start.find(_TOKEN)
    while place >= 0:
        after = place + len(_TOKEN)
        end = start.find(b"\n", after)
        fields = _object(start[after : end if 0 <= end < after + _LONGEST_LINE else after])
        if fields is not None:
            name = fields.get("accelerator_model_name")
            return LoggedSystem(
                nodes=count(fields.get("number_of_nodes")),
                accelerators_per_node=count(fields.get("accelerators_per_node")),
                accelerator=name[:_LONGEST] if isinstance(name, str) else "",
                line_no=1 + start.count(b"\n", 0, place),
            )
        place = start.find(_TOKEN, after)
    return None


def _start_of(path: str | Path) -> bytes:
    """The first bytes of a file; none of a pipe, which can be read only once."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.read(handle, _SEARCHED_BYTES) if regular else b""
    finally:
        os.close(handle)


def _object(text: bytes) -> dict[str, Any] | None:
    """The JSON object at the start of a text; what follows it (a shell's quote) is dropped."""
    try:
        value, _ = _DECODER.raw_decode(text.decode("latin-1").lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
