import struct
import zlib
from itertools import islice
from pathlib import Path

import pytest
import torch
from PIL import Image

from tests.training.images import CLASSES, write_tree
from trainmark.training.data import image_folder, image_tree
from trainmark.training.data.rand_augment import RandAugment
from trainmark.types import UsageError


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("imagenet"))


def test_a_split_is_listed_in_the_order_of_its_names(tree: Path) -> None:
    folder = image_tree.scan(tree / "train")
    assert folder.classes == CLASSES
    assert folder.labels == (0,) * 4 + (1,) * 4 + (2,) * 4
    assert folder.files[0].name == "n01440764_0.JPEG"


@pytest.mark.parametrize("workers", [0, 2])
def test_training_batches_are_bytes_of_the_right_shape_without_end(
    tree: Path, workers: int
) -> None:
    loader = image_folder.train_loader(
        image_tree.scan(tree / "train"), side=64, batch=5, workers=workers, seed=1, pin=False
    )
    batches = list(islice(loader, 12))
    assert all(images.shape == (5, 64, 64, 3) for images, _ in batches)
    assert batches[0][0].dtype == torch.uint8
    labels = torch.cat([labels for _, labels in batches])
    assert torch.bincount(labels).tolist() == [20, 20, 20]  # five whole epochs of twelve


def test_the_same_seed_gives_the_same_pictures(tree: Path) -> None:
    folder = image_tree.scan(tree / "train")

    def first(seed: int) -> torch.Tensor:
        loader = image_folder.train_loader(
            folder, side=32, batch=4, workers=1, seed=seed, pin=False
        )
        images: torch.Tensor = next(iter(loader))[0]
        return images

    assert torch.equal(first(5), first(5))
    assert not torch.equal(first(5), first(6))


def test_evaluation_shows_every_picture_once_in_order(tree: Path) -> None:
    loader = image_folder.eval_loader(
        image_tree.scan(tree / "val"), side=64, batch=4, workers=0, pin=False
    )
    assert torch.cat([labels for _, labels in loader]).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("bicubic", [False, True])
@pytest.mark.parametrize("side", [224, 380])
def test_the_centre_is_cut_after_resizing_to_32_pixels_more(
    tmp_path: Path, side: int, bicubic: bool
) -> None:
    """256 of 224 as ResNet's; EfficientNet has the same border at its own side."""
    picture = Image.new("RGB", (2 * side + 64, side + 32))
    picture.paste((255, 0, 0), (side // 2 + 32, 16, 3 * side // 2 + 32, side + 16))
    (tmp_path / "a").mkdir()
    picture.save(tmp_path / "a" / "0.png")
    loader = image_folder.eval_loader(
        image_tree.scan(tmp_path), side=side, batch=1, workers=0, pin=False, bicubic=bicubic
    )
    ((images, _),) = loader
    assert images.shape == (1, side, side, 3)
    assert torch.equal(images, torch.tensor([255, 0, 0]).expand_as(images))


def test_training_pictures_go_through_what_changes_them(tree: Path) -> None:
    folder = image_tree.scan(tree / "train")
    black = RandAugment(count=1, magnitude=0, names=("posterize",))  # no bits are left

    def first(augment: RandAugment | None) -> torch.Tensor:
        loader = image_folder.train_loader(
            folder, side=32, batch=4, workers=0, seed=1, pin=False, augment=augment
        )
        images: torch.Tensor = next(iter(loader))[0]
        return images

    assert not first(black).any()
    assert first(None).any()


def test_resizing_is_linear_unless_cubic_is_asked_for(tree: Path) -> None:
    folder = image_tree.scan(tree / "val")

    def pictures(*, bicubic: bool) -> torch.Tensor:
        loader = image_folder.eval_loader(
            folder, side=32, batch=6, workers=0, pin=False, bicubic=bicubic
        )
        images: torch.Tensor = next(iter(loader))[0]
        return images

    assert not torch.equal(pictures(bicubic=True), pictures(bicubic=False))


def test_bytes_become_channels_last_numbers_around_0() -> None:
    images = image_folder.normalise(
        torch.full((2, 8, 8, 3), 120, dtype=torch.uint8), torch.device("cpu")
    )
    assert images.shape == (2, 3, 8, 8)
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert images[0, :, 0, 0].tolist() == pytest.approx(
        [(120 - 123.675) / 58.395, (120 - 116.28) / 57.12, (120 - 103.53) / 57.375], abs=1e-5
    )


def bomb() -> bytes:
    """The beginning of a PNG file that announces 60,000 x 60,000 pixels."""
    head = struct.pack(">4sIIBBBBB", b"IHDR", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("content", [b"not a picture", bomb()])
def test_a_damaged_picture_is_named(tmp_path: Path, workers: int, content: bytes) -> None:
    """And nothing of the worker process that read it."""
    root = write_tree(tmp_path, train=2, val=1)
    file = root / "train" / CLASSES[0] / "n01440764_0.JPEG"
    file.write_bytes(content)
    loader = image_folder.train_loader(
        image_tree.scan(root / "train"), side=32, batch=6, workers=workers, seed=1, pin=False
    )
    with pytest.raises(UsageError) as caught:
        next(iter(loader))
    assert caught.value.message.startswith(f"cannot decode {file}: ")
    assert "Traceback" not in caught.value.message
    assert caught.value.hint == "Replace the file."


def test_a_missing_folder_says_the_layout(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there") as caught:
        image_tree.scan(tmp_path / "train")
    assert "DIR/train/<class>/*.JPEG" in caught.value.hint


def test_a_folder_without_images_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "notes.txt").write_text("no image")
    with pytest.raises(UsageError, match="holds no images"):
        image_tree.scan(tmp_path)
