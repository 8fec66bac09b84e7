"""A small ImageNet of real JPEG files."""

from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = ("n01440764", "n01443537", "n01484850")


def write_tree(root: Path, train: int = 4, val: int = 2) -> Path:
    """DIR/train/<class>/*.JPEG and DIR/val/<class>/*.JPEG, of several sizes and modes."""
    generator = np.random.default_rng(3)
    for split, count in (("train", train), ("val", val)):
        for place, name in enumerate(CLASSES):
            folder = root / split / name
            folder.mkdir(parents=True)
            for number in range(count):
                side = 200 + 60 * number
                pixels = generator.integers(0, 256, (side, side + 40, 3), dtype=np.uint8)
                pixels[:, :, place] = 250
                image = Image.fromarray(pixels)
                if number == 1:
                    image = image.convert("L")
                image.save(folder / f"{name}_{number}.JPEG")
    return root
