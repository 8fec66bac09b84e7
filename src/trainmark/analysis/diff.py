"""Before and after an update of one's own machine: slower, faster, or cannot be told.

Time to train is what counts, and it is noisy, because the samples that a run needs until its
target vary from seed to seed. Throughput varies ten times less. So three things are measured:

    time        minutes of the score
    throughput  samples to the target / time, of each run
    samples     samples to the target, of each run

each with the bootstrap interval of after over before. Time and throughput are judged. With a
threshold of 3 % a measure is

    slower      it got slower beyond noise (the interval leaves out "no change") by over 3 %
    little      slower beyond noise, by 3 % at most
    held        the interval leaves out a slowdown of 3 %
    untold      the interval holds both "no change" and 3 %: too few runs
    faster      faster beyond noise
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from trainmark.analysis.diff_sides import Side, load_sides, setup_differences, unlike
from trainmark.analysis.statistics import Ratio, Sample, ratio
from trainmark.types import Run, TrainmarkError, UsageError

__all__ = ["Diff", "Measure", "Outcome", "diff", "diff_sides", "runs_needed"]

_LEAST_RUNS = 3
_MOST_RUNS = 1000  # beyond this a number of runs is no advice
# Two-sided 95 % and a power of 80 %: quantiles of the normal distribution.
_Z = 1.959964 + 0.841621
# The score leaves out the fastest and the slowest run, which costs it that much variance.
_TRIMMED = 1.13


class Outcome(StrEnum):
    """What a measure says."""

    SLOWER = "slower"
    LITTLE = "little slower"
    HELD = "held"
    UNTOLD = "untold"
    FASTER = "faster"
    NO_SCORE = "no score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One quantity on both sides.

    Attributes:
        name: "time", "throughput" or "samples".
        unit: Its unit.
        before: The mean that the score is made like, before.
        after: After.
        slowdown: Time that it costs: 0.04 is 4 % more time; None without both.
        low: Lower end of the 95 % interval of the slowdown, None without one.
        high: Upper end.
        spread: Standard deviation over mean of a run, of both sides together; None if unknown.
        runs: Number of runs before and after.
        outcome: What it says.
        needed: Runs on each side that would tell the threshold, about; None where it is not
            known, or where what was measured tells.
        note: Why there is no interval, or how rough it is.
    """

    name: str
    unit: str
    before: float | None
    after: float | None
    slowdown: float | None
    low: float | None
    high: float | None
    spread: float | None
    runs: tuple[int, int]
    outcome: Outcome
    needed: int | None
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The measure as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """One benchmark before and after.

    Attributes:
        before: The runs before.
        after: The runs after.
        threshold: The slowdown that is too much, 0.03 for 3 %; None when none was given.
        measures: Time, throughput, samples.
        judged: The names of the measures that decide.
        unlike: In what the sides differ that makes the comparison doubtful.
        setup: What is set up otherwise: (name, before, after).
        notes: What else has to be said.
    """

    before: Side
    after: Side
    threshold: float | None
    measures: tuple[Measure, ...]
    judged: tuple[str, ...]
    unlike: tuple[str, ...]
    setup: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of the judged measures; what cannot be told is worse than what held."""
        found = [measure.outcome for measure in self.measures if measure.name in self.judged]
        for outcome in _WORST_FIRST:
            if outcome in found:
                return outcome
        return Outcome.UNTOLD

    @property
    def slower(self) -> bool:
        """Whether it got slower beyond noise and the threshold, or has no score any more."""
        return self.outcome in (Outcome.SLOWER, Outcome.NO_SCORE)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data for ``--json``."""
        return {
            "benchmark": self.after.result.benchmark,
            "before": {"label": self.before.label, "result": self.before.result.to_dict()},
            "after": {"label": self.after.label, "result": self.after.result.to_dict()},
            "threshold": self.threshold,
            "outcome": str(self.outcome),
            "slower": self.slower,
            "judged": list(self.judged),
            "measures": [measure.to_dict() for measure in self.measures],
            "unlike": list(self.unlike),
            "setup": [{"name": n, "before": b, "after": a} for n, b, a in self.setup],
            "notes": list(self.notes),
        }


_WORST_FIRST = (
    Outcome.NO_SCORE,
    Outcome.SLOWER,
    Outcome.UNTOLD,
    Outcome.LITTLE,
    Outcome.HELD,
    Outcome.FASTER,
)


def diff(
    before: str,
    after: str,
    *,
    threshold: float | None = None,
    by: Sequence[str] = ("time", "throughput"),
    anyway: bool = False,
    where: Path | None = None,
) -> list[Diff]:
    """Compare runs before and after, for each benchmark that both sides have.

    Args:
        before: A folder of result logs, a log, or what names results of the catalogue.
        after: The same.
        threshold: The slowdown that is too much, 0.03 for 3 %; None to tell any.
        by: The measures that decide.
        anyway: Whether sides that are not alike are compared all the same.
        where: The folder of own results instead of the user's.

    Raises:
        UsageError: A side has no runs; the sides are not alike.
        TrainmarkError: No run of a side succeeded.
    """
    pairs = load_sides(before, after, where)
    return [diff_sides(*pair, threshold=threshold, by=by, anyway=anyway) for pair in pairs]


def diff_sides(
    before: Side,
    after: Side,
    *,
    threshold: float | None = None,
    by: Sequence[str] = ("time", "throughput"),
    anyway: bool = False,
) -> Diff:
    """The same of two sides.

    Raises:
        UsageError: They are not alike, and ``anyway`` is false.
        TrainmarkError: No run of a side succeeded.
    """
    different = unlike(before, after)
    if different and not anyway:
        raise UsageError(
            f"{before.label} and {after.label} are not alike: {'; '.join(different)}",
            hint="What differs here changes the time by itself. --anyway compares all the same.",
        )
    for side in (before, after):
        if not side.good:
            raise TrainmarkError(
                f"{side.label}: none of {len(side.runs)} runs succeeded, nothing can be compared",
                hint=f"trainmark check {side.label} says what is wrong with each.",
            )
    measures = tuple(find(before, after, threshold) for find in (_time, _throughput, _samples))
    known = [measure.name for measure in measures if measure.slowdown is not None]
    return Diff(
        before=before,
        after=after,
        threshold=threshold,
        measures=measures,
        judged=tuple(
            measure.name
            for measure in measures
            if measure.name in by and (measure.name in known or measure.name == "time")
        ),
        unlike=different,
        setup=setup_differences(before, after),
        notes=tuple(_notes(before, after)),
    )


def runs_needed(spread: float, threshold: float) -> int | None:
    """Runs on each side that tell a slowdown of the threshold, in about four cases of five.

    n = 2 x 1.13 x ((1.96 + 0.84) x spread / ln(1 + threshold))^2: a two-sided test at 5 % with
    80 % power, for a mean that leaves out the fastest and the slowest.

    Args:
        spread: Standard deviation over mean of one run.
        threshold: The slowdown, 0.03 for 3 %.

    Returns:
        At least 3; None for over a thousand.
    """
    assert threshold > 0, threshold
    wanted = 2 * _TRIMMED * (_Z * spread / math.log1p(threshold)) ** 2
    return max(_LEAST_RUNS, math.ceil(wanted)) if wanted <= _MOST_RUNS else None


def _time(before: Side, after: Side, threshold: float | None) -> Measure:
    samples = [_sample(side, lambda run: run.minutes, failures=True) for side in (before, after)]
    return _measure("time", "minutes", samples, threshold)


def _throughput(before: Side, after: Side, threshold: float | None) -> Measure:
    samples = [_sample(side, _seconds_a_sample) for side in (before, after)]
    return _measure("throughput", "samples/s", samples, threshold, shown=lambda value: 1 / value)


def _samples(before: Side, after: Side, threshold: float | None) -> Measure:
    samples = [_sample(side, lambda run: run.samples_to_target) for side in (before, after)]
    return _measure("samples", "samples", samples, threshold)


def _seconds_a_sample(run: Run) -> float | None:
    if not run.samples_to_target or not run.minutes or run.minutes < 0:
        return None
    return run.minutes * 60 / run.samples_to_target


def _sample(
    side: Side, value_of: Callable[[Run], float | None], *, failures: bool = False
) -> Sample:
    """What the statistics of a score take, of another quantity than minutes too."""
    values = [value_of(run) for run in side.good]
    return Sample(
        minutes=tuple(value for value in values if value is not None and value > 0),
        benchmark=side.result.benchmark,
        failed=len(side.runs) - len(side.good) if failures else 0,
    )


def _measure(
    name: str,
    unit: str,
    sides: Sequence[Sample],
    threshold: float | None,
    *,
    shown: Callable[[float], float] = float,
) -> Measure:
    before, after = sides
    scores = before.score, after.score
    found: Ratio | None = None
    if scores[0] is not None and scores[1] is not None:
        found = ratio(after, before)
    spread = _spread(sides)
    outcome = _outcome(found, threshold or 0.0)
    if name == "time" and scores[1] is None:
        outcome = Outcome.NO_SCORE
    needed = None
    if outcome is Outcome.UNTOLD and threshold and spread is not None:
        needed = runs_needed(spread, threshold)
    return Measure(
        name=name,
        unit=unit,
        before=None if scores[0] is None else shown(scores[0]),
        after=None if scores[1] is None else shown(scores[1]),
        slowdown=None if found is None else found.value - 1,
        low=None if found is None or found.low is None else found.low - 1,
        high=None if found is None or found.high is None else found.high - 1,
        spread=spread,
        runs=(before.runs, after.runs),
        outcome=outcome,
        needed=needed,
        note="" if found is None else found.note,
    )


def _outcome(found: Ratio | None, threshold: float) -> Outcome:
    if found is None or found.low is None or found.high is None:
        return Outcome.UNTOLD
    if found.high < 1:
        return Outcome.FASTER
    if found.low > 1:
        return Outcome.SLOWER if found.value > 1 + threshold else Outcome.LITTLE
    return Outcome.HELD if found.high <= 1 + threshold or threshold == 0 else Outcome.UNTOLD


def _spread(sides: Sequence[Sample]) -> float | None:
    """Standard deviation over mean of one run, from both sides' own means."""
    squares, freedom = 0.0, 0
    for side in sides:
        if len(side.minutes) > 1:
            mean = statistics.fmean(side.minutes)
            squares += statistics.variance(side.minutes) / mean**2 * (len(side.minutes) - 1)
            freedom += len(side.minutes) - 1
    return math.sqrt(squares / freedom) if freedom else None


def _notes(before: Side, after: Side) -> list[str]:
    notes = []
    if before.result.id == after.result.id:
        notes.append("both sides are the very same runs")
    for name, side in (("before", before), ("after", after)):
        failed = len(side.runs) - len(side.good)
        if failed:
            notes.append(
                f"{name}: {failed} of {len(side.runs)} runs did not succeed or break the rules"
            )
    if before.result.accelerators is None or after.result.accelerators is None:
        notes.append("the number of accelerators is not known on both sides, and was not compared")
    return notes
