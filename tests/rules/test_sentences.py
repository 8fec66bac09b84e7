import pytest

from trainmark.rules import known_rulesets, ruleset_named
from trainmark.rules.sentences import DIVISIONS, KeySentences, RuleSheet, benchmarks, rule_sheet
from trainmark.types import UsageError


def _row(sheet: RuleSheet, key: str, when: str = "") -> KeySentences:
    found = [row for row in sheet.keys if row.key == key and row.when == when]
    assert len(found) == 1, (key, when, found)
    return found[0]


@pytest.mark.parametrize("name", known_rulesets())
def test_every_round_has_a_sheet_for_each_of_its_benchmarks(name: str) -> None:
    ruleset = known_rulesets()[name]
    for division in DIVISIONS:
        known = benchmarks(ruleset, division)
        assert known
        for benchmark in known:
            sheet = rule_sheet(ruleset, benchmark, division)
            assert sheet.tables[0] == "common"
            assert len(sheet.keys) > 10
            assert len({(row.key, row.when) for row in sheet.keys}) == len(sheet.keys)
            assert sheet.to_dict()["keys"][0]["key"] == sheet.keys[0].key


def test_a_later_table_replaces_what_an_earlier_one_says_of_a_key() -> None:
    # common asks for eval_accuracy with epoch_num or samples_count, closed_gpt3 for its own.
    sheet = rule_sheet(ruleset_named("4.0"), "gpt3")
    row = _row(sheet, "eval_accuracy")
    assert row.table == "closed_gpt3"
    assert row.target == "eval_accuracy is at most 2.69 and more than 2.6"


def test_the_most_particular_table_comes_first() -> None:
    sheet = rule_sheet(ruleset_named("4.0"), "bert")
    tables = list(dict.fromkeys(row.table for row in sheet.keys))
    assert tables == ["closed_bert", "closed_common", "common"]


def test_of_a_replaced_rule_alternatives_stay() -> None:
    """The engine never takes back that one of several keys must be there."""
    sheet = rule_sheet(ruleset_named("3.1"), "stable_diffusion")
    assert "at least one block_start or eval_start" in _row(sheet, "eval_start").required


def test_rules_that_a_setting_chooses_stand_under_it() -> None:
    sheet = rule_sheet(ruleset_named("2.0"), "resnet")
    assert _row(sheet, "opt_name").chooses
    assert _row(sheet, "lars_epsilon", 'opt_name is "lars"').checks == ("lars_epsilon is 0",)
    assert not any(
        row.key == "lars_epsilon" and row.when != 'opt_name is "lars"' for row in sheet.keys
    )


@pytest.mark.parametrize(("division", "minutes"), [("closed", 30), ("open", 240)])
def test_the_divisions_limit_is_a_number(division: str, minutes: int) -> None:
    row = _row(rule_sheet(ruleset_named("5.0"), "bert", division), "init_stop")
    assert row.checks == (f"it comes within {minutes} minutes of the first init_start",)
    assert row.order == ("init_start comes before it", "run_start comes after it")


def test_what_must_hold_at_the_end() -> None:
    sheet = rule_sheet(ruleset_named("1.1"), "resnet")
    assert [table for table, _ in sheet.end] == ["closed_resnet"]
    assert "161 items" in sheet.end[0][1]


def test_lines_say_everything() -> None:
    row = KeySentences(
        key="k",
        table="t",
        required="exactly one k",
        checks=("k is 1",),
        order=("run_start comes before it",),
        first=("k is 2",),
        target="k is 3",
        chooses="its value chooses further rules",
    )
    assert row.lines() == (
        "exactly one k",
        "in at least one record k is 3",
        "in the first record k is 2",
        "k is 1",
        "run_start comes before it",
        "its value chooses further rules",
    )


def test_our_own_benchmarks_have_sheets() -> None:
    own = known_rulesets()["own"]
    assert {"resnet50_desk", "bert_desk", "schnet_full"} <= set(benchmarks(own))
    for name in benchmarks(own):
        assert rule_sheet(own, name).tables == ("common", name)


@pytest.mark.parametrize(
    ("benchmark", "division", "said"),
    [
        ("bertt", "closed", "Did you mean 'bert'?"),
        ("bert", "close", "Did you mean 'closed'?"),
        ("llama2_70b_lora", "open", "--division closed"),
    ],
)
def test_unknown_names(benchmark: str, division: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        rule_sheet(ruleset_named("4.0"), benchmark, division)
    assert said in caught.value.hint


def test_an_entry_of_the_state_that_nothing_changes_is_a_number() -> None:
    sheet = rule_sheet(ruleset_named("6.1"), "qwen35_397b_grpo")
    row = _row(sheet, "eval_accuracy")
    assert row.target == "eval_accuracy is more than 0.69"
    # This one the log itself sets.
    assert 'metadata["samples_count"] is the next_validation_samples of the log' in row.checks


def test_what_a_rule_reckons_from_a_value_is_told_with_that_key() -> None:
    sheet = rule_sheet(ruleset_named("6.1"), "flux1")
    (batch,) = [row for row in sheet.keys if row.key == "global_batch_size"]
    formula = "ceil(262144 / global_batch_size) * global_batch_size"
    rule = f"for other rules eval_interval_samples is {formula}"
    assert batch.gives == (rule,)
    assert rule in batch.lines()
    assert batch.to_dict()["gives"] == (rule,)


def test_a_value_that_is_kept_as_it_is_is_not_told() -> None:
    for sheet in (
        rule_sheet(ruleset_named("4.0"), "resnet"),
        rule_sheet(ruleset_named("0.6"), "ssd"),
    ):
        assert [row.gives for row in sheet.keys if row.gives] == []
