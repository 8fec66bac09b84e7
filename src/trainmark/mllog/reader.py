"""Read a result log: bytes in, events and findings out, in one streaming pass.

A record is the JSON object after the token ``:::MLLOG`` on a line; what stands before the token
(a rank, a date) is dropped. Nothing that a file can hold raises: a line that cannot be read
becomes a finding with its line number in the file, and the next line goes on.

Memory is bounded: the file is read in pieces, a line without the token is never held whole, a
record longer than ``MAX_RECORD_BYTES`` is reported and skipped, and ``trainmark.mllog.kept``
lets go what is too much.
"""

import codecs
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from trainmark.mllog.batch import Batch, read_block
from trainmark.mllog.blocks import MAX_RECORD_BYTES, blocks
from trainmark.mllog.exact import MAX_DEPTH, TOKEN, problem
from trainmark.mllog.kept import Kept
from trainmark.mllog.old_forms import TOKEN_0_5, TOKEN_0_6, read_0_6, round_0_5
from trainmark.types import Event, Finding, RunLog, Severity, UsageError, printable
from trainmark.types.garbage import collection_paused

__all__ = ["MAX_DEPTH", "MAX_RECORD_BYTES", "TOKEN", "iter_log", "read", "read_bytes"]

_FIRST_BYTES = 16


def read(path: str | Path, wanted: Collection[str] | None = None) -> RunLog:
    """Read a whole result log.

    Args:
        path: The file.
        wanted: The keys to keep; the records of others are read, counted in ``dropped`` and let
            go. None keeps all.

    Raises:
        UsageError: The file cannot be opened or read.
    """
    try:
        with Path(path).open("rb", buffering=0) as stream:
            return _read(stream, str(path), wanted)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}",
            hint="Give the path of a result log, for example result_0.txt.",
        ) from error


def read_bytes(data: bytes, source: str, wanted: Collection[str] | None = None) -> RunLog:
    """Read a whole result log that is in memory.

    Args:
        data: The log.
        source: The name that findings carry.
        wanted: As for ``read``.
    """
    return _read(BytesIO(data), source, wanted)


def iter_log(stream: BinaryIO, source: str) -> Iterator[Event | Finding]:
    """Every record and every unreadable line of an open log, in order.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
    """
    for _, batch in _batches(stream, source, None):
        items: list[Event | Finding] = [*batch.findings, *batch.events]
        yield from sorted(items, key=_line_no) if batch.findings else items


def _line_no(item: Event | Finding) -> int:
    return item.line_no or 0


def _read(stream: BinaryIO, source: str, wanted: Collection[str] | None) -> RunLog:
    names = None if wanted is None else frozenset(wanted)
    kept, form = Kept(source), ""
    with collection_paused():
        for known, batch in _batches(stream, source, names):
            if known != form:
                # What looked like an older form was other text in the log of a newer one.
                kept = Kept(source) if form else kept
                form = known
            kept.add(batch)
    return kept.log(form or "mllog")


def _batches(
    stream: BinaryIO, source: str, wanted: Collection[str] | None
) -> Iterator[tuple[str, Batch]]:
    """The form of the log as far as it is known, "" at first, and what some lines hold."""
    start = stream.read(_FIRST_BYTES)
    if _is_utf16(start):
        yield "", Batch(findings=[_utf16(source)])
        return
    form, line_no = "", 1
    for data, restarts in blocks(stream, start):
        line_no = 1 if restarts else line_no
        if data is None:
            batch = Batch(findings=[_too_long(source, line_no)], token_lines=1)
        elif form == "mllog" or TOKEN in data:
            form, batch = "mllog", read_block(data, line_no, source, wanted)
        elif TOKEN_0_6 in data:
            form, batch = "mll", _read_0_6_block(data, line_no, source, wanted)
        else:
            batch = Batch(lines=data.count(b"\n"))
            if not form and TOKEN_0_5 in data:
                form = "mlp"
                before = data.count(b"\n", 0, data.find(TOKEN_0_5))
                batch.findings.append(round_0_5(source, line_no + before))
        line_no += batch.lines
        yield form, batch


def _read_0_6_block(
    data: bytes, line_no: int, source: str, wanted: Collection[str] | None
) -> Batch:
    """The records of some whole lines of a log of round 0.6."""
    batch = Batch()
    lines = data.split(b"\n")
    batch.lines = len(lines) - 1
    for place, line in enumerate(lines):
        if TOKEN_0_6 not in line:
            continue
        batch.token_lines += 1
        for part in line.split(b"\r"):
            token = part.find(TOKEN_0_6)
            if token >= 0:
                _add_0_6(batch, part[token:], line_no + place, source, wanted)
    return batch


def _add_0_6(
    batch: Batch, record: bytes, line_no: int, source: str, wanted: Collection[str] | None
) -> None:
    batch.text_bytes += len(record)
    for item in read_0_6(record, source, line_no):
        if isinstance(item, Finding):
            batch.findings.append(item)
        elif wanted is None or item.key in wanted:
            batch.events.append(item)
        else:
            batch.dropped[item.key] += 1


def _is_utf16(start: bytes) -> bool:
    """Whether a file begins as UTF-16 does: with its mark, or with NUL in every other place."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    halves = start[::2], start[1::2]
    return len(start) == _FIRST_BYTES and any(
        not any(nul) and all(text) for nul, text in (halves, halves[::-1])
    )


def _utf16(source: str) -> Finding:
    return Finding(
        rule="log.encoding",
        severity=Severity.ERROR,
        message="the file is UTF-16; result logs are ASCII or UTF-8",
        fix=f"Convert it: iconv -f UTF-16 -t UTF-8 {printable(Path(source).name)}",
        path=source,
        line_no=1,
    )


def _too_long(source: str, line_no: int) -> Finding:
    return problem(
        source,
        line_no,
        b"",
        "log.length",
        f"a record longer than {MAX_RECORD_BYTES >> 20} MiB; it was not read",
        "Log large values to another file.",
    )
