"""ResNet-50 v1.5 in PyTorch: the network, its step and its evaluation at both scales.

What it is, and where each number comes from: ``trainmark.workloads.resnet50``.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader

from trainmark.mllog import keys
from trainmark.training.data import image_folder, image_tree, small_images
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.optim import Lars, decay_groups, linear_warmup_polynomial_decay
from trainmark.training.task import TaskRequest
from trainmark.workloads.resnet50 import (
    IMAGENET_CLASSES,
    DeskSettings,
    FullSettings,
    ResNetSettings,
)

__all__ = [
    "DeskTask",
    "FullTask",
    "ResNetTask",
    "hyperparameters",
    "official_tensor_names",
    "resnet50",
]

LAYERS = (3, 4, 6, 3)
FULL_SIDE = 224
EVAL_BATCH = 250


class Bottleneck(nn.Module):
    """1x1, 3x3 (strided), 1x1 with four times the channels, and the shortcut."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x: Tensor) -> Tensor:
        """(N, channels, H, W) to (N, 4 * width, H / stride, W / stride)."""
        y = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        y = functional.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        return functional.relu(y.add_(self.shortcut(x)), inplace=True)


def resnet50(*, width: int, in_channels: int, classes: int, small: bool) -> nn.Sequential:
    """The network: (N, in_channels, H, W) to (N, classes).

    Args:
        width: Channels of the first stage; 64 in the paper.
        in_channels: 3 for colour.
        classes: Number of classes.
        small: Whether the stem keeps the resolution, for pictures of about 32 pixels.
    """
    stem = (
        nn.Conv2d(in_channels, width, 3, 1, 1, bias=False)
        if small
        else nn.Conv2d(in_channels, width, 7, 2, 3, bias=False)
    )
    blocks: list[nn.Module] = []
    channels = width
    for stage, count in enumerate(LAYERS):
        for block in range(count):
            stride = 2 if block == 0 and stage > 0 else 1
            blocks.append(Bottleneck(channels, width << stage, stride))
            channels = 4 * (width << stage)
    model = nn.Sequential(
        stem,
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, classes),
    )
    _initialise(model)
    return model


def _initialise(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, Bottleneck):
            nn.init.zeros_(module.bn3.weight)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.01)
            nn.init.zeros_(module.bias)


def official_tensor_names() -> tuple[str, ...]:
    """The names that the rules of rounds 1.1 to 2.1 give to the 161 tensors of ResNet-50."""
    names = ["conv0_weight", "bn0_gamma", "bn0_beta"]
    for stage, count in enumerate(LAYERS, start=1):
        for unit in range(1, count + 1):
            layers = [("conv1", "bn1"), ("conv2", "bn2"), ("conv3", "bn3")]
            layers += [("conv1sc", "bnsc")] if unit == 1 else []
            for conv, bn in layers:
                place = f"stage{stage}_unit{unit}"
                names += [f"{place}_{conv}_weight", f"{place}_{bn}_gamma", f"{place}_{bn}_beta"]
    return (*names, "fc1_weight", "fc1_bias")


class ResNetTask(TorchTask):
    """One run of either scale; the subclasses differ in model and data."""

    settings: ResNetSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        steps = self.settings.schedule_steps(self.spec.train_samples)
        self.warmup_steps, self.total_steps = steps
        self.hyperparameters = hyperparameters(self.settings, self.warmup_steps, self.total_steps)

    def inputs(self, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """A batch as the loader gives it, on the device and normalised."""
        raise NotImplementedError

    def eval_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The held-out set once."""
        raise NotImplementedError

    @property
    def eval_batch(self) -> int:
        """Samples in a batch of the evaluation."""
        raise NotImplementedError

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """LARS, or SGD with Nesterov momentum."""
        groups = decay_groups(model, self.settings.weight_decay)
        rate, momentum = self.settings.learning_rate, self.settings.momentum
        if self.settings.optimizer == "lars":
            return Lars(groups, rate, momentum=momentum)
        for group in groups:
            group.pop("scaled", None)
        return torch.optim.SGD(groups, rate, momentum=momentum, nesterov=momentum > 0, fused=True)

    def learning_rate(self, samples: int) -> float:
        """A straight line up, then a polynomial down."""
        return linear_warmup_polynomial_decay(
            samples // self.settings.global_batch_size,
            base=self.settings.learning_rate,
            end=self.settings.end_learning_rate,
            warmup_steps=self.warmup_steps,
            total_steps=self.total_steps,
            power=self.settings.decay_power,
        )

    def loss(self, model: Callable[[Tensor], Tensor], batch: tuple[Tensor, Tensor]) -> Tensor:
        """Cross-entropy with smoothed labels."""
        images, labels = self.inputs(batch)
        return functional.cross_entropy(
            model(images.to(memory_format=self.layout)),
            labels,
            label_smoothing=self.settings.label_smoothing,
        )

    def warm_up_evaluation(self) -> None:
        """One batch of the evaluation."""
        self._correct([self.synthetic_batch(self.eval_batch)])

    def evaluate(self) -> float:
        """Top-1 accuracy on the whole held-out set, 0 to 1."""
        return self._correct(self.eval_batches()) / self.spec.eval_samples

    @torch.no_grad()
    def _correct(self, batches: Iterable[tuple[Tensor, Tensor]]) -> int:
        """Number of samples whose best class is the right one."""
        correct = torch.zeros((), dtype=torch.int64, device=self.device)
        self.model.eval()
        for batch in batches:
            images, labels = self.inputs(batch)
            # A last, smaller batch would be compiled anew, within the clock.
            forward = self.forward if len(images) == self.eval_batch else self.model
            with self.autocast:
                best = forward(images.to(memory_format=self.layout)).argmax(1)
            correct += (best == labels).sum()
        self.model.train()
        return int(correct)


class DeskTask(ResNetTask):
    """Small grey pictures held in memory."""

    settings: DeskSettings

    eval_batch = EVAL_BATCH

    def make_model(self) -> nn.Module:
        """See the module's docstring."""
        return resnet50(
            width=self.settings.width, in_channels=1, classes=small_images.CLASSES, small=True
        )

    def data_files(self) -> Iterator[Path]:
        """The packaged file, or the four of Fashion-MNIST."""
        if self.settings.dataset == "mnist":
            yield small_images.mnist_file()
        else:
            yield from sorted(small_images.fashion_folder(self.data).glob("*.gz"))

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Shifted pictures without end."""
        self.images = (
            small_images.load_mnist()
            if self.settings.dataset == "mnist"
            else small_images.load_fashion(small_images.fashion_folder(self.data))
        )
        return small_images.shifted_batches(
            self.images, self.settings.micro_batch, self.settings.shift
        )

    def eval_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The held-out pictures once."""
        return zip(
            self.images.eval_images.split(self.eval_batch),
            self.images.eval_labels.split(self.eval_batch),
            strict=True,
        )

    def synthetic_batch(self, samples: int) -> tuple[Tensor, Tensor]:
        """Noise of the right shape."""
        side = small_images.SIDE
        return torch.randn(samples, 1, side, side), torch.arange(samples) % small_images.CLASSES

    def inputs(self, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """To the device; the pictures are normalised already."""
        return batch[0].to(self.device), batch[1].to(self.device)


class FullTask(ResNetTask):
    """ImageNet in folders, decoded by worker processes."""

    settings: FullSettings
    initialized_tensors = official_tensor_names()
    _eval: DataLoader[Any] | None = None

    @property
    def eval_batch(self) -> int:
        """Samples in a batch of the evaluation: as in training, whose memory it fits."""
        return self.settings.micro_batch

    def make_model(self) -> nn.Module:
        """See the module's docstring."""
        return resnet50(width=64, in_channels=3, classes=IMAGENET_CLASSES, small=False)

    def data_files(self) -> Iterator[Path]:
        """Every image of both splits."""
        for split in ("train", "val"):
            yield from image_tree.scan(self._root / split).files

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Augmented pictures without end."""
        workers, pin = self._workers, self.device.type == "cuda"
        self._eval = image_folder.eval_loader(
            image_tree.scan(self._root / "val"),
            side=FULL_SIDE,
            batch=self.eval_batch,
            workers=workers,
            pin=pin,
        )
        loader = image_folder.train_loader(
            image_tree.scan(self._root / "train"),
            side=FULL_SIDE,
            batch=self.settings.micro_batch,
            workers=workers,
            seed=self.seed,
            pin=pin,
        )
        return iter(loader)

    def eval_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The validation pictures once."""
        assert self._eval is not None, "batches() opens the data"
        return iter(self._eval)

    def close(self) -> None:
        """Let the processes that decode the validation pictures end."""
        self._eval = None

    def synthetic_batch(self, samples: int) -> tuple[Tensor, Tensor]:
        """Noise of the right shape."""
        pictures = torch.randint(0, 256, (samples, FULL_SIDE, FULL_SIDE, 3), dtype=torch.uint8)
        return pictures, torch.arange(samples) % IMAGENET_CLASSES

    def inputs(self, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Normalised on the device."""
        images = image_folder.normalise(batch[0], self.device)
        return images, batch[1].to(self.device, non_blocking=True)

    @property
    def _root(self) -> Path:
        assert self.data is not None, "spec() asks for --data"
        return self.data

    @property
    def _workers(self) -> int:
        return self.settings.workers or len(os.sched_getaffinity(0))


def hyperparameters(
    settings: ResNetSettings, warmup_steps: int, total_steps: int
) -> dict[str, Any]:
    """The log keys that the closed rules of "resnet" ask for, with their values."""
    name = settings.optimizer
    found: dict[str, Any] = {
        keys.GLOBAL_BATCH_SIZE: settings.global_batch_size,
        keys.GRADIENT_ACCUMULATION_STEPS: settings.gradient_accumulation_steps,
        "opt_name": name,
        f"{name}_opt_base_learning_rate": settings.learning_rate,
        f"{name}_opt_end_learning_rate": settings.end_learning_rate,
        f"{name}_opt_learning_rate_decay_poly_power": settings.decay_power,
        f"{name}_opt_learning_rate_decay_steps": total_steps - warmup_steps,
        f"{name}_opt_weight_decay": settings.weight_decay,
        f"{name}_opt_momentum": settings.momentum,
        "model_bn_span": settings.micro_batch,
        "opt_learning_rate_warmup_epochs": settings.schedule_epochs()[0],
    }
    if name == "lars":
        found["lars_epsilon"] = 0.0
        found["lars_opt_learning_rate_warmup_epochs"] = settings.schedule_epochs()[0]
    return found
