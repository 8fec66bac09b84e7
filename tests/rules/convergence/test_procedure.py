"""Pruning, interpolation, verdict against the official code, on real tables and made-up ones."""

import io
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.convergence.cases import made_up
from trainmark.rules.convergence.points import Point, References, references
from trainmark.rules.convergence.procedure import (
    FAILED_RUN,
    Judgement,
    Match,
    envelope,
    interpolate,
    judge,
    prune,
)
from trainmark.rules.rulesets import known_rulesets

RUNS = {"bert": 10, "resnet": 5, "gpt3": 3, "unet3d": 40}
# Of every unit, number of runs and particularity one; the official class takes its time.
OFFICIAL = [
    ("1.0", "rnnt"),
    ("1.1", "unet3d"),
    ("2.0", "bert"),
    ("4.0", "resnet"),
    ("4.1", "gpt3"),
    ("5.0", "llama31_405b"),
    ("6.0", "flux1"),
    ("hpc-3.0", "deepcam"),
]


def official(
    monkeypatch: pytest.MonkeyPatch,
    *,
    version: str,
    usage: str,
    benchmark: str,
    batch_size: float,
    amounts: list[float],
    records: dict[float, list[float]] | None,
    which: str,
) -> tuple[bool, str, float]:
    """The official checker's verdict, its reading of logs left out."""
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    size = int(batch_size) if batch_size == int(batch_size) else batch_size
    monkeypatch.setattr(
        checker, "get_submission_epochs", lambda *_: (size, sorted(amounts), benchmark)
    )
    file: Any = None
    if records is not None:
        content = {
            f"{number}": {
                "Benchmark": benchmark,
                "BS": size,
                "Hyperparams": {},
                "Epochs to converge": list(values),
                "samples to converge": list(values),
            }
            for number, (size, values) in enumerate(records.items())
        }
        file = io.StringIO(json.dumps(content))
    passed, message, factor = checker.check_directory(
        str(Path("nowhere")), usage, version, False, False, rcp_file=file, rcp_pass=which
    )
    return bool(passed), str(message), float(factor)


def same(ours: Judgement, theirs: tuple[bool, str, float], batch_size: float) -> None:
    assert (ours.passed, ours.official_message(batch_size)) == theirs[:2]
    assert ours.factor == pytest.approx(theirs[2], rel=1e-12)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, dict[float, list[float]]]:
    benchmark = draw(st.sampled_from(sorted(RUNS)))
    fewest = 10 if benchmark == "unet3d" else 4
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=8, unique=True))
    whole = st.integers(2, 120).map(float)
    broken = st.floats(0.1, 5000).map(lambda value: round(value, 3))
    amounts = st.lists(draw(st.sampled_from([whole, broken])), min_size=fewest, max_size=20)
    return benchmark, {float(size): draw(amounts) for size in sizes}


@settings(deadline=None, max_examples=40)
@given(data=st.data(), table=tables())
def test_any_table_gives_the_official_verdict(
    data: st.DataObject, table: tuple[str, dict[float, list[float]]]
) -> None:
    benchmark, records = table
    ours = made_up(records, benchmark=benchmark, runs=RUNS[benchmark])
    batch_size = float(data.draw(st.integers(1, 70)))
    some = data.draw(st.sampled_from(list(records.values())))
    share = data.draw(st.floats(0.7, 1.2))
    fewest = 9 if benchmark == "unet3d" else 3
    amounts = (some * 3)[: max(fewest, data.draw(st.integers(3, 30)))]
    amounts = [amount * share for amount in amounts]
    if data.draw(st.booleans()):
        amounts[0] = FAILED_RUN
    with pytest.MonkeyPatch.context() as patch:
        for which, points in (
            ("pruned_rcps", prune(ours.points)),
            ("full_rcps", ours.points),
        ):
            theirs = official(
                patch,
                version="4.0.0",
                usage="training",
                benchmark=benchmark,
                batch_size=batch_size,
                amounts=amounts,
                records=records,
                which=which,
            )
            same(judge(ours, points, batch_size, amounts), theirs, batch_size)


@pytest.mark.parametrize(("name", "benchmark"), OFFICIAL)
def test_every_installed_table_gives_the_official_numbers(name: str, benchmark: str) -> None:
    module = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    ruleset = known_rulesets()[name]
    ours = references(ruleset, benchmark)
    assert ours is not None
    usage, _, version = ruleset.first_table.split("/")[0].partition("_")
    theirs = module.RCP_Checker(usage, version, benchmark, False)
    assert len(ours.points) == len(theirs.rcp_data)
    for point, record in zip(ours.points, theirs.rcp_data.values(), strict=True):
        assert point.batch_size == record["BS"]
        assert point.mean == pytest.approx(float(record["RCP Mean"]), rel=1e-13)
        assert point.deviation == pytest.approx(float(record["RCP Stdev"]), rel=1e-9)
        assert point.least == pytest.approx(float(record["Min Epochs"]), rel=1e-9)
    kept = [point.batch_size for point in prune(ours.points)]
    assert kept == [record["BS"] for record in theirs.pruned_rcp_data.values()]


@pytest.mark.parametrize(("name", "benchmark"), OFFICIAL)
def test_around_every_bound_the_verdict_is_the_official_one(
    name: str, benchmark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ruleset = known_rulesets()[name]
    ours = references(ruleset, benchmark)
    assert ours is not None
    usage, _, version = ruleset.first_table.split("/")[0].partition("_")
    sizes = [ours.points[0].batch_size / 2, ours.points[-1].batch_size * 2]
    sizes += [(one.batch_size + two.batch_size) / 2 for one, two in pairs(ours)][:2]
    seen = set()
    for size in [*sizes, ours.points[-1].batch_size]:
        at_bound = judge(ours, prune(ours.points), size, [1.0] * ours.runs).limit or 1.0
        for share in (1 - 1e-7, 1 + 1e-7):
            amounts = [at_bound * share] * ours.runs
            theirs = official(
                monkeypatch,
                version=version,
                usage=usage,
                benchmark=benchmark,
                batch_size=size,
                amounts=amounts,
                records=None,
                which="pruned_rcps",
            )
            verdict = judge(ours, prune(ours.points), size, amounts)
            same(verdict, theirs, size)
            seen.add(verdict.passed)
    assert seen == {True, False}


def pairs(table: References) -> list[tuple[Point, Point]]:
    return list(itertools.pairwise(table.points))


def test_a_point_slower_than_its_neighbours_line_goes() -> None:
    table = made_up({128: [10] * 20, 256: [20] * 20, 512: [20] * 20})
    assert [point.batch_size for point in prune(table.points)] == [128, 512]
    assert [point.batch_size for point in envelope(table.points)] == [128, 512]


def test_points_below_the_fastest_go() -> None:
    table = made_up({8: [12] * 20, 16: [10] * 20, 32: [15] * 20})
    assert [point.batch_size for point in prune(table.points)] == [16, 32]


def test_the_official_pruning_is_not_the_lower_envelope() -> None:
    # At 2 the line from 1 to 3 is above; only when 3 has gone does the line from 1 to 4 cut it off.
    table = made_up({1: [10] * 20, 2: [13] * 20, 3: [17] * 20, 4: [18] * 20})
    assert [point.batch_size for point in prune(table.points)] == [1, 2, 4]
    assert [point.batch_size for point in envelope(table.points)] == [1, 4]


@settings(deadline=None)
@given(
    means=st.lists(st.integers(1, 60), min_size=1, max_size=9),
)
def test_nothing_lies_under_the_envelope(means: list[int]) -> None:
    table = made_up({size: [mean] * 6 for size, mean in enumerate(means, start=1)})
    kept = envelope(table.points)
    for one, two in itertools.pairwise(kept):
        for point in table.points:
            if one.batch_size < point.batch_size < two.batch_size:
                line = interpolate(table, point.batch_size, one, two)
                assert point.mean >= line.mean - 1e-9


def test_which_reference_a_batch_size_is_held_to() -> None:
    table = made_up({100: [50, 51, 52] * 7, 200: [60, 61, 62] * 7})
    found = {
        size: judge(table, table.points, size, [56.0] * 10) for size in (50, 100, 150, 200, 201)
    }
    assert {size: verdict.match for size, verdict in found.items()} == {
        50: Match.BELOW,
        100: Match.EXACT,
        150: Match.BETWEEN,
        200: Match.EXACT,
        201: Match.ABOVE,
    }
    between = found[150].point
    assert between is not None
    assert between.mean == pytest.approx(56.0)
    assert found[50].passed
    assert found[150].passed
    assert not found[200].passed
    assert found[201].point is None
    assert found[201].factor == 1.0


def test_a_mean_of_nothing_done_does_not_divide() -> None:
    table = made_up({100: [50, 51, 52] * 7})
    verdict = judge(table, table.points, 100, [0.0] * 10)
    assert not verdict.passed
    assert math.isinf(verdict.factor)
