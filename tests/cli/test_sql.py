import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from tests.cli.calls import Call, calls
from tests.cli.commands import COMMAND
from trainmark.catalogue import record
from trainmark.catalogue.sql_tables import TABLES
from trainmark.catalogue.store import connect


@pytest.fixture
def trainmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""
    return calls("sql", monkeypatch, capsys)


def test_a_table(trainmark: Call) -> None:
    status, out, err = trainmark(
        "SELECT benchmark, count(*) AS n, NULL AS nothing, '' AS empty FROM results "
        "WHERE round = '0.5' AND benchmark IN ('ncf', 'ssd') GROUP BY ALL ORDER BY ALL"
    )
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["benchmark", "n", "nothing", "empty"]
    assert lines[1].split()[::2] == ["ncf", "NULL"]
    assert lines[-1] == "2 rows"


def test_a_long_table_has_its_heading_again_with_each_block(trainmark: Call) -> None:
    _, out, _ = trainmark("SELECT i AS number FROM range(4500) t(i)")
    lines = out.splitlines()
    assert lines.count("number") == 3
    assert len(lines) == 4500 + 3 + 2
    assert lines[-1] == "4,500 rows"


def test_no_rows_have_a_heading(trainmark: Call) -> None:
    statement = "SELECT 1 AS one, 'x' AS two LIMIT 0"
    assert trainmark(statement) == (0, "one  two\n\n0 rows\n", "")
    assert trainmark(statement, "--format", "csv") == (0, "one,two\n", "")
    _, out, _ = trainmark(statement, "--json")
    assert json.loads(out)["rows"] == []


def test_csv(trainmark: Call) -> None:
    _, out, _ = trainmark(
        "SELECT 1.5 AS a, 2 AS a, NULL AS n, [1, 2] AS l, {'x': 'y'} AS s, 3.0::DOUBLE AS d",
        "--format",
        "csv",
    )
    assert list(csv.reader(io.StringIO(out))) == [
        ["a", "a_2", "n", "l", "s", "d"],
        ["1.5", "2", "", "[1, 2]", '{"x": "y"}', "3"],
    ]


def test_json(trainmark: Call) -> None:
    _, out, _ = trainmark(
        "SELECT i, 'nan'::DOUBLE AS nan, 1.25 AS d, DATE '2020-01-02' AS day, 'ab'::BLOB AS b, "
        "{'x': [1.5]} AS s, i AS I FROM range(2) t(i)",
        "--json",
    )
    found = json.loads(out)
    assert [column["name"] for column in found["columns"]] == [
        *("i", "nan", "d", "day", "b", "s"),
        "I_2",
    ]
    assert found["columns"][0]["type"] == "BIGINT"
    first, second = found["rows"]
    assert first == {
        "i": 0,
        "nan": None,
        "d": 1.25,
        "day": "2020-01-02",
        "b": "6162",
        "s": {"x": [1.5]},
        "I_2": 0,
    }
    assert second["i"] == 1


def test_parquet(trainmark: Call, tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    statement = "SELECT id, evaluations, 1 AS a, 2 AS A, NULL AS n FROM runs JOIN results r "
    statement += "ON r.id = result_id WHERE r.round = '0.5' AND r.benchmark = 'ssd'"
    assert trainmark(statement, "--format", "parquet", "--out", out) == (0, "", "")
    with connect() as database:
        found = database.execute("FROM read_parquet(?)", [str(out)])
        assert [c[0] for c in found.description or ()] == ["id", "evaluations", "a", "A_2", "n"]
        assert found.fetchall()


def test_hostile_text_is_harmless(trainmark: Call, tmp_path: Path) -> None:
    hostile = "\x1b]0;x\x07name\r\n\u202e"
    record(own_result(system=hostile, raw={hostile: hostile}), (), tmp_path)
    statement = 'SELECT system, raw, [system] AS l, system AS "a\x1b" FROM results '
    for style in ("table", "csv", "json"):
        status, out, _ = trainmark(
            statement + "WHERE origin = 'own'", "--catalogue", tmp_path, "--format", style
        )
        assert status == 0
        assert "name" in out
        assert not {c for c in out if not c.isprintable()} - {"\n"}


def test_without_a_statement_every_column_is_explained(trainmark: Call) -> None:
    status, out, _ = trainmark()
    assert status == 0
    for table in TABLES.values():
        assert f"{table.name}: {table.meaning}" in out
        assert all(f"\n  {column.name} " in out for column in table.columns())
    _, as_json, _ = trainmark("--json")
    found = json.loads(as_json)
    assert list(found) == list(TABLES)
    assert all(c["meaning"] for table in found.values() for c in table["columns"])


def test_a_plan_is_drawn(trainmark: Call) -> None:
    status, out, _ = trainmark("EXPLAIN SELECT count(*) FROM results")
    assert status == 0
    assert len(out.splitlines()) >= 3
    assert "\N{REPLACEMENT CHARACTER}" not in out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("SELECT nme FROM results",), 2, "nme"),
        (("DROP TABLE results",), 2, "for reading only"),
        (("SELECT 1", "--out", "x"), 2, "--out is for Parquet"),
        (("",), 2, "there is no statement"),
        (("SELECT count(*) FROM range(9999999999)", "--timeout", "0.05"), 1, "was stopped after"),
        (("SELECT 'a'::INT FROM results", "--format", "csv"), 2, "Could not convert"),
        (("SELECT error('x') FROM results", "--json"), 2, "x"),
    ],
)
def test_mistakes_are_told(
    trainmark: Call, arguments: tuple[str, ...], status: int, message: str
) -> None:
    found, out, err = trainmark(*arguments)
    assert (found, out) == (status, "")
    assert message in err
    assert "Traceback" not in err


def _start(*arguments: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*COMMAND, "sql", *arguments], input=given, capture_output=True, timeout=100, check=False
    )


def test_a_statement_from_standard_input() -> None:
    done = _start("-", "--format", "csv", given=b"SELECT 1 AS one;\n-- the end \xff\n")
    assert (done.returncode, done.stdout) == (0, b"one\n1\n")
    done = _start("-", given=b"SELECT '" + b"x" * 1_000_000 + b"'")
    assert done.returncode == 2
    assert b"longer than 1,000,000 bytes" in done.stderr


def test_parquet_to_a_pipe_and_a_reader_that_leaves() -> None:
    done = _start("SELECT 1 AS one", "--format", "parquet")
    assert done.stdout.startswith(b"PAR1")
    process = subprocess.Popen(
        [*COMMAND, "sql", "FROM range(1000000000)", "--format", "csv"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"range\n"
    process.stdout.close()
    assert process.wait(timeout=60) == 141


def test_it_starts_without_frameworks_and_rules() -> None:
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from trainmark.cli.sql import command\n"
        "done = CliRunner().invoke(command, ['SELECT count(*) FROM results'])\n"
        "assert done.exit_code == 0, done.output\n"
        "heavy = {'torch', 'numpy', 'pandas', 'rich', 'duckdb', 'trainmark.rules'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
