"""How sure a score is, and whether two differ: bootstrap of the official score.

    ratio(Sample.of(a), Sample.of(b))   # times as long as b, with an interval

A score is the mean of a folder's runs without the fastest and the slowest. Here the runs are drawn
again, with replacement, and scored again, some thousand times; the interval holds the middle 95 %
of those scores (percentile bootstrap). A failed run is drawn like any other and takes the slowest
place; a draw in which too many fail has no score and is left out.

What it measures is how far these runs on these machines could have come out otherwise. How well
it does so was simulated (``benchmarks/coverage.py``, docs/compare.md): the 95 % interval of a ratio
holds the true one in 93 to 96 % of the cases with 5 or 10 runs a side, in 90 to 97 % with 3 or 4. A
bias-corrected interval (BCa) was no better, and drawing the kept runs only, without trimming again,
much worse (82 % with 10 runs). Pure Python; the same numbers every time.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Self

from trainmark.rules.scoring import failures_allowed, may_fail
from trainmark.types import Result

__all__ = ["Estimate", "Ratio", "Sample", "bootstrap", "estimate", "ratio", "score_of"]

CONFIDENCE = 0.95
RESAMPLES = 2000
_LEAST_RUNS = 3  # of one or two runs a draw shows nothing of the spread
_ROUGH_RUNS = 4  # up to here the interval is markedly too narrow, and says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The runs behind one score.

    Attributes:
        minutes: Minutes of the runs that succeeded, in any order.
        benchmark: The benchmark's official or own name: it decides how many are left out.
        failed: Number of runs that did not succeed.
        scaling: The factor of reference convergence, 1 without one.
    """

    minutes: tuple[float, ...]
    benchmark: str
    failed: int = 0
    scaling: float = 1.0

    @property
    def runs(self) -> int:
        """Number of runs, failed ones too."""
        return len(self.minutes) + self.failed

    @property
    def score(self) -> float | None:
        """The official score in minutes, None when there is none."""
        return score_of(
            self.minutes, benchmark=self.benchmark, failed=self.failed, scaling=self.scaling
        )

    @classmethod
    def of(cls, result: Result) -> Self | None:
        """The runs of a result; None when its score does not follow from them.

        A result holds the times of its successful runs only: the number of failed ones is that
        under which the official formula gives the result's own minutes.

        Args:
            result: From the catalogue.
        """
        if result.minutes is None:
            return None
        for failed in range(failures_allowed(result.benchmark) + 1):
            sample = cls(
                minutes=result.run_minutes,
                benchmark=result.benchmark,
                failed=failed,
                scaling=result.scaling_factor,
            )
            if sample.score is not None and math.isclose(
                sample.score, result.minutes, rel_tol=1e-9
            ):
                return sample
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A score and its interval.

    Attributes:
        minutes: The score.
        low: Lower end of the interval in minutes, None when there is none.
        high: Upper end, None when there is none.
        runs: Number of runs behind it, failed ones too.
        note: Why there is no interval, or how rough it is; "" when there is nothing to say.
    """

    minutes: float
    low: float | None
    high: float | None
    runs: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The time of a over the time of b: under 1, a is faster.

    Attributes:
        value: Score of a over score of b.
        low: Lower end of the interval, None when there is none.
        high: Upper end, None when there is none.
        within_noise: Whether the interval holds 1; None without an interval.
        share_faster: Share of the draws in which a is faster (a tie counts half), None without.
        confidence: Of the interval.
        note: Why there is no interval, or how rough it is; "" when there is nothing to say.
    """

    value: float
    low: float | None = None
    high: float | None = None
    within_noise: bool | None = None
    share_faster: float | None = None
    confidence: float = CONFIDENCE
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The ratio as plain data for ``--json``."""
        return asdict(self)


def score_of(
    minutes: Sequence[float], *, benchmark: str, failed: int = 0, scaling: float = 1.0
) -> float | None:
    """The score of a folder's runs by the official formula, whatever their number.

    Args:
        minutes: Minutes of the runs that succeeded.
        benchmark: The benchmark's name.
        failed: Number of runs that did not succeed; each takes the slowest place.
        scaling: The factor of reference convergence.

    Returns:
        Minutes; None when too many failed or there is no run.
    """
    runs = [*minutes, *[math.inf] * failed]
    if not minutes:
        return None
    mean = _mean_without_ends(runs, may_fail(len(runs), benchmark))
    return mean * scaling if math.isfinite(mean) else None


@lru_cache(maxsize=64)  # one side is held against several others
def bootstrap(
    sample: Sample, *, resamples: int = RESAMPLES, seed: int | str = 0
) -> tuple[float, ...]:
    """Scores of the runs drawn again, in the order of the draws; the runs' own order is no matter.

    Args:
        sample: The runs.
        resamples: Number of draws.
        seed: The same seed gives the same draws.

    Returns:
        Minutes, one for each draw; infinity where too many failed runs were drawn for a score.
    """
    runs = [*sorted(sample.minutes), *[math.inf] * sample.failed]
    count = len(runs)
    left_out = may_fail(count, sample.benchmark)
    draw = random.Random(seed).choices
    return tuple(
        _mean_without_ends(draw(runs, k=count), left_out) * sample.scaling for _ in range(resamples)
    )


def estimate(
    sample: Sample,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int | str = 0,
) -> Estimate | None:
    """A score with its interval.

    Args:
        sample: The runs.
        confidence: Share of the draws that the interval holds, between 0 and 1.
        resamples: Number of draws.
        seed: As for ``bootstrap``.

    Returns:
        None when the runs have no score.
    """
    score = sample.score
    if score is None:
        return None
    note, low, high = _note([sample]), None, None
    if sample.runs >= _LEAST_RUNS:
        drawn = bootstrap(sample, resamples=resamples, seed=seed)
        scored = [one for one in drawn if math.isfinite(one)] or [score]
        low, high = _middle(sorted(scored), confidence)
        note = "; ".join(filter(None, (note, _left_out(len(scored), resamples))))
    return Estimate(minutes=score, low=low, high=high, runs=sample.runs, note=note)


def ratio(
    a: Sample,
    b: Sample,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int | str = 0,
) -> Ratio:
    """How many times as long a takes as b, with an interval. Both sides are drawn again.

    Args:
        a: The runs of one side.
        b: The runs of the other.
        confidence: Share of the draws that the interval holds, between 0 and 1.
        resamples: Number of draws of either side.
        seed: The same seed gives the same numbers.

    Raises:
        ValueError: A side has no score above 0.
    """
    one, other = a.score or 0.0, b.score or 0.0
    if one <= 0 or other <= 0:
        raise ValueError("a ratio needs a score above 0 on either side")
    value = one / other
    note = _note([a, b])
    if min(a.runs, b.runs) < _LEAST_RUNS:
        return Ratio(value=value, confidence=confidence, note=note)
    pairs = [
        (one, other)
        for one, other in zip(
            bootstrap(a, resamples=resamples, seed=f"{seed} a"),
            bootstrap(b, resamples=resamples, seed=f"{seed} b"),
            strict=True,
        )
        if 0 < one < math.inf and 0 < other < math.inf
    ] or [(one, other)]
    low, high = _middle(sorted(one / other for one, other in pairs), confidence)
    faster = sum((one < other) + 0.5 * (one == other) for one, other in pairs)
    return Ratio(
        value=value,
        low=low,
        high=high,
        within_noise=low <= 1 <= high,
        share_faster=faster / len(pairs),
        confidence=confidence,
        note="; ".join(filter(None, (note, _left_out(len(pairs), resamples)))),
    )


def _mean_without_ends(runs: list[float], left_out: int) -> float:
    """The mean of the runs but so many at either end; infinite when a failed one is in it."""
    kept = sorted(runs)[left_out : len(runs) - left_out]
    return sum(kept) / len(kept)


def _middle(ordered: Sequence[float], confidence: float) -> tuple[float, float]:
    """The ends of the middle share of ordered values."""
    assert 0 < confidence < 1, confidence
    tail = (1 - confidence) / 2
    return _quantile(ordered, tail), _quantile(ordered, 1 - tail)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two values at that place, as most tools reckon it."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _note(sides: Sequence[Sample]) -> str:
    """What the number of runs, or their times, leave unsaid."""
    fewest = min(side.runs for side in sides)
    if fewest < _LEAST_RUNS:
        runs = "1 run says" if fewest == 1 else f"{fewest} runs say"
        return f"no interval: {runs} too little about the spread, at least {_LEAST_RUNS} are needed"
    notes = []
    if fewest <= _ROUGH_RUNS:
        notes.append(f"rough: the interval of only {fewest} runs is too narrow")
    if any(len(set(side.minutes)) == 1 for side in sides):
        notes.append("all runs of a side took the same time, which shows no spread")
    return "; ".join(notes)


def _left_out(scored: int, resamples: int) -> str:
    """How often failed runs left a draw without a score."""
    if scored == resamples:
        return ""
    share = 1 - scored / resamples
    return f"{share:.0%} of the draws have too many failed runs for a score and are left out"
