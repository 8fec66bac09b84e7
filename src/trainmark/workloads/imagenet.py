"""ImageNet-1k in class folders: what the workloads that learn it share, without a framework.

Russakovsky et al. 2015, "ImageNet Large Scale Visual Recognition Challenge" (arXiv:1409.0575): the
1,000 classes of the 2012 challenge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainmark.training.data import image_tree
from trainmark.types import DataSet, Finding, Severity, UsageError

__all__ = ["CLASSES", "DATA_SET", "EVAL", "TRAIN", "WHOLE", "Splits", "check", "scan"]

TRAIN, EVAL, CLASSES = 1_281_167, 50_000, 1000

DATA_SET = DataSet(
    name="ImageNet-1k (ILSVRC 2012)",
    url="https://www.image-net.org/challenges/LSVRC/2012/",
    licence="for non-commercial research, by registration at image-net.org",
    size_bytes=154_642_401_280,
    layout="DIR/train/<class>/*.JPEG (1,281,167 pictures of 1,000 classes) and "
    "DIR/val/<class>/*.JPEG (50,000): unpack the 1,000 tar files inside "
    "ILSVRC2012_img_train.tar (md5 1d675b47d978889d74fa0da5fadfb00e) each into its folder, "
    "and sort the pictures of ILSVRC2012_img_val.tar "
    "(md5 29b22e2961454d5413ddabcf34fc5622) into the same folders.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """A data folder, listed.

    Attributes:
        train_samples: Pictures to train on.
        eval_samples: Pictures held out.
        classes: Number of classes.
        whole: Whether these are the numbers of ImageNet-1k.
        title: What the data is called.
    """

    train_samples: int
    eval_samples: int
    classes: int
    whole: bool
    title: str


WHOLE = Splits(
    train_samples=TRAIN, eval_samples=EVAL, classes=CLASSES, whole=True, title="ImageNet-1k"
)


def scan(workload: str, data: Path | None) -> Splits:
    """List a data folder. Only names are read.

    Args:
        workload: Who wants to train on it, for the error text.
        data: The folder that the user gave.

    Raises:
        UsageError: There is none, or its splits do not fit together.
    """
    if data is None:
        raise UsageError(
            f"{workload} at full scale trains on ImageNet, which cannot be shipped",
            hint="Give its folder: --data DIR with DIR/train/<class>/*.JPEG and "
            "DIR/val/<class>/*.JPEG. Without data: --scale desk.",
        )
    return _splits(data, *_listed(data))


def _listed(data: Path) -> tuple[image_tree.Folder, image_tree.Folder]:
    """The two splits, which fit together."""
    train, held_out = image_tree.scan(data / "train"), image_tree.scan(data / "val")
    if train.classes != held_out.classes:
        odd = sorted(set(train.classes) ^ set(held_out.classes))
        raise UsageError(
            f"{data}: train and val have different classes, {odd[0]!r} is in one of them only",
            hint="Both need the same class folders.",
        )
    if len(train.classes) > CLASSES:
        raise UsageError(
            f"{train.root} has {len(train.classes)} classes; ImageNet-1k has {CLASSES}",
            hint="Use the 1,000-class data set of the 2012 challenge.",
        )
    return train, held_out


def _splits(data: Path, train: image_tree.Folder, held_out: image_tree.Folder) -> Splits:
    found = (len(train.files), len(held_out.files), len(train.classes))
    whole = found == (TRAIN, EVAL, CLASSES)
    return Splits(
        train_samples=found[0],
        eval_samples=found[1],
        classes=found[2],
        whole=whole,
        title=WHOLE.title if whole else f"{found[0]:,} images of {found[2]} classes in {data}",
    )


def check(data: Path) -> Iterator[Finding]:
    """What is wrong with a data folder: its classes, the first picture of each, the numbers.

    Args:
        data: The folder.
    """
    try:
        listed = _listed(data)
    except UsageError as error:
        yield Finding.of_error(error, rule="data.folders", path=data)
        return
    for folder in listed:
        for file in folder.firsts():
            yield from _looked_at(file)
    splits = _splits(data, *listed)
    if not splits.whole:
        numbers = "{:,} training and {:,} validation images, {:,} classes"
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not the whole of ImageNet-1k: a run on it has an own target",
            fix="Lay out every picture of the 2012 challenge in its class folder.",
            path=str(data),
            expected=numbers.format(TRAIN, EVAL, CLASSES),
            found=numbers.format(splits.train_samples, splits.eval_samples, splits.classes),
        )


def _looked_at(file: Path) -> Iterator[Finding]:
    """What is wrong with the beginning of one picture."""
    try:
        if image_tree.is_picture(file):
            return
        rule, problem = "data.format", "is neither a JPEG nor a PNG picture"
    except OSError as error:
        rule, problem = "data.unreadable", f"cannot be read: {error.strerror}"
    yield Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=f"{file} {problem}",
        fix="Unpack the archive again.",
        path=str(file),
    )
