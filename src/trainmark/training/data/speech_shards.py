"""Sentences in tar archives (webdataset), read as streams from a folder or from http.

DIR/train.json and DIR/dev.json list the archives in the form of webdataset's own index:
``{"shardlist": [{"url": "train-000000.tar", "nsamples": 1000}, ...]}``; a url is a path from DIR or
begins with http:// or https:// (then curl reads it). In the archives each sentence is two files of
one name: <name>.flac (or .wav) and <name>.txt. A stream never needs more than a few batches of an
archive at once, so the amount of data does not matter.
"""

import itertools
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from trainmark.training.data import speech
from trainmark.training.data.background import Loaded, caught_in
from trainmark.training.data.speech import Sound
from trainmark.training.data.speech_loader import Collate, SpeechBatch
from trainmark.training.data.speech_order import epochs
from trainmark.types import UsageError

__all__ = ["Index", "Stream", "loader", "read_index", "texts"]

_SOUNDS = ("flac", "wav")
_SCHEMES = ("http://", "https://")
_POOL_BATCHES = 8  # read before the first of them is formed, so that like lengths meet
_AHEAD = 2
_NAMED = 3  # archives in an error text
_FORM = '{"shardlist": [{"url": "train-000000.tar", "nsamples": 1000}, ...]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The archives of a split.

    Attributes:
        urls: Where they are.
        counts: Sentences in each.
    """

    urls: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def samples(self) -> int:
        """Sentences in all of them."""
        return sum(self.counts)


def read_index(file: Path) -> Index:
    """Read the list of archives.

    Raises:
        UsageError: It cannot be read or has another form; an archive is not there.
    """
    try:
        rows = orjson.loads(file.read_bytes())["shardlist"]
        found = [(str(row["url"]), int(row["nsamples"])) for row in rows]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{file} is no list of archives: {error}", hint=f"Its form is {_FORM}."
        ) from error
    if not found or any(count <= 0 for _, count in found):
        raise UsageError(f"{file} lists no sentences", hint=f"Its form is {_FORM}.")
    urls = tuple(_place(file, url) for url, _ in found)
    return Index(urls=urls, counts=tuple(count for _, count in found))


def _place(index: Path, url: str) -> str:
    if url.startswith(_SCHEMES):
        return url
    if "://" in url or url.startswith("pipe:"):
        # The library would run what follows "pipe:" as a command.
        raise UsageError(
            f"{index}: an archive cannot be read from {url[:60]!r}",
            hint="A url is a path from the index's folder, or begins with http:// or https://.",
        )
    file = index.parent / url
    try:
        found = file.is_file()
    except OSError:  # a name that is too long, a folder that may not be looked into
        found = False
    if not found:
        raise UsageError(f"{index} lists {url[:60]!r}, which is not there", hint="Fetch it.")
    return str(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """How archives become batches.

    Attributes:
        index: The archives.
        micro_batch: Sentences in a batch.
        most_samples: Longer sentences are left out; 0 for none.
        rates: Smallest and largest speed.
        seed: Seed of order and speeds; None: once, in order, as it is.
    """

    index: Index
    micro_batch: int
    most_samples: int = 0
    rates: tuple[float, float] = (1.0, 1.0)
    seed: int | None = None


def loader(stream: Stream, collate: Collate, *, workers: int, pin: bool) -> Iterable[SpeechBatch]:
    """Batches of a stream: one pass if it has no seed, else pass after pass without end.

    In each pass every archive is read once, by one worker; the next begins when all have ended
    theirs. Sentences that do not fill a batch wait in their worker for the next pass.

    Args:
        stream: What to read.
        collate: Makes a batch.
        workers: Worker processes, no more than there are archives; 0 reads in this one.
        pin: Whether to use page-locked memory, for a copy to a GPU.
    """
    workers = min(workers, len(stream.index.urls))
    passes: Loaded[SpeechBatch | _Kept] = Loaded(
        DataLoader(
            _Batches(stream, collate),
            batch_size=None,
            num_workers=workers,
            pin_memory=pin,
            persistent_workers=workers > 0,
            prefetch_factor=_AHEAD if workers else None,
        )
    )
    return _Once(passes) if stream.seed is None else _endless(passes, stream.index)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Ends a worker's pass: how many sentences were not left out."""

    sentences: int


@dataclass(frozen=True, slots=True)
class _Once:
    """A pass each time it is asked for."""

    passes: "Loaded[SpeechBatch | _Kept]"

    def __iter__(self) -> Iterator[SpeechBatch]:
        return (item for item in self.passes if not isinstance(item, _Kept))


def _endless(passes: "Loaded[SpeechBatch | _Kept]", index: Index) -> Iterator[SpeechBatch]:
    while True:
        kept = 0
        for item in passes:
            if isinstance(item, _Kept):
                kept += item.sentences
            else:
                yield item
        if not kept:
            raise UsageError(
                f"no sentence of {', '.join(index.urls[:_NAMED])} "
                f"({len(index.urls)} archives) is short enough to learn from",
                hint="Check max_duration and the archives.",
            )


class _Batches(IterableDataset[Any]):
    """A worker's part of each pass; DataLoader asks for one pass after the other."""

    def __init__(self, stream: Stream, collate: Collate) -> None:
        self._stream, self._collate = stream, collate
        self._number = 0
        self._rest: list[_Sentence] = []

    def __iter__(self) -> Iterator[Any]:
        return caught_in(self._pass())

    def _pass(self) -> Iterator[SpeechBatch | _Kept]:
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        stream, number = self._stream, self._number
        self._number += 1
        shards = np.arange(len(stream.index.urls))
        if stream.seed is not None:
            shards = np.random.default_rng((stream.seed, number)).permutation(shards)
        kept = 0

        def sentences() -> Iterator[_Sentence]:
            nonlocal kept
            for sentence in _sentences(stream, shards[worker::workers].tolist()):
                kept += 1
                yield sentence

        every = itertools.chain(self._rest, sentences())
        for part in itertools.count():
            held = list(itertools.islice(every, _POOL_BATCHES * stream.micro_batch))
            if stream.seed is None:
                yield from self._in_order(held)
            else:
                whole = len(held) - len(held) % stream.micro_batch
                self._rest = held[whole:]
                yield from self._mixed(held[:whole], (stream.seed, number, worker, part))
            if len(held) < _POOL_BATCHES * stream.micro_batch:
                break
        yield _Kept(kept)

    def _in_order(self, held: list["_Sentence"]) -> Iterator[SpeechBatch]:
        size = self._stream.micro_batch
        for first in range(0, len(held), size):
            yield self._collate([s.heard(1.0) for s in held[first : first + size]])

    def _mixed(self, held: list["_Sentence"], seed: tuple[int, ...]) -> Iterator[SpeechBatch]:
        """Whole batches of like length at random speeds."""
        if not held:
            return
        size = self._stream.micro_batch
        order = epochs(
            np.array([sentence.samples for sentence in held]),
            step=len(held),
            micro_batch=size,
            buckets=1,
            rates=self._stream.rates,
            seed=seed,
        )
        for picks in itertools.islice(order, len(held) // size):
            yield self._collate([held[pick.index].heard(pick.rate) for pick in picks])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence whose sound is not decoded yet."""

    name: str
    content: bytes
    samples: int
    text: str

    def heard(self, rate: float) -> tuple[Sound, str]:
        sound = speech.decode(self.content, self.name)
        if rate != 1.0:
            sound = speech.change_speed(sound, rate)
        return speech.trimmed(sound), self.text


def _sentences(stream: Stream, shards: Iterable[int]) -> Iterator[_Sentence]:
    """The sentences of some archives, without those that are too long."""
    for name, content, text in _read(stream.index, shards):
        samples = speech.length(content, name)
        if not stream.most_samples or samples <= stream.most_samples:
            yield _Sentence(name=name, content=content, samples=samples, text=text)


def texts(index: Index, most: int) -> Iterator[str]:
    """The first ``most`` texts, for a vocabulary."""
    every = _read(index, range(len(index.urls)))
    return itertools.islice((text for _, _, text in every), most)


def _read(index: Index, shards: Iterable[int]) -> Iterator[tuple[str, bytes, str]]:
    """Name, bytes of the sound and text of every sentence of some archives.

    Raises:
        UsageError: An archive cannot be read to its end, or a sentence lacks sound or text.
    """
    for shard in shards:
        url, read = index.urls[shard], 0
        for sentence in _archive(url):
            read += 1
            yield sentence
        if read != index.counts[shard]:  # one that was cut short ends without an error
            raise UsageError(
                f"{url} holds {read} sentences, its list says {index.counts[shard]}",
                hint="Fetch it again, or correct the list.",
            )


def _archive(url: str) -> Iterator[tuple[str, bytes, str]]:
    from webdataset.gopen import gopen
    from webdataset.tariterators import group_by_keys, tar_file_iterator

    try:
        with closing(gopen(url)) as stream:
            files = (file | {"__url__": url} for file in tar_file_iterator(stream))
            for sample in group_by_keys(files):
                yield _checked(f"{url}: {sample['__key__']}", sample)
    except (OSError, ValueError, tarfile.TarError, subprocess.SubprocessError) as error:
        # The library adds its own stream to the text of an error.
        reason = getattr(error, "strerror", None) or str(error).partition(" @ ")[0]
        raise UsageError(
            f"cannot read the archive {url}: {reason}", hint="Fetch or make it again."
        ) from error


def _checked(name: str, sample: Mapping[str, Any]) -> tuple[str, bytes, str]:
    sounds = [sample[kind] for kind in _SOUNDS if kind in sample]
    if len(sounds) != 1 or not sample.get("txt", b"").strip():
        raise UsageError(
            f"{name} has not one sound and one text",
            hint="Each sentence is <name>.flac and <name>.txt, side by side.",
        )
    try:
        text = sample["txt"].decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the text of {name} is no UTF-8: {error.reason}", hint="Make the archive anew."
        ) from error
    return name, sounds[0], text.strip().lower()
