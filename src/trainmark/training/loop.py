"""The training loop: a workload's steps under the clock, as a stream of moments.

Clock rules (MLPerf Training rules, "Benchmark results" and "Timing"): the clock starts before
any data is touched and stops when the evaluation that met the target has ended; building,
compiling and warming up on synthetic data happen before it, and are bounded.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from trainmark.mllog import keys
from trainmark.training.doom import DoomedRunError, Watch, alone
from trainmark.training.moments import (
    BlockStarted,
    BlockStopped,
    Built,
    Evaluated,
    EvaluationStarted,
    InitStarted,
    InitStopped,
    Moment,
    Position,
    RunStarted,
    RunStopped,
    Stepped,
)
from trainmark.training.task import Task
from trainmark.types import Target

__all__ = ["Observer", "record", "schedule", "train"]

Observer = Callable[[Moment], None]


@dataclass(slots=True)
class _Totals:
    """What the loop has measured so far."""

    samples: int = 0
    seconds: float = 0.0
    input_wait_seconds: float = 0.0
    padding: float = 0.0
    padded_samples: int = 0

    def add(self, block: BlockStopped) -> None:
        """Take in a block."""
        self.samples += block.samples
        self.seconds += block.seconds
        self.input_wait_seconds += block.input_wait_seconds
        share = block.statistics.get(keys.EFFICIENCY_PADDING)
        if share is not None:
            self.padding += share * block.samples
            self.padded_samples += block.samples

    def efficiency(self, flop_per_sample: float, peak: float | None) -> dict[str, Any]:
        if not self.samples:
            return {}
        rate = self.samples / self.seconds
        return {
            keys.EFFICIENCY_RATE: rate,
            keys.EFFICIENCY_FLOP_PER_SAMPLE: flop_per_sample,
            keys.EFFICIENCY_ACHIEVED: rate * flop_per_sample,
            keys.EFFICIENCY_PEAK: peak,
            keys.EFFICIENCY_SHARE: rate * flop_per_sample / peak if peak else None,
            keys.EFFICIENCY_INPUT_WAIT: self.input_wait_seconds / self.seconds,
            **self._padding_share(),
        }

    def _padding_share(self) -> dict[str, float]:
        """The mean over the samples; nothing where the task does not say."""
        if not self.padded_samples:
            return {}
        return {keys.EFFICIENCY_PADDING: self.padding / self.padded_samples}


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run in progress."""

    task: Task
    micro_batches: int
    global_batch_size: int
    synchronize: Callable[[], None]
    watch: Watch
    samples: int = 0
    totals: _Totals = field(default_factory=_Totals)

    @property
    def at(self) -> Position:
        return Position(
            samples=self.samples,
            train_samples=self.task.spec.train_samples,
            step_samples=self.global_batch_size,
        )

    def block(self, batches: Iterator[Any], until: int) -> Iterator[Moment]:
        """Train whole steps until ``until`` samples are reached."""
        task, watch, step_samples = self.task, self.watch, self.global_batch_size
        first, waited, started = self.samples, 0.0, perf_counter()
        while self.samples < until:
            for micro_batch in range(self.micro_batches):
                asked = perf_counter()
                batch = next(batches)
                waited += perf_counter() - asked
                if not self.samples and not micro_batch:
                    watch.first_batch(batch)
                watch.loss(task.forward_backward(batch))
            task.update(self.samples)
            self.samples += step_samples
            yield Stepped(at=self.at)
        self.synchronize()
        seconds, loss = perf_counter() - started, watch.mean_loss()
        stopped = BlockStopped(
            at=self.at,
            samples=self.samples - first,
            seconds=seconds,
            input_wait_seconds=waited,
            statistics={**_finite(loss), **task.statistics()},
        )
        self.totals.add(stopped)
        yield stopped
        watch.block(loss)

    def evaluation(self) -> Iterator[Moment]:
        """Measure the quality and see whether it is enough."""
        yield EvaluationStarted(at=self.at)
        quality = self.task.evaluate()
        self.synchronize()
        reached = self.task.spec.target.reached(quality)
        yield Evaluated(at=self.at, quality=quality, reached=reached)
        if not reached:
            self.watch.quality(self.samples, quality)

    def until_target(self) -> Iterator[Moment]:
        """Train and evaluate until the target is reached or the samples are spent."""
        spec = self.task.spec
        batches = self.task.batches()
        for until in schedule(spec.evaluate_every_samples, spec.max_samples):
            if until <= self.samples:  # a step may be larger than the way to the next evaluation
                continue
            yield BlockStarted(at=self.at, samples=until - self.samples)
            yield from self.block(batches, until)
            for moment in self.evaluation():
                yield moment
                if isinstance(moment, Evaluated) and moment.reached:
                    return


def _finite(loss: float) -> dict[str, float]:
    """The loss for the log, which takes no NaN."""
    return {keys.TRAIN_LOSS: loss} if math.isfinite(loss) else {}


def train(
    task: Task,
    *,
    global_batch_size: int,
    micro_batches: int,
    synchronize: Callable[[], None],
    built: Callable[[], Moment],
    matmul_peak: float | None,
    gather: Callable[[str], Sequence[str]] = alone,
) -> Iterator[Moment]:
    """Train a task until its target is met or its sample limit is spent.

    Args:
        task: What to train.
        global_batch_size: Samples in one optimizer step.
        micro_batches: Forward and backward passes in one optimizer step.
        synchronize: Waits for the device.
        built: Makes the moment that describes the built task.
        matmul_peak: This machine's matmul rate in FLOP/s at the run's precision, if measured.
        gather: Gives every rank the texts of all ranks (``Framework.gather``).
    """
    run = _Run(
        task=task,
        micro_batches=micro_batches,
        global_batch_size=global_batch_size,
        synchronize=synchronize,
        watch=Watch(task.spec, gather),
    )
    yield InitStarted()
    task.build()
    yield built()
    task.warm_up()
    flop_per_sample = task.flop_per_sample()
    synchronize()
    yield InitStopped()
    yield RunStarted()
    status, hint = keys.ABORTED, ""
    reason = f"the target was not met within {task.spec.max_samples} samples"
    try:
        for moment in run.until_target():
            yield moment
            if isinstance(moment, Evaluated) and moment.reached:
                status, reason = keys.SUCCESS, ""
    except DoomedRunError as doomed:
        reason, hint = doomed.reason, doomed.hint
    yield RunStopped(
        at=run.at,
        status=status,
        reason=reason,
        hint=hint,
        efficiency=run.totals.efficiency(flop_per_sample, matmul_peak),
    )


def record(moments: Iterable[Moment], observers: Iterable[Observer]) -> RunStopped:
    """Run the stream to its end, telling every observer each moment.

    Whatever ends it early, an interrupt included, is told as an aborted ``RunStopped`` (once the
    clock runs), so that the log says what happened; the error then goes on to the caller. A
    success without an evaluation that reached the target is no success, whoever claims it.

    Args:
        moments: The stream, from ``train``.
        observers: Called in order with every moment.

    Returns:
        The last moment.
    """
    told = tuple(observers)
    running, at = False, Position(samples=0, train_samples=1, step_samples=1)
    proof = _Proof()
    try:
        for claimed in moments:
            moment = proof.checked(claimed)
            for observer in told:
                observer(moment)
            running = running or isinstance(moment, RunStarted)
            at = getattr(moment, "at", at)
            if isinstance(moment, RunStopped):
                return moment
    except BaseException as error:
        if running:
            reason = str(error) or type(error).__name__
            aborted = RunStopped(at=at, status=keys.ABORTED, reason=reason)
            for observer in told:
                observer(aborted)
        raise
    raise AssertionError("a stream of moments ends with RunStopped")


class _Proof:
    """What stands behind a success: the last evaluation, held against the target itself."""

    def __init__(self) -> None:
        self._target: Target | None = None
        self._reached = False

    def checked(self, moment: Moment) -> Moment:
        """The moment, a success that nothing proves turned into an abort."""
        if isinstance(moment, Built):
            self._target = moment.spec.target
        elif isinstance(moment, RunStarted | BlockStarted):
            self._reached = False
        elif isinstance(moment, Evaluated):
            self._reached = self._target is not None and self._target.reached(moment.quality)
        elif isinstance(moment, RunStopped) and moment.status == keys.SUCCESS and not self._reached:
            return dataclasses.replace(
                moment,
                status=keys.ABORTED,
                reason="no evaluation reached the target, so this is no success",
                hint="Evaluate before the run ends; a workload may not end it by itself.",
            )
        return moment


def schedule(every: int, limit: int) -> Iterator[int]:
    """Sample counts at which to evaluate; the last is the limit.

    Args:
        every: Samples from one evaluation to the next.
        limit: Samples after which a run gives up.
    """
    return iter([*range(every, limit, every), limit])
