"""How many samples the reference of a round needs at a result's batch size."""

import itertools
from pathlib import Path

from trainmark.catalogue import runs_of
from trainmark.rules.convergence.points import references_of_round
from trainmark.types import Result

__all__ = ["Reference"]


class Reference:
    """The reference convergence points of every round, in samples.

    Args:
        where: The folder of own results instead of the user's.
    """

    def __init__(self, where: Path | None = None) -> None:
        self._where = where
        self._epochs: dict[str, float | None] = {}

    def samples(self, result: Result) -> float | None:
        """Samples until the target by the references of the result's round.

        That of the same batch size, else the line between the two around it.

        Args:
            result: A result.

        Returns:
            None where the round has no reference, for batch sizes outside of them, and for
            references that count what is no sample (tokens).
        """
        batch = result.global_batch_size
        if result.round is None or batch is None:
            return None
        table = references_of_round(result.round, result.benchmark)
        if table is None:
            return None
        amount = _at([(point.batch_size, point.mean) for point in table.points], batch)
        size = self._unit(table.unit, result, batch)
        return None if amount is None or size is None else amount * size

    def _unit(self, unit: str, result: Result, batch: float) -> float | None:
        """Samples in one unit of the references."""
        if unit == "samples":
            return 1.0
        if unit == "steps":
            return batch
        if unit != "epochs":
            return None
        if result.benchmark not in self._epochs:
            runs = runs_of(result, where=self._where, on_finding=lambda _: None)
            sizes = [run.train_samples for run in runs if run.train_samples]
            self._epochs[result.benchmark] = sizes[0] if sizes else None
        return self._epochs[result.benchmark]


def _at(points: list[tuple[float, float]], batch: float) -> float | None:
    """The value at a batch size, between two points on the line; None outside."""
    for (low, first), (high, last) in itertools.pairwise(points):
        if low <= batch <= high:
            return first + (last - first) * (batch - low) / (high - low)
    return points[0][1] if points and points[0][0] == batch else None
