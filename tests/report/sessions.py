"""Session folders that tests write: what `trainmark run` leaves behind, in small."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainmark.mllog import LogWriter, keys
from trainmark.types import Direction, Target

TARGET = Target(metric="eval_accuracy", value=0.975)
TRAIN_SAMPLES = 4000
MINUTES_PER_EPOCH = 0.1
START_MS = 1_700_000_000_000


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.ms = START_MS

    def __call__(self) -> int:
        return self.ms

    def advance(self, minutes: float) -> None:
        self.ms += round(minutes * 60_000)


def accuracy(epoch: int, epochs: int) -> float:
    """A learning curve that meets the target in the last epoch and not before."""
    return min(0.99, TARGET.value - 0.0005 + 0.001 - 0.5 * (1 - epoch / epochs) ** 2)


# What falls to its target, by two orders of magnitude, in a unit of its own.
ERROR_TARGET = Target(
    metric="eval_error",
    value=0.24,
    direction=Direction.LOWER,
    name="mean absolute error",
    unit="eV",
)


def quality(target: Target, epoch: int, epochs: int) -> float:
    """A learning curve that meets that target in the last epoch and not before."""
    if target.direction is Direction.LOWER:
        return target.value * (0.995 + 100 * (1 - epoch / epochs) ** 2)
    return accuracy(epoch, epochs)


def write_log(
    path: Path,
    *,
    seed: int,
    epochs: int,
    target: Target = TARGET,
    statistics: dict[str, float] | None = None,
    status: str = "success",
    organisation: str = "Test House",
    platform: str = "desk",
    minutes_per_epoch: float = MINUTES_PER_EPOCH,
) -> None:
    """One result log of the desk benchmark; takes ``epochs * minutes_per_epoch`` minutes."""
    clock = Clock()
    with LogWriter(path, now_ms=clock) as log:
        for key, value in _heading(seed, organisation, platform, target):
            log.point(key, value)
        log.start(keys.INIT_START)
        clock.advance(0.05)
        log.stop(keys.INIT_STOP)
        log.start(keys.RUN_START)
        for epoch in range(1, epochs + 1):
            at = {keys.EPOCH_NUM: epoch, keys.SAMPLES_COUNT: epoch * TRAIN_SAMPLES}
            before = {keys.EPOCH_NUM: epoch - 1, keys.SAMPLES_COUNT: (epoch - 1) * TRAIN_SAMPLES}
            log.start(keys.BLOCK_START, None, **before)
            clock.advance(minutes_per_epoch)
            log.point(keys.TRACKED_STATS, {"throughput": 1000.0 + seed, **(statistics or {})}, **at)
            log.stop(keys.BLOCK_STOP, None, **at)
            log.start(keys.EVAL_START, None, **at)
            reached = quality(target, epoch, epochs) if status == "success" else 0.1
            log.point(target.metric, reached, **at)
            log.stop(keys.EVAL_STOP, None, **at)
        padding = {keys.EFFICIENCY_PADDING: 0.03} if statistics else {}
        log.point(keys.OWN_EFFICIENCY, _efficiency(seed) | padding)
        log.stop(keys.RUN_STOP, None, status=status, **at)


def _heading(
    seed: int, organisation: str, platform: str, target: Target
) -> Iterator[tuple[str, Any]]:
    yield keys.CACHE_CLEAR, True
    yield keys.SUBMISSION_BENCHMARK, "resnet50_desk"
    yield keys.SUBMISSION_DIVISION, "closed"
    yield keys.SUBMISSION_ORG, organisation
    yield keys.SUBMISSION_PLATFORM, platform
    yield keys.SUBMISSION_STATUS, "onprem"
    yield keys.OWN_RULESET, "own"
    yield keys.OWN_TARGET, target.to_dict()
    yield keys.OWN_SETTINGS, {"learning_rate": 0.4, "precision": "bf16", "seed": seed}
    yield keys.OWN_ENVIRONMENT, {"framework": "torch", "torch": "2.13.0", "threads": 2}
    yield keys.SEED, seed
    yield keys.GLOBAL_BATCH_SIZE, 64
    yield keys.GRADIENT_ACCUMULATION_STEPS, 1
    yield "opt_name", "sgd"
    yield keys.TRAIN_SAMPLES, TRAIN_SAMPLES
    yield keys.EVAL_SAMPLES, 1000


def _efficiency(seed: int) -> dict[str, float]:
    return {
        keys.EFFICIENCY_RATE: 1000.0 + seed,
        keys.EFFICIENCY_FLOP_PER_SAMPLE: 5e7,
        keys.EFFICIENCY_ACHIEVED: 5e10,
        keys.EFFICIENCY_PEAK: 4e11,
        keys.EFFICIENCY_SHARE: 0.125,
        keys.EFFICIENCY_INPUT_WAIT: 0.02,
    }


def session_json(**changes: Any) -> dict[str, Any]:
    """What ``trainmark run`` writes beside the logs, with fields changed."""
    return {
        "version": "0.1.0",
        "command": "trainmark run resnet50 --runs 3 --seed 1",
        "started": "2026-11-30T13:00:00+00:00",
        "machine": "0123abcd",
        "machine_title": "Testbench CPU, 2 cores, 8 GB",
        "workload": "resnet50",
        "scale": "desk",
        "benchmark": "resnet50_desk",
        "title": "ResNet-50 (desk)",
        "dataset": "MNIST, 5,000 images",
        "target": TARGET.to_dict(),
        "label": "unverified; MLPerf procedure, own target",
        "probe": {
            "candidates": [
                {"precision": "fp32", "memory_format": "contiguous", "samples_per_second": 600.0},
                {
                    "precision": "bf16",
                    "memory_format": "channels_last",
                    "threads": 2,
                    "samples_per_second": 1100,
                },
                {
                    "precision": "bf16",
                    "memory_format": "channels_last",
                    "threads": 1,
                    "samples_per_second": 700,
                },
            ],
            "unusable": {"fp16": "no instructions for it"},
            "matmul_peak_flop_per_s": {"fp32": 1.9e11, "bf16": 4.1e11},
        },
    } | changes


SYSTEM = {
    "submitter": "Test House",
    "division": "closed",
    "status": "onprem",
    "system_name": "Testbench",
    "number_of_nodes": 1,
    "host_processor_model_name": "Testbench CPU",
    "host_memory_capacity": "8 GB",
    "accelerators_per_node": 0,
    "framework": "PyTorch 2.13.0",
    "other_software_stack": {"python": "3.11.7"},
    "operating_system": "Debian 12",
}


def write_session(
    folder: Path,
    *,
    epochs: tuple[int, ...] = (10, 11, 13),
    submitter: str = "Test House",
    system: str = "desk",
    info: dict[str, Any] | None = None,
    description: dict[str, Any] | None = None,
    **log: Any,
) -> Path:
    """A session folder with one log for each number of epochs.

    Args:
        folder: Made if missing.
        epochs: Epochs of each run: run i takes ``epochs[i] / 10`` minutes.
        submitter: The submitter's folder.
        system: The system's folder.
        info: session.json, the usual one if None.
        description: The system file, the usual one if None.
        **log: Passed to ``write_log``.
    """
    place = folder / submitter / "results" / system / "resnet50_desk"
    place.mkdir(parents=True)
    for i, count in enumerate(epochs):
        write_log(place / f"result_{i}.txt", seed=i + 1, epochs=count, **log)
    systems = folder / submitter / "systems"
    systems.mkdir()
    (systems / f"{system}.json").write_text(json.dumps(description or SYSTEM))
    (folder / "session.json").write_text(json.dumps(info or session_json()))
    return folder


assert math.isclose(accuracy(10, 10), 0.9755)
