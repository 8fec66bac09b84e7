"""Sequences packed into rows: several in one row, so that hardly any place is padding.

Krell, Kosec, Perez, Fitzgibbon, "Efficient Sequence Packing without Cross-contamination", 2021
(arXiv:2107.02027): attention is confined to each sequence's own block, positions start anew in
each, and the heads read each sequence's own [CLS]. The gradient is that of the padded batch.

There a whole data set is packed beforehand; here each micro-batch packs its own sequences, longest
first, each into the fullest row that still has room, so that a step holds exactly its number of
samples. What varies is the number of rows. No framework is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainmark.training.data.sequences import MaskedSequence

__all__ = ["Rows", "assign_rows", "lay_out"]

_WIDTH_MULTIPLE = 8  # the tensor cores of GPUs and the kernels of masked attention ask for it

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A micro-batch. A place is numbered row by row: row * width + column.

    Attributes:
        tokens: Ids, (rows, width), 0 where nothing is.
        segments: 0 or 1, (rows, width).
        positions: Position within the sequence, (rows, width).
        owners: Number of the sequence, (rows, width), -1 where nothing is.
        starts: Place of each sequence's [CLS], (sequences,).
        random_next: 1 where the second segment comes from elsewhere, (sequences,).
        masked: Places of the tokens to predict, (predictions,).
        labels: Their ids, (predictions,).
    """

    tokens: Places
    segments: Places
    positions: Places
    owners: Places
    starts: Places
    random_next: Places
    masked: Places
    labels: Places

    @property
    def samples(self) -> int:
        """Number of sequences."""
        return len(self.starts)

    @property
    def padding_share(self) -> float:
        """Share of the places that hold nothing."""
        return float((self.owners < 0).mean())


def assign_rows(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """Which sequences share a row: best fit, longest first.

    Args:
        lengths: Tokens of each sequence, at most ``capacity`` each.
        capacity: Tokens in a row.

    Returns:
        For each row the numbers of its sequences.
    """
    rows: list[list[int]] = []
    room: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        length = lengths[number]
        best = min(
            (row for row in range(len(rows)) if room[row] >= length),
            key=room.__getitem__,
            default=None,
        )
        if best is None:
            best = len(rows)
            rows.append([])
            room.append(capacity)
        rows[best].append(number)
        room[best] -= length
    return rows


def lay_out(sequences: Sequence[MaskedSequence], capacity: int, *, packed: bool) -> Rows:
    """Put sequences into rows.

    Args:
        sequences: The samples of the micro-batch; their order is kept in ``starts``.
        capacity: Tokens in a row, at least the longest sequence.
        packed: Several in a row; else one in each, padded to the longest.
    """
    lengths = [len(sequence.tokens) for sequence in sequences]
    rows = assign_rows(lengths, capacity) if packed else [[n] for n in range(len(sequences))]
    longest = max(sum(lengths[number] for number in row) for row in rows)
    width = -(-longest // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE
    tokens, segments, positions = (np.zeros(len(rows) * width, np.int64) for _ in range(3))
    owners = np.full(len(rows) * width, -1, np.int64)
    starts = np.zeros(len(sequences), np.int64)
    for row, numbers in enumerate(rows):
        start = row * width
        for number in numbers:
            sequence, end = sequences[number], start + lengths[number]
            tokens[start:end] = sequence.tokens
            segments[start + sequence.first : end] = 1
            positions[start:end] = np.arange(lengths[number])
            owners[start:end] = number
            starts[number] = start
            start = end
    shape = (len(rows), width)
    return Rows(
        tokens=tokens.reshape(shape),
        segments=segments.reshape(shape),
        positions=positions.reshape(shape),
        owners=owners.reshape(shape),
        starts=starts,
        random_next=np.array([sequence.random_next for sequence in sequences], np.int64),
        masked=np.concatenate(
            [sequence.positions + start for sequence, start in zip(sequences, starts, strict=True)]
        ),
        labels=np.concatenate([sequence.labels for sequence in sequences], dtype=np.int64),
    )
