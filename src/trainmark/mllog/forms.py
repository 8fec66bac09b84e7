"""Walk through an open log, each block of lines with the reader of the form that it is written in.

A log has one form. It is known from the first block that holds its token; what looked like an older
form before that was other text in the log of a newer one.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from trainmark.mllog.batch import Batch
from trainmark.mllog.blocks import MAX_RECORD_BYTES, blocks
from trainmark.mllog.exact import TOKEN, problem
from trainmark.mllog.kept import Kept
from trainmark.mllog.old_forms import TOKEN_0_5, TOKEN_0_6
from trainmark.types import Finding, RunLog, Severity, printable
from trainmark.types.garbage import collection_paused

__all__ = ["BlockReader", "Readers", "batches", "gather"]

_FIRST_BYTES = 16


class BlockReader(Protocol):
    """Reads some whole lines of a log."""

    def __call__(self, data: bytes, line_no: int, source: str, /) -> Batch:
        """What the lines hold.

        Args:
            data: The lines, each with a line feed at its end.
            line_no: The number of the first of them.
            source: The name that findings carry.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers of the three forms.

    Attributes:
        mllog: ``:::MLLOG {json}``, round 0.7 on.
        mll: ``:::MLL seconds key: {json}``, round 0.6.
        mlp: ``:::MLPv0.5.0 ...``, round 0.5.
        returns: Whether they take lines with a carriage return before the line feed.
    """

    mllog: BlockReader
    mll: BlockReader
    mlp: BlockReader
    returns: bool = False


def gather(stream: BinaryIO, source: str, readers: Readers) -> RunLog:
    """All that the readers find in a log, within the bounds of ``trainmark.mllog.kept``.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
        readers: One for each form.
    """
    kept, form = Kept(source), ""
    with collection_paused():
        for known, batch in batches(stream, source, readers):
            if known != form:
                # What looked like an older form was other text in the log of a newer one.
                kept = Kept(source) if form else kept
                form = known
            kept.add(batch)
    return kept.log(form or "mllog")


def batches(stream: BinaryIO, source: str, readers: Readers) -> Iterator[tuple[str, Batch]]:
    """The form of the log as far as it is known, "" at first, and what some lines hold.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
        readers: One for each form.
    """
    start = stream.read(_FIRST_BYTES)
    if _is_utf16(start):
        yield "", Batch(findings=[_utf16(source)])
        return
    form, line_no = "", 1
    for data, restarts in blocks(stream, start, returns=readers.returns):
        line_no = 1 if restarts else line_no
        if data is None:
            batch = Batch(findings=[_too_long(source, line_no)], token_lines=1)
        elif form == "mllog" or TOKEN in data:
            form, batch = "mllog", readers.mllog(data, line_no, source)
        elif TOKEN_0_6 in data:
            form, batch = "mll", readers.mll(data, line_no, source)
        elif form != "mll" and TOKEN_0_5 in data:
            form, batch = "mlp", readers.mlp(data, line_no, source)
        else:
            batch = Batch(lines=data.count(b"\n"))
        line_no += batch.lines
        yield form, batch


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
