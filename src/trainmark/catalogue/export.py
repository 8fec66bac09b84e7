"""Tables written for others, a block of rows after the other: Parquet."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trainmark.catalogue import engine
from trainmark.catalogue.store import connect, copy
from trainmark.types import TrainmarkError, UsageError

__all__ = ["parquet_bytes", "write_parquet"]

Block = Sequence[Sequence[Any]]


def write_parquet(path: Path, columns: Sequence[tuple[str, str]], blocks: Iterable[Block]) -> None:
    """Write rows as a Parquet file, whole or not at all; a file that is there is replaced.

    Args:
        path: The file.
        columns: Name and DuckDB's type of each column; no two names are equal.
        blocks: Rows, some at a time.

    Raises:
        UsageError: The folder is missing or may not be written to.
        TrainmarkError: The write failed, for example on a full disk.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".trainmark-") as folder:
            made = Path(folder, "table.parquet")
            _make(made, columns, blocks)
            if path.is_dir():
                raise UsageError(f"{path} is a folder", hint="Name a file with --out.")
            os.replace(made, path)  # noqa: PTH105 - Path.replace does the same and is no clearer
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no folder {path.parent}", hint="Make it, or name another file with --out."
        ) from error
    except PermissionError as error:
        raise UsageError(
            f"the folder {path.parent} may not be written to", hint="Name another file with --out."
        ) from error
    except OSError as error:
        raise TrainmarkError(
            f"cannot write {path}: {error.strerror}", hint="Free some space, or name another file."
        ) from error


def parquet_bytes(columns: Sequence[tuple[str, str]], blocks: Iterable[Block]) -> bytes:
    """The same as the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "table.parquet")
        _make(made, columns, blocks)
        return made.read_bytes()


def _make(path: Path, columns: Sequence[tuple[str, str]], blocks: Iterable[Block]) -> None:
    definitions = ", ".join(f"{_quoted(name)} {kind}" for name, kind in columns)
    with connect() as database:
        try:
            database.execute(f"CREATE TABLE facts ({definitions})")
            for block in blocks:
                engine.insert(database, "facts", block)
            copy(database, "FROM facts", path, "FORMAT parquet, COMPRESSION zstd")
        except engine.Error as error:
            raise TrainmarkError(
                f"cannot write the table as Parquet: {str(error).splitlines()[0]}",
                hint="Free some space, take another format, or name another file with --out.",
            ) from error


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
