import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainmark.training.data.sequences import (
    Document,
    MaskedSequence,
    Recipe,
    make_sequences,
    masked,
)
from trainmark.training.data.wordpiece import FIRST_WORD, SYNTHETIC

CLS, SEP, MASK = SYNTHETIC.cls, SYNTHETIC.sep, SYNTHETIC.mask
RECIPE = Recipe(length=32, vocabulary=1000, special=SYNTHETIC)


def documents(*lengths: list[int]) -> list[Document]:
    """Documents of sentences of those lengths; every token tells its document."""
    return [
        [np.full(length, FIRST_WORD + number, np.int32) for length in sentences]
        for number, sentences in enumerate(lengths)
    ]


def original(sequence: MaskedSequence) -> list[int]:
    tokens = sequence.tokens.copy()
    tokens[sequence.positions] = sequence.labels
    return [int(token) for token in tokens]


LENGTHS = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=8), min_size=1, max_size=5)


@settings(max_examples=30)
@given(LENGTHS, st.integers(0, 2**32 - 1), st.integers(5, 40))
def test_what_is_made_of_any_documents(lengths: list[list[int]], seed: int, length: int) -> None:
    recipe = Recipe(length=length, vocabulary=1000, special=SYNTHETIC)
    made = list(make_sequences(documents(*lengths), recipe, np.random.default_rng(seed)))
    assert made
    for sequence in made:
        tokens = original(sequence)
        assert 5 <= len(tokens) <= length
        assert tokens[0] == CLS
        assert tokens[sequence.first - 1] == tokens[-1] == SEP
        assert tokens.count(SEP) == 2
        first, second = tokens[1 : sequence.first - 1], tokens[sequence.first : -1]
        assert first
        assert second
        if not sequence.random_next:
            assert set(first) == set(second)
        elif len(lengths) > 1:
            assert not set(first) & set(second)


def test_every_document_is_used_once_in_each_pass() -> None:
    given = documents([4, 4], [5], [6, 1, 2])
    made = list(make_sequences(given, RECIPE, np.random.default_rng(0)))
    seen = {original(sequence)[1] for sequence in made}
    assert seen == {FIRST_WORD, FIRST_WORD + 1, FIRST_WORD + 2}


def test_each_sequence_hides_the_share_that_it_is_given() -> None:
    given, random = documents([29] * 3, [29] * 3), np.random.default_rng(0)
    made = list(make_sequences(given, RECIPE, random, itertools.cycle([0.5, 0.1])))
    assert len(made) > 3
    for number, sequence in enumerate(made):
        share = (0.5, 0.1)[number % 2]
        assert len(sequence.labels) == max(1, round(share * len(sequence.tokens)))


def test_half_of_the_second_segments_are_from_elsewhere() -> None:
    given = documents(*[[3] * 60] * 40)
    made = list(make_sequences(given, RECIPE, np.random.default_rng(0)))
    assert len(made) > 300
    assert np.mean([sequence.random_next for sequence in made]) == pytest.approx(0.5, abs=0.08)


def test_one_sequence_in_ten_is_shorter() -> None:
    given = documents(*[[2] * 100] * 40)
    made = list(make_sequences(given, RECIPE, np.random.default_rng(0)))
    short = np.mean([len(sequence.tokens) < RECIPE.length - 2 for sequence in made])
    assert 0.05 < short < 0.3
    whole = Recipe(length=32, vocabulary=1000, special=SYNTHETIC, shorter_share=0.0)
    made = list(make_sequences(documents([2] * 13 * 10), whole, np.random.default_rng(0)))
    assert np.median([len(sequence.tokens) for sequence in made]) == 32


def test_hidden_tokens_are_replaced_as_published() -> None:
    text = np.arange(FIRST_WORD, FIRST_WORD + 400, dtype=np.int32)
    recipe = Recipe(length=512, vocabulary=1_000_000, special=SYNTHETIC)
    random = np.random.default_rng(0)
    made = [masked(text[:150], text[150:], False, recipe, random) for _ in range(200)]
    hidden = np.concatenate([sequence.tokens[sequence.positions] for sequence in made])
    labels = np.concatenate([sequence.labels for sequence in made])
    assert len(hidden) == 200 * round(0.15 * 403)
    assert np.mean(hidden == MASK) == pytest.approx(0.8, abs=0.02)
    assert np.mean(hidden == labels) == pytest.approx(0.1, abs=0.02)
    for sequence in made:
        assert original(sequence) == [CLS, *text[:150], SEP, *text[150:], SEP]
        assert (np.diff(sequence.positions) > 0).all()


def test_at_most_so_many_are_hidden_and_at_least_one() -> None:
    text = np.full(500, 9, np.int32)
    recipe = Recipe(length=512, vocabulary=10, special=SYNTHETIC, most_masked=20)
    random = np.random.default_rng(0)
    assert len(masked(text[:200], text[200:], False, recipe, random).labels) == 20
    assert len(masked(text[:1], text[1:2], False, recipe, random).labels) == 1


def test_the_seed_decides() -> None:
    def made(seed: int) -> list[list[int]]:
        found = make_sequences(documents([5] * 20, [7] * 9), RECIPE, np.random.default_rng(seed))
        return [sequence.tokens.tolist() for sequence in found]

    assert made(1) == made(1)
    assert made(1) != made(2)
