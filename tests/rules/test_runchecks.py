from copy import deepcopy
from pathlib import Path

import pytest

from tests.logs import Text, write_desk, write_resnet
from trainmark.mllog import read
from trainmark.rules import Verdict, check_log
from trainmark.rules.explain import find_explanation
from trainmark.types import Finding

_SOURCES = Path(__file__).resolve().parents[2] / "src" / "trainmark" / "rules"


@pytest.fixture
def text(tmp_path: Path) -> Text:
    return Text.read(write_desk(tmp_path / "result_0.txt"))


def _verdict(text: Text) -> Verdict:
    return check_log(read(text.write()), ruleset="own")


def _one(text: Text, rule: str) -> Finding:
    (finding,) = [one for one in _verdict(text).findings if one.rule == rule]
    return finding


def test_a_run_without_a_start_has_no_time(text: Text) -> None:
    text.drop("run_start")
    finding = _one(text, "run.no_start")
    assert finding.is_error
    assert finding.line_no == text.line_of("run_stop")
    assert f"line {text.line_of('run_stop')}" in finding.message


@pytest.mark.parametrize("count", [2, 5, 6, 40])
def test_starts_are_counted_and_only_five_lines_named(count: int, text: Text) -> None:
    start = text.find("run_start")
    place = text.records.index(start) + 1
    text.records[place:place] = [start | {"value": number} for number in range(count - 1)]
    finding = _one(text, "run.two_starts")
    assert finding.message.startswith(f"{count} run_starts, on lines {place}, {place + 1}")
    assert (", ...:" in finding.message) is (count > 5)


def test_a_status_that_is_no_word_is_shown_safely(text: Text) -> None:
    text.find("run_stop")["metadata"]["status"] = ["\x1b[2J", {"a": "\u202e"}]
    finding = _one(text, "run.status")
    assert "\\u001b[2J" in finding.message
    assert finding.message.isascii()


def test_a_target_met_in_time_and_again_later_is_met_in_time(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.records.append(dict(text.find("eval_accuracy", -1)))
    verdict = check_log(read(text.write()), ruleset="4.0")
    assert "run.target_after_stop" not in {one.rule for one in verdict.findings}


def test_every_rule_of_a_run_is_explained() -> None:
    named = {
        word
        for source in (*_SOURCES.glob("runchecks*.py"), _SOURCES / "schedule.py")
        for word in source.read_text(encoding="utf-8").split('"')
        if word.startswith("run.") or word == "log.bool_as_number"
    }
    assert len(named) > 14
    for rule in named:
        explanation = find_explanation(rule)
        assert explanation is not None, rule
        assert explanation.rule == rule


@pytest.mark.parametrize("before", ["init_stop", "run_start"])
def test_a_target_that_is_met_before_run_start(before: str, tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    met = deepcopy(text.find("eval_accuracy", -1)) | {"time_ms": text.find(before)["time_ms"]}
    text.records.insert(text.records.index(text.find(before)), met)
    errors = [one for one in check_log(read(text.write()), ruleset="4.0").findings if one.is_error]
    assert [one.rule for one in errors] == ["run.target_before_start"]
    assert errors[0].line_no == text.line_of("run_start")
    assert f"on line {text.line_of('eval_accuracy')}, before run_start" in errors[0].message
    text.find("eval_accuracy")["value"] = 0.1  # a first look at the untrained model
    assert check_log(read(text.write()), ruleset="4.0").ok
