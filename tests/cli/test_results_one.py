"""One result in full, and the runs of several."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from tests.cli.calls import Call, calls
from trainmark.catalogue import Filters, query, record, runs_of
from trainmark.catalogue.schema import RUN_COLUMNS
from trainmark.catalogue.store import connect
from trainmark.cli import results_runs
from trainmark.cli.results_one import address
from trainmark.types import Doubt, Run, Target

_POD16 = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"
_HOSTILE = "\x1b]0;x\x07[red]name[/]\r\n\u202ethe end"


@pytest.fixture
def trainmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""
    return calls("results", monkeypatch, capsys)


def test_all_that_is_known_of_a_result(trainmark: Call) -> None:
    status, out, err = trainmark(_POD16)
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == _POD16
    assert lines[1] == "Published result: verified by MLCommons"
    for line in (
        "minutes 19.63516",
        "accelerator Bow-IPU",
        "energy_joules unknown",
        "Runs",
        "As written",
        "Published at",
    ):
        assert line in lines
    runs = [line for line in lines if line.endswith(".txt")]
    assert len(runs) == 5
    assert runs[0].startswith("0 19.646 success 0.7599 48,684,346 3,520")
    assert "x 149,995 USD" in out
    assert lines[-1].startswith("https://github.com/mlcommons/training_results_v2.0/tree/")
    assert lines[-1].endswith("/Graphcore/results/ipu-pod16-TF1-closed/resnet")


def test_an_id_may_be_written_in_another_way(trainmark: Call) -> None:
    status, out, _ = trainmark(_POD16.lower().removeprefix("v"))
    assert status == 0
    assert out.startswith(_POD16)


def test_as_json(trainmark: Call) -> None:
    _, out, _ = trainmark(_POD16, "--json")
    found = json.loads(out)
    (result,) = query(Filters(ids=(_POD16,)))
    assert found["result"]["minutes"] == result.minutes
    assert found["runs"] == json.loads(json.dumps([run.to_dict() for run in runs_of(result)]))
    assert found["address"] == address(result)
    assert found["derived"]["dollar_minutes"]["value"] is not None


def test_an_unknown_id_names_the_nearest(trainmark: Call) -> None:
    status, out, err = trainmark("v2.0/Graphcore/pod16/resnet")
    assert (status, out) == (2, "")
    assert "there is no result 'v2.0/Graphcore/pod16/resnet'" in err
    assert "\n    v2.0/Graphcore/ipu-pod" in err
    status, _, err = trainmark("\udcff\x1b")
    assert status == 2
    assert "\x1b" not in err


def test_a_hostile_own_result_is_shown_as_text(trainmark: Call, tmp_path: Path) -> None:
    result = own_result(
        id="own/x",
        system=_HOSTILE,
        framework=_HOSTILE,
        software={_HOSTILE: _HOSTILE},
        raw={_HOSTILE: _HOSTILE},
        doubts=(Doubt(kind=_HOSTILE, text=_HOSTILE, resolved=False),),
        repository="evil/../../x",
        commit="0" * 40,
    )
    record(result, (Run(source=_HOSTILE, status=_HOSTILE),), tmp_path)
    for options in ((), ("--json",)):
        status, out, _ = trainmark("own/x", "--catalogue", tmp_path, *options)
        assert status == 0
        assert not {c for c in out if not c.isprintable()} - {"\n"}
    status, out, _ = trainmark("own/x", "--catalogue", tmp_path)
    assert "(not resolved)" in out
    assert "no run_stop" not in out
    assert "github" not in out
    assert "recorded" in out


def test_wrong_own_prices_do_not_hide_a_result(
    trainmark: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trainmark").mkdir()
    (tmp_path / "trainmark" / "prices.toml").write_text("not = [toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    status, out, err = trainmark(_POD16)
    assert status == 0
    assert "19.63516" in out
    assert "nothing is derived" in err
    assert "prices.toml" in err
    status, _, err = trainmark(_POD16, "--prices", tmp_path / "trainmark" / "prices.toml")
    assert status == 2


@pytest.mark.parametrize(
    ("repository", "commit", "path", "expected"),
    [
        ("a/b", "0" * 40, "x y/#1", "https://github.com/a/b/tree/" + "0" * 40 + "/x%20y/%231"),
        ("a/b", "main", "x", ""),
        ("", "0" * 40, "x", ""),
        ("a/b/c", "0" * 40, "x", ""),
        ("a/b?x", "0" * 40, "x", ""),
    ],
)
def test_addresses_only_of_what_is_public(
    repository: str, commit: str, path: str, expected: str
) -> None:
    result = own_result(origin="published", repository=repository, commit=commit, path=path)
    assert address(result) == expected
    assert address(own_result(repository=repository, commit=commit, path=path)) == ""


_SOME = ("--runs", "--benchmark", "resnet", "--round", "2.0", "--submitter", "graphcore")


def test_runs_in_a_table(trainmark: Call) -> None:
    status, out, _ = trainmark(*_SOME, "--limit", "2")
    assert status == 0
    assert out.splitlines()[0].split()[:4] == ["result", "run", "minutes", "status"]
    assert "10 runs of 2 results (of " in out
    _, out, _ = trainmark(*_SOME, "--limit", "0")
    assert "(of " not in out


def test_runs_for_programs(trainmark: Call, tmp_path: Path) -> None:
    names = [column.name for column in RUN_COLUMNS]
    _, out, _ = trainmark(*_SOME, "--limit", "1", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == names
    assert json.loads(rows[0]["evaluations"])[0]["quality"] > 0
    _, out, _ = trainmark(*_SOME, "--limit", "1", "--json")
    found = json.loads(out)
    assert [run["run_index"] for run in found["runs"]] == [0, 1, 2, 3, 4]
    assert found["total_results"] > 1
    file = tmp_path / "runs.parquet"
    assert trainmark(*_SOME, "--limit", "1", "--format", "parquet", "--out", file) == (0, "", "")
    with connect() as database:
        stored = database.execute("FROM read_parquet(?)", [str(file)])
        assert [c[0] for c in stored.description or ()] == names
        assert len(stored.fetchall()) == 5


def test_no_runs_of_nothing(trainmark: Call) -> None:
    status, out, err = trainmark("--runs", "--submitter", "nobody")
    assert (status, out) == (1, "")
    assert "no result matches" in err
    _, out, _ = trainmark("--runs", "--submitter", "nobody", "--json")
    assert json.loads(out) == {"total_results": 0, "runs": []}


def test_runs_come_some_results_at_a_time(
    trainmark: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own/1", "own/2"):
        record(own_result(id=name), (Run(source=name), Run(source=name)), tmp_path)
    damaged = next((tmp_path / "runs").iterdir())
    damaged.write_bytes(b"damaged")
    asked = ("--runs", "--catalogue", tmp_path, "--format", "csv", "--limit", "4")
    expected = trainmark(*asked)
    assert expected[0] == 0
    assert expected[2].count(f"{damaged}: ") == 1
    monkeypatch.setattr(results_runs, "_AT_A_TIME", 1)
    assert trainmark(*asked) == expected


def test_a_run_as_data_is_what_its_type_says() -> None:
    (result,) = query(Filters(ids=(_POD16,)))
    for index, run in enumerate(
        [*runs_of(result), Run(source="x", target=Target(metric="a", value=1.0))]
    ):
        found = results_runs._data((result.id, index, run))
        expected = {"result_id": result.id, "run_index": index, **run.to_dict()}
        assert list(found) == list(expected)
        assert json.dumps(found) == json.dumps(expected)
