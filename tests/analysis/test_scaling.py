"""Speed-up, efficiency, the line through them, and which results are put together."""

import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.made import made
from trainmark.analysis.comparability import group_of
from trainmark.analysis.scaling import Curve, curve_of, fit_of, scaling, scaling_of
from trainmark.analysis.scaling_reference import reference_samples
from trainmark.analysis.series import Asked, gather, known_benchmarks
from trainmark.catalogue import query
from trainmark.types import Result, TrainmarkError, UsageError


def _of(*results: Result) -> Curve:
    return curve_of(results)


def test_efficiency_of_time_is_that_of_the_rate_times_that_of_the_samples() -> None:
    found = _of(
        made(40.0, id="a", accelerators=8, samples_to_target=40e6),
        made(15.0, id="b", accelerators=32, samples_to_target=50e6),
    )
    small, large = found.steps
    assert (small.speed_up, small.time_efficiency, small.throughput_efficiency) == (1, 1, 1)
    assert large.speed_up == pytest.approx(40 / 15)
    assert large.time_efficiency == pytest.approx(40 / 15 / 4)
    assert large.rate == pytest.approx(50e6 / 15 / 60)
    assert large.throughput_efficiency is not None
    assert large.time_efficiency == pytest.approx(large.throughput_efficiency * 40 / 50)


def test_a_factor_of_the_score_is_no_slower_machine() -> None:
    found = _of(
        made(40.0, id="a", accelerators=8),
        made(22.0, id="b", accelerators=16, scaling_factor=1.1),
    )
    assert found.steps[1].throughput_efficiency == pytest.approx(1.0)
    assert found.steps[1].time_efficiency == pytest.approx(40 / 22 / 2)


def test_the_fastest_of_each_number_is_best_and_the_others_are_kept() -> None:
    found = _of(
        made(41.0, id="slow", accelerators=8),
        made(40.0, id="fast", accelerators=8),
        made(21.0, id="two", accelerators=16),
    )
    assert [(s.result.id, s.best) for s in found.steps] == [
        ("fast", True),
        ("slow", False),
        ("two", True),
    ]
    assert [s.result.id for s in found.best] == ["fast", "two"]


def test_unknown_samples_leave_the_time() -> None:
    found = _of(
        made(40.0, id="a", accelerators=8, samples_to_target=None),
        made(20.0, id="b", accelerators=16),
    )
    assert found.steps[1].time_efficiency == pytest.approx(1.0)
    assert found.steps[1].throughput_efficiency is None
    assert found.steps[0].rate is None


@given(st.floats(0.2, 1.2), st.floats(1, 1e4), st.sets(st.integers(1, 5000), min_size=3))
def test_the_fit_finds_an_exact_power(exponent: float, factor: float, counts: set[int]) -> None:
    fit = fit_of([(n, factor * n**-exponent) for n in counts])
    assert fit is not None
    assert math.isclose(fit.exponent, exponent, rel_tol=1e-6)
    assert math.isclose(fit.factor, factor, rel_tol=1e-6)
    assert fit.residual < 1e-6


def test_two_numbers_give_no_fit() -> None:
    assert fit_of([(8, 30.0), (16, 16.0), (8, 31.0)]) is None


def test_the_published_machines_of_round_2() -> None:
    (found,) = scaling(Asked(benchmark="resnet", accelerator="bow-ipu", round="2.0")).curves
    by_chips = {step.chips: step for step in found.best}
    assert list(by_chips) == [16, 64, 128, 256]
    assert by_chips[16].minutes == pytest.approx(19.635, abs=5e-4)
    assert by_chips[256].speed_up == pytest.approx(19.635 / 2.672, rel=1e-3)
    assert by_chips[256].time_efficiency == pytest.approx(0.459, abs=1e-3)
    assert by_chips[256].throughput_efficiency == pytest.approx(0.544, abs=1e-3)
    assert found.fit is not None
    assert found.fit.counts == 4


def test_references_lie_on_the_line_between_two_batch_sizes() -> None:
    epochs = 35.1538 + (39.875 - 35.1538) * (3520 - 3264) / (4096 - 3264)
    bow = made(global_batch_size=3520.0)
    assert reference_samples(bow) == pytest.approx(epochs * 1_281_167, rel=1e-3)
    assert reference_samples(made(global_batch_size=1e6)) is None
    assert reference_samples(made(global_batch_size=None)) is None
    assert reference_samples(made(round="0.7")) is None
    assert reference_samples(made(round="9.9")) is None


@pytest.mark.parametrize(
    ("benchmark", "round_name", "batch", "samples"),
    [
        ("bert", "2.1", 448, 2_414_421),
        ("dlrm", "1.0", 55_296, 0.9 * 4_195_197_692),
        ("gpt3", "4.0", 1_536, 1_195_376_640 / 2048),
        ("stable_diffusion", "3.1", 512, 5_000 * 512),
        ("unet3d", "3.0", 32, 2_401.875 * 168),
        ("unet3d", "3.1", 32, 384_300),
        ("ssd", "2.1", 256, 4 * 1_170_301),
        ("ssd", "1.1", 1_024, 50 * 117_266),
    ],
)
def test_references_are_in_samples_whatever_they_count(
    benchmark: str, round_name: str, batch: float, samples: float
) -> None:
    result = made(benchmark=benchmark, round=round_name, global_batch_size=batch)
    assert reference_samples(result) == pytest.approx(samples, rel=1e-2)


def test_published_results_need_about_what_the_references_need() -> None:
    """A wrong unit is off by far more: epochs, steps and tokens are not samples."""
    shares: dict[str, list[float]] = {}
    for result in query():
        needed = reference_samples(result)
        if result.division == "closed" and result.samples_to_target and needed:
            task = result.task or result.benchmark
            shares.setdefault(task, []).append(result.samples_to_target / needed)
    assert len(shares) > 12
    for task, found in shares.items():
        assert 0.85 < statistics.median(found) < 1.15, task
        assert sum(0.5 < share < 2 for share in found) > 0.98 * len(found), task


def test_results_without_a_score_or_carried_over_are_left_out() -> None:
    for result in gather(Asked(benchmark="bert", accelerator="a100")):
        assert result.minutes is not None
        assert not result.carried_over
        assert result.division == "closed"


def test_runs_filed_again_with_edited_logs_count_once() -> None:
    found = gather(Asked(benchmark="bert", accelerator="a100-sxm"))
    times = [tuple(sorted(result.run_minutes)) for result in found if len(result.run_minutes) > 2]
    assert len(times) > 20
    assert len(times) == len(set(times))


def test_an_exact_name_is_not_a_part_of_others() -> None:
    found = gather(Asked(benchmark="resnet", accelerator="a100-sxm-80gb"))
    assert {result.accelerator for result in found} == {"A100-SXM-80GB"}


def test_a_name_that_is_also_a_family_means_the_family() -> None:
    found = gather(Asked(benchmark="resnet", accelerator="v100"))
    assert len({result.accelerator for result in found}) > 2
    assert all(result.accelerator.startswith("V100") for result in found)


def test_each_accelerator_is_held_against_its_own_smallest_number() -> None:
    group = group_of(made())
    assert group is not None
    cards = [made(80.0, id="card", accelerator="X1-PCIe", accelerators=2)]
    boards = [
        made(minutes, id=f"board{chips}", accelerator="X1-SXM", accelerators=chips)
        for chips, minutes in ((4, 20.0), (8, 10.0))
    ]
    found = scaling_of([*cards, *boards], group)
    assert [curve.accelerator for curve in found.curves] == ["X1-SXM", "X1-PCIe"]
    assert [s.time_efficiency for s in found.curves[0].steps] == [1.0, 1.0]
    assert [s.time_efficiency for s in found.curves[1].steps] == [1.0]


def test_more_than_linear_is_said_to_be_a_slow_base() -> None:
    slow, fast = made(50.0, id="a", accelerators=4), made(20.0, id="b", accelerators=8)
    assert _of(slow, fast).marks[0].startswith("efficiencies over 100 %: the base, the fastest")
    assert not _of(made(40.0, id="a", accelerators=4), fast).marks


def test_a_family_gives_a_curve_for_each_of_its_accelerators() -> None:
    found = scaling(Asked(benchmark="bert", accelerator="h100"))
    names = [curve.accelerator for curve in found.curves]
    assert names[0] == "H100-SXM-80GB"
    assert "H100-PCIe-80GB" in names
    for curve in found.curves:
        assert {step.result.accelerator for step in curve.steps} == {curve.accelerator}
        assert curve.steps[0].time_efficiency == 1


def test_a_misspelt_benchmark_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="resnett") as raised:
        gather(Asked(benchmark="resnett", accelerator="a100"))
    assert "'resnet'" in raised.value.hint
    assert {"ssd", "retinanet", "gnn", "rgat"} <= set(known_benchmarks())


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ({"accelerator": "no such chip"}, "Accelerators with such a result: A100"),
        ({"benchmark": "dlrm", "accelerator": "GC200"}, "Benchmarks with such a result: bert"),
        ({"submitter": "nobody"}, "Submitters with such a result: ASUSTeK, Azure"),
        ({"framework": "nothing"}, "Frameworks with such a result: "),
        (
            {"benchmark": "resnet", "accelerator": "GC200", "round": "2.0"},
            "Rounds with such a result: 1.0",
        ),
        (
            {"benchmark": "rnnt", "accelerator": "bow", "round": "2.0"},
            "Divisions with such a result: open",
        ),
        ({"submitter": "nobody", "round": "2.0", "framework": "nothing"}, "Leave out one"),
    ],
)
def test_what_there_is_not_says_what_there_is(asked: dict[str, Any], hint: str) -> None:
    with pytest.raises(TrainmarkError) as raised:
        gather(Asked(**{"benchmark": "bert", "accelerator": "a100-sxm-80gb"} | asked))
    assert hint in raised.value.hint


def test_an_accelerator_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError):
        gather(Asked(benchmark="bert", accelerator=" "))
