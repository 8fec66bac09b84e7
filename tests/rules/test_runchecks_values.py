import math
from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, Text, write_desk, write_resnet
from tests.rules.lora import lora_log, spoilt
from tests.rules.official import official_verdict
from trainmark.mllog import read
from trainmark.rules import check_log
from trainmark.types import Finding, Severity


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "result_0.txt"


def _findings(text: Text, ruleset: str = "5.1") -> tuple[Finding, ...]:
    return check_log(read(text.write()), ruleset=ruleset).findings


def test_the_unchanged_log_is_fine(path: Path) -> None:
    text = lora_log(path)
    assert _findings(text) == ()
    assert official_verdict(path, "5.1")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("gradient_accumulation_steps", -5, "a whole number above 0"),
        ("gradient_accumulation_steps", 1.5, "a whole number above 0"),
        ("global_batch_size", 0, "a whole number above 0"),
        ("train_samples", "3901", "a whole number above 0"),
        ("eval_samples", None, "a whole number above 0"),
        ("eval_samples", [173], "a whole number above 0"),
        ("opt_base_learning_rate", "small", "a number"),
        ("opt_base_learning_rate", -0.1, "a number of 0 or more"),
        ("opt_base_learning_rate", [0.1, "x"], "a number"),
        ("opt_learning_rate_training_steps", {}, "a number"),
        ("opt_gradient_clip_norm", float("inf"), "a number"),
        ("lora_alpha", None, "a number"),
    ],
)
def test_values_that_the_official_tool_lets_pass(
    key: str, value: Any, expected: str, path: Path
) -> None:
    text = spoilt(path, key, value)
    (finding,) = [one for one in _findings(text) if one.rule == "run.number"]
    assert official_verdict(path, "5.1")
    assert finding.severity is Severity.ERROR
    assert finding.line_no == text.line_of(key)
    assert finding.message.startswith(f"{key} is ")
    assert finding.expected == expected
    assert key in finding.fix


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("opt_base_learning_rate", 1),
        ("opt_base_learning_rate", [0.1, 0.01]),
        ("gradient_accumulation_steps", 2.0),
        ("lora_alpha", 10**400),
    ],
)
def test_values_that_are_fine(key: str, value: Any, path: Path) -> None:
    assert _findings(spoilt(path, key, value)) == ()


@pytest.mark.parametrize("key", ["opt_base_learning_rate", "train_samples"])
def test_true_is_no_number(key: str, path: Path) -> None:
    text = spoilt(path, key, True)
    (finding,) = _findings(text)
    assert finding.rule == "log.bool_as_number"
    assert finding.line_no == text.line_of(key)
    assert finding.message.startswith(f"{key} is true; expected ")


def test_what_the_tables_say_is_not_said_twice(path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.find("global_batch_size")["value"] = 0
    assert [one.rule for one in _findings(text, "4.0")] == ["rules.global_batch_size.value"]


def test_rounds_with_other_keys_are_left_alone(path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.find("eval_samples")["value"] = None
    assert "run.number" in {one.rule for one in _findings(text, "1.0")}
    assert "run.number" not in {one.rule for one in _findings(text, "0.7")}


def test_infinity_meets_no_target(path: Path) -> None:
    text = Text.read(write_desk(path))
    text.find("submission_benchmark")["value"] = "a_benchmark_without_a_table"
    text.find("eval_accuracy", -1)["value"] = math.inf
    (finding,) = _findings(text, "own")
    assert (finding.rule, finding.severity) == ("run.not_a_number", Severity.ERROR)
    assert finding.line_no == text.line_of("eval_accuracy", -1)
    assert "Infinity" in finding.message
    assert "counts as met" in finding.message


def test_infinity_on_the_way_is_a_warning(path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.find("eval_accuracy")["value"] = -math.inf
    (finding,) = _findings(text, "4.0")
    assert (finding.rule, finding.severity) == ("run.not_a_number", Severity.WARNING)
    assert "-Infinity" in finding.message


def test_names_that_nobody_filled_in(path: Path) -> None:
    text = Text.read(write_desk(path))
    text.find("submission_org")["value"] = "SUBMISSION_ORG_PLACEHOLDER"
    (finding,) = _findings(text, "own")
    assert (finding.rule, finding.severity) == ("run.placeholder", Severity.WARNING)
    assert finding.line_no == text.line_of("submission_org")
    assert 'submission_org is still "SUBMISSION_ORG_PLACEHOLDER"' in finding.message
    text.find("submission_platform")["value"] = "8xSUBMISSION_PLATFORM_PLACEHOLDER"
    (finding,) = _findings(text, "own")
    assert "submission_org" in finding.fix
    assert "submission_platform" in finding.fix


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Closed", "closed"), ("close", "closed"), (" OPEN", "open"), ("CLOSED ", "closed")],
)
def test_a_division_that_no_tool_reads(written: str, meant: str, path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.find("submission_division")["value"] = written
    findings = {one.rule: one for one in _findings(text, "4.0")}
    assert findings["rules.submission_division.choice"].is_error
    finding = findings["run.division_spelling"]
    assert finding.severity is Severity.WARNING
    assert finding.line_no == text.line_of("submission_division")
    assert finding.fix == f'Write "{meant}".'


@pytest.mark.parametrize("division", ["closed", "research"])
def test_other_divisions_are_no_misspellings(division: str, path: Path) -> None:
    text = Text.read(write_resnet(path, RunShape(division="closed")))
    text.find("submission_division")["value"] = division
    assert "run.division_spelling" not in {one.rule for one in _findings(text, "4.0")}


@pytest.mark.parametrize("value", [None, False, 7, "", "  ", ["a"]])
@pytest.mark.parametrize("key", ["submission_org", "submission_platform"])
def test_names_that_are_none(key: str, value: object, path: Path) -> None:
    text = lora_log(path)
    text.find(key)["value"] = value
    (finding,) = _findings(text)
    said_by_the_tables = finding.rule == f"rules.{key}.value"
    assert said_by_the_tables or finding.rule == "run.placeholder"
    assert finding.line_no == text.line_of(key)


@pytest.mark.parametrize("value", [True, False])
def test_a_seed_that_is_true(value: bool, path: Path) -> None:
    text = Text.read(write_resnet(path))
    text.find("seed")["value"] = value
    (finding,) = _findings(text, "4.0")
    assert (finding.rule, finding.is_error) == ("log.bool_as_number", True)
    for seed in (0, -1, "17", 2.0, None):
        text.find("seed")["value"] = seed
        assert _findings(text, "4.0") == ()


def test_an_empty_list_is_no_setting(path: Path) -> None:
    (finding,) = _findings(spoilt(path, "opt_base_learning_rate", []), "5.1")
    assert (finding.rule, finding.is_error) == ("run.number", True)
