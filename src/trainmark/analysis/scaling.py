"""How the time to train falls with the number of accelerators, and what becomes of the rest.

Two things keep time from falling with 1/N: each accelerator does less work a second (throughput
efficiency), and a larger batch needs more samples to reach the target. They are told apart.

    speed-up              minutes of the smallest system / minutes
    time efficiency       speed-up / (chips / chips of the smallest)
    throughput efficiency rate / rate of the smallest / (chips / chips of the smallest)

where the rate is samples to the target over time. Time efficiency is throughput efficiency times
samples of the smallest over samples, where no score is scaled.

Each accelerator by its full name has a curve of its own: a card of two is no base for systems of
another form, and would show them as better than they are.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.analysis.comparability import Group, group_of, judge, round_key
from trainmark.analysis.scaling_reference import reference_samples
from trainmark.analysis.series import Asked, gather, group_for, in_group, rate_of
from trainmark.types import Finding, Result

__all__ = ["Curve", "Fit", "Scaling", "Step", "curve_of", "fit_of", "scaling", "scaling_of"]

_LEAST_COUNTS = 3
_ABOVE_ALL = 1.005  # what shows as more than 100 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One result beside the smallest system.

    Attributes:
        result: The result; it has a score and a number of accelerators.
        best: Whether it is the fastest of its number of accelerators.
        speed_up: Minutes of the smallest system over its minutes.
        time_efficiency: The speed-up over that of its number of accelerators.
        rate: Samples a second over the whole run, None when the samples are not known.
        throughput_efficiency: Rate over that of the smallest, by accelerators. None if unknown.
        reference_samples: Samples that the round's reference needs at that batch size, None
            where there is none.
    """

    result: Result
    best: bool
    speed_up: float
    time_efficiency: float
    rate: float | None
    throughput_efficiency: float | None
    reference_samples: float | None

    @property
    def chips(self) -> int:
        """Number of accelerators."""
        assert self.result.accelerators
        return self.result.accelerators

    @property
    def minutes(self) -> float:
        """The score."""
        assert self.result.minutes is not None
        return self.result.minutes

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data for ``--json``."""
        return {
            "id": self.result.id,
            "round": self.result.round,
            "submitter": self.result.submitter,
            "system": self.result.system,
            "accelerator": self.result.accelerator,
            "accelerators": self.chips,
            "minutes": self.minutes,
            "best": self.best,
            "speed_up": self.speed_up,
            "time_efficiency": self.time_efficiency,
            "samples_per_second": self.rate,
            "throughput_efficiency": self.throughput_efficiency,
            "global_batch_size": self.result.global_batch_size,
            "samples_to_target": self.result.samples_to_target,
            "reference_samples": self.reference_samples,
            "scaling_factor": self.result.scaling_factor,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """minutes = factor x chips ^ -exponent, by least squares of the logarithms.

    Attributes:
        factor: Minutes that the line has at one accelerator.
        exponent: 1 where twice the accelerators take half the time.
        counts: Number of points, one for each number of accelerators.
        residual: Standard deviation of the points around the line, as a share of the time.
    """

    factor: float
    exponent: float
    counts: int
    residual: float

    def to_dict(self) -> dict[str, Any]:
        """The line as plain data for ``--json``."""
        return {
            "formula": "minutes = factor * accelerators ^ -exponent",
            "factor": self.factor,
            "exponent": self.exponent,
            "counts": self.counts,
            "residual": self.residual,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The results of one accelerator by their number.

    Attributes:
        accelerator: The accelerator's full name.
        steps: Every result by number of accelerators, the fastest of each number first.
        fit: The line through the best ones; None with fewer than three numbers.
        marks: What has to stand beside it.
    """

    accelerator: str
    steps: tuple[Step, ...]
    fit: Fit | None
    marks: tuple[str, ...]

    @property
    def best(self) -> tuple[Step, ...]:
        """The fastest of each number of accelerators."""
        return tuple(step for step in self.steps if step.best)

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain data for ``--json``."""
        return {
            "accelerator": self.accelerator,
            "steps": [step.to_dict() for step in self.steps],
            "fit": None if self.fit is None else self.fit.to_dict(),
            "marks": list(self.marks),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """The curves of a benchmark.

    Attributes:
        group: The comparable group that all results are of.
        curves: One for each accelerator, that with most numbers of it first.
        others: Other groups that have results of what was asked.
    """

    group: Group
    curves: tuple[Curve, ...]
    others: tuple[Group, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data for ``--json``."""
        return {
            "task": self.group.task,
            "group": self.group.name,
            "rounds": list(self.group.rounds),
            "target": self.group.target,
            "basis": "efficiency against the fastest result of the smallest number of the same "
            "accelerator; not official",
            "curves": [curve.to_dict() for curve in self.curves],
            "other_groups": [group.name for group in self.others],
        }


def scaling(asked: Asked, findings: list[Finding] | None = None) -> Scaling:
    """How the time of a benchmark falls with the number of accelerators.

    Args:
        asked: Which results; of several comparable groups the newest is taken.
        findings: Gets what is damaged in the catalogue.

    Raises:
        UsageError: An unknown benchmark or round.
        TrainmarkError: There is no such result.
    """
    found = gather(asked, findings)
    group = group_for(found)
    others = {g for result in found if (g := group_of(result)) is not None} - {group}
    ordered = sorted(others, key=lambda one: round_key(one.rounds[0]))
    return scaling_of(in_group(found, group), group, others=ordered)


def scaling_of(results: Sequence[Result], group: Group, *, others: Sequence[Group] = ()) -> Scaling:
    """The same of given results.

    Args:
        results: Results of that group with a score and a number of accelerators; at least one.
        group: The group.
        others: Other groups, to be named.
    """
    by_name: dict[str, list[Result]] = {}
    for result in results:
        by_name.setdefault(result.accelerator, []).append(result)
    curves = [curve_of(found) for _, found in sorted(by_name.items())]
    curves.sort(key=lambda curve: (-len(curve.best), -len(curve.steps)))
    return Scaling(group=group, curves=tuple(curves), others=tuple(others))


def curve_of(results: Sequence[Result]) -> Curve:
    """The results of one accelerator against the fastest of their smallest number.

    Args:
        results: Results of one group and one accelerator, as for ``scaling_of``.
    """
    ordered = sorted(results, key=lambda r: (r.accelerators or 0, r.minutes or 0.0, r.id))
    best: dict[int, Result] = {}
    for result in ordered:
        best.setdefault(result.accelerators or 0, result)
    smallest = ordered[0]
    steps = tuple(
        _step(result, smallest, is_best=best[result.accelerators or 0] is result)
        for result in ordered
    )
    chosen = [step for step in steps if step.best]
    return Curve(
        accelerator=smallest.accelerator,
        steps=steps,
        fit=fit_of([(step.chips, step.minutes) for step in chosen]),
        marks=_marks(chosen),
    )


def fit_of(points: Sequence[tuple[int, float]]) -> Fit | None:
    """The line through (accelerators, minutes) in logarithms; None with under three numbers."""
    counts = {chips for chips, _ in points}
    if len(counts) < _LEAST_COUNTS:
        return None
    x = [math.log(chips) for chips, _ in points]
    y = [math.log(minutes) for _, minutes in points]
    slope, intercept = statistics.linear_regression(x, y)
    squares = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    return Fit(
        factor=math.exp(intercept),
        exponent=-slope,
        counts=len(points),
        residual=math.exp(math.sqrt(squares / (len(points) - 2))) - 1,
    )


def _step(result: Result, smallest: Result, *, is_best: bool) -> Step:
    assert result.minutes
    assert smallest.minutes
    assert result.accelerators
    assert smallest.accelerators
    more = result.accelerators / smallest.accelerators
    speed_up = smallest.minutes / result.minutes
    rate, first = rate_of(result), rate_of(smallest)
    return Step(
        result=result,
        best=is_best,
        speed_up=speed_up,
        time_efficiency=speed_up / more,
        rate=rate,
        throughput_efficiency=None if rate is None or first is None else rate / first / more,
        reference_samples=reference_samples(result),
    )


def _marks(steps: Sequence[Step]) -> tuple[str, ...]:
    """What ``judge`` marks, less the numbers of accelerators, which are the point here."""
    judged = judge([step.result for step in steps]).marks
    marks = [mark for mark in judged if not mark.startswith("different numbers of")]
    if any(step.time_efficiency > _ABOVE_ALL for step in steps):
        least = steps[0]
        marks.insert(
            0,
            f"efficiencies over 100 %: the base, the fastest that was filed of {least.chips:,}, is "
            "slow for its number",
        )
    return tuple(marks)
