"""The official score of a result's runs. Stands in for trainmark.rules.score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trainmark.types import Run

__all__ = ["Score", "official_score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A score in minutes, None when there is none, and how it came about."""

    minutes: float | None
    basis: str


def official_score(runs: Sequence[Run], benchmark: str, scaling: float) -> Score:
    """The mean without the fastest and the slowest run, times the scaling factor."""
    required = {"resnet": 5, "bert": 10}[benchmark]
    times = [run.minutes if run.succeeded and run.minutes is not None else math.inf for run in runs]
    failed = sum(math.isinf(time) for time in times)
    if len(times) < required or failed > 1:
        return Score(
            minutes=None,
            basis=f"no score: {len(times) - failed} of {required} required runs succeeded",
        )
    kept = sorted(times)[1:-1]
    return Score(
        minutes=sum(kept) / len(kept) * scaling,
        basis=f"official: mean of {len(kept)} of {len(times)} runs",
    )
