"""A session in one line: how many of its runs reached the target, and the medians of those."""

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from trainmark.mllog import keys
from trainmark.report.session import Entry, efficiency
from trainmark.types import Run, Target

__all__ = ["Medians", "medians_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Medians:
    """What the runs of one session took. None stands for "no run says".

    Attributes:
        runs: Number of runs.
        reached: How many of them reached the target.
        minutes: Median minutes of those that reached it.
        samples: Median samples to target of those.
        quality: Median last quality of all runs, in the target's metric.
        samples_per_second: Median training throughput of all runs.
        padding_share: Median share of the batches' places that held no data.
        compliant: Whether the checker passes every log and the folder; None: not checked.
        label: What the result may be called.
        target: What was to be reached.
    """

    runs: int
    reached: int
    minutes: float | None
    samples: float | None
    quality: float | None
    samples_per_second: float | None
    padding_share: float | None
    compliant: bool | None
    label: str
    target: Target | None

    @property
    def fine(self) -> bool:
        """Whether every run reached its target and the checker is content."""
        return 0 < self.runs == self.reached and self.compliant is True

    def to_dict(self) -> dict[str, Any]:
        """The line as plain data for ``--json``."""
        return asdict(self) | {"target": None if self.target is None else self.target.to_dict()}


def medians_of(entry: Entry) -> Medians:
    """The line of one entry of a session.

    Args:
        entry: A benchmark's runs.
    """
    reached = [run for run in entry.runs if run.succeeded]
    return Medians(
        runs=len(entry.runs),
        reached=len(reached),
        minutes=_median(reached, lambda run: run.minutes),
        samples=_median(reached, lambda run: run.samples_to_target),
        quality=entry.median(lambda run: run.quality),
        samples_per_second=entry.samples_per_second,
        padding_share=entry.median(lambda run: efficiency(run, keys.EFFICIENCY_PADDING)),
        compliant=entry.compliant,
        label=entry.label,
        target=entry.target,
    )


def _median(runs: list[Run], value_of: Callable[[Run], float | None]) -> float | None:
    values = [value for run in runs if (value := value_of(run)) is not None]
    return statistics.median(values) if values else None
