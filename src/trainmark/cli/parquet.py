"""Parquet as an output: to a file, or to a program behind a pipe."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trainmark.catalogue.export import parquet_bytes, write_parquet
from trainmark.types import UsageError

__all__ = ["refuse_terminal", "send"]


def send(
    columns: Sequence[tuple[str, str]],
    blocks: Iterable[Sequence[Sequence[Any]]],
    out: Path | None,
) -> None:
    """Write a table as Parquet.

    Args:
        columns: Name and DuckDB's type of each column.
        blocks: Rows, some at a time.
        out: The file; standard output without it.

    Raises:
        UsageError: Standard output is a terminal, or the file cannot be made.
        TrainmarkError: The write failed.
    """
    if out is not None:
        write_parquet(out, columns, blocks)
        return
    refuse_terminal()
    data = parquet_bytes(columns, blocks)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def refuse_terminal() -> None:
    """Parquet is for programs.

    Raises:
        UsageError: Standard output is a terminal.
    """
    if sys.stdout.isatty():
        raise UsageError(
            "Parquet is not for a terminal", hint="Add --out FILE, or send the output to a file."
        )
