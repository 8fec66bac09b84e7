"""The usual folder layout of ImageNet, listed; needs no framework.

DATA/train/<class>/*.JPEG     DATA/val/<class>/*.JPEG
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainmark.types import UsageError

__all__ = ["Folder", "is_picture", "scan"]

SUFFIXES = frozenset({".jpeg", ".jpg", ".png"})
# How the files begin (ITU-T T.81, annex B; PNG specification, 5.2). ImageNet has both as .JPEG.
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")


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

    def firsts(self) -> Iterator[Path]:
        """The first image of each class that has one."""
        for place, file in enumerate(self.files):
            if not place or self.labels[place] != self.labels[place - 1]:
                yield file


def is_picture(file: Path) -> bool:
    """Whether a file begins as a JPEG or PNG does.

    Raises:
        OSError: It cannot be read.
    """
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(max(map(len, _BEGINNINGS))).startswith(_BEGINNINGS)


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
