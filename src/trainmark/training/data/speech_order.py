"""In which order utterances are trained on, so that batches hold little padding (numpy).

As in the MLPerf RNN-T reference: utterances sorted by length fall into buckets of equal size, each
is shuffled, what does not fill a step is left out at random, and the steps are shuffled. Beyond
the reference, the utterances of a step are sorted again before they are cut into micro-batches:
the step's gradient is the same, its padding is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Pick", "epochs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """An utterance to be read, and how fast.

    Attributes:
        index: Which.
        rate: Its speed; 1 leaves it as it is.
    """

    index: int
    rate: float = 1.0


def epochs(
    lengths: npt.NDArray[np.int64],
    *,
    step: int,
    micro_batch: int,
    buckets: int,
    rates: tuple[float, float],
    seed: int | tuple[int, ...],
) -> Iterator[list[Pick]]:
    """Micro-batches without end.

    Args:
        lengths: Length of each utterance, at least one step of them.
        step: Utterances in one optimizer step.
        micro_batch: Utterances in one micro-batch, a divisor of ``step``.
        buckets: Buckets; 1 mixes all lengths.
        rates: Smallest and largest speed, drawn evenly.
        seed: Seed of everything drawn here.
    """
    assert len(lengths) >= step, (len(lengths), step)
    generator = np.random.default_rng(seed)
    while True:
        speeds = generator.uniform(*rates, len(lengths))
        said = lengths / speeds
        shuffled = np.concatenate(
            [generator.permutation(part) for part in np.array_split(np.argsort(lengths), buckets)]
        )
        left_out = generator.choice(len(lengths), len(lengths) % step, replace=False)
        for members in generator.permutation(np.delete(shuffled, left_out).reshape(-1, step)):
            ordered = members[np.argsort(said[members], kind="stable")]
            for batch in generator.permutation(ordered.reshape(-1, micro_batch)):
                yield [Pick(index=int(i), rate=float(speeds[i])) for i in batch]
