"""The official procedure: prune the references, find the one to compare with, compare.

Semantics are those of the official checker (mlperf-logging), which decide; ``envelope`` is what the
written rules say of pruning.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trainmark.rules.convergence.points import Point, References
from trainmark.rules.convergence.statistics import least_acceptable_mean, trimmed_mean

__all__ = ["FAILED_RUN", "Judgement", "Match", "envelope", "interpolate", "judge", "prune"]

# Epochs or samples of a run that did not converge, so that it takes the slowest place. (Of gpt3,
# counted in tokens, it takes the fastest; the official code has it so.)
FAILED_RUN = 1e9


class Match(StrEnum):
    """Which reference a batch size is held to."""

    EXACT = "exact"  # there is one at that batch size
    BETWEEN = "between"  # one below and one above: interpolated
    BELOW = "below"  # smaller than all: held to the smallest, which asks for more
    ABOVE = "above"  # larger than all: there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the procedure says of one submission.

    Attributes:
        match: Which reference the batch size is held to.
        point: That reference; None above all of them.
        mean: The submission's mean without the fastest and the slowest.
        limit: The least acceptable mean, what a round allows beyond it taken off; None above.
        passed: Whether the submission is slow enough.
        factor: What the score would be multiplied with to be as slow as the reference, 1 or more;
            1 above all references.
        between: The batch sizes that the reference is interpolated between; () otherwise.
    """

    match: Match
    point: Point | None
    mean: float
    limit: float | None
    passed: bool
    factor: float
    between: tuple[float, ...] = ()

    def official_message(self, batch_size: float) -> str:
        """The official checker's words for this outcome (they are in its log)."""
        shown = int(batch_size) if batch_size == int(batch_size) else batch_size
        missing = f"Missing RCP, please submit RCP with BS = {shown}"
        return {
            Match.EXACT: "RCP found",
            Match.BETWEEN: "RCP Interpolation",
            Match.BELOW: "RCP not found but slower convergence on smaller batch size"
            if self.passed
            else missing,
            Match.ABOVE: missing,
        }[self.match]


def prune(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points that the official checker keeps.

    Those below the batch size of the fastest point go; then, from left to right, each that is
    slower than the line between its two neighbours. A neighbour that goes later is not looked at
    again, so the outcome is not always the lower envelope.

    Args:
        points: Ascending by batch size.
    """
    kept = _from_fastest(points)
    place = 1
    while place < len(kept) - 1:
        if _is_above(kept[place], kept[place - 1], kept[place + 1]):
            del kept[place]
        else:
            place += 1
    return tuple(kept)


def envelope(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points that the written rules keep: the lower envelope.

    Every point goes that is slower than the line between any two around it.

    Args:
        points: Ascending by batch size.
    """
    kept: list[Point] = []
    for point in _from_fastest(points):
        while len(kept) > 1 and _is_above(kept[-1], kept[-2], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def judge(
    references: References, points: Sequence[Point], batch_size: float, amounts: Sequence[float]
) -> Judgement:
    """Compare a submission with the references.

    Args:
        references: The benchmark's references.
        points: Those of its points that count, ascending by batch size; one at least.
        batch_size: The submission's global batch size.
        amounts: Epochs or samples of its runs, ``FAILED_RUN`` of one that did not converge.
    """
    mean = trimmed_mean(amounts, references.left_out)
    match, around = _match(points, batch_size)
    if match is Match.ABOVE:
        return Judgement(match=match, point=None, mean=mean, limit=None, passed=False, factor=1.0)
    point = around[0]
    if match is Match.BETWEEN:
        point = interpolate(references, batch_size, *around)
    # By way of the largest speed-up, as the official code has it: it rounds the same.
    limit = point.mean / (point.mean / (point.least - references.slack))
    return Judgement(
        match=match,
        point=point,
        mean=mean,
        limit=limit,
        passed=mean >= limit,
        factor=max(1.0, point.mean / mean) if mean else math.inf,
        between=tuple(one.batch_size for one in around) if match is Match.BETWEEN else (),
    )


def interpolate(references: References, batch_size: float, low: Point, high: Point) -> Point:
    """The point on the line between two, as if it had twice a submission's runs.

    Args:
        references: The benchmark's references.
        batch_size: Where; between the two.
        low: The point at the smaller batch size.
        high: The point at the larger batch size.
    """
    mean, spread = _line(batch_size, low, high)
    least = least_acceptable_mean(
        mean,
        spread,
        reference_runs=2 * references.runs,
        submission_runs=references.runs - 2,
    )
    return Point(batch_size=batch_size, amounts=(), mean=mean, deviation=spread, least=least)


def _match(points: Sequence[Point], batch_size: float) -> tuple[Match, Sequence[Point]]:
    """Which points a batch size is held to: one, the two around it, or none."""
    exact = [point for point in points if point.batch_size == batch_size]
    if exact:
        return Match.EXACT, exact
    below = [point for point in points if point.batch_size < batch_size]
    above = [point for point in points if point.batch_size > batch_size]
    if below and above:
        return Match.BETWEEN, (below[-1], above[0])
    return (Match.BELOW, above) if above else (Match.ABOVE, ())


def _from_fastest(points: Sequence[Point]) -> list[Point]:
    fastest = min(points, key=lambda point: point.mean)
    return [point for point in points if point.batch_size >= fastest.batch_size]


def _line(batch_size: float, low: Point, high: Point) -> tuple[float, float]:
    """Mean and deviation on the line between two points."""
    share = batch_size - low.batch_size
    width = high.batch_size - low.batch_size
    return (
        (high.mean - low.mean) / width * share + low.mean,
        (high.deviation - low.deviation) / width * share + low.deviation,
    )


def _is_above(point: Point, low: Point, high: Point) -> bool:
    """Whether a point is slower than the line between two others."""
    return point.mean > _line(point.batch_size, low, high)[0]
