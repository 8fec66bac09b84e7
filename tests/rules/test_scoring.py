import csv
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import CONVERGED, RunShape, write_folder, write_resnet
from trainmark.rules import failures_allowed, required_runs, score, score_path
from trainmark.types import Run


def runs(*minutes: float | None, status: str = "success") -> list[Run]:
    """Runs of those minutes; None stands for one that did not succeed (after 99 minutes)."""
    return [
        Run(
            source=f"result_{n}.txt",
            minutes=99.0 if one is None else one,
            status="aborted" if one is None else status,
        )
        for n, one in enumerate(minutes)
    ]


def test_the_mean_without_the_fastest_and_the_slowest() -> None:
    result = score(runs(5, 1, 3, 4, 2), benchmark="resnet")
    assert result.minutes == 3
    assert result.official
    assert (result.fastest, result.slowest) == ((1,), (5,))
    assert (result.runs_counted, result.runs, result.required_runs, result.failed) == (3, 5, 5, 0)
    assert result.basis == (
        "official formula: 5 runs; mean of 3 without the fastest and the slowest"
    )


def test_a_failed_run_takes_the_slowest_place() -> None:
    result = score(runs(5, None, 3, 4, 2), benchmark="resnet")
    assert result.minutes == pytest.approx((3 + 4 + 5) / 3)
    assert (result.fastest, result.slowest, result.failed) == ((2,), (), 1)
    assert "1 of them failed" in result.basis


def test_two_failed_runs_are_no_score() -> None:
    result = score(runs(5, None, 3, None, 2), benchmark="resnet")
    assert result.minutes is None
    assert not result.official
    assert result.basis == "no score: 2 of 5 runs did not succeed, at most 1 may fail"


def test_unet3d_leaves_out_four_at_each_end() -> None:
    times = [float(n) for n in range(1, 41)]
    result = score(runs(*times), benchmark="unet3d")
    assert result.minutes == pytest.approx(sum(range(5, 37)) / 32)
    assert "the fastest and the slowest 4 each" in result.basis
    four_failed = score(runs(*times[:36], None, None, None, None), benchmark="unet3d")
    assert four_failed.minutes == pytest.approx(sum(range(5, 37)) / 32)
    assert score(runs(*times[:35], *[None] * 5), benchmark="unet3d").minutes is None
    assert score(runs(1, 2, 9), benchmark="unet3d").minutes == 2


def test_scaling_multiplies() -> None:
    result = score(runs(1, 2, 3, 4, 5), benchmark="resnet", scaling=1.5)
    assert result.minutes == 4.5
    assert "times 1.5" in result.basis
    assert result.run_minutes == (1, 2, 3, 4, 5)


def test_three_of_five_is_the_middle_and_not_official() -> None:
    result = score(runs(9, 1, 2), benchmark="resnet")
    assert result.minutes == 2
    assert not result.official
    assert result.basis == "not an official score: 3 of 5 required runs; the middle value"


def test_one_and_two_runs_are_the_plain_mean() -> None:
    two = score(runs(1, 2), benchmark="resnet")
    assert (two.minutes, two.official) == (1.5, False)
    assert two.basis == "not an official score: 2 of 5 required runs; plain mean"
    one = score(runs(1.25), benchmark="resnet50_desk")
    assert one.minutes == 1.25
    assert one.basis == "not an official score: 1 of 3 required runs; the one time"
    assert score(runs(1, None), benchmark="resnet").minutes is None
    assert score([], benchmark="resnet").basis == "no score: there are no runs"


def test_an_own_benchmark_asks_for_three() -> None:
    result = score(runs(3, 1, 2), benchmark="resnet50_desk")
    assert (result.minutes, result.official, result.required_runs) == (2, False, 3)
    assert result.basis == "own benchmark, official formula: 3 runs; the middle value"
    failed = score(runs(3, 1, None), benchmark="resnet50_desk")
    assert failed.minutes == 3
    assert score(runs(3, None, None), benchmark="resnet50_desk").minutes is None


def test_a_run_without_a_time_does_not_count() -> None:
    odd = [
        Run(source="x", minutes=None, status="success"),
        Run(source="y", minutes=math.nan, status="success"),
    ]
    assert score([*runs(1, 2, 3), odd[0]], benchmark="resnet").failed == 1
    assert score([*runs(1, 2, 3), *odd], benchmark="resnet").minutes is None


@pytest.mark.parametrize(
    ("benchmark", "count", "failures"),
    [
        ("resnet", 5, 1),
        ("bert", 10, 1),
        ("unet3d", 40, 4),
        ("gpt3", 3, 1),
        ("llama31_405b", 3, 1),
        ("cosmoflow", 10, 1),
        ("resnet50_desk", 3, 1),
    ],
)
def test_required_runs(benchmark: str, count: int, failures: int) -> None:
    assert required_runs(benchmark) == count
    assert failures_allowed(benchmark) == failures


def test_the_score_is_plain_data() -> None:
    data = score(runs(1, 2, 3), benchmark="resnet").to_dict()
    assert data["minutes"] == 2
    assert data["run_minutes"] == (1, 2, 3)


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=60), st.randoms())
def test_a_score_lies_between_the_times_and_does_not_depend_on_order(
    times: list[float], random: object
) -> None:
    result = score(runs(*times), benchmark="bert")
    assert result.minutes is not None
    assert min(times) <= result.minutes * (1 + 1e-9)
    assert result.minutes <= max(times) * (1 + 1e-9)
    assert score(runs(*sorted(times)), benchmark="bert").minutes == result.minutes
    assert len(result.fastest) + len(result.slowest) + result.runs_counted == len(times)


@given(st.lists(st.floats(1, 100), min_size=5, max_size=12), st.floats(0.1, 50))
def test_a_slower_run_never_makes_a_better_score(times: list[float], more: float) -> None:
    before = score(runs(*times), benchmark="resnet").minutes
    after = score(runs(times[0] + more, *times[1:]), benchmark="resnet").minutes
    assert before is not None
    assert after is not None
    assert after >= before - 1e-9


def test_published_folders_get_their_published_score(shared_logs: Path) -> None:
    """Every complete folder of the sample from round 1.0 on."""
    checked, differing = 0, []
    with (shared_logs.parent / "oracle" / "scores.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            folder = shared_logs / f"v{row['round']}" / row["dir"]
            complete = len(list(folder.glob("result_*.txt"))) == int(row["n_files"])
            if row["round"] == "0.6" or not complete:
                continue
            checked += 1
            (found,) = score_path(folder)
            wanted = float(row["score"]) if row["score"] else None
            if found.score.minutes != pytest.approx(wanted, rel=1e-9):
                differing.append((row["dir"], found.score.minutes, wanted))
    assert checked >= 30
    assert differing == []


def test_the_factor_is_that_of_the_file_or_reckoned(tmp_path: Path) -> None:
    """40 epochs are a little faster than the reference at 10,600, and allowed."""
    folder = tmp_path / "v4.0" / "resnet"
    shapes = [
        RunShape(seed=seed, minutes=10, batch=10_600, qualities=CONVERGED) for seed in range(5)
    ]
    write_folder(folder, shapes, write_resnet)
    (from_file,) = score_path(folder)
    assert from_file.score.minutes == pytest.approx(10)
    assert [finding.rule for finding in from_file.findings] == ["rcp.scaling_absent"]
    (reckoned,) = score_path(folder, reckon_scaling=True)
    assert reckoned.score.scaling > 1
    assert reckoned.score.minutes == pytest.approx(10 * reckoned.score.scaling)
    assert reckoned.findings == ()
    factor = reckoned.score.scaling
    (folder / "scaling.json").write_text(json.dumps({"scaling_factor": factor}), encoding="utf-8")
    (again,) = score_path(folder)
    assert again.score.minutes == reckoned.score.minutes
    assert again.findings == ()
    assert sorted(path.name for path in folder.iterdir()) == [
        *(f"result_{run}.txt" for run in range(5)),
        "scaling.json",
    ]
