"""What the harness costs: the same training steps in trainmark's loop and in a bare PyTorch loop.

    python benchmarks/overhead.py [--pairs 5] [--epochs 1]

Both train the desk-scale ResNet-50 on the same batches with the same settings in a fresh process
with the same environment; the loop writes its result log and its progress as in a real run, the
bare one only steps. Goal: at most 1 % apart.
"""

import argparse
import io
import json
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from pairs import paired, rate_of

from trainmark.training.child import ENVIRONMENT

SETTINGS = ["precision=fp32", "memory_format=channels_last", "threads=2"]
BATCH = 50


def main() -> None:
    """Measure pairs, or one side when called by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--side", choices=("loop", "bare"))
    options = parser.parse_args()
    if options.side:
        rate = _loop(options.epochs) if options.side == "loop" else _bare(options.epochs)
        print(json.dumps({"rate": rate}))
        return

    def side(name: str) -> float:
        return rate_of(__file__, ["--side", name, "--epochs", str(options.epochs)], ENVIRONMENT)

    print("Desk-scale ResNet-50, samples/s: ours is the loop, theirs the bare loop")
    found = paired(lambda: side("loop"), lambda: side("bare"), options.pairs)
    print(found.describe("samples/s"))
    print(f"overhead {100 * (1 / sorted(found.ratios)[len(found.ratios) // 2] - 1):+.2f} %")


def _task(epochs: int) -> Any:
    from trainmark.training import plugins
    from trainmark.training.settings import change
    from trainmark.training.task import TaskRequest

    workload = plugins.workload("resnet50")
    settings = change(workload.scales["desk"](), [*SETTINGS, f"epochs={epochs}"])
    plugins.framework("torch").prepare(settings, seed=1)
    spec = workload.spec("desk", settings, None)
    return workload.task(TaskRequest(scale="desk", spec=spec, settings=settings, seed=1, data=None))


def _bare(epochs: int) -> float:
    """Build, warm up, then nothing but batches and steps."""
    task = _task(epochs)
    task.build()
    task.warm_up()
    batches = task.batches()
    started = perf_counter()
    for samples in range(0, task.spec.max_samples, BATCH):
        task.forward_backward(next(batches))
        task.update(samples)
    return float(task.spec.max_samples / (perf_counter() - started))


def _loop(epochs: int) -> float:
    """The same through the loop, with the log and the progress messages of a real run."""
    from trainmark.mllog import LogWriter
    from trainmark.training import loop
    from trainmark.training.log_observer import LogObserver, Submission
    from trainmark.training.moments import BlockStopped, Built, Moment
    from trainmark.training.worker import Progress

    task = _task(epochs)
    blocks: list[BlockStopped] = []

    def keep(moment: Moment) -> None:
        if isinstance(moment, BlockStopped):
            blocks.append(moment)

    def built() -> Moment:
        return Built(
            spec=task.spec,
            settings={},
            hyperparameters=dict(task.hyperparameters),
            environment={},
            caches_flushed=False,
        )

    who = Submission(
        org="x", platform="x", division="closed", status="onprem", ruleset="own", seed=1
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        LogWriter(Path(folder) / "result_0.txt") as writer,
    ):
        moments = loop.train(
            task,
            global_batch_size=BATCH,
            micro_batches=1,
            synchronize=lambda: None,
            built=built,
            matmul_peak=None,
        )
        loop.record(moments, [LogObserver(writer, who), Progress(io.BytesIO()), keep])
    return sum(b.samples for b in blocks) / sum(b.seconds for b in blocks)


if __name__ == "__main__":
    main()
