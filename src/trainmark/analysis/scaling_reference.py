"""How many samples the reference of a round needs at a result's batch size."""

import itertools
from collections.abc import Sequence

from trainmark.analysis.comparability import Group, group_of
from trainmark.rules.convergence.points import Point, references_of_round
from trainmark.types import Result

__all__ = ["reference_samples"]

_GPT3_SEQUENCE = 2_048  # tokens of a sample, by the reference implementation


def reference_samples(result: Result) -> float | None:
    """Samples until the target by the reference convergence points of the result's round.

    That of the same batch size, else the line between the two around it.

    Args:
        result: A result.

    Returns:
        None where the round has no reference, and for batch sizes outside of them.
    """
    batch, group = result.global_batch_size, group_of(result)
    if result.round is None or batch is None or group is None:
        return None
    table = references_of_round(result.round, result.benchmark)
    if table is None:
        return None
    amount = _at(table.points, batch)
    return None if amount is None else _samples(amount, table.unit, batch, group)


def _samples(amount: float, unit: str, batch: float, group: Group) -> float | None:
    """An amount of the references in samples."""
    if unit == "epochs":
        epochs = amount - group.first_epoch
        return None if group.epoch_samples is None else epochs * group.epoch_samples
    return {"samples": amount, "steps": amount * batch, "tokens": amount / _GPT3_SEQUENCE}[unit]


def _at(points: Sequence[Point], batch: float) -> float | None:
    """The mean at a batch size, between two points on the line; None outside."""
    for low, high in itertools.pairwise(points):
        if low.batch_size <= batch <= high.batch_size:
            share = (batch - low.batch_size) / (high.batch_size - low.batch_size)
            return low.mean + (high.mean - low.mean) * share
    return next((point.mean for point in points if point.batch_size == batch), None)
