"""DuckDB's engine, without what its package adds in Python.

``import duckdb`` also loads its relational interface, which nothing here uses and which takes
longer than any of our queries (docs/results.md has the figures). The engine is a module of its own
in the versions that we know; where it is none, the package is taken.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Database
    from duckdb import Error, InterruptException, connect
else:
    try:
        from _duckdb import DuckDBPyConnection as Database
        from _duckdb import Error, InterruptException, connect
    except ImportError:
        from duckdb import DuckDBPyConnection as Database
        from duckdb import Error, InterruptException, connect

__all__ = ["Database", "Error", "InterruptException", "connect"]
