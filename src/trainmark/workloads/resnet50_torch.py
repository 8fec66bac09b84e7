"""ResNet-50 v1.5 in PyTorch: the network, its step and its evaluation at both scales.

What it is, and where each number comes from: ``trainmark.workloads.resnet50``.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.mllog import keys
from trainmark.training.data import small_images
from trainmark.training.optim import Lars, decay_groups, linear_warmup_polynomial_decay
from trainmark.training.task import TaskRequest
from trainmark.workloads import imagenet
from trainmark.workloads.images_torch import FolderPictures, ImageTask, SmallPictures
from trainmark.workloads.resnet50 import (
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


class ResNetTask(ImageTask):
    """One run of either scale; the subclasses differ in model and data."""

    settings: ResNetSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        steps = self.settings.schedule_steps(self.spec.train_samples)
        self.warmup_steps, self.total_steps = steps
        self.hyperparameters = hyperparameters(self.settings, self.warmup_steps, self.total_steps)

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


class DeskTask(ResNetTask):
    """Small grey pictures held in memory."""

    settings: DeskSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        settings = self.settings

        def shifted(images: small_images.Images) -> Iterator[tuple[Tensor, Tensor]]:
            return small_images.shifted_batches(images, settings.micro_batch, settings.shift)

        self.pictures = SmallPictures(request, settings.dataset, shifted)

    def make_model(self) -> nn.Module:
        """See the module's docstring."""
        return resnet50(
            width=self.settings.width, in_channels=1, classes=small_images.CLASSES, small=True
        )


class FullTask(ResNetTask):
    """ImageNet in folders, decoded by worker processes."""

    settings: FullSettings
    initialized_tensors = official_tensor_names()

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.pictures = FolderPictures(request, side=FULL_SIDE, device=self.device)

    def make_model(self) -> nn.Module:
        """See the module's docstring."""
        return resnet50(width=64, in_channels=3, classes=imagenet.CLASSES, small=False)


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
