"""Read a result log: bytes in, events and findings out, in one streaming pass.

A record is the JSON object after the token ``:::MLLOG`` on a line; what stands before the token
(a rank, a date) is dropped. Nothing that a file can hold raises: a line that cannot be read
becomes a finding with its line number in the file, and the next line goes on.

Memory is bounded: the file is read in pieces, a line without the token is never held whole, a
record longer than ``MAX_RECORD_BYTES`` is reported and skipped, and ``trainmark.mllog.kept``
lets go what is too much.
"""

from collections.abc import Collection, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from trainmark.mllog.batch import Batch, read_block
from trainmark.mllog.blocks import MAX_RECORD_BYTES
from trainmark.mllog.exact import MAX_DEPTH, TOKEN
from trainmark.mllog.forms import Readers, batches, gather
from trainmark.mllog.old_forms import TOKEN_0_5, read_0_6_block, round_0_5
from trainmark.types import Event, Finding, RunLog, UsageError

__all__ = ["MAX_DEPTH", "MAX_RECORD_BYTES", "TOKEN", "iter_log", "read", "read_bytes"]


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
            return gather(stream, str(path), _readers(wanted))
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
    return gather(BytesIO(data), source, _readers(wanted))


def iter_log(stream: BinaryIO, source: str) -> Iterator[Event | Finding]:
    """Every record and every unreadable line of an open log, in order.

    Args:
        stream: The log, opened in binary.
        source: The name that findings carry.
    """
    for _, batch in batches(stream, source, _readers(None)):
        items: list[Event | Finding] = [*batch.findings, *batch.events]
        yield from sorted(items, key=_line_no) if batch.findings else items


def _line_no(item: Event | Finding) -> int:
    return item.line_no or 0


def _readers(wanted: Collection[str] | None) -> Readers:
    names = None if wanted is None else frozenset(wanted)
    return Readers(
        mllog=partial(read_block, wanted=names),
        mll=partial(read_0_6_block, wanted=names),
        mlp=_Refused(),
    )


class _Refused:
    """Says once that a log is one of round 0.5, for which there are no rules."""

    def __init__(self) -> None:
        self._said = False

    def __call__(self, data: bytes, line_no: int, source: str, /) -> Batch:
        batch = Batch(lines=data.count(b"\n"))
        if not self._said:
            self._said = True
            before = data.count(b"\n", 0, data.find(TOKEN_0_5))
            batch.findings.append(round_0_5(source, line_no + before))
        return batch
