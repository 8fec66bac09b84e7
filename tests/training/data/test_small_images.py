import gzip
import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from trainmark.training.data import small_images
from trainmark.training.data.rand_augment import RandAugment
from trainmark.types import UsageError


@pytest.fixture(scope="module")
def mnist() -> small_images.Images:
    return small_images.load_mnist()


def test_the_split_is_fixed_and_balanced(mnist: small_images.Images) -> None:
    assert mnist.train_images.shape == (4000, 1, 28, 28)
    assert mnist.eval_images.shape == (1000, 1, 28, 28)
    assert torch.bincount(mnist.train_labels).tolist() == [400] * 10
    assert torch.bincount(mnist.eval_labels).tolist() == [100] * 10
    again = small_images.load_mnist()
    assert torch.equal(again.eval_images, mnist.eval_images)


def test_no_held_out_image_is_trained_on(mnist: small_images.Images) -> None:
    training = {image.numpy().tobytes() for image in mnist.train_images}
    assert not any(image.numpy().tobytes() in training for image in mnist.eval_images)


def test_training_pixels_have_mean_0_and_variance_1(mnist: small_images.Images) -> None:
    assert float(mnist.train_images.mean()) == pytest.approx(0, abs=1e-4)
    assert float(mnist.train_images.std()) == pytest.approx(1, abs=1e-3)
    assert float(mnist.train_images.min()) == pytest.approx(mnist.background)


def test_an_epoch_shows_every_image_once(mnist: small_images.Images) -> None:
    batches = islice(small_images.shifted_batches(mnist, 100, shift=0), 40)
    seen = torch.cat([images for images, _ in batches])
    assert torch.equal(
        seen.sum(dim=(1, 2, 3)).sort()[0], mnist.train_images.sum(dim=(1, 2, 3)).sort()[0]
    )


def test_a_batch_size_that_does_not_divide_loses_nothing(mnist: small_images.Images) -> None:
    labels = torch.cat(
        [labels for _, labels in islice(small_images.shifted_batches(mnist, 320, shift=0), 25)]
    )
    assert torch.bincount(labels).tolist() == [800] * 10


def test_a_shift_moves_and_fills_with_background(mnist: small_images.Images) -> None:
    torch.manual_seed(0)
    images, _ = next(small_images.shifted_batches(mnist, 64, shift=2))
    assert images.shape == (64, 1, 28, 28)
    assert float(images.min()) == pytest.approx(mnist.background)


def test_pictures_that_nothing_changes_are_those_of_the_data(mnist: small_images.Images) -> None:
    unchanged = RandAugment(count=0)
    batches = list(islice(small_images.augmented_batches(mnist, 100, unchanged), 40))
    seen = torch.cat([images for images, _ in batches])

    def levels(images: torch.Tensor) -> list[bytes]:
        grey = images.sub(mnist.background).mul(mnist.deviation)
        assert torch.allclose(grey, grey.round(), atol=1e-3)
        return sorted(image.numpy().tobytes() for image in grey.round().to(torch.uint8))

    assert levels(seen) == levels(mnist.train_images)
    assert torch.equal(
        torch.cat([labels for _, labels in batches]).bincount(), torch.full((10,), 400)
    )


def test_what_moves_a_picture_fills_with_background(mnist: small_images.Images) -> None:
    random.seed(0)
    moved = RandAugment(count=1, magnitude=10, names=("translate_x",), fill=0)
    images, _ = next(small_images.augmented_batches(mnist, 64, moved))
    assert images.shape == (64, 1, 28, 28)
    edges = torch.stack([images[..., 0], images[..., -1]])  # seven pixels came in at one of them
    assert (edges == mnist.background).all(-1).any(0).all()


def zipped(content: bytes) -> bytes:
    """Without the time, so that the same content has the same bytes, and a case one name."""
    return gzip.compress(content, mtime=0)


def idx(values: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes()
    return zipped(header + values.astype(np.uint8).tobytes())


FASHION = {
    "train-images-idx3-ubyte.gz": (6, 28, 28),
    "train-labels-idx1-ubyte.gz": (6,),
    "t10k-images-idx3-ubyte.gz": (2, 28, 28),
    "t10k-labels-idx1-ubyte.gz": (2,),
}
PICTURES, LABELS, *_ = FASHION


@pytest.fixture
def fashion(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    for name, shape in FASHION.items():
        (tmp_path / name).write_bytes(idx(generator.integers(0, 10, shape)))
    return tmp_path


def test_fashion_mnist_is_read_from_its_published_files(fashion: Path) -> None:
    images = small_images.load_fashion(small_images.fashion_folder(fashion))
    assert images.train_images.shape == (6, 1, 28, 28)
    assert images.eval_labels.dtype == torch.int64


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lacks train-images-idx3-ubyte\.gz") as caught:
        small_images.fashion_folder(tmp_path)
    assert "--data" in caught.value.hint


WHOLE = idx(np.ones((6, 28, 28)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (LABELS, b"no gzip", "cannot be read: Not a gzipped file"),
        (PICTURES, WHOLE[:-20], "cannot be read: Compressed file ended"),
        (PICTURES, WHOLE[:15] + b"\xff\xff" + WHOLE[17:], "cannot be read: "),
        (LABELS, zipped(b"not idx at all"), "is not an idx file"),
        (LABELS, WHOLE, "is not an idx file of bytes, dimensions: 1"),
        (PICTURES, zipped(b"\0\0\x08\x03\0"), "is not an idx file"),
        (PICTURES, zipped(gzip.decompress(WHOLE)[:-5]), "holds 4,699 bytes where 4,704"),
        (PICTURES, idx(np.ones((6, 20, 20))), "announces 6 x [20, 20]"),
        (PICTURES, idx(np.ones((0, 28, 28))), "announces 0 x [28, 28]"),
        (LABELS, idx(np.ones(5)), "has 5 labels for 6 pictures"),
        (LABELS, idx(np.full(6, 10)), "has a label 10; they are 0 to 9"),
    ],
)
def test_a_damaged_file_is_refused(fashion: Path, name: str, content: bytes, said: str) -> None:
    (fashion / name).write_bytes(content)
    with pytest.raises(UsageError) as caught:
        small_images.load_fashion(fashion)
    assert caught.value.message.startswith(f"{fashion / name} {said}")
