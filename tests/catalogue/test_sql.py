import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue import record, sql
from trainmark.catalogue.sql import asked
from trainmark.catalogue.sql_tables import TABLES, named_in
from trainmark.types import TrainmarkError, UsageError

_ENDLESS = "SELECT count(*) FROM range(10000000) a(i), range(1000000) b(j) WHERE i * j % 7 = 3"


def _rows(statement: str, **options: Any) -> list[tuple[Any, ...]]:
    with asked(statement, **options) as answer:
        return [row for block in answer.blocks for row in block]


def test_each_table_has_the_columns_that_are_described() -> None:
    for name, table in TABLES.items():
        with asked(f"FROM {name} LIMIT 1") as answer:
            assert [c for c, _ in answer.columns] == [c.name for c in table.columns()]
            kinds = [kind.replace('"', "") for _, kind in answer.columns]
            assert kinds == [column.kind for column in table.columns()]
            assert len([row for block in answer.blocks for row in block]) == 1


def test_every_column_has_a_meaning() -> None:
    lacking = [
        f"{table.name}.{column.name}"
        for table in TABLES.values()
        for column in table.columns()
        if not column.meaning.strip()
    ]
    assert lacking == []


def test_results_join_runs_and_hardware() -> None:
    ((minutes, runs, watts),) = _rows(
        "SELECT any_value(r.minutes), count(u.minutes), any_value(h.watts) FROM results r "
        "JOIN runs u ON u.result_id = r.id JOIN hardware h ON h.accelerator = r.accelerator "
        "WHERE r.system = 'dgxa100_ngc22.04_mxnet' AND r.benchmark = 'resnet' AND r.round = '2.0'"
    )
    assert minutes == pytest.approx(28.685, abs=0.01)
    assert (runs, watts) == (5, 400)


def test_own_results_are_there(tmp_path: Path) -> None:
    record(own_result(), (), tmp_path)
    found = _rows("SELECT id FROM results WHERE origin = 'own'", where=tmp_path)
    assert found == [("own/1",)]


@pytest.mark.parametrize(
    "statement",
    [
        "COPY results TO '{0}/x.csv'",
        "COPY (SELECT 1) TO '{0}/x.parquet' (FORMAT parquet)",
        "ATTACH '{0}/x.db'",
        "EXPORT DATABASE '{0}/x'",
        "INSTALL httpfs",
        "LOAD json",
        "PRAGMA enable_profiling",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "CREATE TABLE x AS SELECT 1",
        "DROP TABLE results",
        "DELETE FROM results",
        "UPDATE results SET minutes = 1",
        "INSERT INTO results (id) VALUES ('x')",
        "CALL pragma_version()",
        "PREPARE x AS SELECT 1",
        "CHECKPOINT",
        "VACUUM",
        "USE memory",
    ],
)
def test_what_is_no_reading_is_refused(statement: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="for reading only"):
        _rows(statement.format(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{0}')",
        "SELECT * FROM read_text('{0}')",
        "SELECT * FROM read_blob('{0}')",
        "SELECT * FROM read_parquet('{0}')",
        "SELECT * FROM parquet_metadata('{0}')",
        "SELECT * FROM glob('{0}*')",
        "SELECT * FROM '{0}'",
        "SELECT * FROM read_csv('https://example.org/a.csv')",
        "SELECT * FROM sniff_csv('{0}')",
        "SELECT * FROM query('SELECT * FROM read_text(''{0}'')')",
        "SELECT * FROM query_table('{0}')",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}'",
        "SELECT getenv('HOME')",
        "SELECT * FROM statement",
        "SELECT * FROM duckdb_secrets()",
    ],
)
def test_no_file_network_or_variable_is_reached(statement: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("name\nvalue\n")
    with pytest.raises(UsageError) as caught:
        _rows(statement.format(file))
    assert "value\n" not in caught.value.message
    assert file.read_text() == "name\nvalue\n"


def test_nothing_is_opened_to_reading_beside_the_database() -> None:
    names = "('allowed_directories', 'allowed_paths', 'temp_directory', 'enable_external_access')"
    found = _rows(f"SELECT name, value FROM duckdb_settings() WHERE name IN {names} ORDER BY 1")
    assert found == [
        ("allowed_directories", "[]"),
        ("allowed_paths", "[]"),
        ("enable_external_access", "false"),
        ("temp_directory", ""),
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT nme FROM results", 'column "nme" not found'),
        ("SELECT 1 FROM reslts", "reslts does not exist"),
        ("SELEC 1", "syntax error"),
        ("SELECT 'a'::INTEGER FROM results", "Could not convert"),
        ("SELECT error('said by ' || 'it') FROM range(5000)", "said by it"),
        ("SELECT ?", "parameters"),
        ("", "there is no statement"),
        ("-- nothing", "there is no statement"),
        ("SELECT 1; SELECT 2", "these are 2 statements"),
        ("SELECT \udc80", "LINE 1"),
    ],
)
def test_a_mistake_is_told_with_what_there_is(statement: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        _rows(statement)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_mistake_has_its_place_and_the_columns() -> None:
    with pytest.raises(UsageError) as caught:
        _rows("SELECT round,\n nme FROM results")
    assert "LINE 2:  nme FROM results\n" in caught.value.message
    assert "  runs: result_id, run_index, source," in caught.value.hint


def test_the_columns_are_told_where_one_is_not_known_and_not_else() -> None:
    for statement in ("SELEC 1", "FROM read_text('/etc/hostname')"):
        with pytest.raises(UsageError) as caught:
            _rows(statement)
        assert caught.value.hint.count("\n") == 0


def test_rows_come_a_block_at_a_time() -> None:
    with asked("FROM range(50000000)") as answer:
        assert next(answer.blocks)[:2] == [(0,), (1,)]
    assert threading.active_count() == 1


def test_a_time_limit_ends_a_statement() -> None:
    began = time.monotonic()
    with pytest.raises(TrainmarkError, match=r"stopped after 0\.3 seconds") as caught:
        _rows(_ENDLESS, seconds=0.3)
    assert caught.value.exit_code == 1
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("seconds", [None, float("inf"), float("nan"), 1e300])
def test_a_limit_that_is_none(seconds: float | None) -> None:
    assert _rows("SELECT 1", seconds=seconds) == [(1,)]


def test_a_reader_that_takes_its_time_is_not_counted() -> None:
    with asked("FROM range(10000)", seconds=1.0) as answer:
        for _ in answer.blocks:
            time.sleep(0.3)


def test_ctrl_c_ends_a_statement() -> None:
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _rows(_ENDLESS)
    timer.join()
    assert threading.active_count() == 1


def test_too_much_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MEMORY", "100MB")
    with pytest.raises(TrainmarkError, match="more than 100MB of memory") as caught:
        _rows("SELECT list(i) FROM range(40000000) t(i)")
    assert caught.value.exit_code == 1


def test_what_duckdb_does_not_count_is_limited_too() -> None:
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(TrainmarkError, match="more than 2GB of memory") as caught:
        _rows("SELECT repeat('x', 4000000000)")
    assert caught.value.exit_code == 1
    assert resource.getrlimit(resource.RLIMIT_AS) == limits


def test_a_long_call_of_a_function_does_not_hold_the_end_up() -> None:
    statement = "SELECT length(regexp_replace(repeat('ab', 100000000), 'a', 'b', 'g'))"  # 20 s
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "trainmark", "sql", "--timeout", "0.5", statement],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "stopped after 0.5 seconds" in done.stderr
    assert time.monotonic() - began < 12


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("SELECT 1", set()),
        ("SELECT count(*) FROM RESULTS", {"results"}),
        ("FROM query_table('ru' || 'ns')", set(TABLES)),
        ("SHOW TABLES", set(TABLES)),
        ("SELECT * FROM information_schema.tables", set(TABLES)),
        ("FROM hardware_figures", {"hardware", "hardware_figures"}),
    ],
)
def test_only_tables_that_may_be_read_are_filled(statement: str, names: set[str]) -> None:
    assert named_in(statement) == names


def test_a_table_without_its_name_is_found() -> None:
    assert _rows("SELECT count(*) > 20000 FROM query_table('ru' || 'ns')") == [(True,)]
    assert {name for name, *_ in _rows("SHOW TABLES")} == set(TABLES)
