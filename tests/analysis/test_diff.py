"""Before and after: what is slower beyond noise, what cannot be told, what is not alike."""

import random
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.made import made
from tests.logs import RunShape, write_folder, write_resnet
from trainmark.analysis.diff import Diff, Measure, Outcome, diff, diff_sides, runs_needed
from trainmark.analysis.diff_sides import Side, setup_differences, unlike
from trainmark.analysis.statistics import Sample, ratio, score_of
from trainmark.catalogue import record
from trainmark.types import Run, Target, TrainmarkError, UsageError

_STEADY = (0.998, 0.999, 1.0, 1.001, 1.002)


def _side(minutes: list[float], samples: list[float] | None = None, **facts: Any) -> Side:
    """Runs of so many minutes and samples, as a side."""
    amounts = samples or [50e6] * len(minutes)
    runs = tuple(
        Run(source="", status="success", minutes=m, samples_to_target=s)
        for m, s in zip(minutes, amounts, strict=True)
    )
    score = score_of(minutes, benchmark="resnet")
    return Side(label="runs", result=made(score, origin="own", **facts), runs=runs)


def _steady(minutes: float, **facts: Any) -> Side:
    return _side([minutes * factor for factor in _STEADY], **facts)


def _measure(found: Diff, name: str) -> Measure:
    (measure,) = [measure for measure in found.measures if measure.name == name]
    return measure


@pytest.mark.parametrize(
    ("after", "outcome", "slower"),
    [
        (31.5, Outcome.SLOWER, True),
        (30.6, Outcome.LITTLE, False),
        (30.0, Outcome.HELD, False),
        (29.0, Outcome.FASTER, False),
    ],
)
def test_beyond_noise_and_beyond_the_threshold(
    after: float, outcome: Outcome, slower: bool
) -> None:
    found = diff_sides(_steady(30.0), _steady(after), threshold=0.03)
    assert found.outcome is outcome
    assert found.slower is slower
    assert {measure.outcome for measure in found.measures[:2]} == {outcome}


def test_a_large_change_within_noise_is_not_slower_and_says_how_many_runs_would_tell() -> None:
    before, after = [27.0, 29.0, 30.0, 31.0, 33.0], [28.0, 30.0, 31.2, 32.0, 35.0]
    found = diff_sides(_side(before), _side(after), threshold=0.03)
    time = _measure(found, "time")
    assert time.slowdown is not None
    assert time.slowdown > 0.03
    assert found.outcome is Outcome.UNTOLD
    assert not found.slower
    assert time.spread == pytest.approx(0.077, abs=0.005)
    assert time.needed is not None
    assert time.needed > 100
    assert time.needed == runs_needed(time.spread or 0, 0.03)


def test_noise_of_samples_hides_a_slower_machine_in_the_time_not_in_the_throughput() -> None:
    samples = [46e6, 48e6, 50e6, 52e6, 55e6]
    before = _side([s / 30e3 / 60 for s in samples], samples)
    after = _side([s / 28.5e3 / 60 for s in samples], samples)
    found = diff_sides(before, after, threshold=0.03)
    assert _measure(found, "time").outcome is Outcome.UNTOLD
    assert _measure(found, "throughput").outcome is Outcome.SLOWER
    assert _measure(found, "throughput").before == pytest.approx(30e3)
    assert _measure(found, "throughput").after == pytest.approx(28.5e3)
    assert _measure(found, "throughput").slowdown == pytest.approx(30 / 28.5 - 1)
    assert found.slower
    assert not diff_sides(before, after, threshold=0.03, by=("time",)).slower


def test_more_samples_are_slower_time_at_the_same_throughput() -> None:
    before = _side([30.0 * f for f in _STEADY], [50e6 * f for f in _STEADY])
    after = _side([33.0 * f for f in _STEADY], [55e6 * f for f in _STEADY])
    found = diff_sides(before, after, threshold=0.03)
    assert _measure(found, "time").outcome is Outcome.SLOWER
    assert _measure(found, "throughput").outcome is Outcome.HELD
    assert _measure(found, "samples").slowdown == pytest.approx(0.1)
    assert found.judged == ("time", "throughput")
    assert found.slower


def test_two_runs_cannot_tell() -> None:
    found = diff_sides(_side([30.0, 30.1]), _steady(40.0), threshold=0.03)
    assert found.outcome is Outcome.UNTOLD
    assert not found.slower
    assert _measure(found, "time").needed == 3
    one = diff_sides(_side([30.0]), _side([40.0]), threshold=0.03)
    assert one.outcome is Outcome.UNTOLD
    assert _measure(one, "time").spread is None
    assert _measure(one, "time").needed is None


def test_without_samples_the_time_decides() -> None:
    runs = tuple(Run(source="", status="success", minutes=30 * f) for f in _STEADY)
    bare = Side(label="bare", result=made(30.0, origin="own"), runs=runs)
    found = diff_sides(bare, bare, threshold=0.03)
    assert found.judged == ("time",)
    assert found.outcome is Outcome.HELD


def test_runs_that_fail_cost_the_score() -> None:
    before = _steady(30.0)
    failed = tuple(Run(source="", status="aborted", minutes=60.0) for _ in range(2))
    after = Side(label="after", result=before.result, runs=before.runs[:3] + failed)
    found = diff_sides(before, after, threshold=0.03)
    assert found.outcome is Outcome.NO_SCORE
    assert found.slower
    assert "2 of 5 runs" in " ".join(found.notes)
    none = Side(label="after", result=before.result, runs=failed)
    with pytest.raises(TrainmarkError, match="none of 2 runs succeeded"):
        diff_sides(before, none)


def test_as_many_runs_as_advised_tell_the_threshold_in_four_cases_of_five() -> None:
    generator = random.Random(1)
    spread, threshold = 0.02, 0.03
    needed = runs_needed(spread, threshold)
    assert needed is not None
    told, cases = 0, 60
    for _ in range(cases):
        sides = [
            Sample(
                minutes=tuple(generator.gauss(m, spread * m) for _ in range(needed)),
                benchmark="resnet",
            )
            for m in (30.0, 30.0 * (1 + threshold))
        ]
        low = ratio(sides[1], sides[0], resamples=500).low
        told += low is not None and low > 1
    assert 0.68 <= told / cases <= 0.93


def test_runs_needed_grows_with_spread_and_falls_with_the_threshold() -> None:
    assert runs_needed(0.0028, 0.03) == 3
    assert runs_needed(0.04, 0.03) == 33
    assert (runs_needed(0.04, 0.01) or 0) > 9 * 30
    assert runs_needed(0.3, 0.01) is None


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({"benchmark": "bert"}, "different tasks"),
        ({"global_batch_size": 2048.0}, "global batch size: 1024 before, 2048 after"),
        ({"accelerator": "X2"}, "accelerator: X1 before, X2 after"),
        ({"accelerators": 16}, "number of accelerators: 8 before, 16 after"),
        ({"division": "open"}, "division"),
    ],
)
def test_what_is_not_alike_is_refused_or_noted(facts: dict[str, Any], word: str) -> None:
    before, after = _steady(30.0), _steady(30.0, **facts)
    assert word in " ".join(unlike(before, after))
    with pytest.raises(UsageError, match="not alike") as raised:
        diff_sides(before, after)
    assert "--anyway" in raised.value.hint
    found = diff_sides(before, after, anyway=True)
    assert word in " ".join(found.unlike)


def test_another_target_is_not_alike() -> None:
    def with_target(value: float) -> Side:
        goal = Target(metric="eval_accuracy", value=value)
        runs = tuple(Run(source="", status="success", minutes=30 * f, target=goal) for f in _STEADY)
        return Side(label="runs", result=made(30.0, origin="own"), runs=runs)

    assert unlike(with_target(0.97), with_target(0.97)) == ()
    assert "target: 0.97 before, 0.98 after" in unlike(with_target(0.97), with_target(0.98))


def _shapes(minutes: float, **more: Any) -> list[RunShape]:
    return [
        RunShape(minutes=minutes * f, seed=seed, more=more)
        for seed, f in enumerate(_STEADY, start=1)
    ]


def test_folders_of_logs(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", _shapes(30.0), write_resnet)
    write_folder(
        tmp_path / "b",
        _shapes(31.5, lars_opt_base_learning_rate=12.5, opt_name="lars"),
        write_resnet,
    )
    (found,) = diff(str(tmp_path / "a"), str(tmp_path / "b"), threshold=0.03)
    assert found.outcome is Outcome.SLOWER
    assert found.setup == (("lars_opt_base_learning_rate", "13", "12.5"),)
    assert _measure(found, "throughput").before == pytest.approx(16 * 1_281_167 / 1800, rel=1e-3)


def test_own_logs_tell_software_and_settings(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", _shapes(3.0))
    newer = {"trainmark_environment": {"python": "3.12", "device": "cpu"}}
    write_folder(tmp_path / "b", _shapes(3.0, **newer))
    (found,) = diff(str(tmp_path / "a"), str(tmp_path / "b"))
    assert found.setup == (("python", "3.11", "3.12"),)


def test_folders_of_several_benchmarks_are_paired(tmp_path: Path) -> None:
    for side in ("a", "b"):
        write_folder(tmp_path / side / "desk", _shapes(3.0))
        write_folder(tmp_path / side / "full", _shapes(30.0), write_resnet)
    found = diff(str(tmp_path / "a"), str(tmp_path / "b"))
    assert [one.after.result.benchmark for one in found] == ["resnet", "resnet50_desk"]
    write_folder(tmp_path / "a" / "again", _shapes(3.0))
    with pytest.raises(UsageError, match="several results of resnet50_desk"):
        diff(str(tmp_path / "a"), str(tmp_path / "b"))
    with pytest.raises(UsageError, match="only one side has runs of resnet"):
        diff(str(tmp_path / "a" / "desk"), str(tmp_path / "b"))


def test_recorded_results_are_found_by_id(tmp_path: Path) -> None:
    for name, minutes in (("one", 30.0), ("two", 32.0)):
        side = _steady(minutes, id=f"own/{name}", machine="m", recorded="2026-11-01T10:00:00")
        record(side.result, side.runs, tmp_path)
    (found,) = diff("own/one", "own/two", threshold=0.03, where=tmp_path)
    assert found.slower
    assert _measure(found, "time").runs == (5, 5)


def test_the_same_setup_has_no_differences() -> None:
    assert setup_differences(_steady(30.0), _steady(30.0)) == ()


def test_the_spread_is_that_of_both_sides_around_their_own_means() -> None:
    minutes = [29.0, 30.0, 31.0]
    found = diff_sides(_side(minutes), _side([60.0] * 3))
    cv = statistics.stdev(minutes) / 30
    assert _measure(found, "time").spread == pytest.approx(cv / 2**0.5)


def test_the_page_says_how_many_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "diff.md").read_text("utf-8")
    rows = re.findall(r"^\| ([0-9.]+) %[^|]*\| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for spread, runs in rows:
        assert runs_needed(float(spread) / 100, 0.03) == int(runs)
