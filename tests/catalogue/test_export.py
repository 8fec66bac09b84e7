from pathlib import Path
from typing import Any

import pytest

from trainmark.catalogue.export import parquet_bytes, write_parquet
from trainmark.catalogue.store import connect
from trainmark.types import TrainmarkError, UsageError

_COLUMNS = [("a", "INTEGER"), ('odd "name"', "STRUCT(x DOUBLE)[]")]
_BLOCKS: list[list[tuple[Any, ...]]] = [[(1, [{"x": 1.5}])], [(2, None), (3, [])]]


def _read(path: Path) -> list[tuple[object, ...]]:
    with connect() as database:
        return database.execute("FROM read_parquet(?)", [str(path)]).fetchall()


def test_blocks_become_one_file(tmp_path: Path) -> None:
    out = tmp_path / "it's.parquet"
    out.write_text("old")
    write_parquet(out, _COLUMNS, _BLOCKS)
    assert _read(out) == [(1, [{"x": 1.5}]), (2, None), (3, [])]
    assert list(tmp_path.iterdir()) == [out]


def test_bytes_are_the_same_table(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    out.write_bytes(parquet_bytes(_COLUMNS, _BLOCKS))
    assert len(_read(out)) == 3


def test_a_missing_folder_and_a_folder_are_misuse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        write_parquet(tmp_path / "none" / "a.parquet", _COLUMNS, _BLOCKS)
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        write_parquet(tmp_path / "a.parquet", _COLUMNS, _BLOCKS)
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_what_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrainmarkError, match="as Parquet"):
        write_parquet(tmp_path / "a.parquet", [("a", "NO_SUCH_TYPE")], [])
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_rows_come_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    out.write_text("old")

    def blocks() -> object:
        yield [(1, None)]
        raise TrainmarkError("stopped")

    with pytest.raises(TrainmarkError, match="stopped"):
        write_parquet(out, _COLUMNS, blocks())  # type: ignore[arg-type]
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]
