"""Columns, derived numbers, formats and what does not go together."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calls import Call, calls
from tests.cli.commands import COMMAND
from trainmark.catalogue import Filters, query
from trainmark.catalogue.schema import RESULT_COLUMNS
from trainmark.catalogue.store import connect
from trainmark.cli.parquet import send
from trainmark.cli.results_columns import DEFAULT, Deriving, chosen, described, plain
from trainmark.types import UsageError

_POD16 = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"


@pytest.fixture
def trainmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""
    return calls("results", monkeypatch, capsys)


def test_every_field_and_every_short_name_is_described() -> None:
    found = dict(described())
    assert {column.name for column in RESULT_COLUMNS} <= set(found)
    assert {"chips", "per_dollar", "run_cost_usd"} <= set(found)
    assert all(found.values())


def test_every_described_column_can_be_chosen_and_has_a_value_of_its_type() -> None:
    (result,) = query(Filters(ids=(_POD16,)))
    deriving = Deriving(years=3)
    for choice in chosen(",".join(name for name, _ in described())):
        value = plain(result, choice, deriving)
        if value is not None and choice.kind in ("DOUBLE", "INTEGER"):
            assert isinstance(value, int | float), choice
    assert [choice.name for choice in chosen(None)] == list(DEFAULT)


@pytest.mark.parametrize("text", ["", " , ", "minutes,minutes", "speed"])
def test_wrong_columns_are_misuse(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(text)
    assert caught.value.hint


def test_chosen_columns_stand_in_their_order(trainmark: Call) -> None:
    asked = ("--benchmark", "resnet", "--round", "2.0", "--submitter", "graphcore")
    _, out, _ = trainmark(*asked, "--columns", "id,chips,minutes", "--limit", "1")
    lines = out.splitlines()
    assert lines[1].split() == ["id", "chips", "minutes"]
    assert lines[2].split() == ["v2.0/Graphcore/ipu-pod256-TF1-closed/resnet", "256", "2.672"]
    _, out, _ = trainmark(*asked, "--columns", "chips,samples", "--format", "csv", "--limit", "0")
    assert {row["chips"] for row in csv.DictReader(io.StringIO(out))} == {"16", "64", "128", "256"}
    _, out, _ = trainmark(*asked, "--columns", "id,doubts,raw", "--json", "--limit", "1")
    (row,) = json.loads(out)["results"]
    assert list(row) == ["id", "doubts", "raw"]
    assert row["raw"]["accelerator"] == "Graphcore Bow IPU"


def test_help_lists_the_columns(trainmark: Call) -> None:
    status, out, _ = trainmark("--columns", "help")
    assert status == 0
    assert "dollar_minutes " in out
    assert "global_batch_size" in out
    _, out, _ = trainmark("--columns", "help", "--json")
    assert json.loads(out) == dict(described())


def test_sorting_by_any_column(trainmark: Call) -> None:
    asked = ("--benchmark", "bert", "--round", "2.0", "--limit", "0", "--json")
    for sort in ("accelerators", "chips", "framework_version", "score_basis"):
        status, out, _ = trainmark(*asked, "--sort", sort, "--columns", "id,accelerators")
        assert status == 0
    _, out, _ = trainmark(*asked, "--sort", "chips", "--reverse", "--columns", "chips")
    counts = [row["chips"] for row in json.loads(out)["results"]]
    assert counts == sorted(counts, reverse=True)


def test_sorting_by_a_derived_number(trainmark: Call) -> None:
    asked = ("--benchmark", "resnet", "--round", "1.0-2.0", "--submitter", "graphcore", "--json")
    columns = ("--columns", "id,per_dollar")
    _, out, _ = trainmark(*asked, "--sort", "per_dollar", *columns, "--limit", "0")
    rows = json.loads(out)["results"]
    known = [row["per_dollar"] for row in rows if row["per_dollar"] is not None]
    assert known == sorted(known)
    assert rows[0]["id"] == _POD16
    assert known[0] == pytest.approx(19.635 * 149_995, rel=1e-3)
    assert [row["per_dollar"] for row in rows[len(known) :]] == [None] * (len(rows) - len(known))
    _, out, _ = trainmark(*asked, "--sort", "dollar_minutes", "--reverse", *columns, "--limit", "1")
    found = json.loads(out)
    assert found["total"] == len(rows)
    assert found["results"][0]["per_dollar"] == known[-1]


def test_derived_numbers_say_that_they_are_not_official(trainmark: Call) -> None:
    asked = ("--benchmark", "resnet", "--round", "2.0", "--submitter", "graphcore")
    _, out, _ = trainmark(*asked, "--columns", "id,per_dollar,per_rack_unit", "--explain")
    assert "Derived numbers are not official; less is better." in out
    assert "per_dollar is not known of 3 of 4 results: " in out
    assert "no public list price of Bow" in out
    assert "x 149,995 USD" in out
    assert "source: " in out
    _, out, _ = trainmark(*asked, "--columns", "id,per_dollar", "--explain", "--json")
    rows = {row["id"]: row for row in json.loads(out)["results"]}
    assert "149,995" in rows[_POD16]["derived"]["dollar_minutes"]["formula"]


def test_the_cost_of_a_run(trainmark: Call) -> None:
    asked = ("--benchmark", "resnet", "--round", "2.0", "--system", "bow-pod16", "--json")
    cost = ("--columns", "run_cost")
    _, out, _ = trainmark(*asked, *cost)
    assert json.loads(out)["results"][0]["run_cost"] is None
    _, out, _ = trainmark(*asked, *cost, "--years", "3")
    expected = 149_995 / (3 * 8766 * 60) * 19.63516
    assert json.loads(out)["results"][0]["run_cost"] == pytest.approx(expected, rel=1e-5)
    status, out, err = trainmark(*asked, *cost, "--price", "nope")
    assert (status, out) == (2, "")
    assert "there is no price 'nope'" in err


def test_own_prices_count(trainmark: Call, tmp_path: Path) -> None:
    status, out, err = trainmark("--columns", "per_dollar", "--prices", tmp_path / "none.toml")
    assert (status, out) == (2, "")
    assert "none.toml" in err


def test_parquet(trainmark: Call, tmp_path: Path) -> None:
    out = tmp_path / "some.parquet"
    asked = ("--benchmark", "bert", "--round", "2.0", "--limit", "0", "--format", "parquet")
    assert trainmark(*asked, "--out", out) == (0, "", "")
    with connect() as database:
        relation = database.execute("FROM read_parquet(?)", [str(out)])
        assert [c[0] for c in relation.description or ()] == [c.name for c in RESULT_COLUMNS]
        rows = relation.fetchall()
    assert len(rows) == len(query(Filters(benchmark="bert", rounds=("2.0",))))
    assert trainmark(*asked, "--columns", "chips,per_accelerator", "--out", out)[0] == 0
    with connect() as database:
        kinds = database.execute("DESCRIBE FROM read_parquet(?)", [str(out)]).fetchall()
    assert [row[:2] for row in kinds] == [("chips", "INTEGER"), ("per_accelerator", "DOUBLE")]


def test_parquet_to_a_pipe() -> None:
    done = subprocess.run(
        [*COMMAND, "results", "--limit", "1", "--format", "parquet"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"PAR1")
    assert done.stdout.endswith(b"PAR1")


def test_parquet_is_not_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(UsageError, match="not for a terminal"):
        send([("a", "INTEGER")], [], None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "x"), "--out is for Parquet"),
        ((_POD16, "--runs"), "ID and --runs do not go together"),
        (("--runs", "--quality"), "--runs and --quality do not go together"),
        (("--runs", "--columns", "id"), "--runs and --columns do not go together"),
        ((_POD16, "--round", "2.0"), "an ID names one result"),
        ((_POD16, "--format", "csv"), "ID has no format csv"),
        (("--quality", "--format", "parquet"), "--quality has no format parquet"),
    ],
)
def test_what_does_not_go_together(
    trainmark: Call, arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = trainmark(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_rounds_that_do_not_compare_are_told(trainmark: Call) -> None:
    asked = ("--benchmark", "resnet", "--submitter", "google", "--limit", "0")
    _, out, _ = trainmark(*asked, "--round", "0.5,0.6")
    assert "Not all of these compare: resnet of round 0.5" in out
    _, out, _ = trainmark(*asked, "--round", "0.6,0.7")
    assert "Not all of these compare" not in out
    _, out, _ = trainmark(*asked, "--round", "0.5,0.6", "--sort", "chips")
    assert "Not all of these compare" not in out


def test_one_task_under_two_names_compares(trainmark: Call) -> None:
    asked = ("--task", "retinanet", "--limit", "0")
    _, out, _ = trainmark(*asked, "--round", "4.1,5.0")
    assert "Benchmark: retinanet and ssd. Time to train in minutes." in out
    assert "cannot be compared" not in out
    _, out, _ = trainmark("--benchmark", "ssd,retinanet", "--round", "1.1,2.0", "--limit", "0")
    assert "Minutes of different benchmarks cannot be compared" in out


def test_the_quality_of_the_catalogue(trainmark: Call) -> None:
    status, out, _ = trainmark("--quality", "--round", "1.0")
    assert status == 0
    assert "Known of them" in out
    assert "..." not in out  # in a pipe nothing is cut
    _, as_json, _ = trainmark("--quality", "--round", "1.0", "--json")
    assert json.loads(as_json)["results"] == len(query(Filters(rounds=("1.0",))))
