import math

import pytest

from tests.report.results import result
from trainmark.report.compare import Verdict, compare, earlier_results, spread, t_quantile

stats = pytest.importorskip("scipy.stats", reason="comes with mlperf-logging")


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 29, 30, 31, 40, 100, 1000])
def test_t_quantile_is_the_textbook_one(degrees: int) -> None:
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=1.5e-3)


def test_t_quantile_rounds_degrees_down() -> None:
    assert t_quantile(2.9) == t_quantile(2)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ((1.0, 1.1, 1.2), (1.0, 1.15, 1.25)),
        ((1.0, 1.01, 1.02), (1.3, 1.31, 1.32)),
        ((2.0, 2.01, 2.02), (1.3, 1.31, 1.32)),
        ((1.0, 1.4, 1.8, 1.1), (1.5, 1.9)),
        ((1.0, 1.02, 1.05, 1.01, 1.03), (1.06, 1.04, 1.09, 1.08)),
    ],
)
def test_noise_is_what_welchs_test_calls_noise(
    now: tuple[float, ...], then: tuple[float, ...]
) -> None:
    one = compare(sum(now) / len(now), now, None, result(run_minutes=then))
    p = stats.ttest_ind(now, then, equal_var=False).pvalue
    assert (one.verdict is Verdict.NOISE) == (p > 0.05)


def test_faster_and_slower_with_the_change_of_time_and_of_throughput() -> None:
    before = result(run_minutes=(2.0, 2.01, 2.02), minutes=2.0, samples_per_second=100.0)
    one = compare(1.5, (1.5, 1.51, 1.49), 130.0, before)
    assert one.verdict is Verdict.FASTER
    assert one.change == pytest.approx(-0.25)
    assert one.rate_change == pytest.approx(0.3)
    other = compare(2.5, (2.5, 2.51, 2.49), None, before)
    assert other.verdict is Verdict.SLOWER
    assert other.rate_change is None


def test_one_run_on_a_side_bears_no_verdict() -> None:
    assert compare(1.0, (1.0,), None, result(run_minutes=(2.0, 2.1))).verdict is Verdict.UNKNOWN
    assert compare(1.0, (1.0, 1.1), None, result(run_minutes=(2.0,))).verdict is Verdict.UNKNOWN


def test_runs_without_any_spread_differ_or_are_the_same() -> None:
    assert compare(1.0, (1.0, 1.0), None, result(run_minutes=(1.0, 1.0))).verdict is Verdict.NOISE
    assert compare(1.0, (1.0, 1.0), None, result(run_minutes=(1.1, 1.1))).verdict is Verdict.FASTER


def test_earlier_leaves_out_this_session_later_ones_and_those_without_a_score() -> None:
    results = [
        result(id="c", path="/b", recorded="2026-03-01T00:00:00+00:00"),
        result(id="own", path="/a/run", recorded="2026-02-01T00:00:00+00:00"),
        result(id="inside", path="/a/run/x", recorded="2026-02-01T00:00:00+00:00"),
        result(id="neighbour", path="/a/run2", recorded="2026-01-01T00:00:00+00:00"),
        result(id="none", path="/c", minutes=None, recorded="2026-01-01T00:00:00+00:00"),
        # 00:30 at +02:00 is before midnight UTC: later by text, earlier by time
        result(id="zone", path="/d", recorded="2026-02-28T00:30:00+02:00"),
    ]
    kept = earlier_results(results, folder="/a/run/", before="2026-02-27T23:00:00+00:00")
    assert [one.id for one in kept] == ["neighbour", "zone"]
    kept = earlier_results(results, folder="/a/run")
    assert [one.id for one in kept] == ["neighbour", "zone", "c"]


def test_spread_is_relative() -> None:
    assert spread((1.0,)) is None
    assert spread((1.0, 3.0)) == pytest.approx(math.sqrt(2) / 2)
