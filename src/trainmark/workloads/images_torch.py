"""Image classification in PyTorch: what the tasks of all such workloads share.

A task has pictures (``Pictures``: where the batches come from) and adds the network and how it is
trained.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from trainmark.training.data import image_folder, image_tree, small_images
from trainmark.training.data.rand_augment import RandAugment
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.task import TaskRequest
from trainmark.workloads.imagenet import CLASSES

__all__ = ["FolderPictures", "ImageTask", "Pictures", "SmallPictures"]

_SMALL_EVAL_BATCH = 250

Batch = tuple[Tensor, Tensor]


class Pictures(Protocol):
    """Labelled pictures, to train on and held out.

    Attributes:
        eval_batch: Pictures in a batch of the evaluation.
    """

    eval_batch: int

    def files(self) -> Iterator[Path]:
        """Every file that will be read."""

    def open(self) -> Iterator[Batch]:
        """Training batches without end; opens the data."""

    def held_out(self) -> Iterator[Batch]:
        """The held-out pictures once."""

    def noise(self, samples: int) -> Batch:
        """A batch of noise in the loader's form."""

    def on_device(self, batch: Batch, device: torch.device) -> Batch:
        """Pictures (N, C, H, W), normalised, and labels (N,), on the device."""

    def close(self) -> None:
        """Stop workers."""


class ImageTask(TorchTask):
    """Classify pictures; top-1 accuracy counts. The workload adds network and optimizer."""

    pictures: Pictures

    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Tensor:
        """Cross-entropy with smoothed labels."""
        images, labels = self.pictures.on_device(batch, self.device)
        return functional.cross_entropy(
            model(images.to(memory_format=self.layout)),
            labels,
            label_smoothing=self.settings.label_smoothing,
        )

    def data_files(self) -> Iterator[Path]:
        """Every file of both splits."""
        return self.pictures.files()

    def batches(self) -> Iterator[Batch]:
        """Augmented pictures without end."""
        return self.pictures.open()

    def synthetic_batch(self, samples: int) -> Batch:
        """Noise of the right shape."""
        return self.pictures.noise(samples)

    def warm_up_evaluation(self) -> None:
        """One batch of the evaluation."""
        self._correct([self.pictures.noise(self.pictures.eval_batch)])

    def evaluate(self) -> float:
        """Top-1 accuracy on the whole held-out set, 0 to 1."""
        return self._correct(self.pictures.held_out()) / self.spec.eval_samples

    def close(self) -> None:
        """Let the processes that decode pictures end."""
        self.pictures.close()

    @torch.no_grad()
    def _correct(self, batches: Iterable[Batch]) -> int:
        """Number of samples whose best class is the right one."""
        correct = torch.zeros((), dtype=torch.int64, device=self.device)
        model = self.evaluated_model
        model.eval()
        for batch in batches:
            images, labels = self.pictures.on_device(batch, self.device)
            # The average is never compiled; a last, smaller batch would be, within the clock.
            compiled = model is self.model and len(images) == self.pictures.eval_batch
            forward: Any = self.forward if compiled else model
            with self.autocast:
                best = forward(images.to(memory_format=self.layout)).argmax(1)
            correct += (best == labels).sum()
        model.train()
        return int(correct)


class SmallPictures:
    """Small grey pictures held in memory.

    Args:
        request: The run.
        dataset: "mnist" or "fashion-mnist".
        batches: Makes the endless training batches of what was loaded.
    """

    eval_batch = _SMALL_EVAL_BATCH

    def __init__(
        self,
        request: TaskRequest,
        dataset: str,
        batches: Callable[[small_images.Images], Iterator[Batch]],
    ) -> None:
        self._dataset, self._data, self._batches = dataset, request.data, batches

    def files(self) -> Iterator[Path]:
        """The packaged file, or the four of Fashion-MNIST."""
        if self._dataset == "mnist":
            yield small_images.mnist_file()
        else:
            yield from sorted(small_images.fashion_folder(self._data).glob("*.gz"))

    def open(self) -> Iterator[Batch]:
        """Read them; training batches without end."""
        self._images = (
            small_images.load_mnist()
            if self._dataset == "mnist"
            else small_images.load_fashion(small_images.fashion_folder(self._data))
        )
        return self._batches(self._images)

    def held_out(self) -> Iterator[Batch]:
        """The held-out pictures once."""
        return zip(
            self._images.eval_images.split(self.eval_batch),
            self._images.eval_labels.split(self.eval_batch),
            strict=True,
        )

    def noise(self, samples: int) -> Batch:
        """Noise of the right shape."""
        side = small_images.SIDE
        return torch.randn(samples, 1, side, side), torch.arange(samples) % small_images.CLASSES

    def on_device(self, batch: Batch, device: torch.device) -> Batch:
        """To the device; the pictures are normalised already."""
        return batch[0].to(device), batch[1].to(device)

    def close(self) -> None:
        """Nothing to stop."""


class FolderPictures:
    """ImageNet in class folders, decoded and augmented by worker processes.

    Args:
        request: The run; its settings have ``workers``.
        side: Width and height of a sample, pixels.
        device: Where the batches go.
        augment: What changes a training picture beyond crop and mirroring.
        bicubic: Whether pictures are resized by cubic instead of linear interpolation.
    """

    def __init__(
        self,
        request: TaskRequest,
        *,
        side: int,
        device: torch.device,
        augment: RandAugment | None = None,
        bicubic: bool = False,
    ) -> None:
        settings: Any = request.settings
        self._batch: int = settings.micro_batch
        self._workers: int = settings.workers or len(os.sched_getaffinity(0))
        self._data, self._seed, self._side = request.data, request.seed, side
        self._augment, self._bicubic = augment, bicubic
        self._pin = device.type == "cuda"
        self._eval: Iterable[Batch] | None = None
        # As in training, whose memory it fits.
        self.eval_batch = self._batch

    def files(self) -> Iterator[Path]:
        """Every image of both splits."""
        for split in ("train", "val"):
            yield from self._scan(split).files

    def open(self) -> Iterator[Batch]:
        """Start the workers; training batches without end."""
        self._eval = image_folder.eval_loader(
            self._scan("val"),
            side=self._side,
            batch=self.eval_batch,
            workers=self._workers,
            pin=self._pin,
            bicubic=self._bicubic,
        )
        loader = image_folder.train_loader(
            self._scan("train"),
            side=self._side,
            batch=self._batch,
            workers=self._workers,
            seed=self._seed,
            pin=self._pin,
            augment=self._augment,
            bicubic=self._bicubic,
        )
        return iter(loader)

    def held_out(self) -> Iterator[Batch]:
        """The validation pictures once."""
        assert self._eval is not None, "open() comes first"
        return iter(self._eval)

    def noise(self, samples: int) -> Batch:
        """Noise of the right shape."""
        pictures = torch.randint(0, 256, (samples, self._side, self._side, 3), dtype=torch.uint8)
        return pictures, torch.arange(samples) % CLASSES

    def on_device(self, batch: Batch, device: torch.device) -> Batch:
        """Normalised on the device."""
        images = image_folder.normalise(batch[0], device)
        return images, batch[1].to(device, non_blocking=True)

    def close(self) -> None:
        """Let the processes that decode the validation pictures end."""
        self._eval = None

    def _scan(self, split: str) -> image_tree.Folder:
        assert self._data is not None, "spec() asks for --data"
        return image_tree.scan(self._data / split)
