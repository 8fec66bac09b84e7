"""Parquet files, written and read by DuckDB; a damaged one is a finding."""

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trainmark.catalogue import engine
from trainmark.catalogue.schema import Column
from trainmark.types import Finding, Severity, TrainmarkError, atomic_write

__all__ = ["connect", "copy", "literal", "load", "rows", "write_table"]


def connect() -> engine.Database:
    """An in-memory DuckDB that loads nothing from the network."""
    return engine.connect(
        config={
            "threads": 1,  # a few thousand rows: starting threads costs more than it brings
            "autoinstall_known_extensions": False,
        }
    )


def write_table(
    path: Path,
    columns: Sequence[Column],
    values: Iterable[tuple[Any, ...]],
    *,
    keys: Sequence[str] = (),
    kept: Sequence[Path] = (),
    kept_keys: Sequence[str] = (),
) -> None:
    """Write one table as a Parquet file, whole or not at all.

    Args:
        path: The file.
        columns: Its columns.
        values: The rows, each in the order of the columns.
        keys: Keys (the first column) in an order that the rows are brought into; rows of one
            key are sorted by the second column. Without, rows stay as they come.
        kept: Files of the same columns, of which rows are taken over ...
        kept_keys: ... those with one of these keys.

    Raises:
        UsageError: The folder is missing or may not be written to.
        TrainmarkError: The write failed.
    """
    definitions = ", ".join(f'"{column.name}" {column.sql}' for column in columns)
    filled = list(values)
    with connect() as database, tempfile.TemporaryDirectory() as folder:
        database.execute(f"CREATE TABLE facts ({definitions})")
        engine.insert(database, "facts", filled)
        first, second = columns[0].name, columns[1].name
        if kept:
            names = ", ".join(f'"{column.name}"' for column in columns)
            database.execute(
                f"INSERT INTO facts SELECT {names} FROM read_parquet(?) "  # noqa: S608 - ours
                f'WHERE "{first}" IN (SELECT unnest(?::VARCHAR[]))',
                [[literal(file) for file in kept], list(kept_keys)],
            )
        source = "FROM facts"
        if keys:
            database.execute("CREATE TABLE keys (key VARCHAR, place INTEGER)")
            engine.insert(database, "keys", [(key, place) for place, key in enumerate(keys)])
            source = (
                f'SELECT facts.* FROM facts LEFT JOIN keys ON key = "{first}" '  # noqa: S608 - ours
                f'ORDER BY place, "{first}", "{second}"'
            )
        temporary = Path(folder, "facts.parquet")
        copy(database, source, temporary, _PARQUET)
        atomic_write(path, temporary.read_bytes())


def copy(database: engine.Database, source: str, path: Path, options: str) -> None:
    """Write what a statement gives to a Parquet file.

    Args:
        database: From ``connect``.
        source: A statement.
        path: The file, in a folder made for it.
        options: DuckDB's, of COPY.

    Raises:
        TrainmarkError: The write failed, for example on a full disk.
    """
    quoted = str(path).replace("'", "''")
    try:
        database.execute(f"COPY ({source}) TO '{quoted}' ({options})")
    except engine.Error as error:
        number = _ERRNO.search(str(error))
        reason = os.strerror(int(number[1])) if number else str(error).splitlines()[0]
        raise TrainmarkError(
            f"cannot write Parquet in {path.parents[1]}: {reason}",
            hint="Free some space there, or name another place.",
        ) from error


_ERRNO = re.compile(r'"errno":"(\d{1,4})"')

# The level is the one beyond which the runs of all rounds hardly become smaller. The runs of one
# result are found in a third of the time where rows stand in groups of 4,096, at a tenth in size.
_PARQUET = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 9, ROW_GROUP_SIZE 4096"


def load(
    database: engine.Database,
    table: str,
    columns: Sequence[Column],
    files: Sequence[Path],
    *,
    condition: str = "true",
    parameters: Sequence[Any] = (),
) -> list[Finding]:
    """Make a table of several Parquet files; one that cannot be read is left out.

    Args:
        database: From ``connect``.
        table: The table's name in the database.
        columns: What it has; NULL where a file, written earlier, lacks a column. The first is
            the key, which every file has. One named "filename" is the file's path.
        files: The files.
        condition: SQL that a row must fulfil, with marks.
        parameters: The values of the marks.

    Returns:
        A finding for each file that is damaged.
    """
    try:
        if all(map(_is_file, files)):  # DuckDB would wait for ever for a pipe
            _make(database, table, columns, files, condition, parameters)
            if _is_sound(database, table, columns):
                return []
    except engine.Error:
        pass  # which file it is, the next lines find out
    problems = {file: _problem(database, file, columns) for file in files}
    good = [file for file, problem in problems.items() if not problem]
    _make(database, table, columns, good, condition, parameters)
    return [_damaged(file, problem) for file, problem in problems.items() if problem]


def rows(
    database: engine.Database, sql: str, parameters: Sequence[Any] = ()
) -> list[dict[str, Any]]:
    """The rows of a statement as dictionaries."""
    cursor = database.execute(sql, parameters)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _make(
    database: engine.Database,
    table: str,
    columns: Sequence[Column],
    files: Sequence[Path],
    condition: str,
    parameters: Sequence[Any],
) -> None:
    """All columns come from an empty row; the files add theirs by name."""
    statement = f"SELECT {_nulls(columns)} WHERE false"
    values: list[Any] = []
    if files:
        names = ", ".join(f'"{column.name}"' for column in columns)
        statement = (
            f"SELECT {names} FROM ({statement} UNION ALL BY NAME "  # noqa: S608 - our own names
            "SELECT * FROM read_parquet(?, union_by_name = true, filename = true) "
            f"WHERE {condition})"
        )
        values = [[literal(file) for file in files], *parameters]
    database.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {statement}", values)


def _is_sound(database: engine.Database, table: str, columns: Sequence[Column]) -> bool:
    """Whether every row can be read back, and no file has turned a column into another type."""
    if _types(database, f"FROM {table}") != _expected(database, columns):
        return False
    unsound = " OR ".join(column.unsound for column in columns)
    return not database.execute(f"FROM {table} WHERE {unsound} LIMIT 1").fetchall()


def _problem(database: engine.Database, file: Path, columns: Sequence[Column]) -> str:
    """Why a file cannot be used, "" when it can."""
    if not _is_file(file):
        return "it is no file, or cannot be reached"
    try:
        database.execute("FROM read_parquet(?, filename = true)", [[literal(file)]]).fetchall()
        types = _types(database, "FROM read_parquet(?, filename = true)", [[literal(file)]])
    except engine.Error as error:
        return str(error).splitlines()[0]
    expected = _expected(database, columns)
    wrong = [name for name in types if types[name] != expected.get(name, types[name])]
    if wrong:
        return f"its column {wrong[0]!r} holds {types[wrong[0]]}"
    for column in columns:
        if column.name not in types:
            if column.needed:
                return f"it has no column {column.name!r}"
            continue
        rows_of = f"FROM read_parquet(?) WHERE {column.unsound} LIMIT 1"
        if database.execute(rows_of, [[literal(file)]]).fetchall():
            return f"its column {column.name!r} has a value that cannot be read"
    return ""


def _is_file(path: Path) -> bool:
    """Whether there is a file that can be reached."""
    try:
        return path.is_file()
    except OSError:
        return False


def _types(
    database: engine.Database, source: str, parameters: Sequence[Any] = ()
) -> dict[str, str]:
    cursor = database.execute(f"{source} LIMIT 0", parameters)
    return {name: str(kind) for name, kind, *_ in cursor.description or ()}


def _expected(database: engine.Database, columns: Sequence[Column]) -> dict[str, str]:
    return _types(database, f"FROM (SELECT {_nulls(columns)})")


def _nulls(columns: Sequence[Column]) -> str:
    return ", ".join(f'NULL::{column.sql} AS "{column.name}"' for column in columns)


def _damaged(file: Path, problem: str) -> Finding:
    return Finding(
        rule="catalogue.damaged",
        severity=Severity.WARNING,
        message=f"this file of the catalogue is left out: {problem}",
        fix="Move it away or restore it from a copy; the result logs of that session are as they "
        "were.",
        path=str(file),
    )


def literal(file: Path) -> str:
    """The path with DuckDB's wildcards taken literally."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(file))
