"""EfficientNet-B4 in PyTorch: its step, its average and its evaluation at both scales.

What it is, and where each number comes from: ``trainmark.workloads.efficientnet_b4``. The network
is in ``efficientnet_b4_model``, the optimizer in ``training.rmsprop``.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from trainmark.mllog import keys
from trainmark.training.data import rand_augment, small_images
from trainmark.training.data.rand_augment import RandAugment
from trainmark.training.optim import decay_groups
from trainmark.training.rmsprop import RmsProp
from trainmark.training.task import TaskRequest
from trainmark.workloads.efficientnet_b4 import (
    DeskSettings,
    EfficientNetSettings,
    FullSettings,
    learning_rate,
)
from trainmark.workloads.efficientnet_b4_model import EfficientNet
from trainmark.workloads.images_torch import FolderPictures, ImageTask, SmallPictures

__all__ = ["DeskTask", "EfficientNetTask", "FullTask", "average", "hyperparameters"]


class EfficientNetTask(ImageTask):
    """One run of either scale; the subclasses differ in network and pictures."""

    settings: EfficientNetSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.hyperparameters = hyperparameters(self.settings)

    def build(self) -> None:
        """Make model, average and optimizer from the seed."""
        super().build()
        if self.settings.average_decay:
            # The running statistics of batch norm are averaged as well, as published.
            self.averaged = average(self.model, self.settings.average_decay)

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """RMSProp in TensorFlow's form."""
        groups = decay_groups(model, self.settings.weight_decay)
        for group in groups:
            group.pop("scaled", None)
        return RmsProp(
            groups,
            self.learning_rate(0),
            decay=self.settings.rmsprop_decay,
            momentum=self.settings.momentum,
            epsilon=self.settings.epsilon,
        )

    def learning_rate(self, samples: int) -> float:
        """A straight line up, then a stairway down."""
        return learning_rate(self.settings, samples, self.spec.train_samples)

    def make_model(self) -> nn.Module:
        """The network that the settings ask for."""
        return EfficientNet(self.settings.shape)


class DeskTask(EfficientNetTask):
    """Small grey pictures held in memory."""

    settings: DeskSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        settings = self.settings
        policy = RandAugment(
            count=settings.augment_count,
            magnitude=settings.augment_magnitude,
            names=rand_augment.GEOMETRY,
            fill=0,
        )

        def augmented(images: small_images.Images) -> Iterator[tuple[Tensor, Tensor]]:
            return small_images.augmented_batches(images, settings.micro_batch, policy)

        self.pictures = SmallPictures(request, "mnist", augmented)


class FullTask(EfficientNetTask):
    """ImageNet in folders, decoded and augmented by worker processes."""

    settings: FullSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        policy = RandAugment(
            count=self.settings.augment_count, magnitude=self.settings.augment_magnitude
        )
        self.pictures = FolderPictures(
            request, side=self.settings.side, device=self.device, augment=policy, bicubic=True
        )


def average(model: nn.Module, decay: float) -> AveragedModel:
    """The exponential average of a model's weights and running statistics, as TensorFlow's.

    The decay rises to ``decay`` with the number n of steps, by (1 + n) / (10 + n), so that the
    beginning of a run is soon forgotten.
    """

    @torch.no_grad()
    def follow(averaged: Any, current: Any, steps: Any) -> None:
        if averaged[0].is_floating_point():
            kept = min(decay, (1 + int(steps)) / (10 + int(steps)))
            torch._foreach_lerp_(averaged, current, 1 - kept)
        else:  # batch norm counts its batches
            torch._foreach_copy_(averaged, current)

    return AveragedModel(model, multi_avg_fn=follow, use_buffers=True)


def hyperparameters(settings: EfficientNetSettings) -> dict[str, Any]:
    """Log keys and their values."""
    return {
        keys.GLOBAL_BATCH_SIZE: settings.global_batch_size,
        keys.GRADIENT_ACCUMULATION_STEPS: settings.gradient_accumulation_steps,
        "opt_name": "rmsprop",
        "opt_base_learning_rate": settings.base_rate,
        "opt_learning_rate_warmup_epochs": settings.warmup_epochs,
        "opt_weight_decay": settings.weight_decay,
        "opt_momentum": settings.momentum,
        "opt_epsilon": settings.epsilon,
        "model_bn_span": settings.micro_batch,
    }
