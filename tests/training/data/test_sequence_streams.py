from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.training.data.sequence_streams import (
    micro_batches,
    mixed,
    over_files,
    text_sequences,
)
from trainmark.training.data.sequences import Recipe
from trainmark.training.data.wordpiece import WordPiece
from trainmark.types import UsageError

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "one", "two", "three", "."]
FILES = [Path(name) for name in "abc"]


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.integers()), st.integers(1, 10))
def test_mixing_loses_nothing(items: list[int], buffer: int) -> None:
    assert sorted(mixed(iter(items), random(), buffer)) == sorted(items)


def test_mixing_mixes_further_than_the_buffer_is_long() -> None:
    found = list(mixed(iter(range(1000)), random(), 100))
    assert found != sorted(found)
    assert max(abs(place - item) for place, item in enumerate(found)) > 100


def test_every_file_comes_once_in_each_round_in_a_new_order() -> None:
    def read(file: Path) -> Iterator[str]:
        return iter([file.name])

    found = list(islice(over_files(FILES, read, random(), 1), 30))
    rounds = ["".join(found[start : start + 3]) for start in range(0, 27, 3)]
    assert len(set(rounds)) > 2
    assert all(found.count(name) in (9, 10, 11) for name in "abc")


def test_the_seed_decides_the_order() -> None:
    def read(file: Path) -> Iterator[str]:
        return (f"{file}{number}" for number in range(20))

    def order(seed: int) -> list[str]:
        return list(islice(over_files(FILES, read, random(seed), 5), 50))

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_files_with_nothing_in_them_are_told() -> None:
    with pytest.raises(UsageError, match="its 3 files hold nothing to train on"):
        next(over_files(FILES, lambda _: iter(()), random(), 5))


def test_text_becomes_batches_of_exactly_so_many(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text("one two three.\none one.\n\n" * 6 + "\u3000\n", encoding="utf-8")
    recipe = Recipe(length=16, vocabulary=len(PIECES), special=WordPiece(PIECES).special)
    made = text_sequences(path, WordPiece(PIECES), recipe, random())
    sizes = [rows.samples for rows in micro_batches(made, 4, 16, packed=True)]
    assert sizes[0] == 4
    assert set(sizes[:-1]) <= {4}
    assert sum(sizes) >= 6


def test_a_text_of_blank_lines_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text("\n\n")
    recipe = Recipe(length=16, vocabulary=len(PIECES), special=WordPiece(PIECES).special)
    assert list(text_sequences(path, WordPiece(PIECES), recipe, random())) == []
