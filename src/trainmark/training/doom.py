"""Runs that can come to nothing are stopped early, with what is wrong and what to do.

What is looked for, and why (docs/running.md shows what a user reads):

- a loss that is not finite: no later step mends weights that are not numbers;
- a quality no better than guessing after half of the samples that the run may train;
- the same first batch in every rank: each trains the same shard, so that the run is no faster
  than one rank and sees a part of the data only;
- "success" without an evaluation that reached the target.
"""

import math
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from trainmark.training.digest import digest
from trainmark.types import Direction, WorkloadSpec

__all__ = ["DoomedRunError", "Watch", "alone"]

_SECONDS_BETWEEN_LOOKS = 1.0
_SHARE_BEFORE_CHANCE_COUNTS = 0.5
_FINE = "finite"


class DoomedRunError(Exception):
    """A run that can come to nothing: the loop ends it as aborted. Never seen by a user.

    Args:
        reason: What is wrong, for the log.
        hint: What to do about it.
    """

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def alone(text: str) -> Sequence[str]:
    """The ``gather`` of a run of one process."""
    return [text]


class Watch:
    """Looks at one run while it trains; every method raises ``DoomedRunError`` when it is doomed.

    Args:
        spec: What is trained.
        gather: Gives every rank the texts of all ranks, in their order (``Framework.gather``).
        clock: Seconds.
    """

    def __init__(
        self,
        spec: WorkloadSpec,
        gather: Callable[[str], Sequence[str]] = alone,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._spec = spec
        self._gather = gather
        self._clock = clock
        self._ranks = len(gather(_FINE))
        self._looked = clock()
        self._total: Any = 0.0
        self._losses = 0
        self._best = math.nan

    def first_batch(self, batch: Any) -> None:
        """Compare the first micro-batches of all ranks."""
        if self._ranks == 1:
            return
        if len(set(self._gather(digest(batch)))) == 1:
            raise DoomedRunError(
                f"all {self._ranks} ranks read the same shard: their first batches are equal",
                "Give each rank its own part of the data: split it by rank and number of ranks "
                "before shuffling, or seed each rank's order with its rank.",
            )

    def loss(self, loss: Any) -> None:
        """Add up the losses on the device; read the sum once a second at most.

        Reading waits for the device, so it is not done at every step. Several ranks must stop at
        the same step, and look at the end of a block only.
        """
        self._total = self._total + loss
        self._losses += 1
        now = self._clock()
        if self._ranks == 1 and now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._looked = now
            if not math.isfinite(float(self._total)):
                raise _diverged("")

    def mean_loss(self) -> float:
        """The mean loss since the last call; NaN or infinite when one of them was."""
        mean = float(self._total) / self._losses if self._losses else math.nan
        self._total, self._losses, self._looked = 0.0, 0, self._clock()
        return mean

    def block(self, mean_loss: float) -> None:
        """Judge a block's loss, that of every rank."""
        state = _FINE if math.isfinite(mean_loss) else str(mean_loss)
        states = self._gather(state)
        bad = [f"{rank} ({said})" for rank, said in enumerate(states) if said != _FINE]
        if bad:
            raise _diverged(f" in rank {', '.join(bad)}" if self._ranks > 1 else "")

    def quality(self, samples: int, quality: float) -> None:
        """Judge an evaluation that has not reached the target.

        Args:
            samples: Samples trained so far.
            quality: What was measured.
        """
        if math.isnan(self._best) or self._better(quality, self._best):
            self._best = quality
        chance, limit = self._spec.chance, self._spec.max_samples
        if chance is None or samples < _SHARE_BEFORE_CHANCE_COUNTS * limit:
            return
        if self._better(self._best, chance):
            return
        target = self._spec.target
        raise DoomedRunError(
            f"no better than guessing after {samples} of at most {limit} samples: the best "
            f"{target.name or target.metric} so far is {self._best:g}, guessing reaches {chance:g}",
            "Try another learning rate or the workload's default settings; if those fail too, "
            "look at the data: labels, order, normalisation.",
        )

    def _better(self, quality: float, than: float) -> bool:
        if self._spec.target.direction is Direction.HIGHER:
            return quality > than
        return quality < than


def _diverged(where: str) -> DoomedRunError:
    return DoomedRunError(
        f"the training loss is not finite{where}: the training has diverged",
        "Lower the learning rate, lengthen the warm-up, or use a wider number format "
        "(--precision fp32).",
    )
