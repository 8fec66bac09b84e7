"""The usual folder layout of ImageNet, listed; needs no framework.

DATA/train/<class>/*.JPEG     DATA/val/<class>/*.JPEG
"""

from dataclasses import dataclass
from pathlib import Path

from trainmark.types import UsageError

__all__ = ["Folder", "scan"]

SUFFIXES = frozenset({".jpeg", ".jpg", ".png"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The files of one split, in the order of their names.

    Attributes:
        root: The folder.
        classes: The class folders' names; the label is the position.
        files: Every image.
        labels: Its class.
    """

    root: Path
    classes: tuple[str, ...]
    files: tuple[Path, ...]
    labels: tuple[int, ...]


def scan(root: Path) -> Folder:
    """List a split. Only names are read.

    Args:
        root: A folder with one folder a class.

    Raises:
        UsageError: It is not there, or holds no images.
    """
    if not root.is_dir():
        raise UsageError(
            f"{root} is not there",
            hint="--data DIR takes the ImageNet layout: DIR/train/<class>/*.JPEG and "
            "DIR/val/<class>/*.JPEG.",
        )
    classes = tuple(sorted(entry.name for entry in root.iterdir() if entry.is_dir()))
    files: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        found = sorted(f for f in (root / name).iterdir() if f.suffix.lower() in SUFFIXES)
        files.extend(found)
        labels.extend([label] * len(found))
    if not files:
        raise UsageError(
            f"{root} holds no images ({', '.join(sorted(SUFFIXES))}) in class folders",
            hint="The layout is <class>/<image>, for example n01440764/n01440764_18.JPEG.",
        )
    return Folder(root=root, classes=classes, files=tuple(files), labels=tuple(labels))
