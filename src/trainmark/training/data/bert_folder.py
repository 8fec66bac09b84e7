"""The data folder of BERT at full scale: what lies where, and how much there is of it.

DIR/vocab.txt                the published WordPiece vocabulary
DIR/tfrecord/part-*          records to train on, or
DIR/results4/part-*          plain text shards to train on (also DIR/results/part-*)
DIR/eval_10k                 records to evaluate on (also DIR/tfrecord/eval_10k)
DIR/checkpoint/              the published weights to start from (also DIR/tf1_ckpt/)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from trainmark.training.data import tfrecord
from trainmark.types import UsageError

__all__ = ["BertFolder", "find_checkpoint", "scan"]

LAYOUT = (
    "DIR/vocab.txt; DIR/tfrecord/part-* (records) or DIR/results4/part-* (plain text shards); "
    "DIR/eval_10k (records); DIR/checkpoint/ with model.ckpt-28252.index and "
    "model.ckpt-28252.data-00000-of-00001, or with model.safetensors or pytorch_model.bin under "
    "the names of transformers' BertForPreTraining"
)
_RECORDS, _TEXTS = ("tfrecord",), ("results4", "results")
_EVAL, _CHECKPOINTS = ("eval_10k", "tfrecord/eval_10k"), ("checkpoint", "tf1_ckpt")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "*.index")
_COUNTED_BYTES = 64 << 20  # a folder up to this size is counted, a larger one reckoned
_RECKONED_RECORDS = 1000
_TEXT_BYTES_A_SEQUENCE = 1200  # 255 tokens (half of 512, as published) of 4.7 bytes each


@dataclass(frozen=True, slots=True, kw_only=True)
class BertFolder:
    """What was found.

    Attributes:
        root: The folder.
        records: Whether ``train`` holds records, else plain text.
        train: Files to train on, by name.
        held_out: The file of records to evaluate on.
        vocabulary: The vocabulary.
        checkpoint: The folder of the first weights, None if there is none.
        train_bytes: Size of the training files.
    """

    root: Path
    records: bool
    train: tuple[Path, ...]
    held_out: Path
    vocabulary: Path
    checkpoint: Path | None
    train_bytes: int

    def train_samples(self) -> int:
        """Sequences to train on: counted in a small folder, else reckoned from the first ones.

        Raises:
            UsageError: A file is damaged.
        """
        if not self.records:
            return max(1, self.train_bytes // _TEXT_BYTES_A_SEQUENCE)
        if self.train_bytes <= _COUNTED_BYTES:
            return sum(1 for file in self.train for _ in tfrecord.records(file))
        sizes = [len(record) for record in islice(self._first_records(), _RECKONED_RECORDS)]
        return round(self.train_bytes / (sum(sizes) / len(sizes) + tfrecord.FRAME_BYTES))

    def eval_samples(self) -> int:
        """Sequences to evaluate on, counted.

        Raises:
            UsageError: The file is damaged or empty.
        """
        count = sum(1 for _ in tfrecord.records(self.held_out))
        if not count:
            raise UsageError(
                f"{self.held_out} holds no record",
                hint="The published set has 10,000. Make it anew, or copy it again.",
            )
        return count

    def _first_records(self) -> Iterator[bytes]:
        for file in self.train:
            yield from tfrecord.records(file)


def scan(root: Path) -> BertFolder:
    """Look at a data folder; no file is read.

    Raises:
        UsageError: Something is missing: says what belongs where.
    """
    records, train = True, _parts(root, _RECORDS)
    if not train:
        records, train = False, _parts(root, _TEXTS)
    if not train:
        raise _missing(root, "neither tfrecord/part-* nor results4/part-*")
    held_out = next((root / name for name in _EVAL if (root / name).is_file()), None)
    if held_out is None:
        raise _missing(root, "no eval_10k")
    vocabulary = root / "vocab.txt"
    if not vocabulary.is_file():
        raise _missing(root, "no vocab.txt")
    sizes = [file.stat().st_size for file in train]
    if not all(sizes):
        raise UsageError(f"{train[sizes.index(0)]} is empty", hint="Copy it again, or remove it.")
    return BertFolder(
        root=root,
        records=records,
        train=train,
        held_out=held_out,
        vocabulary=vocabulary,
        checkpoint=next((root / name for name in _CHECKPOINTS if (root / name).is_dir()), None),
        train_bytes=sum(sizes),
    )


def find_checkpoint(folder: Path) -> Path | None:
    """The file of weights to read in a folder, None if it holds no checkpoint."""
    return next((file for pattern in _WEIGHTS for file in sorted(folder.glob(pattern))), None)


def _parts(root: Path, folders: tuple[str, ...]) -> tuple[Path, ...]:
    found = (sorted(f for f in (root / name).glob("part-*") if f.is_file()) for name in folders)
    return next((tuple(files) for files in found if files), ())


def _missing(root: Path, what: str) -> UsageError:
    return UsageError(f"{root} has {what}", hint=f"The layout is: {LAYOUT}.")
