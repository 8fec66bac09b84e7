"""Earlier results on this machine: faster or slower, by how much, and whether that is noise.

Change of time is ``now / then - 1``: -0.10 means ten per cent less time. Whether it is noise is
Welch's test on the runs of both sides (unequal variances, two-sided, 95 %): the difference of the
means against the t quantile times its standard error. It needs two runs on either side.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from trainmark.types import Result

__all__ = ["Comparison", "Verdict", "compare", "earlier_results", "spread", "t_quantile"]

# Student's t, 97.5 % quantile, for 1 to 30 degrees of freedom; below, the normal distribution's
# with its first two correction terms serves (error under 0.001).
_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL_975 = 1.959964


class Verdict(StrEnum):
    """What the difference of two sets of runs means."""

    FASTER = "faster"
    SLOWER = "slower"
    NOISE = "within noise"
    UNKNOWN = "spread unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """This session against one earlier result.

    Attributes:
        then: The earlier result.
        change: Score now over score then, less 1; negative is faster.
        rate_change: Throughput now over then, less 1; positive is faster. None if unknown.
        verdict: Whether the runs of both sides bear the change out.
    """

    then: Result
    change: float
    rate_change: float | None
    verdict: Verdict


def earlier_results(
    results: Sequence[Result], *, folder: str, before: str = ""
) -> tuple[Result, ...]:
    """The results of other sessions that have a score, oldest first.

    Args:
        results: Own results of one benchmark on one machine.
        folder: The folder of this session; its own result is left out.
        before: ISO date and time; results recorded later are left out. "" keeps all.
    """
    own = folder.rstrip("/")
    kept = [
        result
        for result in results
        if result.minutes is not None
        and result.path.rstrip("/") != own
        and not result.path.startswith(f"{own}/")
        and not _is_later(result.recorded, before)
    ]
    return tuple(sorted(kept, key=lambda result: result.recorded))


def _is_later(recorded: str, started: str) -> bool:
    """Whether a result was recorded after this session began; no if either time is unreadable."""
    try:
        then, now = datetime.fromisoformat(recorded), datetime.fromisoformat(started)
    except ValueError:
        return False
    return then.astimezone(UTC) >= now.astimezone(UTC)


def compare(
    minutes: float,
    run_minutes: Sequence[float],
    samples_per_second: float | None,
    then: Result,
) -> Comparison:
    """This session's score against an earlier one.

    Args:
        minutes: The score now.
        run_minutes: Minutes of each run that counts.
        samples_per_second: Median throughput now, None if unknown.
        then: An earlier result; it must have a score.
    """
    assert then.minutes is not None, then.id
    rates = (samples_per_second, then.samples_per_second)
    return Comparison(
        then=then,
        change=minutes / then.minutes - 1,
        rate_change=rates[0] / rates[1] - 1 if rates[0] and rates[1] else None,
        verdict=_verdict(run_minutes, then.run_minutes),
    )


def spread(run_minutes: Sequence[float]) -> float | None:
    """Standard deviation over mean, None for fewer than two runs."""
    if len(run_minutes) < 2:
        return None
    return statistics.stdev(run_minutes) / statistics.fmean(run_minutes)


def t_quantile(degrees: float) -> float:
    """The 97.5 % quantile of Student's t, for degrees of freedom of 1 and more.

    A fraction of a degree is rounded down, which errs towards "noise".
    """
    whole = max(1, math.floor(degrees))
    if whole <= len(_T_975):
        return _T_975[whole - 1]
    z = _NORMAL_975
    return z + (z**3 + z) / (4 * whole) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * whole**2)


def _verdict(now: Sequence[float], then: Sequence[float]) -> Verdict:
    if len(now) < 2 or len(then) < 2:
        return Verdict.UNKNOWN
    parts = [statistics.variance(runs) / len(runs) for runs in (now, then)]
    difference = statistics.fmean(now) - statistics.fmean(then)
    error_squared = sum(parts)
    if error_squared > 0:
        degrees = error_squared**2 / sum(
            part**2 / (len(runs) - 1) for part, runs in zip(parts, (now, then), strict=True)
        )
        if abs(difference) <= t_quantile(degrees) * math.sqrt(error_squared):
            return Verdict.NOISE
    if difference == 0:
        return Verdict.NOISE
    return Verdict.FASTER if difference < 0 else Verdict.SLOWER
