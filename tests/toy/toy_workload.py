"""A stranger's plug-in for tests: a framework of its own and a workload that learns in no time.

It really trains: logistic regression by stochastic gradient descent on two clouds of points, in
plain Python, so that a session with real processes takes a second and needs no framework.
"""

# mypy: ignore-errors
# (a stranger need not annotate)

import math
import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path

from trainmark.training.prepared import prepared
from trainmark.training.settings import Settings, setting
from trainmark.types import DataFile, DataSet, Needs, Target, TrainmarkError, WorkloadSpec

TRAIN, HELD_OUT = 400, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToySettings(Settings):
    global_batch_size: int = setting(20, "samples in one optimizer step", minimum=1)
    memory_format: str = setting(
        "contiguous", "none here", choices=("auto", "contiguous", "channels_last")
    )
    learning_rate: float = setting(0.5, "learning rate", minimum=0)
    epochs: int = setting(5, "epochs until it gives up", minimum=1)
    target: float = setting(0.9, "accuracy to reach", minimum=0, maximum=1, fixed=True)
    step_seconds: float = setting(0.0, "sleep in each step", minimum=0)
    prepare_seconds: float = setting(0.0, "how long making the data takes", minimum=0)
    chance: float = setting(-1.0, "accuracy of guessing; -1: not known")
    fail: str = setting(
        "",
        "how to fail",
        choices=("", "error", "crash", "kill", "chatter", "diverge", "package"),
    )


class Plain:
    """The framework: this process."""

    name = "plain"

    def prepare(self, settings, seed):
        random.seed(seed)

    def synchronize(self):
        pass

    def matmul_peak(self, precision):
        return 1e9

    def precisions(self):
        return {"fp32": "", "bf16": "no instructions", "fp16": "no instructions"}

    def thread_choices(self):
        return (1,)

    def gather(self, text):
        return [text]

    def environment(self):
        return {"framework": "plain", "plain": "1.0", "device": "cpu", "threads": 1}


def _points(count):
    for _ in range(count):
        label = random.random() < 0.5
        centre = 1.5 if label else -1.5
        yield (random.gauss(centre, 1), random.gauss(centre, 1)), label


class ToyTask:
    def __init__(self, request):
        self.spec, self.settings, self.data = request.spec, request.settings, request.data
        self.hyperparameters = {
            "global_batch_size": self.settings.global_batch_size,
            "gradient_accumulation_steps": self.settings.gradient_accumulation_steps,
            "opt_name": "sgd",
            "opt_base_learning_rate": self.settings.learning_rate,
        }
        self.initialized_tensors = ()
        self.steps, self.training = 0, False

    def build(self):
        self.weights, self.gradient = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]

    def warm_up(self):
        self.forward_backward(self.synthetic_batch(2))
        self.gradient = [0.0, 0.0, 0.0]

    def synthetic_batch(self, samples):
        return [((0.0, 0.0), True)] * samples

    def flop_per_sample(self):
        return 12.0

    def data_files(self):
        yield Path(__file__)

    def batches(self):
        self.training = True
        points = list(_points(TRAIN))
        self.held_out = list(_points(HELD_OUT))
        while True:
            yield random.sample(points, self.settings.micro_batch)

    def _guess(self, x):
        return 1 / (
            1 + math.exp(-(self.weights[0] * x[0] + self.weights[1] * x[1] + self.weights[2]))
        )

    def forward_backward(self, batch):
        loss = 0.0
        for x, label in batch:
            error = self._guess(x) - label
            loss += error**2 / len(batch)
            for i, value in enumerate((*x, 1.0)):
                self.gradient[i] += error * value / self.settings.global_batch_size
        return math.nan if self.failing("diverge") else loss

    def update(self, samples):
        rate = self.settings.learning_rate
        self.weights = [w - rate * g for w, g in zip(self.weights, self.gradient, strict=True)]
        self.gradient = [0.0, 0.0, 0.0]
        time.sleep(self.settings.step_seconds)
        self.steps += 1
        if self.steps == 3 and self.training and self.settings.fail:
            self._fail(self.settings.fail)

    def failing(self, how):
        return self.training and self.steps >= 3 and self.settings.fail == how

    def _fail(self, how):
        if how == "error":
            raise TrainmarkError("the toy is broken", hint="Mend the toy.")
        if how == "crash":
            raise RuntimeError("a fault of the workload's code")
        if how == "kill":
            os.kill(os.getpid(), 9)
        if how == "package":
            import a_package_that_nobody_has  # noqa: F401
        print("a library prints to standard output")

    def evaluate(self):
        right = sum((self._guess(x) > 0.5) == label for x, label in self.held_out)
        return right / HELD_OUT

    def statistics(self):
        return {}

    def close(self):
        pass


def _make(settings):
    def make(folder, tell):
        (folder / "half").write_text("not yet whole")
        for step in range(100):
            tell("drawing points", step / 100)
            time.sleep(settings.prepare_seconds / 100)

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy:
    name: str = "toy"
    title: str = "Two clouds"
    framework: str = "plain"
    scales: dict = field(default_factory=lambda: {"desk": ToySettings})

    needs: dict = field(
        default_factory=lambda: {
            "desk": Needs(
                data=DataSet(
                    name="400 points",
                    url="",
                    licence="none needed",
                    size_bytes=0,
                    layout="Nothing to do: they are drawn.",
                    files=(
                        DataFile(
                            path="points.txt",
                            size_bytes=5,
                            digest="md5:827ccb0eea8a706c4c34a16891f84e7b",
                        ),
                    ),
                ),
                memory_bytes=1 << 20,
                memory_basis="a guess",
                time="a second",
            )
        }
    )

    published: dict = field(default_factory=dict)

    def check_data(self, scale, data):
        yield from ()
        if (data / "more.txt").exists():
            (data / "more.txt").read_bytes()

    def prepare(self, scale, settings, data, tell):
        if settings.prepare_seconds:
            prepared("toy", {"seconds": settings.prepare_seconds}, _make(settings), tell)

    def spec(self, scale, settings, data):
        return WorkloadSpec(
            name="toy",
            scale=scale,
            title=self.title,
            task="telling two clouds apart",
            dataset="400 points",
            target=Target(metric="eval_accuracy", value=settings.target),
            train_samples=TRAIN,
            eval_samples=HELD_OUT,
            evaluate_every_samples=TRAIN,
            max_samples=settings.epochs * TRAIN,
            mlperf_name=None,
            parameters=3,
            chance=None if settings.chance < 0 else settings.chance,
            typical_samples=TRAIN,
        )

    def task(self, request):
        return ToyTask(request)


WORKLOAD = Toy()
FRAMEWORK = Plain()
