"""A folder's convergence: the verdict, each finding, the table that is printed."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rules.convergence.cases import ROUND_4, ROUND_5, published, runs_of
from trainmark.rules.convergence import (
    Convergence,
    Measured,
    check_convergence,
    check_scaling,
    is_checked,
)
from trainmark.rules.explain import find_explanation
from trainmark.rules.rulesets import OWN, ruleset_named
from trainmark.types import Finding, Severity

SLOW = [36.0, 36.0, 37.0, 38.0, 40.0]
FAST = [34.0, 35.0, 35.0, 35.0, 36.0]  # at 3264 within what is allowed
TOO_FAST = [30.0, 30.0, 31.0, 30.0, 30.0]


def check(
    amounts: Sequence[float | None],
    *,
    batch_size: float | None = 3264,
    benchmark: str = "resnet",
    round_name: str = "4.0",
    **more: Any,
) -> Convergence:
    logs = runs_of(amounts, batch_size=batch_size, benchmark=benchmark)
    return judge(logs, benchmark=benchmark, round_name=round_name, **more)


def judge(
    logs: Sequence[Measured],
    *,
    benchmark: str = "resnet",
    round_name: str = "4.0",
    division: str = "closed",
    **more: Any,
) -> Convergence:
    found = check_convergence(
        "folder",
        logs,
        ruleset=ruleset_named(round_name),
        benchmark=benchmark,
        division=division,
        **more,
    )
    for finding in found.findings:
        assert find_explanation(finding.rule) is not None, finding.rule
        assert finding.path
    return found


def only(found: Convergence, severity: Severity | None = None) -> Finding:
    kept = [one for one in found.findings if severity in (None, one.severity)]
    assert len(kept) == 1, kept
    return kept[0]


def rules(found: Convergence) -> list[str]:
    return [finding.rule for finding in found.findings]


def test_runs_as_slow_as_the_reference_pass_without_a_word() -> None:
    found = check(SLOW)
    assert found.findings == ()
    assert found.factor == 1.0
    assert found.batch_size == 3264
    assert found.judgement is not None
    assert found.judgement.passed


def test_runs_a_little_faster_pass_and_are_scaled() -> None:
    found = check(FAST)
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.scaled", Severity.NOTE)
    assert found.factor == pytest.approx(published(ROUND_4, "resnet").points[1].mean / 35.0)
    assert f"{found.factor!r}" in finding.fix
    assert "multiplied by 1.004396" in finding.message


def test_before_round_2_1_nothing_was_scaled() -> None:
    finding = only(check(FAST, round_name="2.0"))
    assert "by the later rules the score would be" in finding.message
    assert finding.fix == ""


def test_runs_that_are_too_fast_fail_and_the_table_says_by_how_much() -> None:
    found = check(TOO_FAST)
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.too_fast", Severity.ERROR)
    assert finding.expected == "a mean of 34.3096 epochs or more"
    assert finding.found == "30 epochs"
    assert found.factor is None
    assert list(found.table) == [
        "resnet, round 4.0: epochs until the target at batch size 3,264",
        "  5 runs (left out)                 (30) 30 30 30 (31)",
        "  their mean                        30",
        "  reference at 3,264                35.1538 (deviation 0.7483, 15 runs)",
        "  least acceptable mean             34.3096",
        "  missed by                         4.3096 (12.6%)",
        "  scaling factor                    none: the runs do not pass",
    ]


def test_the_table_of_an_interpolated_reference() -> None:
    found = check([*SLOW[:4], None], batch_size=4000)
    assert "(36) 36 37 38 (failed)" in found.table[1]
    assert found.table[3].endswith("(deviation 0.7408, between 3,264 and 32,768)")
    assert found.table[5].split()[:3] == ["above", "it", "by"]
    assert found.table[6].endswith("1: the runs are not faster than the reference")


def test_a_long_table_keeps_to_the_width_of_a_page() -> None:
    amounts: list[float | None] = [*(350_000.0 + place for place in range(36)), *[None] * 4]
    found = check(amounts, batch_size=56, benchmark="unet3d")
    assert only(found).rule == "rcp.scaled"
    assert all(len(line) <= 100 for line in found.table)
    assert sum(line.count("(failed)") for line in found.table) == 4


def test_above_all_references_there_is_none() -> None:
    found = check(SLOW, batch_size=100_000)
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.missing", Severity.ERROR)
    assert "the largest is at 67,840" in finding.message
    assert "10 times at batch size 100,000" in finding.fix
    assert found.factor is None
    assert found.table[-1].endswith("none: the largest batch size is 67,840")


def test_below_all_references_the_smallest_decides() -> None:
    assert check(SLOW, batch_size=64).factor == 1.0
    finding = only(check(TOO_FAST, batch_size=64))
    assert finding.rule == "rcp.missing"
    assert "the smallest one, at 1,632, allows" in finding.message


def test_one_run_may_fail_and_no_more() -> None:
    assert check([36.0, 36.0, None, 37.0, 38.0]).factor == 1.0
    finding = only(check([36.0, None, 36.0, None, 37.0]))
    assert (finding.rule, finding.severity) == ("rcp.insufficient", Severity.ERROR)
    assert (finding.expected, finding.found) == ("at most 1 failed", "2 failed")


def test_four_runs_of_unet3d_may_fail() -> None:
    runs: list[float | None] = [400_000.0] * 36
    assert check([*runs, *[None] * 4], batch_size=56, benchmark="unet3d").factor == 1.0
    found = check([*runs[:-1], *[None] * 5], batch_size=56, benchmark="unet3d")
    assert rules(found) == ["rcp.insufficient"]


def test_batch_sizes_that_differ() -> None:
    logs = runs_of(SLOW)
    found = judge([*logs[:4], replace(logs[4], batch_size=8192)])
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.batch_size", Severity.ERROR)
    assert finding.found == "4,096 (4), 8,192 (1)"
    assert (found.batch_size, found.factor, found.table) == (None, None, ())


def test_a_batch_size_that_is_missing_is_found_in_its_log() -> None:
    logs = runs_of(SLOW)
    found = judge([*logs[:4], replace(logs[4], batch_size=None, batch_found='"big"')])
    finding = only(found)
    assert (finding.rule, finding.path) == ("rcp.batch_size", "folder/result_4.txt")
    assert (finding.line_no, finding.found) == (3, '"big"')
    assert [one.rule for one in check(SLOW, batch_size=None).findings] == ["rcp.batch_size"] * 5


def test_a_run_cut_short_needs_no_batch_size() -> None:
    logs = runs_of([*SLOW[:4], None])
    assert judge([*logs[:4], replace(logs[4], batch_size=None)]).factor == 1.0


def test_a_run_that_does_not_tell_how_much_it_trained() -> None:
    logs = runs_of(SLOW)
    lacking = replace(logs[2], amount=None, problem="the last eval_accuracy has no epoch_num")
    found = judge([*logs[:2], lacking, *logs[3:]])
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.samples", Severity.ERROR)
    assert (finding.path, finding.line_no) == ("folder/result_2.txt", 90)
    assert "has no epoch_num" in finding.message
    assert found.judgement is None


def test_too_few_runs_are_no_error_here() -> None:
    finding = only(check([36.0, 37.0]))
    assert (finding.rule, finding.severity) == ("rcp.runs", Severity.NOTE)


@pytest.mark.parametrize("division", ["open", "Open", "", "network"])
def test_only_closed_results_are_checked(division: str) -> None:
    assert check(TOO_FAST, division=division) == Convergence(folder="folder")


@pytest.mark.parametrize("division", ["closed", "Closed", " CLOSED ", "close"])
def test_every_spelling_of_closed_is(division: str) -> None:
    assert rules(check(TOO_FAST, division=division)) == ["rcp.too_fast"]


def test_what_is_not_held_to_references() -> None:
    def checked(name: str, benchmark: str = "bert") -> bool:
        return is_checked(ruleset_named(name), benchmark=benchmark, division="closed")

    assert checked("1.0")
    assert checked("hpc-2.0", "deepcam")
    assert not checked("0.7")
    assert not checked("1.0", "minigo")
    assert not is_checked(OWN, benchmark="resnet", division="closed")
    assert judge([]) == Convergence(folder="folder")


def test_a_benchmark_without_references_is_a_note() -> None:
    finding = only(check(SLOW, benchmark="rnnt", round_name="5.0"))
    assert (finding.rule, finding.severity) == ("rcp.no_references", Severity.NOTE)
    assert "round 5.0 has no reference points for rnnt" in finding.message


def test_dlrm_of_the_early_rounds_is_judged_with_a_warning() -> None:
    found = check([1.5] * 5, batch_size=55_296, benchmark="dlrm", round_name="1.0")
    assert [(one.rule, one.severity) for one in found.findings] == [
        ("rcp.too_fast", Severity.WARNING),
        ("rcp.unjudged", Severity.NOTE),
    ]
    assert rules(check([1.95] * 5, batch_size=55_296, benchmark="dlrm", round_name="1.0")) == [
        "rcp.unjudged"
    ]


def test_bypass_makes_warnings_of_errors() -> None:
    finding = only(check(TOO_FAST, bypass=True))
    assert (finding.rule, finding.severity) == ("rcp.too_fast", Severity.WARNING)
    assert finding.message.endswith("(let through by rcp-bypass)")
    assert only(check(SLOW, batch_size=100_000, bypass=True)).severity is Severity.WARNING
    assert only(check([36.0, None, None], bypass=True)).severity is Severity.ERROR


def test_where_pruning_decides_a_note_says_so() -> None:
    found = check([36.0] * 5, batch_size=4096)  # that reference, 39.875, is pruned
    finding = only(found)
    assert (finding.rule, finding.severity) == ("rcp.pruned_differs", Severity.NOTE)
    assert "by all reference points, none pruned, it fails" in finding.message
    assert found.factor == 1.0
    unpruned = check([36.0] * 5, batch_size=4096, pruned=False)
    assert rules(unpruned) == ["rcp.too_fast", "rcp.pruned_differs"]
    assert "by the pruned reference points it passes" in unpruned.findings[1].message


def test_the_extra_evaluation_of_llama31_405b() -> None:
    allowed = check([276_480.0] * 3, batch_size=1152, benchmark="llama31_405b", round_name="5.0")
    assert rules(allowed) == ["rcp.scaled"]
    assert "46,080 less than the t-test says" in allowed.table[4]
    later = check([276_480.0] * 3, batch_size=1152, benchmark="llama31_405b", round_name="5.1")
    assert rules(later) == ["rcp.scaled", "rcp.slack"]
    less = check([230_400.0] * 3, batch_size=1152, benchmark="llama31_405b", round_name="5.0")
    assert rules(less) == ["rcp.too_fast"]


def test_tokens_are_not_taken_for_failed_runs() -> None:
    found = check([1.3e9, None, 1.3e9], batch_size=2048, benchmark="gpt3")
    assert "(failed) 1,300,000,000 (1,300,000,000)" in found.table[1]


def test_it_can_be_sent_between_processes() -> None:
    found = check(FAST)
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(runs_of(FAST))) == runs_of(FAST)


class TestScaling:
    """The number in scaling.json beside what is due."""

    def test_the_right_number_is_right(self) -> None:
        found = check(FAST)
        assert found.factor is not None
        for number in (found.factor, found.factor * (1 + 5e-5), round(found.factor, 6)):
            assert check_scaling(number, found) == []

    def test_no_file_where_none_is_due(self) -> None:
        assert check_scaling(None, check(SLOW)) == []
        assert check_scaling(1.0, check(SLOW)) == []

    def test_no_file_where_one_is_due(self) -> None:
        found = check(FAST)
        (finding,) = check_scaling(None, found)
        assert (finding.rule, finding.severity) == ("rcp.scaling_absent", Severity.ERROR)
        assert f'{{"scaling_factor": {found.factor!r}}}' in finding.fix
        assert check_scaling(None, check(FAST, round_name="2.0")) == []

    def test_a_file_where_none_is_due(self) -> None:
        (finding,) = check_scaling(1.05, check(SLOW))
        assert (finding.rule, finding.severity) == ("rcp.scaling_wrong", Severity.ERROR)
        assert "none is due" in finding.message
        assert finding.fix.startswith("Take scaling.json away")
        assert finding.path == "folder/scaling.json"

    def test_another_number_than_is_due(self) -> None:
        (finding,) = check_scaling(1.05, check(FAST))
        assert (finding.rule, finding.severity) == ("rcp.scaling_wrong", Severity.ERROR)
        assert "1.004396 is due" in finding.message
        assert finding.found == "1.05"

    def test_another_number_in_a_round_that_scaled_by_hand_is_a_warning(self) -> None:
        (finding,) = check_scaling(1.05, check(FAST, round_name="2.0"))
        assert finding.severity is Severity.WARNING

    def test_the_number_of_the_full_references_is_a_warning(self) -> None:
        found = check([38.7, 38.7, 38.7, 38.7, 38.7], batch_size=4096)
        assert found.full is not None
        assert found.full.factor > 1.02
        (finding,) = check_scaling(found.full.factor, found)
        assert (finding.rule, finding.severity) == ("rcp.scaling_wrong", Severity.WARNING)
        assert "right by all reference points" in finding.message

    def test_runs_that_do_not_pass(self) -> None:
        found = check(TOO_FAST)
        assert found.judgement is not None
        assert check_scaling(None, found) == []
        assert check_scaling(found.judgement.factor, found) == []
        (finding,) = check_scaling(1.5, found)
        assert "the runs do not pass" in finding.message
        assert check_scaling(1.5, check(SLOW, batch_size=100_000)) == []
        assert check_scaling(1.5, check([0.0] * 5)) == []

    def test_without_a_verdict_nothing_is_said(self) -> None:
        assert check_scaling(1.5, check(SLOW, division="open")) == []

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0, 0.0])
    def test_any_number_is_looked_at(self, number: float) -> None:
        (finding,) = check_scaling(number, check(FAST))
        assert finding.rule == "rcp.scaling_wrong"
        assert find_explanation(finding.rule) is not None


NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.floats(1, 100)


@settings(deadline=None)
@given(
    amounts=st.lists(NUMBERS, max_size=12),
    batch_size=st.none() | st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    benchmark=st.sampled_from(["resnet", "bert", "llama31_405b", "unet3d", "no_such"]),
    round_name=st.sampled_from(["2.0", "5.0", "0.7", "own"]),
    factor=st.none() | st.floats(),
)
@example([1.7e308] * 5, 1.7e308, "resnet", "2.0", None)
@example([1.7e308] * 5, 4096.0, "resnet", "5.0", 1.7e308)
@example([-1.7e308] * 5, 4096.0, "resnet", "2.0", None)
@example([5e-324] * 5, 5e-324, "resnet", "4.0", None)
@example([None, 1e70, 1e70], 1.0, "llama31_405b", "5.0", None)
def test_any_numbers_have_a_verdict_that_can_be_shown(
    amounts: list[float | None],
    batch_size: float | None,
    benchmark: str,
    round_name: str,
    factor: float | None,
) -> None:
    found = check(amounts, batch_size=batch_size, benchmark=benchmark, round_name=round_name)
    for finding in (*found.findings, *check_scaling(factor, found)):
        assert finding.message.isprintable()
        assert finding.fix.isprintable()
    assert all(line.isprintable() and len(line) < 120 for line in found.table)


def test_every_installed_round_can_be_checked() -> None:
    assert published(ROUND_5, "rgat").runs == 10
    assert check([0.8] * 10, batch_size=16_384, benchmark="rgat", round_name="5.0").table
