from pathlib import Path

import pytest

from tests.logs import Text, write_resnet
from trainmark import mllog
from trainmark.rules import check_log, known_rulesets
from trainmark.rules.later_changes import later_change, later_changes
from trainmark.rules.tables import known_tables, load_table


def test_what_changed_after_a_round_is_said() -> None:
    said = later_change("1.1", "rules.weights_initialization.missing", "unet3d")
    assert said is not None
    assert "changed on 2022-04-01, after round 1.1 was published (2021-12-01)" in said
    assert "only got a warning (mlcommons/logging 39a2e5e)" in said
    assert later_change("2.1", "rules.opt_lamb_epsilon.missing", "bert") is not None


@pytest.mark.parametrize(
    ("round_name", "rule", "benchmark"),
    [
        ("2.0", "rules.weights_initialization.missing", "unet3d"),  # the round after: as it was
        ("1.1", "rules.seed.missing", "unet3d"),
        ("2.1", "rules.opt_lamb_epsilon.missing", "rnnt"),  # always had that name
        ("2.1", "rules.opt_lamb_epsilon.missing", None),
        ("1.1", "run.no_stop", "unet3d"),
    ],
)
def test_other_rules_are_as_they_were(round_name: str, rule: str, benchmark: str | None) -> None:
    assert later_change(round_name, rule, benchmark) is None


def test_each_change_is_about_a_rule_that_there_is() -> None:
    for change in later_changes():
        first = known_rulesets()[change.round_name].first_table
        folder = first.split("/")[0]
        keys = {
            key
            for table in known_tables()
            if table.startswith(f"{folder}/closed_")
            for key in load_table(table).keys
        }
        named = {pattern.split(".")[1] for pattern in change.rules}
        assert named & keys, change
        assert change.published < change.changed
        assert len(change.source) == 40


def test_the_findings_that_it_is_about_are_made(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt", round_name="1.0"))
    text.drop("weights_initialization")
    verdict = check_log(mllog.read(text.write()), ruleset="1.1")
    found = {finding.rule for finding in verdict.findings if finding.is_error}
    assert found
    assert all(later_change("1.1", rule, "resnet") for rule in found)
