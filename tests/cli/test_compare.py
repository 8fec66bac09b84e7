"""``trainmark compare`` as a user sees it."""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.catalogue.repositories import own_result
from tests.cli.commands import trainmark
from tests.logs import RunShape, write_folder, write_resnet
from trainmark.catalogue import record
from trainmark.cli import compare_text
from trainmark.cli.compare import command
from trainmark.cli.told import told
from trainmark.types import TrainmarkError, UsageError

_BOW = "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"
_DGX = "v2.0/NVIDIA/dgxa100_ngc22.04_mxnet/resnet"
_POPART = "v2.0/Graphcore/ipu-pod16-POPART-closed/bert"
_EARLIER = "v1.1/Graphcore/ipu-pod16-POPART-closed/bert"
_PADDLE = "v2.0/Baidu/IPU_POD16_PaddlePaddle/bert"


@pytest.fixture(autouse=True)
def _no_own_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def _invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)], catch_exceptions=False)


def _run(*arguments: str | Path) -> str:
    result = _invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def _line(text: str, beginning: str) -> str:
    (line,) = [line for line in text.splitlines() if line.startswith(beginning)]
    return " ".join(line.split())


def test_two_sides_stand_beside_each_other() -> None:
    text = _run(_BOW, _DGX)
    assert text.startswith("resnet (ResNet-50, 75.9 %, rounds 0.6 to 4.0): time to train")
    assert _line(text, "minutes  ") == "minutes 19.635 28.685"
    assert _line(text, "accelerators  ") == "accelerators 16 Bow-IPU 8 A100-SXM-80GB"
    assert _line(text, "standing  ") == "standing verified by MLCommons verified by MLCommons"
    assert _line(text, "runs  ") == "runs 5 5, 1 of them failed"
    assert "A takes 31.5% less time than B: it is 1.461 times as fast [1.45" in text
    assert "(46.1% more speed). That is beyond the noise of these runs" in text
    assert text.index("A takes 31.5%") < text.index("accelerators  ")
    assert "interval against B: 25% of the draws have too many failed runs" in text
    assert "Why: A needs 1.086 times the samples of B and trains 1.586 times as many" in text
    assert _line(text, "per accelerator  ").startswith("per accelerator 0.730 [")
    assert _line(text, "per dollar of list price  ").startswith("per dollar of list price 2.922 [")
    assert _line(text, "per rack unit  ").startswith("per rack unit 1.753 [")
    assert "Not known, so not compared: rated power of A; measured energy of A, B (" in text
    assert text.count("Not ") == 1
    assert "different numbers of accelerators" in text
    assert "stated by Graphcore" in text
    assert "derived by trainmark, not official" in text
    assert "dollar of running cost" not in text


def test_turned_round_the_first_side_is_slower() -> None:
    text = _run(_DGX, _BOW)
    assert "A takes 46.1% more time than B: it is 0.685 times as fast [0.68" in text
    assert "(31.5% less speed)" in text


def test_three_sides_are_columns_and_noise_is_called_so() -> None:
    text = _run(_POPART, _EARLIER, _PADDLE)
    assert _line(text, "minutes  ") == "minutes 20.654 32.697 20.810"
    assert "A takes 36.8% less time than B" in text
    (noise,) = [line for line in text.splitlines() if line.startswith("A takes 0.7% less")]
    assert "within the noise of these runs (A is faster in 6" in noise
    assert text.count("  Why: ") == 2


def test_more_sides_are_rows() -> None:
    text = _run(_POPART, _EARLIER, _PADDLE, "nvidia dgxa100 v2.0 chips=8")
    rows = [line.split() for line in text.splitlines() if line[:3] in ("A  ", "B  ", "C  ", "D  ")]
    assert [row[0] for row in rows] == ["A", "B", "C", "D", "B", "C", "D"]
    assert [row[1] for row in rows[:4]] == ["20.654", "32.697", "20.810", "18.442"]
    assert [row[1] for row in rows[4:]] == ["1.583", "1.008", "0.893"]
    assert "A takes 12.0% more time than D" in text


@pytest.mark.parametrize("sides", [2, 3, 4])
def test_a_terminal_of_80_columns_holds_every_line(
    monkeypatch: pytest.MonkeyPatch, sides: int
) -> None:
    monkeypatch.setattr(compare_text, "terminal_width", lambda: 80)
    given = (_POPART, _EARLIER, _PADDLE, "nvidia dgxa100 v2.0 chips=8")[:sides]
    lines = _run(*given).splitlines()
    assert max(map(len, lines)) <= 80
    monkeypatch.setattr(compare_text, "terminal_width", lambda: None)
    assert max(map(len, _run(*given).splitlines())) > 80


def test_explain_shows_each_formula_with_source_date_basis_and_confidence() -> None:
    text = _run(_BOW, _DGX, "--explain")
    assert "A minutes: official formula: 5 runs; mean of 3" in text
    assert "speed = minutes of B / minutes of A = 28.685 / 19.635 = 1.461" in text
    assert "less time = 1 - A / B = 31.5%" in text
    assert "A  19.63516 min x 149,995 USD = 2,945,175 USD-minutes" in text
    assert "B  28.68538 min x 300,000 USD = 8,605,613 USD-minutes" in text
    assert "B / A = 2.922" in text
    assert "source: mlcommons/training_results_v2.0, Graphcore/results/ipu-pod16" in text
    (source,) = {line for line in text.splitlines() if "Raising the bar" in line}
    assert "2021-06-30" in source
    assert "confidence medium]" in source


def test_json_has_every_number() -> None:
    found = json.loads(_run(_BOW, _DGX, "--json"))
    (versus,) = found["versus"]
    assert [side["result"]["id"] for side in versus["sides"]] == [_BOW, _DGX]
    (against,) = versus["against"]
    assert against["less_time"] == pytest.approx(0.3155, abs=1e-4)
    assert against["time"]["within_noise"] is False
    measures = {one["name"]: one["against"] for one in against["measures"]}
    assert measures["dollar_minutes"]["value"] == pytest.approx(2.922, abs=1e-3)
    assert measures["energy_joules"]["value"] is None


def test_measured_energy_is_shown_beside_the_minutes(tmp_path: Path) -> None:
    record(own_result(id="own/1", energy_joules=3.25e6), (), tmp_path)
    record(own_result(id="own/2"), (), tmp_path)
    text = _run("own:own/1", "own:own/2", "--catalogue", tmp_path)
    assert _line(text, "measured energy  ") == "measured energy 3.25 MJ unknown"
    assert "measured energy of B" in text
    explained = _run("own:own/1", "own:own/2", "--catalogue", tmp_path, "--explain")
    assert "Not per joule. B: no power measurement was submitted." in explained
    assert not [line for line in _run(_BOW, _DGX).splitlines() if line.startswith("measured")]


def test_rated_watts_never_stand_for_measured_power() -> None:
    text = _run(_DGX, "v1.0/NVIDIA/dgxa100_ngc21.05_mxnet/resnet")
    assert _line(text, "per rated watt of the accelerators  ")
    assert "per rated watt of the system: A, B: upper bound by datasheet, not measured" in text
    assert "per rated watt of the accelerators: A, B: datasheet, not measured; hosts," in text


def test_the_cost_of_a_run_is_told_when_it_is_asked_for() -> None:
    text = _run(_BOW, _DGX, "--years", "3", "--explain")
    assert _line(text, "per dollar of running cost  ").startswith("per dollar of running cost 2.92")
    assert "149,995 USD / (3 years x 8,766 h x 60)" in text
    assert _line(text, "cost of a run  ") == "cost of a run 1.87 USD 5.45 USD"
    text = _run(_BOW, _DGX, "--price", "cloud")
    assert _line(text, "cost of a run  ").startswith("cost of a run unknown ")
    assert "Not per dollar of running cost. A: no hourly price of Bow-IPU" in text
    assert "trainmark prices add." in text


def test_prices_are_those_of_the_day_that_was_asked_for() -> None:
    sides = ("v3.0/Azure/ND_H100_v5_mxnet/resnet", "v3.0/NVIDIA/dgxh100_ngc23.04_mxnet/resnet")
    early, late = (
        json.loads(_run(*sides, "--price", "cloud", "--json", *day))["versus"][0]["sides"][1]
        for day in (("--date", "2024-12-31"), ())
    )
    assert "98.32 USD/hour" in early["derived"]["run_cost_usd"]["formula"]
    assert "55.04 USD/hour" in late["derived"]["run_cost_usd"]["formula"]
    with pytest.raises(UsageError, match="'foo' is no date"):
        _invoke(*sides, "--date", "foo")


def test_one_result_on_both_sides_is_said_to_be_one() -> None:
    assert "A, B: the very same result" in _run(_DGX, _DGX)
    assert "the very same" not in _run(_BOW, _DGX)


def test_two_logs_of_one_folder_are_two_results(tmp_path: Path) -> None:
    folder = tmp_path / "v4.0" / "acme" / "results" / "box" / "resnet"
    write_folder(folder, [RunShape(minutes=30, seed=1), RunShape(minutes=33, seed=2)], write_resnet)
    one, other = (folder / f"result_{n}.txt" for n in (0, 1))
    assert "the very same result" not in _run(one, other)
    assert "the very same result" in _run(one, one)


def test_a_file_without_records_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UsageError, match=r"nothing in .*notes\.txt is a record of a run"):
        _invoke(tmp_path / "notes.txt", _DGX)


def test_what_does_not_compare_is_refused_with_the_reason() -> None:
    with pytest.raises(TrainmarkError) as caught:
        _invoke(_BOW, _POPART)
    assert caught.value.exit_code == 1
    assert "different tasks" in caught.value.message
    assert "--anyway" in caught.value.hint
    text = _run(_BOW, _POPART, "--anyway")
    assert "NOT COMPARABLE, compared anyway: " in text
    assert "A takes 4.9% less time than B" in text


def test_own_runs_stand_unverified_beside_published_ones(tmp_path: Path) -> None:
    folder = tmp_path / "v4.0" / "acme" / "results" / "box" / "resnet"
    write_folder(folder, [RunShape(minutes=30 + n / 9, seed=n) for n in range(1, 6)], write_resnet)
    text = _run(tmp_path, _DGX)
    assert _line(text, "standing  ") == "standing unverified verified by MLCommons"
    assert "unverified results beside verified ones" in text
    assert "Unverified results were not reviewed by MLCommons." in text
    assert "list price" in _line(text, "Not known, so not compared: ")


def test_an_own_benchmark_is_compared_only_with_its_like(tmp_path: Path) -> None:
    for number, minutes in ((1, 1.2), (2, 1.1)):
        runs = (minutes - 0.02, minutes, minutes + 0.02)
        facts: dict[str, Any] = {"id": f"own/m/{number}", "recorded": f"2026-11-0{number}"}
        record(own_result(minutes=minutes, run_minutes=runs, **facts), (), tmp_path)
    text = _run("own:last", "own:m/1", "--catalogue", tmp_path)
    assert "A takes 8.3% less time than B" in text
    assert "rough: the interval of only 3 runs is too narrow" in text
    assert "own target: MLPerf procedure, but no official benchmark" in text
    with pytest.raises(TrainmarkError, match="has a target of its own"):
        _invoke("own:last", _BOW, "--catalogue", tmp_path)


def test_text_from_outside_is_shown_without_control(tmp_path: Path) -> None:
    evil = "box\x1b[31m\u202e<script>\nX"
    record(own_result(system=evil, submitter=evil, framework=evil, id="own/1"), (), tmp_path)
    record(own_result(id="own/2"), (), tmp_path)
    for more in ((), ("--explain",)):
        text = _run("own:own/1", "own:own/2", "--catalogue", tmp_path, *more)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "<script>" in text


def test_a_side_without_a_score_is_said_to_have_none(tmp_path: Path) -> None:
    none = own_result(id="own/1", minutes=None, score_basis="no score: there are no runs")
    record(none, (), tmp_path)
    record(own_result(id="own/2"), (), tmp_path)
    for sides in (("own:own/1", "own:own/2"), ("own:own/2", "own:own/1")):
        result = _invoke(*sides, "--catalogue", tmp_path, "--explain")
        text = result.stdout
        assert result.exit_code == 1
        assert "has no score: there are no runs." in text
        assert "takes" not in text


def test_a_damaged_file_is_told_once(tmp_path: Path) -> None:
    record(own_result(), (), tmp_path)
    (tmp_path / "results" / "bad.parquet").write_text("no")
    result = _invoke(_BOW, _DGX, "--catalogue", tmp_path)
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert "bad.parquet" in line
    assert "1.461 times as fast" in result.stdout
    done = CliRunner().invoke(command, [_BOW, "own:x", "--catalogue", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert "bad.parquet" in done.stderr


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_goes_on_and_a_pipe_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((_Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with told(f"reading {chr(27)}[31m{'x' * 200}"), contextlib.suppress(ValueError):
            raise ValueError
        text = stream.getvalue()
        assert text.startswith("reading \ufffd[31mxx") is shown
        assert text.endswith("\r\x1b[K") is shown
        assert len(text) < 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "needs two sides, 0 given"),
        ((_BOW,), "needs two sides, 1 given"),
        ((_BOW, "graphcore v2.0 resnet"), "means 4 systems"),
        ((_BOW, "nothing-like-it"), "nothing in the catalogue"),
        ((_BOW, _DGX, "--benchmark", "berd"), "no benchmark 'berd'"),
        ((_BOW, _DGX, "--years", "0"), "0"),
        ((_BOW, _DGX, "--prices", "/nonexistent.toml"), "nonexistent.toml"),
        ((_BOW, _DGX, "--price", "nosuch"), "nosuch"),
    ],
)
def test_a_wrong_request_says_what_is_wrong(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        _invoke(*arguments)
    assert message in caught.value.message


def test_a_benchmark_narrows_both_sides() -> None:
    system = "round=1.0 submitter=graphcore system=pod16 division=closed"
    text = _run(system, "round=1.0 submitter=nvidia system=dgxa100 chips=8", "--benchmark", "bert")
    assert text.startswith("bert (")
    assert "resnet" not in text


def test_it_starts_without_what_it_does_not_need() -> None:
    done = trainmark("compare", _BOW, _DGX)
    assert (done.returncode, done.stderr) == (0, "")
    code = (
        "import sys\n"
        "from trainmark.cli.main import main\n"
        f"sys.argv = ['trainmark', 'compare', {_BOW!r}, {_DGX!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    import subprocess

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    heavy = {
        "rich",
        "yaml",
        "jinja2",
        "plotly",
        "numpy",
        "mlperf_logging",
        "trainmark.rules.engine",
    }
    assert "trainmark.analysis.compare" in loaded
    assert not loaded & heavy
