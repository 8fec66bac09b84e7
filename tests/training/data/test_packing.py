import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trainmark.training.data.packing import assign_rows, lay_out
from trainmark.training.data.sequences import MaskedSequence, Recipe, masked
from trainmark.training.data.wordpiece import SYNTHETIC

RECIPE = Recipe(length=64, vocabulary=100, special=SYNTHETIC)
LENGTHS = st.lists(st.integers(5, 64), min_size=1, max_size=40)


def sequences(lengths: list[int], seed: int = 0) -> list[MaskedSequence]:
    random = np.random.default_rng(seed)
    texts = [random.integers(5, 100, length - 3).astype(np.int32) for length in lengths]
    return [
        masked(t[: len(t) // 2], t[len(t) // 2 :], len(t) % 2 == 0, RECIPE, random) for t in texts
    ]


@settings(max_examples=30)
@given(LENGTHS)
def test_rows_hold_every_sequence_once_and_no_more_than_fits(lengths: list[int]) -> None:
    rows = assign_rows(lengths, 64)
    assert sorted(number for row in rows for number in row) == list(range(len(lengths)))
    assert all(0 < sum(lengths[number] for number in row) <= 64 for row in rows)


@settings(max_examples=30)
@given(LENGTHS)
def test_all_but_one_row_are_more_than_half_full(lengths: list[int]) -> None:
    """Two half-empty rows would have been one."""
    filled = sorted(sum(lengths[number] for number in row) for row in assign_rows(lengths, 64))
    assert all(tokens > 32 for tokens in filled[1:])


def test_the_fullest_row_with_room_is_taken() -> None:
    assert assign_rows([40, 50, 14, 24], 64) == [[1, 2], [0, 3]]


@settings(max_examples=30)
@given(LENGTHS, st.booleans())
def test_everything_can_be_read_back_from_the_rows(lengths: list[int], packed: bool) -> None:
    made = sequences(lengths)
    rows = lay_out(made, 64, packed=packed)
    assert rows.samples == len(made)
    assert rows.tokens.shape[1] % 8 == 0
    tokens, segments = rows.tokens.flatten(), rows.segments.flatten()
    positions, owners = rows.positions.flatten(), rows.owners.flatten()
    taken = 0
    for number, sequence in enumerate(made):
        length, start = len(sequence.tokens), rows.starts[number]
        mine = slice(start, start + length)
        assert (owners[mine] == number).all()
        assert (owners == number).sum() == length
        assert tokens[mine].tolist() == sequence.tokens.tolist()
        assert positions[mine].tolist() == list(range(length))
        assert segments[mine].tolist() == [0] * sequence.first + [1] * (length - sequence.first)
        count = len(sequence.labels)
        assert (rows.masked[taken : taken + count] - start).tolist() == sequence.positions.tolist()
        assert rows.labels[taken : taken + count].tolist() == sequence.labels.tolist()
        assert rows.random_next[number] == sequence.random_next
        taken += count
    assert taken == len(rows.labels) == len(rows.masked)
    assert not tokens[owners < 0].any()


def test_packing_leaves_less_padding() -> None:
    """Lengths as those of Wikipedia: half of the places would be padding."""
    lengths = [7, 9, 12, 15, 18, 23, 28, 35, 43, 54, 64, 64, 64, 64]
    apart, packed = (lay_out(sequences(lengths), 64, packed=p) for p in (False, True))
    assert len(apart.tokens) == 14
    assert apart.padding_share > 0.4
    assert packed.padding_share < 0.13


def test_unpacked_rows_are_as_wide_as_the_longest() -> None:
    assert lay_out(sequences([5, 30]), 64, packed=False).tokens.shape == (2, 32)
