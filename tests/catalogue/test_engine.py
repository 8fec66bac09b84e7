from typing import Any

import pytest

from trainmark.catalogue import engine
from trainmark.catalogue.store import connect

_ROWS = [(1, "a", [{"x": 1.5, "y": None}]), (2, None, []), (3, "it's", None)]


class _WithoutAppender:
    """An engine of an older version."""

    def __init__(self, database: engine.Database) -> None:
        self.executemany = database.executemany


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("values", [_ROWS, []])
def test_rows_are_inserted_as_they_are(older: bool, values: list[tuple[Any, ...]]) -> None:
    with connect() as database:
        database.execute("CREATE TABLE t (a INTEGER, b VARCHAR, c STRUCT(x DOUBLE, y DOUBLE)[])")
        target: Any = _WithoutAppender(database) if older else database
        engine.insert(target, "t", values)
        assert database.execute("FROM t").fetchall() == values


def test_the_engine_and_the_package_are_one() -> None:
    import duckdb

    assert duckdb.Error is engine.Error
    assert duckdb.DuckDBPyConnection is engine.Database
