"""Which results compare, which do not and why, and what is marked."""

import dataclasses
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.made import made
from tests.docs import comparability_page
from trainmark.analysis.comparability import (
    changes,
    group_of,
    groups,
    judge,
    refusal,
    round_key,
)
from trainmark.catalogue import query

ROUNDS = ("0.5", "0.6", "0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1")


def test_no_round_of_a_benchmark_stands_in_two_groups() -> None:
    seen = [(name, r) for group in groups() for name in group.benchmarks for r in group.rounds]
    assert len(seen) == len(set(seen))


def test_names_of_groups_are_their_own_and_rounds_ascend() -> None:
    names = [group.name for group in groups()]
    assert len(names) == len(set(names))
    for group in groups():
        assert list(group.rounds) == sorted(group.rounds, key=round_key), group.name


def test_every_statement_has_a_dated_public_source() -> None:
    rows = [row.source for row in groups()] + [row.source for row in changes("bert")]
    for source in rows:
        assert source.url.startswith("https://github.com/mlcommons/")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", source.date)


def test_changes_lie_within_a_group() -> None:
    for task in {group.task for group in groups()}:
        for change in changes(task):
            (group,) = [g for g in groups(task) if change.since in g.rounds]
            assert change.since != group.rounds[0], change


@pytest.mark.parametrize(
    ("benchmark", "rounds"),
    [
        ("resnet", ["0.5", "0.6-4.0"]),
        ("bert", ["0.7", "1.0-5.0"]),
        ("rnnt", ["1.0", "1.1-3.1"]),
        ("ssd", ["0.5", "0.6-1.1", "2.0-4.1"]),
        ("minigo", ["0.5", "0.6", "0.7-2.1"]),
        ("gnmt", ["0.5", "0.6-0.7"]),
        ("maskrcnn", ["0.5", "0.6-3.1"]),
        ("unet3d", ["1.0-4.0"]),
        ("dlrm", ["0.7-2.1"]),
        ("dlrm_dcnv2", ["3.0-5.1"]),
        ("gpt3", ["3.0-4.1"]),
        ("stable_diffusion", ["3.1-5.0"]),
    ],
)
def test_the_published_table(benchmark: str, rounds: list[str]) -> None:
    listed = {"ssd": ROUNDS[: ROUNDS.index("4.1") + 1]}.get(benchmark, ROUNDS)
    found: dict[str, list[str]] = {}
    for name in listed:
        group = group_of(made(benchmark=benchmark, round=name))
        if group is not None:
            found.setdefault(group.name, []).append(name)
    spans = [f"{r[0]}-{r[-1]}" if len(r) > 1 else r[0] for r in found.values()]
    assert spans == rounds


def test_targets_are_those_of_the_installed_rules() -> None:
    """The rule tables of the official checker hold each target as a number in a condition."""
    spec = importlib.util.find_spec("mlperf_logging")
    assert spec is not None
    assert spec.submodule_search_locations
    tables = Path(spec.submodule_search_locations[0]) / "compliance_checker"
    checked = 0
    for group in groups():
        for name in group.rounds:
            for benchmark in group.benchmarks:
                table = tables / f"training_{name}.0" / f"closed_{benchmark}.yaml"
                if not table.is_file():
                    continue
                conditions = [
                    line for line in table.read_text().splitlines() if "ATLEAST_ONE" in line
                ]
                numbers = {float(n) for c in conditions for n in re.findall(r"\d+\.\d+", c)}
                if not numbers:  # reckoned in the table, not written
                    continue
                for target in re.findall(r"\d+\.?\d*(?!,)", group.target.partition(" (")[0]):
                    value = float(target)
                    assert value in numbers or value / 100 in numbers, (group.name, name)
                    checked += 1
    assert checked > 60


def test_every_packaged_result_is_judged_and_belongs_to_its_task() -> None:
    for result in query():
        if result.origin == "published":
            group = group_of(result)
            assert group is not None, result.id
            assert result.task in ("", group.task), result.id


def test_another_target_is_refused_with_reason_and_source() -> None:
    verdict = judge([made(round="0.5"), made(round="0.6")])
    assert not verdict.comparable
    (reason,) = verdict.reasons
    assert "0.749" in reason
    assert "0.759" in reason
    assert "raised the target" in reason
    assert "compatibility table" in reason


def test_the_reason_does_not_depend_on_the_order() -> None:
    assert refusal([made(round="0.6"), made(round="0.5")]) == refusal(
        [made(round="0.5"), made(round="0.6")]
    )


def test_one_name_for_two_tasks_is_refused() -> None:
    (reason,) = refusal([made(benchmark="ssd", round="1.1"), made(benchmark="ssd", round="2.0")])
    assert "different tasks" in reason
    assert "COCO" in reason
    assert "Open Images" in reason


def test_two_names_for_one_task_compare() -> None:
    pair = [made(benchmark="gnn", round="4.1"), made(benchmark="rgat", round="5.0")]
    assert judge(pair).comparable
    pair = [made(benchmark="ssd", round="4.1"), made(benchmark="retinanet", round="5.0")]
    assert judge(pair).comparable


def test_three_results_give_a_reason_for_each_that_differs_from_the_first() -> None:
    trio = [made(), made(benchmark="bert"), made(round="0.5")]
    assert len(refusal(trio)) == 2


def test_an_unknown_round_is_refused_and_says_so() -> None:
    (reason,) = refusal([made(), made(round="9.9")])
    assert "round 9.9" in reason
    assert group_of(made(round="9.9")) is None


def test_own_full_scale_runs_compare_with_published_ones_and_are_marked() -> None:
    verdict = judge([made(origin="own"), made()])
    assert verdict.comparable
    assert any("unverified results beside verified" in mark for mark in verdict.marks)


def test_a_desk_workload_never_compares_with_a_benchmark() -> None:
    desk = made(
        origin="own",
        benchmark="resnet50_desk",
        label="unverified; MLPerf procedure, own target",
    )
    (reason,) = refusal([desk, made()])
    assert "target of its own" in reason
    assert judge([desk, desk]).comparable
    assert any("own target" in mark for mark in judge([desk, desk]).marks)


def test_an_own_target_under_an_official_name_does_not_compare() -> None:
    own = made(origin="own", label="unverified; MLPerf procedure, own target")
    assert refusal([own, made()])


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"division": "open"}, "closed with open"),
        ({"accelerators": 64}, "8, 64 (8 times)"),
        ({"accelerators": None}, "not known"),
        ({"category": "preview"}, "available, preview"),
        ({"carried_over": True}, "carried over"),
        ({"scaling_factor": 1.05}, "multiplied by 1.05"),
        ({"round": "1.1"}, "different rounds (1.1, 2.0)"),
        ({"origin": "imported", "label": "unverified"}, "unverified results beside"),
    ],
)
def test_what_does_not_forbid_is_marked(facts: dict[str, Any], word: str) -> None:
    verdict = judge([made(), made(**facts)])
    assert verdict.comparable
    assert [mark for mark in verdict.marks if word in mark], verdict.marks


def test_own_runs_belong_to_the_round_whose_rules_they_follow() -> None:
    facts: dict[str, Any] = {"origin": "own", "benchmark": "ssd", "task": "ssd"}
    early = made(**facts, raw={"rules": "1.0"})
    assert group_of(early) == group_of(made(benchmark="ssd", task="ssd", round="1.1"))
    assert refusal([early, made(benchmark="ssd", task="retinanet", round="2.0")])
    assert not refusal([early, made(benchmark="ssd", task="ssd", round="1.1")])
    rnnt = made(origin="own", benchmark="rnnt", raw={"rules": "1.0"})
    (reason,) = refusal([rnnt, made(benchmark="rnnt", round="2.0")])
    assert "buckets" in reason
    assert group_of(made(origin="own", raw={"rules": "9.9"})) is None
    # What a published system file calls "rules" is nothing.
    assert group_of(made(raw={"rules": "0.5"})) == group_of(made())


def test_own_runs_of_unknown_rules_are_marked_as_taken_for_the_newest() -> None:
    unknown = made(origin="own", id="runs/x", benchmark="rnnt")
    marks = judge([unknown, made(benchmark="rnnt", round="2.0")]).marks
    assert [mark for mark in marks if mark.startswith("runs/x: nothing tells by which round's")]
    known = made(origin="own", id="runs/x", benchmark="rnnt", raw={"rules": "2.0"})
    marks = judge([known, made(benchmark="rnnt", round="2.0")]).marks
    assert not [mark for mark in marks if "nothing tells" in mark]
    ssd = made(origin="own", benchmark="ssd", task="retinanet")  # a guess from the name
    assert "taken to be RetinaNet, rounds 2.0 to 5.1" in " ".join(judge([ssd]).marks)
    single = made(origin="own", benchmark="unet3d")  # has been the same in every round
    assert not [mark for mark in judge([single, single]).marks if "nothing tells" in mark]


def test_many_scaled_results_are_told_together() -> None:
    scaled = [made(id=str(n), scaling_factor=1 + n / 100) for n in range(1, 6)]
    (mark,) = judge(scaled).marks
    assert mark.startswith("5 results have their time multiplied, by 1.01 to 1.05")
    alike = [made(id=str(n), scaling_factor=1.0041) for n in range(5)]
    assert judge(alike).marks[0].startswith("5 results have their time multiplied, by 1.004, as")


def test_like_results_have_no_mark() -> None:
    assert judge([made(), dataclasses.replace(made(), minutes=9.0)]).marks == ()


def test_a_change_of_references_between_the_rounds_is_marked_only_between_them() -> None:
    def marks(first: str, last: str) -> str:
        pair = [made(benchmark="bert", round=r) for r in (first, last)]
        return " ".join(judge(pair).marks)

    assert "2,414,421" in marks("2.0", "2.1")
    assert "2,414,421" in marks("1.0", "5.0")
    assert "2,414,421" not in marks("2.1", "5.0")
    assert "2,414,421" not in marks("1.0", "2.0")


def test_the_page_shows_the_table() -> None:
    page = comparability_page.PAGE.read_text("utf-8")
    assert page.count("<!-- end -->") == 3
    assert comparability_page.rewritten(page) == page, "python -m tests.docs.comparability_page"
    assert all(f"| {group.target} |" in page for group in groups())
