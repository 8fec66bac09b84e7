"""The full-size ResNet-50 training step at 224 x 224: ours against the usual one.

    python benchmarks/step_resnet50.py [--pairs 5] [--batch 16] [--steps 4]

"Usual" is what a reference script does: eager fp32, contiguous tensors, SGD with momentum, and
PyTorch's defaults in the environment as it is. "Ours" is the workload's step with what the probe
chooses on this machine, in the environment that `trainmark run` gives its workers. Same network,
same batch size, synthetic pictures, each side in a fresh process, in turn. Goal: at least 2 times
the usual step where the CPU has bf16 instructions, 1.3 times where it has none.
"""

import argparse
import json
import statistics
from time import perf_counter
from typing import Any

from pairs import paired, run_apart

from trainmark.training.child import ENVIRONMENT


def main() -> None:
    """Probe, measure pairs, or one side when called by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--side", choices=("ours", "usual", "probe"))
    parser.add_argument("--settings", default="")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(_SIDES[options.side](options)))
        return
    common = ["--batch", str(options.batch), "--steps", str(options.steps)]
    chosen = run_apart(__file__, ["--side", "probe", *common], ENVIRONMENT)
    print(f"The probe chooses {chosen['settings']}; matmul peak {chosen['peak'] / 1e9:.1f} GFLOP/s")

    def side(name: str, environment: dict[str, str]) -> float:
        words = ["--side", name, "--settings", " ".join(chosen["settings"]), *common]
        return float(run_apart(__file__, words, environment)["rate"])

    print(f"ResNet-50, batch {options.batch}, images/s: theirs is the usual eager fp32 step")
    found = paired(lambda: side("ours", ENVIRONMENT), lambda: side("usual", {}), options.pairs)
    print(found.describe("images/s"))
    achieved = statistics.median(found.ours) * chosen["flop_per_sample"]
    print(
        f"ours reaches {achieved / 1e9:.1f} GFLOP/s, "
        f"{100 * achieved / chosen['peak']:.0f} % of the measured matmul peak"
    )


def _task(assignments: list[str]) -> Any:
    from trainmark.training import plugins
    from trainmark.training.settings import change
    from trainmark.training.task import TaskRequest
    from trainmark.workloads.resnet50 import FullSettings
    from trainmark.workloads.resnet50_torch import FullTask

    settings = change(FullSettings(), assignments)
    plugins.framework("torch").prepare(settings, seed=1)
    request = TaskRequest(scale="full", spec=_spec(), settings=settings, seed=1, data=None)
    task = FullTask(request)
    task.build()
    return task


def _spec() -> Any:
    from trainmark.types import Target, WorkloadSpec
    from trainmark.workloads.resnet50 import IMAGENET_EVAL, IMAGENET_TRAIN

    return WorkloadSpec(
        name="resnet50",
        scale="full",
        title="ResNet-50 v1.5",
        task="image classification",
        dataset="noise",
        target=Target(metric="eval_accuracy", value=0.759),
        train_samples=IMAGENET_TRAIN,
        eval_samples=IMAGENET_EVAL,
        evaluate_every_samples=IMAGENET_TRAIN,
        max_samples=IMAGENET_TRAIN,
        mlperf_name=None,
        parameters=25_557_032,
    )


def _batch_words(options: argparse.Namespace) -> list[str]:
    return [f"global_batch_size={options.batch}", "micro_batch_size=0"]


def _probe(options: argparse.Namespace) -> dict[str, Any]:
    """What `trainmark run` would choose here, and the operations of a sample."""
    from trainmark.training import plugins
    from trainmark.training.probe import probe
    from trainmark.training.settings import change
    from trainmark.training.task import TaskRequest
    from trainmark.workloads.resnet50 import FullSettings
    from trainmark.workloads.resnet50_torch import FullTask

    class Synthetic:
        """The workload without its data folder."""

        def spec(self, scale: str, settings: Any, data: Any) -> Any:
            return _spec()

        def task(self, request: TaskRequest) -> FullTask:
            return FullTask(request)

    settings = change(FullSettings(), _batch_words(options))
    stand_in: Any = Synthetic()
    found = probe(stand_in, plugins.framework("torch"), "full", settings, None)
    words = [
        f"{name}={getattr(found.settings, name)}"
        for name in ("precision", "memory_format", "threads")
    ]
    task = _task([*words, *_batch_words(options)])
    return {
        "settings": words,
        "peak": found.matmul_peak,
        "flop_per_sample": task.flop_per_sample(),
    }


def _ours(options: argparse.Namespace) -> dict[str, float]:
    task = _task([*options.settings.split(), *_batch_words(options)])
    batch = task.synthetic_batch(options.batch)

    def step() -> None:
        task.forward_backward(batch)
        task.update(0)

    return {"rate": _rate(step, options)}


def _usual(options: argparse.Namespace) -> dict[str, float]:
    import torch

    from trainmark.workloads.resnet50_torch import resnet50

    model = resnet50(width=64, in_channels=3, classes=1000, small=False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    criterion = torch.nn.CrossEntropyLoss()
    images = torch.randn(options.batch, 3, 224, 224)
    labels = torch.arange(options.batch)

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()

    return {"rate": _rate(step, options)}


def _rate(step: Any, options: argparse.Namespace) -> float:
    for _ in range(2):
        step()
    started = perf_counter()
    for _ in range(options.steps):
        step()
    return float(options.steps * options.batch / (perf_counter() - started))


_SIDES: dict[str, Any] = {"ours": _ours, "usual": _usual, "probe": _probe}

if __name__ == "__main__":
    main()
