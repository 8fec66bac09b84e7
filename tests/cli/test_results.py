import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from tests.cli.calls import Call, calls
from trainmark.catalogue import Filters, query, record
from trainmark.catalogue.search import page
from trainmark.cli import plain_table, results_table
from trainmark.cli.results_columns import Deriving, chosen
from trainmark.cli.screen import Screen


@pytest.fixture(autouse=True)
def _no_own_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def trainmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""
    return calls("results", monkeypatch, capsys)


def test_the_table_in_a_pipe_has_every_column_and_no_escapes(trainmark: Call) -> None:
    status, out, err = trainmark(
        "--benchmark", "resnet", "--submitter", "graphcore", "--round", "2.0"
    )
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "Published results: verified by MLCommons"
    assert lines[1] == (
        "minutes round submitter system chips accelerator division category framework batch"
    )
    assert lines[2].startswith("2.672 v2.0 Graphcore Bow-Pod256 256 Bow-IPU closed available")
    assert any(line.startswith("19.64 v2.0 Graphcore Bow-Pod16 16 Bow-IPU") for line in lines)
    assert "Benchmark: resnet. Time to train in minutes." in lines
    assert "\x1b" not in out


def test_the_limit_is_said(trainmark: Call) -> None:
    _, out, _ = trainmark("--benchmark", "resnet", "--limit", "3")
    total = len(query(Filters(benchmark="resnet")))
    assert f"3 of {total} results; --limit 0 shows all." in out
    _, out, _ = trainmark("--benchmark", "resnet", "--limit", "0")
    assert "--limit" not in out
    assert len(out.splitlines()) > total


def test_different_benchmarks_are_not_to_be_compared(trainmark: Call) -> None:
    _, out, _ = trainmark("--round", "2.0", "--limit", "4")
    assert "Minutes of different benchmarks cannot be compared" in out
    assert "benchmark" in out.splitlines()[1]


def test_a_result_without_a_score_and_one_filed_twice_are_explained(trainmark: Call) -> None:
    _, out, _ = trainmark("--round", "1.0", "--limit", "0")
    assert "none: no score; --json says why (score_basis)" in out
    assert "164.4*" in out
    assert "* the same logs are published under another name as well" in out


def test_json(trainmark: Call) -> None:
    for option in (("--json",), ("--format", "json")):
        status, out, _ = trainmark("--chips", "16", "--benchmark", "bert", "--limit", "2", *option)
        found = json.loads(out)
        assert status == 0
        assert found["total"] == len(query_chips())
        assert len(found["results"]) == 2
        first = found["results"][0]
        assert first["accelerators"] == 16
        assert first["label"] == "verified by MLCommons"
        assert first["repository"].startswith("mlcommons/training_results_v")


def query_chips() -> list[object]:
    return [r for r in query() if r.accelerators == 16 and r.benchmark == "bert"]


def test_csv(trainmark: Call) -> None:
    status, out, _ = trainmark("--submitter", "nettrix", "--format", "csv", "--limit", "0")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert {row["submitter"] for row in rows} == {"Nettrix"}
    spaced = next(row for row in rows if row["system"] == "X640 G40_A100_PCIe_NVBridge_mxnet")
    assert float(spaced["minutes"]) == pytest.approx(27.5646, abs=1e-4)
    assert json.loads(spaced["raw"])["submitter"] == "Nettrix"
    assert len(spaced["run_minutes"].split("; ")) == 4


@pytest.mark.parametrize(
    ("chips", "least", "most"),
    [("16", 16, 16), ("16-64", 16, 64), ("2000-", 2000, 10**9), ("-2", 0, 2), ("3,-2", 0, 3)],
)
def test_chips(trainmark: Call, chips: str, least: int, most: int) -> None:
    _, out, _ = trainmark("--chips", chips, "--json", "--limit", "0")
    counts = [r["accelerators"] for r in json.loads(out)["results"]]
    assert counts
    assert all(least <= count <= most for count in counts)


@pytest.mark.parametrize("chips", ["x", "-", "1-2-3", "1e9", "9999999999", "5-3", "\u0663"])
def test_wrong_chips_are_misuse(trainmark: Call, chips: str) -> None:
    status, _, err = trainmark("--chips", chips)
    assert status == 2
    assert "neither a number (16) nor a range" in err


@pytest.mark.parametrize("option", ["--benchmark", "--round", "--submitter", "--system", "--text"])
@pytest.mark.parametrize("value", ["", " ", ","])
def test_an_empty_value_is_misuse(trainmark: Call, option: str, value: str) -> None:
    status, out, err = trainmark(option, value)
    assert (status, out) == (2, "")
    assert "the value is empty" in err


@pytest.mark.parametrize(
    "arguments", [("--explain",), ("--price", "cloud"), ("--years", "3"), ("--date", "2024-01-01")]
)
def test_what_concerns_derived_numbers_needs_one(
    trainmark: Call, arguments: tuple[str, ...]
) -> None:
    status, out, err = trainmark("--limit", "1", *arguments)
    assert (status, out) == (2, "")
    assert f"{arguments[0]} without a derived number" in err
    shown = ("--benchmark", "resnet", "--limit", "1", "--columns", "id,run_cost")
    assert trainmark(*arguments, *shown)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--benchmark", "resnt"), "there is no benchmark 'resnt'\n  Did you mean 'resnet'?"),
        (("--round", "9.9"), "there is no round '9.9'\n  Valid: 0.5, 0.6, 0.7, 1.0, "),
        (("--sort", "speed"), "there is no sort key 'speed'"),
        (("--division", "ajar"), "'ajar' is not one of 'closed', 'open'"),
    ],
)
def test_a_misspelt_name_lists_the_valid_ones(
    trainmark: Call, arguments: tuple[str, ...], message: str
) -> None:
    status, out, err = trainmark(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_no_match_says_what_there_is(trainmark: Call) -> None:
    status, out, err = trainmark("--submitter", "graphcor\x1b[31me", "--round", "1.0")
    assert (status, out) == (1, "")
    assert (
        "no result matches --round 1.0, --submitter graphcor\N{REPLACEMENT CHARACTER}[31me" in err
    )
    assert "--submitter could be Dell, Fujitsu, GIGABYTE, Google, Graphcore" in err


def test_no_match_in_json_is_an_empty_list(trainmark: Call) -> None:
    status, out, err = trainmark("--submitter", "nobody", "--json")
    assert status == 1
    assert json.loads(out) == {"total": 0, "results": []}
    assert "no result matches" in err


def test_no_own_result_yet_says_how_to_make_one(trainmark: Call) -> None:
    status, _, err = trainmark("--origin", "own")
    assert status == 1
    assert "no result matches --origin own" in err
    assert "trainmark run resnet50" in err


def test_own_results_stand_apart_and_are_unverified(trainmark: Call, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    record(own_result(minutes=0.01), (), folder)
    status, out, _ = trainmark("--catalogue", folder, "--limit", "3")
    titles = [line for line in out.splitlines() if "results: " in line]
    assert status == 0
    assert titles == [
        "Own results: unverified; MLPerf procedure, own target",
        "Published results: verified by MLCommons",
    ]
    status, out, _ = trainmark("--catalogue", folder, "--benchmark", "resnet50_desk")
    assert "2026-11-01 10:00" in out
    assert "Published" not in out


def test_a_hostile_own_result_is_harmless(trainmark: Call, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    hostile = "\x1b]0;x\x07[bold red]name[/]\r\n\x9b31m"
    record(own_result(system=hostile, framework=hostile), (), folder)
    for style in ("table", "csv", "json"):
        _, out, _ = trainmark("--catalogue", folder, "--origin", "own", "--format", style)
        assert not {c for c in out if not c.isprintable()} - {"\n"}
        assert "[bold red]name[/]" in out


def test_a_damaged_own_file_is_a_warning(trainmark: Call, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    record(own_result(), (), folder).write_bytes(b"damaged")
    status, out, err = trainmark("--catalogue", folder, "--benchmark", "bert", "--limit", "1")
    assert status == 0
    assert "Published results" in out
    assert err.startswith("trainmark: ")
    assert "this file of the catalogue is left out" in err


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_a_terminal_of_any_width_is_not_overrun(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plain_table, "terminal_width", lambda: width)
    found = page(limit=60)
    results_table.print_tables(found, chosen(None), Deriving(), by_minutes=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert {"minutes", "system", "round"} <= set(lines[1].split())
    assert ("batch" in lines[1]) == (width == 300)


def test_the_verb_needs_no_framework_and_no_rules() -> None:
    """What makes it start fast: only the query layer is loaded."""
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from trainmark.cli.results import command\n"
        "done = CliRunner().invoke(command, ['--limit', '1'])\n"
        "assert done.exit_code == 0, done.output\n"
        "heavy = {'torch', 'numpy', 'pandas', 'plotly', 'mlperf_logging', 'trainmark.rules'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "catalogue.md"
_EXAMPLES = [
    line.split()[2:]
    for line in _DOCUMENT.read_text(encoding="utf-8").splitlines()
    if line.startswith("    trainmark results ")
]


@pytest.mark.parametrize("arguments", _EXAMPLES, ids=" ".join)
def test_the_examples_of_the_document_run(trainmark: Call, arguments: list[str]) -> None:
    status, out, err = trainmark(*arguments)
    if "own" in arguments:
        assert (status, out) == (1, "")
    else:
        assert (status, err) == (0, "")
        assert out


def test_the_document_has_examples() -> None:
    assert _EXAMPLES


def test_a_terminal_without_a_width_has_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert Screen().width == 80
    monkeypatch.setenv("COLUMNS", "43")
    assert Screen().width == 43


def test_no_match_names_the_chips_once_and_the_choices_in_order(trainmark: Call) -> None:
    status, _, err = trainmark("--chips", "5", "--benchmark", "resnet", "--round", "2.0")
    assert status == 1
    assert err.count("--chips 5") == 1
    choices = re.search(r"--chips could be ([0-9, ]+) and", err)
    assert choices is not None
    numbers = [int(number) for number in choices[1].split(",")]
    assert numbers == sorted(numbers)
    _, _, err = trainmark("--chips", "50001-50007,7")
    assert "no result matches --chips 50001-50007 7\n" in err
    _, _, err = trainmark("--chips", "50000-")
    assert "no result matches --chips 50000-\n" in err


def test_damaged_own_results_are_named_once_and_not_called_nothing(
    trainmark: Call, tmp_path: Path
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "bad.parquet").write_text("no parquet")
    status, out, err = trainmark("--catalogue", tmp_path, "--origin", "own")
    assert (status, out) == (1, "")
    assert err.count("bad.parquet: ") == 1
    assert "Nothing was recorded" not in err
    assert "damaged" in err


def test_csv_without_a_match_has_its_heading(trainmark: Call) -> None:
    _, heading, _ = trainmark("--limit", "1", "--format", "csv")
    status, out, _ = trainmark("--submitter", "nobody", "--format", "csv")
    assert status == 1
    assert out == heading.splitlines()[0] + "\n"


def test_a_filter_that_is_no_utf8_matches_nothing(trainmark: Call) -> None:
    status, _, err = trainmark("--submitter", "a\udcff")
    assert status == 1
    assert "no result matches --submitter a\ufffd\n" in err
