"""The driver of the step benchmarks: one training step at full model size, ours and the usual one.

Each ``step_<name>.py`` names its workload and builds the step that a usual public implementation
takes; this module does the rest. "Ours" is the workload's own step with what the probe chooses on
this machine, in the environment that ``trainmark run`` gives its workers. "Theirs" runs in the
environment as it is, with the framework's defaults. The same number of samples a step, synthetic
data, each side in a fresh process, in turn.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from time import perf_counter
from typing import Any

from pairs import paired, run_apart

from trainmark.training import plugins
from trainmark.training.child import ENVIRONMENT
from trainmark.training.probe import probe
from trainmark.training.settings import Settings, change
from trainmark.training.task import Task, TaskRequest, Workload
from trainmark.types import WorkloadSpec

__all__ = ["StepBenchmark", "Usual", "run"]

_WARM_UP_STEPS = 2
_DECIDED = ("precision", "memory_format", "threads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """What the usual step is made from.

    Attributes:
        batch: Samples in one step.
        device: Where it runs, "cpu" or "cuda:0": the same as ours.
    """

    batch: int
    device: str


def _one_synthetic(task: Task, batch: int) -> Sequence[Any]:
    return [task.synthetic_batch(batch)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBenchmark:
    """One workload's step, ours and the usual one.

    Attributes:
        script: The script that calls ``run``: its ``__file__``.
        workload: The workload.
        spec: Its numbers at that scale; needs no data folder, as nothing is read.
        samples: What a sample is, in the plural: "images".
        usual: Who takes the usual step, for the output: repository and file.
        usual_step: Builds the usual implementation; the callable that comes back takes one step.
            It is called in a process of its own.
        batch: Samples in one step unless ``--batch`` says otherwise.
        steps: Steps that are timed unless ``--steps`` says otherwise.
        settings: Settings of ours, ``name=value``.
        batches: What our steps train on, in turn: batches of exactly so many samples each.
        scale: "full", or the scale to be measured.
    """

    script: str
    workload: Workload
    spec: WorkloadSpec
    samples: str
    usual: str
    usual_step: Callable[[Usual], Callable[[], None]]
    batch: int
    steps: int = 4
    settings: tuple[str, ...] = ()
    batches: Callable[[Task, int], Iterable[Any]] = _one_synthetic
    scale: str = "full"


def run(benchmark: StepBenchmark, description: str) -> None:
    """Probe, then measure pairs and print them; or be one side, when called by itself.

    Args:
        benchmark: What to measure.
        description: What ``--help`` says: the script's docstring.
    """
    options = _options(benchmark, description)
    if options.side:
        side = _Side(benchmark=benchmark, options=options)
        print(
            json.dumps(
                {"probe": side.probe, "ours": side.ours, "usual": side.usual}[options.side]()
            )
        )
        return
    common = ["--batch", str(options.batch), "--steps", str(options.steps)]
    common += ["--warm-up", str(options.warm_up)]
    common += [f"--set={assignment}" for assignment in options.set]
    chosen = run_apart(benchmark.script, ["--side", "probe", *common], ENVIRONMENT)
    peak = chosen["peak"]
    print(f"The probe chooses {', '.join(chosen['settings'])} on {chosen['device']}; ", end="")
    print(f"matmul peak {peak / 1e9:.1f} GFLOP/s")
    chosen_words = [f"--set={assignment}" for assignment in chosen["settings"]]

    def rate(side: str, environment: Mapping[str, str]) -> float:
        words = ["--side", side, "--device", chosen["device"], *common, *chosen_words]
        return float(run_apart(benchmark.script, words, environment)["rate"])

    title, unit = benchmark.spec.title, f"{benchmark.samples}/s"
    print(f"{title}, {options.batch} {benchmark.samples} a step. Theirs: {benchmark.usual}")
    found = paired(lambda: rate("ours", ENVIRONMENT), lambda: rate("usual", {}), options.pairs)
    print(found.describe(unit))
    achieved = statistics.median(found.ours) * chosen["flop_per_sample"]
    share = f"{100 * achieved / peak:.0f} % of the measured matmul peak"
    print(f"ours reaches {achieved / 1e9:.1f} GFLOP/s, {share}")


def _options(benchmark: StepBenchmark, description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default, meaning in (
        ("--pairs", 5, "pairs to measure"),
        ("--batch", benchmark.batch, f"{benchmark.samples} in one step"),
        ("--steps", benchmark.steps, "timed steps"),
        ("--warm-up", _WARM_UP_STEPS, "steps before them"),
    ):
        parser.add_argument(
            name, type=_at_least_one, default=default, metavar="N", help=f"{meaning} ({default})"
        )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of ours"
    )
    parser.add_argument("--side", choices=("ours", "usual", "probe"), help=argparse.SUPPRESS)
    parser.add_argument("--device", default="cpu", help=argparse.SUPPRESS)
    return parser.parse_args()


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """What a process of its own measures."""

    benchmark: StepBenchmark
    options: argparse.Namespace

    def probe(self) -> dict[str, Any]:
        """What ``trainmark run`` would choose here, and the operations of a sample."""
        benchmark = self.benchmark
        framework = plugins.framework(benchmark.workload.framework)
        stand_in: Any = _WithoutData(benchmark)
        found = probe(stand_in, framework, benchmark.scale, self._settings(), None)
        return {
            "settings": [f"{name}={getattr(found.settings, name)}" for name in _DECIDED],
            "device": found.environment["device"],
            "peak": found.matmul_peak,
            "flop_per_sample": self._task(found.settings).flop_per_sample(),
        }

    def ours(self) -> dict[str, float]:
        """Samples a second of the workload's step."""
        settings = self._settings()
        framework = plugins.framework(self.benchmark.workload.framework)
        framework.prepare(settings, seed=1)
        task = self._task(settings)
        batches = cycle(self.benchmark.batches(task, self.options.batch))

        def step() -> None:
            task.forward_backward(next(batches))
            task.update(0)

        return {"rate": self._rate(step)}

    def usual(self) -> dict[str, float]:
        """Samples a second of the usual step."""
        made = Usual(batch=self.options.batch, device=self.options.device)
        return {"rate": self._rate(self.benchmark.usual_step(made))}

    def _settings(self) -> Settings:
        whole_batch = (f"global_batch_size={self.options.batch}", "micro_batch_size=0")
        default = self.benchmark.workload.scales[self.benchmark.scale]()
        words = (*self.benchmark.settings, *whole_batch, *self.options.set)
        return change(default, words)

    def _task(self, settings: Settings) -> Task:
        task = self.benchmark.workload.task(_request(self.benchmark, settings))
        task.build()
        return task

    def _rate(self, step: Callable[[], None]) -> float:
        synchronize = plugins.framework(self.benchmark.workload.framework).synchronize
        for _ in range(self.options.warm_up):
            step()
        synchronize()
        started = perf_counter()
        for _ in range(self.options.steps):
            step()
        synchronize()
        return float(self.options.steps * self.options.batch / (perf_counter() - started))


def _request(benchmark: StepBenchmark, settings: Settings) -> TaskRequest:
    return TaskRequest(
        scale=benchmark.scale, spec=benchmark.spec, settings=settings, seed=1, data=None
    )


class _WithoutData:
    """The workload as the probe sees it, without its data folder."""

    def __init__(self, benchmark: StepBenchmark) -> None:
        self._benchmark = benchmark

    def prepare(self, scale: str, settings: Settings, data: None, tell: Any) -> None:
        """Nothing is read."""

    def spec(self, scale: str, settings: Settings, data: None) -> WorkloadSpec:
        return self._benchmark.spec

    def task(self, request: TaskRequest) -> Any:
        return _NoFiles(self._benchmark.workload.task(request))


class _NoFiles:
    """A task that no file is asked of: everything else is the task's own."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def data_files(self) -> Any:
        return iter(())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)
