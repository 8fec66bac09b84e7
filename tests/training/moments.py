"""A task without a framework, for the loop's tests."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainmark.training.moments import Built, Moment
from trainmark.types import Target, WorkloadSpec


def make_spec(**changes: Any) -> WorkloadSpec:
    fields: dict[str, Any] = {
        "name": "made",
        "scale": "desk",
        "title": "Made up",
        "task": "counting",
        "dataset": "numbers",
        "target": Target(metric="eval_accuracy", value=0.9),
        "train_samples": 100,
        "eval_samples": 10,
        "evaluate_every_samples": 100,
        "max_samples": 400,
        "mlperf_name": None,
        "parameters": 1,
    }
    return WorkloadSpec(**{**fields, **changes})


class MadeTask:
    """Its quality is read from a list; it writes down what the loop calls."""

    def __init__(self, qualities: list[float], **spec: Any) -> None:
        self.spec = make_spec(**spec)
        self.hyperparameters: Mapping[str, Any] = {"global_batch_size": 50}
        self.initialized_tensors: tuple[str, ...] = ()
        self.calls: list[str] = []
        self.schedule: list[int] = []
        self._qualities = iter(qualities)

    def build(self) -> None:
        self.calls.append("build")

    def warm_up(self) -> None:
        self.calls.append("warm_up")

    def synthetic_batch(self, samples: int) -> Any:
        return samples

    def flop_per_sample(self) -> float:
        return 3.0

    def data_files(self) -> Iterator[Path]:
        yield from ()

    def batches(self) -> Iterator[Any]:
        self.calls.append("data")
        return iter(range(10**6))

    def forward_backward(self, batch: Any) -> float:
        self.calls.append("pass")
        return 1.0

    def update(self, samples: int) -> None:
        self.schedule.append(samples)

    def evaluate(self) -> float:
        self.calls.append("evaluate")
        return next(self._qualities)

    def statistics(self) -> Mapping[str, float]:
        return {"padding_share": 0.25}

    def close(self) -> None:
        self.calls.append("close")


def built(task: MadeTask) -> Callable[[], Moment]:
    def make() -> Moment:
        return Built(
            spec=task.spec,
            settings={"global_batch_size": 50},
            hyperparameters=dict(task.hyperparameters),
            environment={"device": "cpu"},
            caches_flushed=True,
        )

    return make
