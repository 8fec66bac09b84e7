"""The training loop: a workload's steps under the clock, as a stream of moments.

Clock rules (MLPerf Training rules, "Benchmark results" and "Timing"): the clock starts before
any data is touched and stops when the evaluation that met the target has ended; building,
compiling and warming up on synthetic data happen before it, and are bounded.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from trainmark.mllog import keys
from trainmark.training.moments import (
    BlockStarted,
    BlockStopped,
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

__all__ = ["Observer", "record", "train"]

Observer = Callable[[Moment], None]


@dataclass(slots=True)
class _Totals:
    """What the loop has measured so far."""

    samples: int = 0
    seconds: float = 0.0
    input_wait_seconds: float = 0.0

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
        }


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run in progress."""

    task: Task
    micro_batches: int
    global_batch_size: int
    synchronize: Callable[[], None]
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
        task, micro_batches, step_samples = self.task, self.micro_batches, self.global_batch_size
        first, waited, started = self.samples, 0.0, perf_counter()
        while self.samples < until:
            for _ in range(micro_batches):
                asked = perf_counter()
                batch = next(batches)
                waited += perf_counter() - asked
                task.forward_backward(batch)
            task.update(self.samples)
            self.samples += step_samples
            yield Stepped(at=self.at)
        self.synchronize()
        seconds, trained = perf_counter() - started, self.samples - first
        self.totals.samples += trained
        self.totals.seconds += seconds
        self.totals.input_wait_seconds += waited
        yield BlockStopped(
            at=self.at,
            samples=trained,
            seconds=seconds,
            input_wait_seconds=waited,
            statistics=task.statistics(),
        )

    def evaluation(self) -> Iterator[Moment]:
        yield EvaluationStarted(at=self.at)
        quality = self.task.evaluate()
        self.synchronize()
        reached = self.task.spec.target.reached(quality)
        yield Evaluated(at=self.at, quality=quality, reached=reached)


def train(
    task: Task,
    *,
    global_batch_size: int,
    micro_batches: int,
    synchronize: Callable[[], None],
    built: Callable[[], Moment],
    matmul_peak: float | None,
) -> Iterator[Moment]:
    """Train a task until its target is met or its sample limit is spent.

    Args:
        task: What to train.
        global_batch_size: Samples in one optimizer step.
        micro_batches: Forward and backward passes in one optimizer step.
        synchronize: Waits for the device.
        built: Makes the moment that describes the built task.
        matmul_peak: This machine's matmul rate in FLOP/s at the run's precision, if measured.
    """
    run = _Run(
        task=task,
        micro_batches=micro_batches,
        global_batch_size=global_batch_size,
        synchronize=synchronize,
    )
    yield InitStarted()
    task.build()
    yield built()
    task.warm_up()
    flop_per_sample = task.flop_per_sample()
    synchronize()
    yield InitStopped()
    yield RunStarted()
    batches = task.batches()
    for until in _schedule(task.spec.evaluate_every_samples, task.spec.max_samples):
        yield BlockStarted(at=run.at, samples=until - run.samples)
        yield from run.block(batches, until)
        for moment in run.evaluation():
            yield moment
            if isinstance(moment, Evaluated) and moment.reached:
                yield RunStopped(
                    at=run.at,
                    status=keys.SUCCESS,
                    efficiency=run.totals.efficiency(flop_per_sample, matmul_peak),
                )
                return
    yield RunStopped(
        at=run.at,
        status=keys.ABORTED,
        reason=f"the target was not met within {task.spec.max_samples} samples",
        efficiency=run.totals.efficiency(flop_per_sample, matmul_peak),
    )


def record(moments: Iterable[Moment], observers: Iterable[Observer]) -> RunStopped:
    """Run the stream to its end, telling every observer each moment.

    Whatever ends it early, an interrupt included, is told as an aborted ``RunStopped`` (once the
    clock runs), so that the log says what happened; the error then goes on to the caller.

    Args:
        moments: The stream, from ``train``.
        observers: Called in order with every moment.

    Returns:
        The last moment.
    """
    told = tuple(observers)
    running, at = False, Position(samples=0, train_samples=1, step_samples=1)
    try:
        for moment in moments:
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


def _schedule(every: int, limit: int) -> Iterator[int]:
    """Sample counts at which to evaluate; the last is the limit."""
    return iter([*range(every, limit, every), limit])
