"""What happens in a run, as a stream of typed moments.

The loop yields them in this order; observers (the log writer, the progress line) read them:

    InitStarted Built InitStopped RunStarted
        (BlockStarted Stepped... BlockStopped EvaluationStarted Evaluated)...
    RunStopped

The device is synchronised before each moment but ``Stepped``, so a time taken on reading one
counts finished work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainmark.types import WorkloadSpec

__all__ = [
    "BlockStarted",
    "BlockStopped",
    "Built",
    "Evaluated",
    "EvaluationStarted",
    "InitStarted",
    "InitStopped",
    "Moment",
    "Position",
    "RunStarted",
    "RunStopped",
    "Stepped",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a run stands.

    Attributes:
        samples: Samples trained so far.
        train_samples: Samples in one epoch.
        step_samples: Samples in one optimizer step.
    """

    samples: int
    train_samples: int
    step_samples: int

    @property
    def epoch(self) -> float:
        """Epochs trained so far, whole when the last step crossed the end of an epoch."""
        whole, beyond = divmod(self.samples, self.train_samples)
        return whole if beyond < self.step_samples else self.samples / self.train_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The base of all moments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitStarted(Moment):
    """The untimed part begins: building the model, compiling, warming up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built(Moment):
    """The model stands: what will be trained, and how.

    Attributes:
        spec: The workload.
        settings: Every setting by name.
        hyperparameters: Official log keys and their values.
        environment: Software, device, threads.
        caches_flushed: Whether the data was evicted from the page cache.
        initialized_tensors: Official names of the tensors that were initialised.
    """

    spec: WorkloadSpec
    settings: dict[str, Any]
    hyperparameters: dict[str, Any]
    environment: dict[str, Any]
    caches_flushed: bool
    initialized_tensors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InitStopped(Moment):
    """The untimed part is over. No data has been touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Moment):
    """The clock runs; from here on data may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStarted(Moment):
    """Training up to the next evaluation begins.

    Attributes:
        at: Where the run stands.
        samples: Samples that the block will train.
    """

    at: Position
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped(Moment):
    """One optimizer step was issued; the device may still be at work on it."""

    at: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStopped(Moment):
    """The block's steps are finished on the device.

    Attributes:
        at: Where the run stands.
        samples: Samples that the block trained.
        seconds: Its duration.
        input_wait_seconds: The part of it spent waiting for a batch.
        statistics: What else there is to say of the block: "train_loss", and what the task says,
            for example "padding_share".
    """

    at: Position
    samples: int
    seconds: float
    input_wait_seconds: float
    statistics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationStarted(Moment):
    """An evaluation begins; it counts into the time."""

    at: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated(Moment):
    """An evaluation is finished.

    Attributes:
        at: Where the run stands.
        quality: What was measured, in the target's metric.
        reached: Whether it meets the target.
    """

    at: Position
    quality: float
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped(Moment):
    """The clock stops.

    Attributes:
        at: Where the run stands.
        status: "success" or "aborted".
        reason: Why it was aborted, "" on success.
        hint: What to do about it, for the terminal; "" where there is nothing to advise.
        efficiency: Fields of the log's OWN_EFFICIENCY record; empty when nothing was trained.
    """

    at: Position
    status: str
    reason: str = ""
    hint: str = ""
    efficiency: dict[str, Any] = field(default_factory=dict)
