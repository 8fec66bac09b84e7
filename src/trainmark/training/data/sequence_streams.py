"""Sequences without end from many files, in an order that the seed decides.

Files are taken in a new order every time round and read one after another; a buffer mixes what they
give. So 390 GB stream from disk or from a mounted object store with little memory, and the order is
the same for every framework and every machine.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from trainmark.training.data.packing import Rows, lay_out
from trainmark.training.data.sequences import MaskedSequence, Recipe, make_sequences
from trainmark.training.data.text_shards import read_documents
from trainmark.training.data.wordpiece import WordPiece
from trainmark.types import UsageError

__all__ = ["micro_batches", "mixed", "over_files", "text_sequences"]

_T = TypeVar("_T")


def over_files(
    files: Sequence[Path],
    read: Callable[[Path], Iterator[_T]],
    random: np.random.Generator,
    buffer: int,
) -> Iterator[_T]:
    """What the files give, without end, mixed.

    Args:
        files: At least one.
        read: Opens one.
        random: Decides the order.
        buffer: How many items are held to be mixed.

    Raises:
        UsageError: No file gives anything, or ``read`` says so.
    """

    def items() -> Iterator[_T]:
        while True:
            found = 0
            for place in random.permutation(len(files)):
                for item in read(files[place]):
                    found += 1
                    yield item
            if not found:
                raise UsageError(
                    f"{files[0].parent}: its {len(files)} files hold nothing to train on",
                    hint="They are empty, or hold blank lines only. Make them anew.",
                )

    return mixed(items(), random, buffer)


def mixed(items: Iterator[_T], random: np.random.Generator, buffer: int) -> Iterator[_T]:
    """The items in another order: each waits in a buffer until chance takes it out.

    Args:
        items: With or without end.
        random: Decides.
        buffer: How many wait.
    """
    waiting = list(islice(items, buffer))
    for item in items:
        place = int(random.integers(len(waiting)))
        yield waiting[place]
        waiting[place] = item
    random.shuffle(waiting)
    yield from waiting


def text_sequences(
    file: Path, words: WordPiece, recipe: Recipe, random: np.random.Generator
) -> Iterator[MaskedSequence]:
    """The sequences of one plain text shard.

    Raises:
        UsageError: The shard cannot be read.
    """
    documents = []
    for lines in read_documents(file):
        sentences = [tokens for tokens in words.encode(lines) if len(tokens)]
        if sentences:
            documents.append(sentences)
    return make_sequences(documents, recipe, random) if documents else iter(())


def micro_batches(
    sequences: Iterator[MaskedSequence], samples: int, capacity: int, *, packed: bool
) -> Iterator[Rows]:
    """Batches of exactly so many sequences.

    Args:
        sequences: With or without end; a rest smaller than a batch makes a last, smaller one.
        samples: Sequences in a batch.
        capacity: Tokens in a row.
        packed: See ``packing.lay_out``.
    """
    while batch := list(islice(sequences, samples)):
        yield lay_out(batch, capacity, packed=packed)
