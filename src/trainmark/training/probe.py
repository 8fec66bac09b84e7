"""Before the first run: measure which settings are fastest on this machine, and its peak.

Settings that stand on "auto" (precision, layout, threads) are decided by timing the workload's
own step on synthetic data, so that the default is the fastest here and not the fastest somewhere
else. All runs of a session then use the same decision.
"""

import dataclasses
import itertools
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from trainmark.training.division import CLOSED, OPEN, require_closed
from trainmark.training.prepared import Tell, quiet
from trainmark.training.settings import Settings
from trainmark.training.task import Framework, Task, TaskRequest, Workload
from trainmark.types import WorkloadSpec

__all__ = ["Candidate", "Examined", "Probe", "examine", "probe"]

_SECONDS_A_CANDIDATE = 1.0
_LEAST_STEPS = 3
_FIRST_SAMPLES = 32
_SHORT_STEP_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One combination of settings and its measured rate.

    Attributes:
        precision: Number format.
        memory_format: Layout of image tensors.
        threads: CPU threads.
        samples_per_second: Training rate on synthetic data.
    """

    precision: str
    memory_format: str
    threads: int
    samples_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What was measured.

    Attributes:
        spec: The workload.
        settings: The settings with every "auto" decided.
        candidates: Every combination tried, fastest first; empty if nothing was left to decide.
        matmul_peak: Measured matrix-multiplication rate at the chosen precision, FLOP/s.
        unusable: Each precision that this device cannot use, with the reason.
        environment: Software, device, threads.
    """

    spec: WorkloadSpec
    settings: Settings
    candidates: tuple[Candidate, ...]
    matmul_peak: float
    unusable: Mapping[str, str]
    environment: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """Settings that can be run, before anything is measured.

    Attributes:
        spec: The workload.
        choices: Every combination that they leave open.
        make: Makes the task of one combination.
    """

    spec: WorkloadSpec
    choices: tuple[Settings, ...]
    make: Callable[[Settings], Task]


def examine(
    workload: Workload,
    framework: Framework,
    scale: str,
    settings: Settings,
    data: Path | None,
    *,
    division: str = OPEN,
    tell: Tell = quiet,
) -> Examined:
    """Prepare the data, then see whether data, device and division allow the settings.

    Args:
        workload: What will be trained.
        framework: In what.
        scale: "desk" or "full".
        settings: As the user left them.
        data: The user's data folder, None for packaged data.
        division: "closed" refuses what the closed rules of the workload's round forbid.
        tell: Told how far the preparation is.

    Raises:
        UsageError: The data, the device or the precision is not to be had, or the division
            forbids a setting.
    """
    workload.prepare(scale, settings, data, tell)
    spec = workload.spec(scale, settings, data)
    framework.prepare(settings, seed=0)
    choices = tuple(_choices(settings, framework))

    def make_with(spec: WorkloadSpec, chosen: Settings) -> Task:
        eager = dataclasses.replace(chosen, compile=False)  # compiling each takes minutes
        return workload.task(TaskRequest(scale=scale, spec=spec, settings=eager, seed=0, data=data))

    def make(chosen: Settings) -> Task:
        return make_with(spec, chosen)

    def remake(changed: Settings) -> tuple[WorkloadSpec, Task]:
        other = workload.spec(scale, changed, data)
        return other, make_with(other, changed)

    next(make(choices[0]).data_files(), None)  # missing data is told before anything is measured
    if division == CLOSED:
        require_closed(choices[0], remake)
    return Examined(spec=spec, choices=choices, make=make)


def probe(
    workload: Workload,
    framework: Framework,
    scale: str,
    settings: Settings,
    data: Path | None,
    *,
    division: str = OPEN,
    tell: Tell = quiet,
) -> Probe:
    """Decide what is left open in the settings by measuring. Arguments: see ``examine``.

    Raises:
        UsageError: See ``examine``.
    """
    examined = examine(workload, framework, scale, settings, data, division=division, tell=tell)
    choices = examined.choices
    rates = _rates(choices, framework, examined.make) if len(choices) > 1 else []
    decided = rates[0][1] if rates else choices[0]
    framework.prepare(decided, seed=0)
    return Probe(
        spec=examined.spec,
        settings=decided,
        candidates=tuple(_candidate(rate, chosen) for rate, chosen in rates),
        matmul_peak=framework.matmul_peak(decided.precision),
        unusable={name: why for name, why in framework.precisions().items() if why},
        environment=framework.environment(),
    )


def _candidate(rate: float, chosen: Settings) -> Candidate:
    return Candidate(
        precision=chosen.precision,
        memory_format=chosen.memory_format,
        threads=chosen.threads,
        samples_per_second=rate,
    )


def _rates(
    choices: Iterable[Settings], framework: Framework, make: Callable[[Settings], Task]
) -> list[tuple[float, Settings]]:
    """Every choice with its measured samples per second, fastest first."""
    rates = []
    for chosen in choices:
        framework.prepare(chosen, seed=0)
        task = make(chosen)
        task.build()
        rates.append((_rate(task, framework, chosen), chosen))
        task.close()
    return sorted(rates, key=lambda pair: -pair[0])


def _choices(settings: Settings, framework: Framework) -> Iterator[Settings]:
    """Every combination that the settings leave open. Compiling is never tried unasked."""
    usable = [name for name, reason in framework.precisions().items() if not reason]
    precisions = usable if settings.precision == "auto" else [settings.precision]
    if "bf16" in precisions and settings.precision == "auto":
        # bf16 has the range of fp32 and needs no loss scaling: fp16 is tried only where it is
        # the one 16-bit format of the device.
        precisions = [name for name in precisions if name != "fp16"]
    formats = (
        ["contiguous", "channels_last"]
        if settings.memory_format == "auto"
        else [settings.memory_format]
    )
    threads = framework.thread_choices() if not settings.threads else (settings.threads,)
    for precision, memory_format, count in itertools.product(precisions, formats, threads):
        yield dataclasses.replace(
            settings, precision=precision, memory_format=memory_format, threads=count
        )


def _rate(task: Task, framework: Framework, settings: Settings) -> float:
    """Samples per second of the training step, on a batch large enough to keep it busy.

    The median step counts: one step that the machine's other work has slowed decides nothing.
    """
    samples = min(_FIRST_SAMPLES, settings.micro_batch)
    while True:
        batch = task.synthetic_batch(samples)
        _step(task, framework, batch)
        short = _step(task, framework, batch) < _SHORT_STEP_SECONDS
        if not short or samples == settings.micro_batch:
            break
        samples = min(2 * samples, settings.micro_batch)
    seconds: list[float] = []
    while sum(seconds) < _SECONDS_A_CANDIDATE or len(seconds) < _LEAST_STEPS:
        seconds.append(_step(task, framework, batch))
    return samples / statistics.median(seconds)


def _step(task: Task, framework: Framework, batch: Any) -> float:
    """Take one step; its seconds."""
    started = perf_counter()
    task.forward_backward(batch)
    task.update(0)
    framework.synchronize()
    return perf_counter() - started
