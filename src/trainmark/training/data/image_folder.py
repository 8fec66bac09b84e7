"""Pictures in class folders: decode, augment and batch in worker processes.

Augmentation as published for ResNet-50 v1.5: a random crop of 8 to 100 % of the area and an
aspect ratio of 3/4 to 4/3, resized to 224 x 224, mirrored half the time; for evaluation the
shorter side is resized to 256 and the middle 224 x 224 taken (Szegedy et al. 2014,
arXiv:1409.4842; MLPerf ResNet-50 reference). EfficientNet's is the same at another side, bicubic,
with RandAugment. Workers hand over bytes (uint8, N x H x W x 3); the device normalises them, so
that a quarter of the memory moves.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Sampler

from trainmark.training.data.image_tree import Folder
from trainmark.training.data.rand_augment import RandAugment
from trainmark.types import UsageError

__all__ = ["eval_loader", "normalise", "train_loader"]

# Channel means and deviations of ImageNet's training pixels, in units of 0..255.
_MEAN = (123.675, 116.28, 103.53)
_DEVIATION = (58.395, 57.12, 57.375)
_CROP_AREA = (0.08, 1.0)
_CROP_RATIO = (3 / 4, 4 / 3)
_CROP_TRIES = 10
_EVAL_BORDER = 32  # 256 less 224; at another side EfficientNet keeps these pixels, not the share


_Sample = tuple[npt.NDArray[np.uint8], int]
_Batch = tuple[torch.Tensor, torch.Tensor]
_UNDECODABLE = (OSError, SyntaxError, ValueError, Image.DecompressionBombError)  # Pillow's


class _Pictures(Dataset[_Sample | UsageError]):
    """Decoded pictures of one split: (uint8 H x W x 3, label).

    What is wrong with a file is handed over as it is: an exception that leaves a worker process
    comes out with the worker's traceback as its text.
    """

    def __init__(
        self, folder: Folder, cut: "_Cut", *, training: bool, augment: RandAugment | None = None
    ) -> None:
        self._folder, self._augment = folder, augment
        self._cut = cut.random if training else cut.centre

    def __len__(self) -> int:
        return len(self._folder.files)

    def __getitem__(self, index: int) -> _Sample | UsageError:
        file = self._folder.files[index]
        try:
            with Image.open(file) as image:
                picture = image.convert("RGB")
        except _UNDECODABLE as error:
            return UsageError(f"cannot decode {file}: {error}", hint="Replace the file.")
        sample = self._cut(picture)
        if self._augment is not None:
            sample = self._augment(sample, random)
        return np.asarray(sample), self._folder.labels[index]


@dataclass(frozen=True, slots=True)
class _Cut:
    """How a square of ``side`` pixels is taken out of a picture."""

    side: int
    bicubic: bool

    def random(self, picture: Image.Image) -> Image.Image:
        """A part of the picture, mirrored half the time."""
        box = _random_box(*picture.size)
        if box is None:
            return self.centre(picture)
        cut = self._resize(picture, box)
        return cut.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else cut

    def centre(self, picture: Image.Image) -> Image.Image:
        """The middle after the shorter side was resized to ``side`` and 32 pixels more."""
        width, height = picture.size
        half = min(width, height) * self.side / (self.side + _EVAL_BORDER) / 2
        x, y = width / 2, height / 2
        return self._resize(picture, (x - half, y - half, x + half, y + half))

    def _resize(self, picture: Image.Image, box: tuple[float, float, float, float]) -> Image.Image:
        way = Image.Resampling.BICUBIC if self.bicubic else Image.Resampling.BILINEAR
        return picture.resize((self.side, self.side), way, box=box)


def _random_box(width: int, height: int) -> tuple[int, int, int, int] | None:
    """A part of that picture: left, top, right, bottom; None if none was found that fits."""
    for _ in range(_CROP_TRIES):
        area = random.uniform(*_CROP_AREA) * width * height
        ratio = math.exp(random.uniform(math.log(_CROP_RATIO[0]), math.log(_CROP_RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    return None


class _EndlessBatches(Sampler[list[int]]):
    """Batches of indices without end, a new order every epoch, none lost at its end."""

    def __init__(self, count: int, batch: int, generator: torch.Generator) -> None:
        self._count, self._batch, self._generator = count, batch, generator

    def __iter__(self) -> Iterator[list[int]]:
        left: list[int] = []
        while True:
            while len(left) < self._batch:
                left += torch.randperm(self._count, generator=self._generator).tolist()
            yield left[: self._batch]
            left = left[self._batch :]


def train_loader(
    folder: Folder,
    *,
    side: int,
    batch: int,
    workers: int,
    seed: int,
    pin: bool,
    augment: RandAugment | None = None,
    bicubic: bool = False,
) -> "_Whole":
    """Augmented batches without end.

    Args:
        folder: The training split.
        side: Width and height of a sample, pixels.
        batch: Samples in a batch.
        workers: Worker processes; 0 decodes in this one.
        seed: Seed of order and augmentation.
        pin: Whether to use page-locked memory, for a copy to a GPU.
        augment: What changes a picture after it was cut and mirrored.
        bicubic: Whether to resize by cubic instead of linear interpolation.
    """
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(
        _Pictures(folder, _Cut(side, bicubic), training=True, augment=augment),
        batch_sampler=_EndlessBatches(len(folder.files), batch, generator),
        num_workers=workers,
        collate_fn=_collate,
        pin_memory=pin,
        worker_init_fn=_seed_worker,
        generator=generator,
        prefetch_factor=4 if workers else None,
    )
    return _Whole(loader)


def eval_loader(
    folder: Folder, *, side: int, batch: int, workers: int, pin: bool, bicubic: bool = False
) -> "_Whole":
    """The whole split once, in order. Arguments as in ``train_loader``."""
    loader = DataLoader(
        _Pictures(folder, _Cut(side, bicubic), training=False),
        batch_size=batch,
        num_workers=workers,
        collate_fn=_collate,
        pin_memory=pin,
        persistent_workers=workers > 0,
        prefetch_factor=4 if workers else None,
    )
    return _Whole(loader)


class _Whole:
    """The batches of a loader; raises what is wrong with a file in place of its batch."""

    def __init__(self, loader: "DataLoader[Any]") -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[_Batch]:
        return map(_raised, iter(self._loader))  # the workers start at once


def _raised(batch: _Batch | UsageError) -> _Batch:
    if isinstance(batch, UsageError):
        raise batch
    return batch


def normalise(pictures: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Bytes to numbers on the device.

    Args:
        pictures: uint8, (N, H, W, 3).
        device: Where to.

    Returns:
        float32, (N, 3, H, W) in channels-last layout, mean 0 and variance 1 over ImageNet.
    """
    on_device = pictures.to(device, non_blocking=True).float()
    mean = torch.tensor(_MEAN, device=device)
    deviation = torch.tensor(_DEVIATION, device=device)
    return on_device.sub_(mean).div_(deviation).permute(0, 3, 1, 2)


def _collate(samples: Sequence[_Sample | UsageError]) -> _Batch | UsageError:
    whole: list[_Sample] = []
    for sample in samples:
        if isinstance(sample, UsageError):
            return sample
        whole.append(sample)
    pictures = torch.from_numpy(np.stack([picture for picture, _ in whole]))
    return pictures, torch.tensor([label for _, label in whole])


def _seed_worker(_: int) -> None:
    random.seed(torch.initial_seed() % 2**32)
