"""What a data folder of the workload ``rnnt`` holds, at full scale.

Two layouts: the folders of LibriSpeech (DIR or DIR/LibriSpeech with train-*/ and dev-clean/), and
tar archives with their lists (DIR/train.json, DIR/dev.json). The headers of 281,241 sounds are
read once: their lengths stand in an index in the user's cache, as in the reference's manifests; so
does the vocabulary, unless DIR/pieces.model is there.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from trainmark.training.data import librispeech, spoken_digits
from trainmark.training.data.pieces import train_pieces
from trainmark.training.data.speech import SAMPLE_RATE, Utterance
from trainmark.training.prepared import Tell, place_of, prepared, quiet
from trainmark.types import Finding, Severity, UsageError

if TYPE_CHECKING:
    from trainmark.training.data.speech_shards import Index

__all__ = [
    "HELD_OUT",
    "TRAIN",
    "Folders",
    "Survey",
    "archives",
    "files",
    "findings",
    "folders",
    "shards",
    "spoken",
    "spoken_place",
    "survey",
    "vocabulary",
]

TRAIN = {"train-clean-100": 28_539, "train-clean-360": 104_014, "train-other-500": 148_688}
HELD_OUT = {"dev-clean": 2_703}

_SPOKEN = "spoken-digits"
_PIECES = "pieces.model"
_INDEX = "index.json"
_MOST_TEXTS = 300_000  # for a vocabulary: more than LibriSpeech has
_TOLD_EVERY = 1000
_HINT = (
    "Give its folder: --data DIR with DIR/LibriSpeech/{train-clean-100,train-clean-360,"
    "train-other-500,dev-clean} from openslr.org/12, or tar archives with DIR/train.json and "
    "DIR/dev.json. Without data: --scale desk."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A data folder in numbers.

    Attributes:
        train: Utterances to learn from.
        held_out: Utterances held out.
        official: Whether it is LibriSpeech as the benchmark has it.
    """

    train: int
    held_out: int
    official: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The utterances of LibriSpeech's folders, with their lengths.

    Attributes:
        train: All to learn from, long ones too.
        held_out: Those of dev-clean.
    """

    train: tuple[Utterance, ...]
    held_out: tuple[Utterance, ...]

    def short(self, max_duration: float) -> tuple[Utterance, ...]:
        """Those to learn from of at most so many seconds."""
        return tuple(u for u in self.train if u.samples <= max_duration * SAMPLE_RATE)


def folders(data: Path | None, tell: Tell = quiet) -> Folders | None:
    """The utterances of LibriSpeech's folders; None where archives lie there instead.

    Raises:
        UsageError: There is no data, or it is damaged.
    """
    if data is None:
        raise UsageError(
            "rnnt at full scale trains on LibriSpeech, which cannot be shipped", hint=_HINT
        )
    if shards(data) is not None:
        return None
    root = _root(data)
    splits = sorted(entry.name for entry in root.glob("train-*") if entry.is_dir())
    if not splits:
        raise UsageError(f"{data} holds neither folders train-* nor train.json", hint=_HINT)
    files = [
        file for split in (*splits, *HELD_OUT) for file in librispeech.transcript_files(root, split)
    ]
    stats = [(str(file.relative_to(root)), file.stat()) for file in files]
    inputs = {
        "root": str(root.resolve()),
        "transcripts": [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats],
    }
    made = prepared(
        "librispeech-index",
        inputs,
        lambda folder, told: _write_index(root, splits, folder / _INDEX, told),
        tell,
    )
    rows = orjson.loads((made / _INDEX).read_bytes())
    train, held_out = (
        tuple(Utterance(file=root / name, samples=n, text=text) for name, n, text in rows[part])
        for part in ("train", "held_out")
    )
    return Folders(train=train, held_out=held_out)


def shards(data: Path) -> tuple[Path, Path] | None:
    """The lists of archives of both splits; None where there are none."""
    train = data / "train.json"
    return (train, data / "dev.json") if train.is_file() else None


def archives(data: Path) -> "tuple[Index, Index]":
    """The archives of both splits.

    Raises:
        UsageError: A list cannot be read, or an archive is not there.
    """
    from trainmark.training.data.speech_shards import read_index

    listed = shards(data)
    assert listed is not None, data
    train, held_out = listed
    return read_index(train), read_index(held_out)


def survey(data: Path | None, max_duration: float) -> Survey:
    """Count what a folder holds.

    Args:
        data: The folder.
        max_duration: Longest utterance to learn from, seconds.

    Raises:
        UsageError: There is no data, or it is damaged.
    """
    found = folders(data)
    if found is not None:
        short = found.short(max_duration)
        if not short:
            raise UsageError(
                f"{data}: no utterance is as short as {max_duration:g} s",
                hint="--set max_duration=16.7 is the benchmark's.",
            )
        counts = (len(found.train), len(found.held_out))
        wanted = (sum(TRAIN.values()), sum(HELD_OUT.values()))
        return Survey(train=len(short), held_out=counts[1], official=counts == wanted)
    assert data is not None, "folders() asks for data"
    train, held_out = archives(data)
    return Survey(train=train.samples, held_out=held_out.samples, official=False)


def vocabulary(data: Path, size: int, tell: Tell = quiet) -> Path:
    """The SentencePiece model, made from the texts to learn from unless there is one.

    Args:
        data: The data folder.
        size: Its pieces.
        tell: Told what is being done.

    Raises:
        UsageError: The texts do not make so many pieces, or the model that is there has others.
    """
    from trainmark.training.data.pieces import Pieces

    given = data / _PIECES
    if given.is_file():
        if len(Pieces(given)) != size:
            raise UsageError(
                f"{given} has {len(Pieces(given))} pieces instead of {size}",
                hint="Remove it: a vocabulary is made from the transcripts.",
            )
        return given
    found = folders(data)
    if found is not None:
        inputs: dict[str, Any] = {"texts": _digest(u.text for u in found.train)}
    else:
        index = archives(data)[0]
        rows = (f"{url} {count}" for url, count in zip(index.urls, index.counts, strict=True))
        inputs = {"shards": str(data.resolve()), "list": _digest(rows)}

    def make(folder: Path, told: Tell) -> None:
        told("making the vocabulary", 0.0)
        train_pieces(_texts(data, found), size, folder / _PIECES)

    return prepared("sentencepieces", {"size": size, **inputs}, make, tell) / _PIECES


def _texts(data: Path, found: Folders | None) -> Iterator[str]:
    if found is not None:
        return (utterance.text for utterance in found.train)
    from trainmark.training.data.speech_shards import texts

    return texts(archives(data)[0], _MOST_TEXTS)


def _root(data: Path) -> Path:
    nested = data / "LibriSpeech"
    return nested if nested.is_dir() else data


def _write_index(root: Path, splits: list[str], file: Path, tell: Tell) -> None:
    train = librispeech.scan(root, splits)
    held_out = librispeech.scan(root, list(HELD_OUT))
    rows = []
    for done, utterance in enumerate(librispeech.measured((*train, *held_out))):
        if done % _TOLD_EVERY == 0:
            tell("reading the lengths of utterances", done / (len(train) + len(held_out)))
        name = str(utterance.file.relative_to(root))
        rows.append((name, utterance.samples, utterance.text))
    table = {"train": rows[: len(train)], "held_out": rows[len(train) :]}
    file.write_bytes(orjson.dumps(table))


def _digest(texts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode() + b"\n")
    return found.hexdigest()


def files(data: Path) -> Iterator[Path]:
    """The sounds of a folder, or its archives on this machine."""
    found = folders(data)
    if found is not None:
        yield from (utterance.file for utterance in (*found.train, *found.held_out))
        return
    for index in archives(data):
        yield from (Path(url) for url in index.urls if "://" not in url)


def spoken(order: spoken_digits.Order, tell: Tell = quiet) -> Path:
    """The folder of the desk scale's utterances, made if it is not there."""
    return prepared(
        _SPOKEN,
        order.inputs(),
        lambda folder, told: spoken_digits.make(order, folder, told),
        tell,
    )


def spoken_place(order: spoken_digits.Order) -> Path:
    """The same folder as ``spoken`` made it; none of its files is read."""
    return place_of(_SPOKEN, order.inputs())


def findings(data: Path) -> Iterator[Finding]:
    """What is wrong with a data folder, and how it differs from LibriSpeech."""
    try:
        found = folders(data)
        counts = (
            {"train": len(found.train), "dev-clean": len(found.held_out)}
            if found is not None
            else dict(zip(("train", "dev"), (i.samples for i in archives(data)), strict=True))
        )
    except UsageError as error:
        yield Finding.of_error(error, rule="data.folders", path=data)
        return
    wanted = (sum(TRAIN.values()), sum(HELD_OUT.values()))
    if found is None or tuple(counts.values()) != wanted:
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not LibriSpeech as the benchmark has it: a run has an own target",
            fix="Lay out the four sets in the folders of their archives.",
            path=str(data),
            expected="{:,} utterances in three training sets and {:,} in dev-clean".format(*wanted),
            found=", ".join(f"{count:,} in {name}" for name, count in counts.items()),
        )
