"""DuckDB's engine, without what its package adds in Python.

``import duckdb`` also loads its relational interface, which nothing here uses and which takes
longer than any of our queries (docs/results.md has the figures). The engine is a module of its own
in the versions that we know; where it is none, the package is taken.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import (
        BinderException,
        CatalogException,
        Error,
        OutOfMemoryException,
        PermissionException,
        connect,
    )
    from duckdb import DuckDBPyConnection as Database
else:
    try:
        from _duckdb import (
            BinderException,
            CatalogException,
            Error,
            OutOfMemoryException,
            PermissionException,
            connect,
        )
        from _duckdb import DuckDBPyConnection as Database
    except ImportError:
        from duckdb import (
            BinderException,
            CatalogException,
            Error,
            OutOfMemoryException,
            PermissionException,
            connect,
        )
        from duckdb import DuckDBPyConnection as Database

__all__ = [
    "BinderException",
    "CatalogException",
    "Database",
    "Error",
    "OutOfMemoryException",
    "PermissionException",
    "connect",
    "insert",
]


def insert(database: Database, table: str, values: Sequence[Sequence[Any]]) -> None:
    """Add rows to a table: sixty times faster than by statements, where the engine has a way.

    Args:
        database: From ``connect``.
        table: The table's name.
        values: The rows, each with every column in its order.
    """
    if hasattr(database, "appender"):
        with database.appender(table) as appender:
            appender.append_rows(values)
    elif values:
        marks = ", ".join("?" for _ in values[0])
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - ours
