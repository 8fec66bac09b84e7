"""Good result logs for tests, written by trainmark's own writer, and ways to spoil them."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainmark.mllog import LogWriter, keys
from trainmark.rules.constraints import Compare
from trainmark.rules.tables import load_table

START_MS = 1_700_000_000_000
RESNET_ROUNDS = ("1.0", "2.0", "3.0", "4.0")
_IMAGENET_TRAIN, _IMAGENET_EVAL = 1_281_167, 50_000
_DESK_TRAIN, _DESK_EVAL = 4_000, 1_000
# Of ResNet-50: the target is met after 40 epochs, not faster than the reference allows.
CONVERGED = (0.35, 0.48, 0.55, 0.6, 0.64, 0.67, 0.7, 0.72, 0.75, 0.7591)


class Clock:
    """A clock that stands until it is told to go on."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms

    def wait(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)


@dataclass
class Text:
    """A log as records that a test may change, drop, repeat; ``write`` makes a file of it."""

    records: list[dict[str, Any]]
    path: Path

    @classmethod
    def read(cls, path: Path) -> "Text":
        lines = path.read_text(encoding="utf-8").splitlines()
        return cls([json.loads(line.split(" ", 1)[1]) for line in lines], path)

    def find(self, key: str, place: int = 0) -> dict[str, Any]:
        """The record of that key; ``place`` -1 is the last one."""
        return self.all(key)[place]

    def all(self, key: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["key"] == key]

    def drop(self, key: str) -> None:
        assert self.all(key), key
        self.records = [record for record in self.records if record["key"] != key]

    def repeat(self, key: str, **changes: Any) -> None:
        """A second record of that key, right after the first one."""
        first = self.find(key)
        self.records.insert(self.records.index(first) + 1, deepcopy(first) | changes)

    def move(self, key: str, *, after: str) -> None:
        record = self.find(key)
        self.records.remove(record)
        self.records.insert(self.records.index(self.find(after)) + 1, record)

    def line_of(self, key: str, place: int = 0) -> int:
        """The line number that the record will have, counted from 1."""
        return self.records.index(self.find(key, place)) + 1

    def lines(self) -> list[str]:
        return [f":::MLLOG {json.dumps(record)}" for record in self.records]

    def write(self) -> Path:
        self.path.write_text("\n".join(self.lines()) + "\n", encoding="utf-8")
        return self.path


@dataclass
class RunShape:
    """What a written log is to be like; the defaults make a good run."""

    seed: int = 1
    status: str = keys.SUCCESS
    minutes: float = 12.0
    init_minutes: float = 1.0
    division: str = "closed"
    batch: int = 0  # 0: the benchmark's usual one
    qualities: tuple[float, ...] = ()  # (): several evaluations, the last one meets the target
    more: dict[str, Any] = field(default_factory=dict)  # further records, by key


def desk_target() -> float:
    """The target in the desk benchmark's rule table."""
    for check in load_table("own/resnet50_desk.yaml").keys[keys.OWN_TARGET].checks:
        if isinstance(check, Compare) and check.subject.path == ("value",):
            return float(check.limit)
    raise AssertionError("the table has no target")


def write_desk(path: Path, shape: RunShape | None = None) -> Path:
    """A log of the desk benchmark, as ``trainmark run`` writes it."""
    shape, target = shape or RunShape(), desk_target()
    goal = {"metric": "eval_accuracy", "value": target, "direction": "higher"}
    more = {
        keys.OWN_RULESET: "own",
        keys.OWN_TARGET: goal,
        keys.OWN_SETTINGS: {"learning_rate": 0.4, "global_batch_size": shape.batch or 64},
        keys.OWN_ENVIRONMENT: {"python": "3.11", "device": "cpu"},
        "opt_name": "sgd",
    }
    qualities = shape.qualities or (0.80, 0.93, target - 0.01, target + 0.01)
    return _write(
        path,
        shape,
        benchmark="resnet50_desk",
        samples=(_DESK_TRAIN, _DESK_EVAL),
        batch=shape.batch or 64,
        qualities=qualities,
        headers=more | shape.more,
    )


def write_resnet(path: Path, shape: RunShape | None = None, *, round_name: str = "4.0") -> Path:
    """A log of closed full-scale ResNet-50 with all that the rules of that round ask for."""
    shape = shape or RunShape()
    qualities = shape.qualities or (0.55, 0.70, 0.75, 0.7591)
    return _write(
        path,
        shape,
        benchmark="resnet",
        samples=(_IMAGENET_TRAIN, _IMAGENET_EVAL),
        batch=shape.batch or 4096,
        qualities=qualities,
        headers=_lars() | shape.more,
        every=4,
        tensors=list(resnet_tensors()) if round_name in ("1.0", "2.0", "3.0") else [],
    )


def write_folder(
    folder: Path, shapes: list[RunShape], write: Callable[[Path, RunShape], Path] = write_desk
) -> Path:
    """A benchmark folder with one log for each shape."""
    folder.mkdir(parents=True)
    for number, shape in enumerate(shapes):
        write(folder / f"result_{number}.txt", shape)
    return folder


def desk_folder(root: Path) -> Path:
    """Where ``trainmark run`` puts desk runs below its output folder."""
    return root / "tester" / "results" / "testbox" / "resnet50_desk"


def resnet_tensors() -> Iterator[str]:
    """The tensors whose initialisation the older rules of ResNet-50 ask for: a log each."""
    yield from ("bn0_beta", "bn0_gamma", "conv0_weight", "fc1_bias", "fc1_weight")
    for stage, units in enumerate((3, 4, 6, 3), start=1):
        for unit in range(1, units + 1):
            place = f"stage{stage}_unit{unit}"
            norms = ["bn1", "bn2", "bn3"] + (["bnsc"] if unit == 1 else [])
            convolutions = ["conv1", "conv2", "conv3"] + (["conv1sc"] if unit == 1 else [])
            yield from (f"{place}_{name}_{part}" for name in norms for part in ("beta", "gamma"))
            yield from (f"{place}_{name}_weight" for name in convolutions)


def _lars() -> dict[str, Any]:
    return {
        "opt_name": "lars",
        "lars_opt_base_learning_rate": 13.0,
        "lars_opt_end_learning_rate": 0.0001,
        "lars_opt_learning_rate_decay_poly_power": 2,
        "lars_opt_learning_rate_decay_steps": 10_000,
        "lars_epsilon": 0.0,
        "lars_opt_learning_rate_warmup_epochs": 2,
        "lars_opt_momentum": 0.9,
        "lars_opt_weight_decay": 0.0002,
    }


def _write(
    path: Path,
    shape: RunShape,
    *,
    benchmark: str,
    samples: tuple[int, int],
    batch: int,
    qualities: tuple[float, ...],
    headers: dict[str, Any],
    every: int = 1,
    tensors: list[str] | None = None,
) -> Path:
    """One log in the order in which a run goes, evaluated every so many epochs."""
    clock = Clock()
    with LogWriter(path, now_ms=clock) as log:
        for key, value in _submission(benchmark, shape.division).items():
            log.point(key, value)
        for key, value in headers.items():
            log.point(key, value)
        log.point(keys.SEED, shape.seed)
        log.point(keys.GLOBAL_BATCH_SIZE, batch)
        log.point(keys.GRADIENT_ACCUMULATION_STEPS, 1)
        log.point(keys.CACHE_CLEAR, True)
        log.start(keys.INIT_START)
        clock.wait(shape.init_minutes * 60)
        for tensor in tensors or []:
            log.point("weights_initialization", tensor=tensor)
        log.stop(keys.INIT_STOP)
        clock.wait(1)
        log.start(keys.RUN_START)
        log.point(keys.TRAIN_SAMPLES, samples[0])
        log.point(keys.EVAL_SAMPLES, samples[1])
        seconds = shape.minutes * 60 / len(qualities)
        for place, quality in enumerate(qualities, start=1):
            _block(log, clock, place, every, samples[0], quality, seconds)
        log.stop(keys.RUN_STOP, status=shape.status)
    return path


def _submission(benchmark: str, division: str) -> dict[str, str]:
    return {
        keys.SUBMISSION_BENCHMARK: benchmark,
        keys.SUBMISSION_DIVISION: division,
        keys.SUBMISSION_ORG: "tester",
        keys.SUBMISSION_PLATFORM: "testbox",
        keys.SUBMISSION_STATUS: "onprem",
    }


def _block(
    log: LogWriter,
    clock: Clock,
    place: int,
    every: int,
    train_samples: int,
    quality: float,
    seconds: float,
) -> None:
    """The training between two evaluations and the second of them."""
    epoch, before = place * every, (place - 1) * every
    begun, done = (
        {"samples_count": before * train_samples},
        {"samples_count": epoch * train_samples},
    )
    block = {"first_epoch_num": before + 1, "epoch_count": every}
    log.start(keys.BLOCK_START, epoch_num=before + 1, **begun, **block)
    clock.wait(seconds * 0.9)
    log.stop(keys.BLOCK_STOP, epoch_num=epoch, **done, **block)
    log.start(keys.EVAL_START, epoch_num=epoch, **done)
    clock.wait(seconds * 0.1)
    log.point(keys.EVAL_ACCURACY, quality, epoch_num=epoch, **done)
    log.stop(keys.EVAL_STOP, epoch_num=epoch, **done)
    rate = {"throughput": round(every * train_samples / seconds, 1)}
    log.point(keys.TRACKED_STATS, rate, epoch_num=epoch, **done)
