from copy import deepcopy
from pathlib import Path

import pytest

from tests.logs import START_MS, Text, write_desk, write_resnet
from trainmark.mllog import read
from trainmark.rules import check_log
from trainmark.types import Finding, Severity


@pytest.fixture
def text(tmp_path: Path) -> Text:
    return Text.read(write_resnet(tmp_path / "result_0.txt"))


def _back(text: Text, ruleset: str = "4.0") -> list[Finding]:
    findings = check_log(read(text.write()), ruleset=ruleset).findings
    return [one for one in findings if one.rule == "run.time_backwards"]


def test_rising_times_are_fine(text: Text) -> None:
    assert _back(text) == []


@pytest.mark.parametrize(("seconds", "told"), [(0.5, False), (1.0, False), (1.5, True), (60, True)])
def test_more_than_a_second_is_told(seconds: float, told: bool, text: Text) -> None:
    before, record = text.find("block_stop"), text.find("eval_start")
    record["time_ms"] = before["time_ms"] - seconds * 1000
    findings = _back(text)
    assert bool(findings) is told
    for finding in findings:
        assert finding.severity is Severity.WARNING
        assert finding.line_no == text.line_of("eval_start")
        assert f'"eval_start" on line {text.line_of("eval_start")}' in finding.message
        assert f"{seconds:.1f} seconds before" in finding.message
        assert f'"block_stop" on line {text.line_of("block_stop")}' in finding.message


def test_the_worst_of_many_and_their_number(text: Text) -> None:
    text.find("eval_accuracy", 0)["time_ms"] -= 30_000
    text.find("eval_accuracy", 1)["time_ms"] -= 90_000
    (finding,) = _back(text)
    assert finding.line_no == text.line_of("eval_accuracy", 1)
    assert "1 more record is dated back" in finding.message


def test_another_namespace_has_a_clock_of_its_own(text: Text) -> None:
    text.find("eval_accuracy")["time_ms"] -= 30_000
    assert _back(text)
    text.find("eval_accuracy")["namespace"] = "evaluator"
    assert _back(text) == []


def test_a_small_number_stands_for_no_time(text: Text) -> None:
    text.records.append(text.find("submission_org") | {"time_ms": 7, "key": "note"})
    assert _back(text) == []
    text.records[-1]["time_ms"] = START_MS
    assert _back(text)


def test_records_put_first_for_the_tables_are_judged_where_they_stand(text: Text) -> None:
    text.move("submission_division", after="init_stop")
    text.find("submission_division")["time_ms"] = text.find("init_stop")["time_ms"]
    assert _back(text) == []


@pytest.mark.parametrize(("benchmark", "told"), [("stable_diffusion", False), ("bert", True)])
def test_checkpoints_may_be_judged_later(benchmark: str, told: bool, text: Text) -> None:
    text.find("submission_benchmark")["value"] = benchmark
    text.find("run_stop")["time_ms"] -= 120_000
    assert bool(_back(text)) is told


def test_ranks_that_share_a_file_are_one_clock(tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    late = deepcopy(text.records)
    for record in late:
        record["time_ms"] += 5_000
    text.records = [record for pair in zip(text.records, late, strict=True) for record in pair]
    assert _back(text, "own") == []


@pytest.mark.parametrize(("seconds", "told"), [(0.9, False), (2.0, True)])
def test_a_target_met_later_by_the_clock(seconds: float, told: bool, text: Text) -> None:
    met = text.find("eval_accuracy", -1)
    text.find("run_stop")["time_ms"] = met["time_ms"] - seconds * 1000
    findings = check_log(read(text.write()), ruleset="4.0").findings
    late = [one for one in findings if one.rule == "run.target_after_stop"]
    assert bool(late) is told
    for finding in late:
        assert finding.severity is Severity.ERROR
        assert finding.line_no == text.line_of("run_stop")
        assert f"line {text.line_of('eval_accuracy', -1)}" in finding.message
        assert "2 seconds by the clock after run_stop" in finding.message
