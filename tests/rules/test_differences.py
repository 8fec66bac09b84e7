from dataclasses import replace

import pytest

from trainmark.rules import ruleset_named
from trainmark.rules.differences import Change, difference, round_difference
from trainmark.rules.sentences import RuleSheet, rule_sheet
from trainmark.types import UsageError


@pytest.fixture(scope="module")
def bert() -> RuleSheet:
    return rule_sheet(ruleset_named("4.0"), "bert")


def test_nothing_differs_from_itself(bert: RuleSheet) -> None:
    assert difference(bert, bert).changes == ()
    moved = replace(bert, keys=tuple(replace(row, table="other") for row in reversed(bert.keys)))
    assert difference(bert, moved).changes == ()


def test_added_removed_changed(bert: RuleSheet) -> None:
    gone, kept, *rest = bert.keys
    new = replace(kept, key="new_key", checks=("new_key is 1",), required="", order=())
    after = replace(bert, keys=(replace(kept, checks=(*kept.checks, "it is 7")), new, *rest))
    changes = {change.kind: change for change in difference(bert, after).changes}
    assert len(changes) == 3
    assert changes["added"].key == "new_key"
    assert "new_key is 1" in changes["added"].after
    assert (changes["removed"].key, changes["removed"].before) == (gone.key, gone.lines())
    assert changes["changed"] == Change(
        kind="changed", key=kept.key, when="", before=(), after=("it is 7",)
    )


def test_what_must_hold_at_the_end_is_compared(bert: RuleSheet) -> None:
    after = replace(bert, end=(("closed_bert", "x has exactly 3 items"),))
    (change,) = difference(bert, after).changes
    assert (change.key, change.after) == ("end of the log", ("x has exactly 3 items",))


def test_a_setting_of_its_own_is_no_change_of_the_key(bert: RuleSheet) -> None:
    row = bert.keys[0]
    after = replace(bert, keys=(*bert.keys, replace(row, when='opt_name is "lars"')))
    (change,) = difference(bert, after).changes
    assert (change.kind, change.when) == ("added", 'opt_name is "lars"')


def test_two_rounds() -> None:
    found = round_difference(ruleset_named("4.1"), ruleset_named("5.0"))
    assert found.added == ("llama31_405b", "retinanet", "rgat")
    assert found.removed == ("gnn", "gpt3", "ssd")
    assert {change.key for change in found.everywhere} >= {"submission_org", "submission_benchmark"}
    assert {one.benchmark for one in found.benchmarks} == {
        "bert",
        "dlrm_dcnv2",
        "llama2_70b_lora",
        "stable_diffusion",
    }


def test_the_other_way_round_is_the_mirror_image() -> None:
    there = round_difference(ruleset_named("3.0"), ruleset_named("3.1"), benchmark="bert")
    back = round_difference(ruleset_named("3.1"), ruleset_named("3.0"), benchmark="bert")
    assert {(c.key, c.before, c.after) for c in there.benchmarks[0].changes} == {
        (c.key, c.after, c.before) for c in back.benchmarks[0].changes
    }


def test_one_benchmark() -> None:
    found = round_difference(ruleset_named("5.0"), ruleset_named("5.1"), benchmark="bert")
    assert (found.removed, found.added, found.benchmarks) == (("bert",), (), ())
    with pytest.raises(UsageError, match="there is no benchmark 'bertt'"):
        round_difference(ruleset_named("5.0"), ruleset_named("5.1"), benchmark="bertt")
    with pytest.raises(UsageError, match="there is no division"):
        round_difference(ruleset_named("5.0"), ruleset_named("5.1"), division="ajar")
