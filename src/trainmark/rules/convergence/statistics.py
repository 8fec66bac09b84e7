"""The statistics of reference convergence, in plain Python (scipy takes a second to import)."""

import functools
import math
from collections.abc import Sequence

__all__ = [
    "ALPHA",
    "critical_t",
    "deviation",
    "least_acceptable_mean",
    "pooled_t",
    "regularised_beta",
    "t_survival",
    "trimmed_mean",
]

ALPHA = 0.05  # one-sided
_TOLERANCE = 1e-4  # of the bisection, in the unit of the mean; the official one
_EPSILON = 2.0**-53
_TINY = 1e-300  # stands for a zero in a denominator of the continued fraction
_MOST_TERMS = 10_000
_MOST_STEPS = 100


def trimmed_mean(values: Sequence[float], left_out: int) -> float:
    """The mean without so many of the smallest and of the largest values; NaN if none is left.

    Infinity where the sum is beyond any float.

    Args:
        values: Any order.
        left_out: How many to leave out at each end.
    """
    kept = sorted(values)[left_out : len(values) - left_out]
    if not kept:
        return math.nan
    try:
        return math.fsum(kept) / len(kept)
    except OverflowError:
        return math.inf


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of all values (of a population: divided by their number).

    Args:
        values: At least one.
    """
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def pooled_t(difference: float, spread: float, first: int, second: int) -> float:
    """Student's t of two means whose samples have the same standard deviation.

    Args:
        difference: The first mean less the second.
        spread: The standard deviation of each sample.
        first: The number of values in the first sample.
        second: The number of values in the second sample.
    """
    return difference / (spread * math.sqrt(1 / first + 1 / second))


def t_survival(t: float, freedom: int) -> float:
    """The probability that Student's t exceeds a value.

    Args:
        t: The value.
        freedom: Degrees of freedom, 1 or more.
    """
    square = t * t
    if square < 1:  # a small t is lost in freedom / (freedom + square), which is nearly 1
        beyond = 0.5 - 0.5 * regularised_beta(0.5, freedom / 2, square / (freedom + square))
    else:
        beyond = 0.5 * regularised_beta(freedom / 2, 0.5, freedom / (freedom + square))
    return beyond if t >= 0 else 1 - beyond


@functools.cache
def critical_t(freedom: int, alpha: float = ALPHA) -> float:
    """The value that Student's t exceeds with the probability ``alpha``.

    Args:
        freedom: Degrees of freedom, 1 or more.
        alpha: Between 0 and 0.5.
    """
    # Newton's method: right of 0 the survival function is convex, so it comes from one side.
    t, scale = 0.0, _beta_scale(freedom)
    for _ in range(_MOST_STEPS):
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (t_survival(t, freedom) - alpha) / density
        t += step
        if abs(step) < 1e-9 * t:  # the error is then of the order of the square of that
            break
    return t


def _beta_scale(freedom: int) -> float:
    """The logarithm of the density of Student's t at 0."""
    gammas = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    return gammas - math.log(freedom * math.pi) / 2


def least_acceptable_mean(
    mean: float, spread: float, *, reference_runs: int, submission_runs: int
) -> float:
    """The smallest mean that a one-sided t-test does not tell from the reference's.

    The official procedure, step by step: a bisection from 0 to the reference's mean that stops
    at an interval of 0.0001, so that the outcome is the same to the last figures.

    Args:
        mean: The reference's mean, epochs or samples.
        spread: The reference's standard deviation; taken for the submission's as well.
        reference_runs: How many runs the reference's mean is over.
        submission_runs: How many runs the submission's mean is over.
    """
    if spread == 0:
        return mean
    limit = -critical_t(reference_runs + submission_runs - 2)
    low, high = 0.0, mean
    middle = (low + high) / 2
    while high - low > _TOLERANCE:
        if pooled_t(middle - mean, spread, reference_runs, submission_runs) > limit:
            high = middle
        else:
            low = middle
        last, middle = middle, (low + high) / 2
        if middle == last:  # beyond 10^12 neighbouring floats lie further apart than that
            break
    return middle


def regularised_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b).

    Args:
        a: Positive.
        b: Positive.
        x: From 0 to 1.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):  # where the continued fraction converges fast
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _EPSILON * 4:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
