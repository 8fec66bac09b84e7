"""Utterances as batches, decoded by worker processes (PyTorch)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from trainmark.training.data import speech
from trainmark.training.data.background import Loaded, caught
from trainmark.training.data.pieces import Pieces
from trainmark.training.data.speech import Sound, Utterance
from trainmark.training.data.speech_order import Pick
from trainmark.training.transducer import Lattice, lattice
from trainmark.types import TrainmarkError

__all__ = ["Collate", "SpeechBatch", "folder_loader", "in_order", "labels_of"]

_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechBatch:
    """A batch of B utterances.

    Attributes:
        inputs: float32, padded with 0: sound (B, samples), or features (B, frames, features).
        lengths: Valid samples, or frames, of each.
        labels: int64, (B, U_max), padded with 0.
        where: The nodes of the loss.
        texts: What was said.
    """

    inputs: Tensor
    lengths: tuple[int, ...]
    labels: Tensor
    where: Lattice
    texts: tuple[str, ...]

    def to(self, device: torch.device) -> "SpeechBatch":
        """The same on a device; the copy may still be under way."""
        return replace(
            self,
            inputs=self.inputs.to(device, non_blocking=True),
            labels=self.labels.to(device, non_blocking=True),
            where=self.where.to(device),
        )

    def pin_memory(self) -> "SpeechBatch":
        """The same in page-locked memory, for a copy to a GPU; a DataLoader calls it."""
        return replace(
            self,
            inputs=self.inputs.pin_memory(),
            labels=self.labels.pin_memory(),
            where=self.where.pin_memory(),
        )

    @property
    def padding(self) -> tuple[int, int]:
        """Places along time, and how many of them are padding."""
        places = len(self.lengths) * self.inputs.shape[1]
        return places, places - sum(self.lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collate:
    """Makes batches.

    Attributes:
        pieces: The vocabulary.
        blank: The class that stands for "no label".
        frames: Encoder frames of an input of that length.
    """

    pieces: Pieces
    blank: int
    frames: Callable[[int], int]

    def __call__(self, utterances: Sequence[tuple[Tensor | Sound, str]]) -> SpeechBatch:
        """A batch of inputs with their texts."""
        inputs = [torch.as_tensor(one) for one, _ in utterances]
        lengths = tuple(map(len, inputs))
        labels = [self.pieces.encode(text) for _, text in utterances]
        return SpeechBatch(
            inputs=torch.nn.utils.rnn.pad_sequence(inputs, batch_first=True),
            lengths=lengths,
            labels=labels_of(labels),
            where=lattice([self.frames(length) for length in lengths], labels, self.blank),
            texts=tuple(text for _, text in utterances),
        )


def labels_of(labels: Sequence[Sequence[int]]) -> Tensor:
    """Labels as one int64 tensor (B, U_max), padded with 0."""
    padded = torch.zeros(len(labels), max(map(len, labels)), dtype=torch.int64)
    for row, said in zip(padded, labels, strict=True):
        row[: len(said)] = torch.tensor(said, dtype=torch.int64)
    return padded


class _Recordings(Dataset[tuple[Sound, str] | TrainmarkError]):
    """Decoded sounds without the silence at their ends."""

    def __init__(self, utterances: Sequence[Utterance]) -> None:
        self._utterances = utterances

    def __getitem__(self, pick: Pick) -> tuple[Sound, str] | TrainmarkError:
        return caught(self._heard, pick)

    def _heard(self, pick: Pick) -> tuple[Sound, str]:
        utterance = self._utterances[pick.index]
        sound = speech.read(utterance.file)
        if pick.rate != 1.0:
            sound = speech.change_speed(sound, pick.rate)
        return speech.trimmed(sound), utterance.text


def _collated(
    collate: Collate, utterances: Sequence[tuple[Sound, str] | TrainmarkError]
) -> SpeechBatch | TrainmarkError:
    """A batch, or the first error among its utterances."""
    heard = [one for one in utterances if not isinstance(one, TrainmarkError)]
    errors = [one for one in utterances if isinstance(one, TrainmarkError)]
    return errors[0] if errors else caught(collate, heard)


class _Order(Sampler[list[Pick]]):
    """Batches in an order that is made anew each time."""

    def __init__(self, order: Callable[[], Iterable[list[Pick]]]) -> None:
        self._order = order

    def __iter__(self) -> Iterator[list[Pick]]:
        return iter(self._order())


def folder_loader(
    utterances: Sequence[Utterance],
    order: Callable[[], Iterable[list[Pick]]],
    collate: Collate,
    *,
    workers: int,
    pin: bool,
) -> Loaded[SpeechBatch]:
    """Batches of files.

    Args:
        utterances: The files.
        order: Makes the order of one pass.
        collate: Makes a batch.
        workers: Worker processes; 0 decodes in this one.
        pin: Whether to use page-locked memory, for a copy to a GPU.
    """
    return Loaded(
        DataLoader(
            _Recordings(utterances),
            batch_sampler=_Order(order),
            num_workers=workers,
            collate_fn=partial(_collated, collate),
            pin_memory=pin,
            persistent_workers=workers > 0,
            prefetch_factor=_AHEAD if workers else None,
        )
    )


def in_order(lengths: Sequence[int], batch: int) -> list[list[Pick]]:
    """Every utterance once, those of like length together, the longest first."""
    longest_first = np.argsort(lengths, kind="stable")[::-1]
    return [
        [Pick(index=int(i)) for i in longest_first[first : first + batch]]
        for first in range(0, len(lengths), batch)
    ]
