"""Findings speak of the keys that people log, and only of what does not hold."""

from pathlib import Path

import pytest

from tests.logs import Text, write_resnet
from trainmark import mllog
from trainmark.rules import check_log, ruleset_named
from trainmark.rules.constraints import AllOf, AnyOf, Flag
from trainmark.rules.culprits import failing
from trainmark.rules.sentences import rule_sheet
from trainmark.rules.shapes import constraint_of
from trainmark.rules.statenames import flag_words, state_words
from trainmark.rules.subjects import Constraint
from trainmark.rules.tables import known_tables, load_table
from trainmark.rules.vocabulary import Record, Scope
from trainmark.types import Finding


def _scope(value: object, **state: object) -> Scope:
    scope = Scope([], dict(state))
    scope.record = Record(1.0, "x", {"value": value, "metadata": {"epoch_num": value}}, 1)
    return scope


def _findings(text: Text, round_name: str = "4.0") -> dict[str, Finding]:
    verdict = check_log(mllog.read(text.write()), ruleset=round_name)
    return {finding.rule: finding for finding in verdict.findings}


def test_only_the_part_that_does_not_hold_is_spoken_of() -> None:
    both = constraint_of("v['value'] == True and s['init_started'] == False")
    assert failing(both, _scope(None, init_started=False)).sentence() == "the value is true"
    late = failing(both, _scope(True, init_started=True))
    assert late.sentence() == "init_start comes after it"
    assert late.found(_scope(True, init_started=True)) == "init_start comes before it"


def test_a_range_stays_whole() -> None:
    between = constraint_of("v['value'] >= 0 and v['value'] < 1")
    assert failing(between, _scope(2)) == between


def test_of_alternatives_the_one_for_the_state_at_hand() -> None:
    either = constraint_of(
        "(s['in_epoch'] and v['metadata']['epoch_num'] == s['last_eval']) or "
        "(not s['in_epoch'] and v['metadata']['epoch_num'] == s['last_epoch'] + 1)"
    )
    assert isinstance(either, AnyOf)
    scope = _scope(4, in_epoch=False, last_eval=0, last_epoch=1)
    part = failing(either, scope)
    assert (
        part.sentence() == 'metadata["epoch_num"] is the epoch_num of the last epoch_start, plus 1'
    )
    assert (
        part.found(scope)
        == 'metadata["epoch_num"] is 4, the epoch_num of the last epoch_start is 1'
    )
    scope = _scope(4, in_epoch=True, last_eval=0, last_epoch=1)
    assert failing(either, scope).found(scope).endswith("there is no eval_start before it")


@pytest.mark.parametrize("expected", [True, False])
def test_flags_are_told_by_the_keys_that_set_them(expected: bool) -> None:
    for name in _flags():
        words = flag_words(name, expected=expected)
        if name != "accuracy_printed" or expected:
            assert name not in f"{words.expected} {words.found} {words.fix}", name
    assert flag_words("strange", expected=expected).expected.startswith("strange is ")
    assert state_words("strange") == "the strange of the log"


def _flags() -> set[str]:
    """Every flag that an official table asks for."""

    def inside(constraint: Constraint) -> set[str]:
        if isinstance(constraint, Flag):
            return {constraint.name}
        parts = constraint.parts if isinstance(constraint, AllOf | AnyOf) else ()
        return {name for part in parts for name in inside(part)}

    rules = (rule for name in known_tables() for rule in load_table(name).keys.values())
    found = {name for rule in rules for check in rule.checks for name in inside(check)}
    assert len(found) > 5
    return found


def test_a_renamed_key_is_recognised(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.find("lars_opt_weight_decay")["key"] = "opt_weight_decay"
    finding = _findings(text)["rules.lars_opt_weight_decay.missing"]
    assert finding.message.endswith("there is opt_weight_decay, which these rules do not know")
    assert finding.fix == "Rename opt_weight_decay to lars_opt_weight_decay."


def test_how_to_log_a_missing_key(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.drop("gradient_accumulation_steps")
    finding = _findings(text)["rules.gradient_accumulation_steps.missing"]
    assert finding.fix == "Log gradient_accumulation_steps once; its value is more than 0."


def test_a_type_is_told_as_json_has_it() -> None:
    fix = constraint_of("type(v['value'])==bool").fix("x")
    assert fix == "Log x so that the value is true or false, not in quotes."


def test_a_key_that_other_rules_know_is_not_taken_for_another(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.drop("eval_samples")  # train_samples, much like it, has rules of its own
    assert "train_samples" not in _findings(text)["rules.eval_samples.missing"].message


def test_a_record_in_a_broken_line_is_not_simply_missing(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    number = text.line_of("train_samples")
    lines = text.lines()
    lines[number - 1] = lines[number - 1].replace('"metadata":', '"metadata"')
    text.path.write_text("\n".join(lines))
    verdict = check_log(mllog.read(text.path), ruleset="4.0")
    found = {finding.rule: finding for finding in verdict.findings}
    assert set(found) == {"log.json", "rules.train_samples.missing"}
    finding = found["rules.train_samples.missing"]
    assert finding.fix == f"Repair line {number}; this follows from it."


def test_tensors_of_no_record_are_told_once(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt", round_name="1.0"))
    text.drop("weights_initialization")
    assert list(_findings(text, "1.1")) == ["rules.weights_initialization.missing"]


def test_a_tensor_of_another_name_is_told(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt", round_name="1.0"))
    text.find("weights_initialization")["metadata"]["tensor"] = "bn_0"
    finding = _findings(text, "1.1")["rules.closed_resnet.items"]
    assert "weights_initialization names 161 items" in finding.message
    assert 'missing: "bn0_beta", not in the list: "bn_0"' in finding.message


def test_the_rules_of_a_round_name_every_tensor() -> None:
    sheet = rule_sheet(ruleset_named("1.1"), "resnet", division="closed")
    (sentence,) = (sentence for _, sentence in sheet.end if "weights_initialization" in sentence)
    assert sentence.count('"') == 2 * 161
