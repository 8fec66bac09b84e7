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


def _errors(text: Text) -> list[Finding]:
    return [one for one in check_log(read(text.write()), ruleset="4.0").findings if one.is_error]


@pytest.mark.parametrize(
    ("scale", "unit"), [(1e-3, "seconds"), (1e3, "microseconds"), (1e6, "nanoseconds")]
)
def test_times_in_another_unit_are_told_once(scale: float, unit: str, text: Text) -> None:
    for record in text.records:
        record["time_ms"] *= scale
    told = [one for one in _errors(text) if one.rule == "run.time"]
    assert [one.line_no for one in told] == [text.line_of("init_start")]
    assert f"looks like {unit};" in told[0].message


@pytest.mark.parametrize("key", ["run_start", "run_stop"])
@pytest.mark.parametrize("time_ms", [0, 1, 1e11 - 1, 1e14 + 1, 1e300])
def test_a_time_that_is_none(key: str, time_ms: float, text: Text) -> None:
    text.find(key)["time_ms"] = time_ms
    assert any(one.rule == "run.time" and one.line_no == text.line_of(key) for one in _errors(text))


@pytest.mark.parametrize(("seconds", "told"), [(0.5, False), (1.5, True), (480, True)])
def test_a_run_start_dated_after_the_training_below_it(
    seconds: float, told: bool, text: Text
) -> None:
    start, first = text.find("run_start"), text.find("block_start")
    start["time_ms"] = first["time_ms"] + seconds * 1000
    found = _errors(text)
    assert [one.rule for one in found] == ["run.time"] * told
    assert [one.line_no for one in found] == [text.line_of("run_start")] * told
    assert all(f"{seconds:g} seconds after block_start" in one.message for one in found)
    assert _back(text) == []  # said once
    start["namespace"] = "another writer"
    assert [one.rule for one in _errors(text)] == ["run.time"] * (seconds > 60)


def test_one_record_dated_back_is_no_late_run_start(text: Text) -> None:
    text.find("eval_start", -1)["time_ms"] = START_MS
    assert _errors(text) == []
    (finding,) = _back(text)
    assert finding.line_no == text.line_of("eval_start", -1)
    text.find("eval_start", -2)["time_ms"] = START_MS
    assert [one.rule for one in _errors(text)] == ["run.time"]


@pytest.mark.parametrize("key", ["cache_clear", "init_start"])
def test_what_every_node_writes_may_stand_anywhere(key: str, text: Text) -> None:
    late = text.find(key) | {"time_ms": text.find("init_start")["time_ms"] + 5_000}
    text.records.insert(text.records.index(text.find("init_start")), late)
    text.records.append(text.find("cache_clear"))
    assert _back(text) == []


def test_a_run_start_in_the_middle_of_the_training(text: Text) -> None:
    start, until = text.find("run_start"), text.find("eval_stop", 1)
    text.records.remove(start)
    text.records.insert(text.records.index(until) + 1, start)
    start["time_ms"] = until["time_ms"]
    (finding,) = [one for one in _errors(text) if one.rule == "run.time"]
    assert f"block_start (line {text.line_of('block_start')})" in finding.message


def test_the_untrained_model_may_be_evaluated_before_run_start(text: Text) -> None:
    first = text.find("eval_accuracy") | {"value": 0.001, "time_ms": START_MS + 1_000}
    text.records.insert(text.records.index(text.find("run_start")), first)
    assert _errors(text) == []
