"""The lines of a log that findings are about: read once more, for those findings only."""

import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["lines_at", "with_lines"]

_SHOWN_CHARACTERS = 160
_HEAD_BYTES = 4 * _SHOWN_CHARACTERS  # of a line; a character has four bytes at most
_PIECE_BYTES = 1 << 20
_MOST_BYTES = 256 << 20  # a line further down is not looked for
_MOST_LINES = 1000


def with_lines(verdict: "Verdict") -> "Verdict":
    """The verdict on a log, whose findings show the lines that they are about.

    Args:
        verdict: A finding in it that has a line already, or no number of one, stays as it is.
    """
    lacking = {
        finding.line_no
        for finding in verdict.findings
        if finding.line_no is not None and not finding.line and finding.path == verdict.path
    }
    if verdict.kind != "log" or not lacking:
        return verdict
    lines = lines_at(Path(verdict.path), sorted(lacking)[:_MOST_LINES])
    findings = tuple(
        replace(finding, line=lines[finding.line_no])
        if finding.line_no in lines and not finding.line and finding.path == verdict.path
        else finding
        for finding in verdict.findings
    )
    return replace(verdict, findings=findings)


def lines_at(path: Path, numbers: Collection[int]) -> dict[int, str]:
    """Some lines of a file, each shortened; those that cannot be read are left out.

    Args:
        path: The file. Only a regular file is opened.
        numbers: Line numbers counted from 1; lines end with LF, CR, or CR LF.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return {}
        with path.open("rb") as file:
            found = _scan(file, numbers)
    except (OSError, ValueError):  # the file has gone since it was checked
        return {}
    return {number: _shorten(line) for number, line in found.items()}


def _scan(file: BinaryIO, numbers: Collection[int]) -> dict[int, bytes]:
    """The heads of the lines with these numbers."""
    found: dict[int, bytes] = {}
    last, line, head = max(numbers, default=0), 1, b""
    while line <= last and file.tell() < _MOST_BYTES and (piece := _piece(file)):
        ends = piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
        if any(line <= number <= line + ends for number in numbers):
            parts = piece.splitlines()
            if len(parts) == ends:
                parts.append(b"")
            parts[0] = head + parts[0]
            for number in numbers:
                if line <= number <= line + ends:
                    found[number] = parts[number - line][:_HEAD_BYTES]
        rest = piece[max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1 :][:_HEAD_BYTES]
        head = rest if ends else (head + rest)[:_HEAD_BYTES]
        line += ends
    return found


def _piece(file: BinaryIO) -> bytes:
    """The next part of a file, never ending between a CR and its LF."""
    piece = file.read(_PIECE_BYTES)
    while piece.endswith(b"\r") and (more := file.read(1)):
        piece += more
    return piece


def _shorten(line: bytes) -> str:
    text = line.decode("utf-8", "surrogateescape").strip()
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
