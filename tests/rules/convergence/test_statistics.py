"""The statistics against scipy and numpy, and against values that can be had by hand."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trainmark.rules.convergence.statistics import (
    critical_t,
    deviation,
    least_acceptable_mean,
    pooled_t,
    regularised_beta,
    t_survival,
    trimmed_mean,
)

AMOUNTS = st.floats(min_value=0.001, max_value=1e9, allow_nan=False)


@settings(deadline=None)
@given(t=st.floats(-200, 200), freedom=st.integers(1, 300))
@example(t=0.0, freedom=1)
@example(t=-3.7, freedom=4)
def test_the_tail_of_students_t_is_scipys(t: float, freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    theirs = float(stats.t.sf(t, freedom))
    assert t_survival(t, freedom) == pytest.approx(theirs, rel=1e-10, abs=1e-8)
    if abs(t) > 1e-3:  # nearer to 0 scipy itself is good to 8 figures only
        assert t_survival(t, freedom) == pytest.approx(theirs, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("t", [-1e-9, 1e-9, 0.1, 1.0, 17.0, 1e6])
def test_the_tail_of_one_degree_of_freedom_is_an_arctangent(t: float) -> None:
    exact = 0.5 - math.atan(t) / math.pi if t < 1 else math.atan(1 / t) / math.pi
    assert t_survival(t, 1) == pytest.approx(exact, rel=1e-14)


@settings(deadline=None)
@given(a=st.floats(0.5, 100), b=st.floats(0.5, 100), x=st.floats(0, 1))
def test_the_incomplete_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    special = pytest.importorskip("scipy.special")
    assert regularised_beta(a, b, x) == pytest.approx(float(special.betainc(a, b, x)), abs=1e-11)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 14, 26, 66, 116, 1000])
def test_critical_values_are_scipys(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert critical_t(freedom) == pytest.approx(float(stats.t.isf(0.05, freedom)), rel=1e-10)
    assert critical_t(freedom, 0.2) == pytest.approx(float(stats.t.isf(0.2, freedom)), rel=1e-10)


@settings(deadline=None)
@given(values=st.lists(AMOUNTS, min_size=9, max_size=100), left_out=st.integers(0, 4))
def test_means_and_deviations_are_numpys(values: list[float], left_out: int) -> None:
    numpy = pytest.importorskip("numpy")
    kept = sorted(values)[left_out : len(values) - left_out]
    assert trimmed_mean(values, left_out) == pytest.approx(float(numpy.mean(kept)), rel=1e-12)
    assert deviation(values) == pytest.approx(float(numpy.std(values)), rel=1e-9, abs=1e-6)


def test_a_mean_of_nothing_is_no_number() -> None:
    assert math.isnan(trimmed_mean([1.0, 2.0], 1))
    assert trimmed_mean([9.0, 1.0, 4.0], 1) == 4.0


@settings(deadline=None)
@given(
    mean=st.floats(0.1, 5e6),
    share=st.floats(1e-6, 0.5),
    reference_runs=st.integers(4, 100),
    submission_runs=st.integers(1, 38),
)
def test_the_bound_is_where_the_official_t_test_turns(
    mean: float, share: float, reference_runs: int, submission_runs: int
) -> None:
    stats = pytest.importorskip("scipy.stats")
    spread = share * mean
    bound = least_acceptable_mean(
        mean, spread, reference_runs=reference_runs, submission_runs=submission_runs
    )

    def one_sided(value: float) -> float:
        test = stats.ttest_ind_from_stats(
            value, spread, reference_runs, mean, spread, submission_runs
        )
        return float(test.pvalue) / 2

    if bound > 1e-3:  # with a wide spread nothing is too fast
        assert one_sided(bound - 2e-4) <= 0.05
    assert bound + 2e-4 >= mean or one_sided(bound + 2e-4) > 0.05


def test_without_spread_only_the_references_mean_will_do() -> None:
    assert least_acceptable_mean(42.0, 0.0, reference_runs=8, submission_runs=3) == 42.0


def test_a_bisection_between_neighbouring_floats_ends() -> None:
    assert 0 < least_acceptable_mean(1e15, 1e13, reference_runs=8, submission_runs=3) < 1e15


def test_t_is_the_difference_in_units_of_its_error() -> None:
    assert pooled_t(-3.0, 2.0, 8, 8) == pytest.approx(-3.0)
