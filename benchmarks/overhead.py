"""What the harness costs: the same training steps in trainmark's loop and in a bare PyTorch loop.

    python benchmarks/overhead.py [--pairs 5] [--slices 12] [--steps 10]

Both train the desk-scale ResNet-50, the same task in one fresh process, in short slices that take
turns, so that a change of the machine's speed meets both sides alike. A pair is the sum over its
slices. The loop writes its result log and its progress messages as in a real run; the bare one
only takes batches and steps. Evaluation is left out: it is the workload's own. Goal: at most 1 %
apart.
"""

import argparse
import io
import json
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from pairs import Paired, run_apart

from trainmark.mllog import LogWriter
from trainmark.training import loop, plugins
from trainmark.training.child import ENVIRONMENT
from trainmark.training.log_observer import LogObserver, Submission
from trainmark.training.moments import BlockStarted, BlockStopped, Built, Moment
from trainmark.training.settings import change
from trainmark.training.task import TaskRequest
from trainmark.training.worker import Progress

SETTINGS = ["precision=fp32", "memory_format=channels_last", "threads=2"]
WHO = Submission(org="x", platform="x", division="closed", status="onprem", ruleset="own", seed=1)


def main() -> None:
    """Measure in a process of its own, with the environment of a real run, and show the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--slices", type=int, default=12)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    if options.apart:
        print(json.dumps(_measure(options.pairs, options.slices, options.steps)))
        return
    words = [f"--{name}={getattr(options, name)}" for name in ("pairs", "slices", "steps")]
    rates = run_apart(__file__, ["--apart", *words], ENVIRONMENT)
    found = Paired(ours=tuple(rates["loop"]), theirs=tuple(rates["bare"]))
    for ours, theirs in zip(found.ours, found.theirs, strict=True):
        print(f"  loop {ours:.1f} samples/s, bare {theirs:.1f}: overhead {_percent(theirs / ours)}")
    print(found.describe("samples/s"))
    overheads = [b / a for a, b in zip(found.ours, found.theirs, strict=True)]
    print(f"overhead {_percent(statistics.median(overheads))}")


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.2f} %"


def _task(steps: int) -> Any:
    """The desk task with an evaluation that costs nothing after each slice."""
    from trainmark.workloads.resnet50_torch import DeskTask

    class Unevaluated(DeskTask):
        def evaluate(self) -> float:
            return 0.0

    workload = plugins.workload("resnet50")
    settings = change(workload.scales["desk"](), SETTINGS)
    plugins.framework("torch").prepare(settings, seed=1)
    spec = replace(
        workload.spec("desk", settings, None),
        evaluate_every_samples=steps * settings.global_batch_size,
        max_samples=10**9,
    )
    return Unevaluated(TaskRequest(scale="desk", spec=spec, settings=settings, seed=1, data=None))


def _measure(pairs: int, slices: int, steps: int) -> dict[str, list[float]]:
    task = _task(steps)
    rates: dict[str, list[float]] = {"loop": [], "bare": []}
    with (
        tempfile.TemporaryDirectory() as folder,
        LogWriter(Path(folder) / "result_0.txt") as writer,
    ):
        in_the_loop = _loop_slices(task, writer)
        next(in_the_loop)  # builds, warms up, opens the data
        batches = task.batches()
        samples = slices * task.spec.evaluate_every_samples
        for _ in range(pairs):
            seconds = {"loop": 0.0, "bare": 0.0}
            for turn in range(slices):
                for side in ("loop", "bare") if turn % 2 else ("bare", "loop"):
                    seconds[side] += (
                        next(in_the_loop) if side == "loop" else _bare_slice(task, batches, steps)
                    )
            for side, spent in seconds.items():
                rates[side].append(samples / spent)
    return rates


def _loop_slices(task: Any, writer: LogWriter) -> Iterator[float]:
    """Seconds of one block after another of trainmark's loop, its observers included."""
    observers: list[loop.Observer] = [LogObserver(writer, WHO), Progress(io.BytesIO())]

    def built() -> Moment:
        return Built(
            spec=task.spec,
            settings={},
            hyperparameters=dict(task.hyperparameters),
            environment={},
            caches_flushed=False,
        )

    stream = loop.train(
        task,
        global_batch_size=task.settings.global_batch_size,
        micro_batches=1,
        synchronize=plugins.framework("torch").synchronize,
        built=built,
        matmul_peak=None,
    )
    started = perf_counter()
    for moment in stream:
        if isinstance(moment, BlockStarted):
            started = perf_counter()
        for observer in observers:
            observer(moment)
        if isinstance(moment, BlockStopped):
            yield perf_counter() - started


def _bare_slice(task: Any, batches: Iterator[Any], steps: int) -> float:
    started = perf_counter()
    for _ in range(steps):
        task.forward_backward(next(batches))
        task.update(0)
    return perf_counter() - started


if __name__ == "__main__":
    main()
