import itertools

import numpy as np
import pytest

from trainmark.training.data.speech_order import Pick, epochs

LENGTHS = np.random.default_rng(1).integers(10, 200, 103)


def order(seed: int = 1, buckets: int = 1, **changed: float) -> list[list[Pick]]:
    """One epoch."""
    rates = (changed.get("slowest", 1.0), changed.get("fastest", 1.0))
    made = epochs(LENGTHS, step=20, micro_batch=5, buckets=buckets, rates=rates, seed=seed)
    return list(itertools.islice(made, 20))


def padding(batches: list[list[Pick]]) -> float:
    """The share of places without sound."""
    said = [[LENGTHS[pick.index] / pick.rate for pick in batch] for batch in batches]
    return float(1 - sum(map(sum, said)) / sum(len(row) * max(row) for row in said))


def test_an_epoch_has_every_utterance_once_but_for_what_fills_no_step() -> None:
    indices = [pick.index for batch in order() for pick in batch]
    assert len(indices) == len(set(indices)) == 100


def test_the_next_epoch_leaves_out_others() -> None:
    made = epochs(LENGTHS, step=20, micro_batch=5, buckets=1, rates=(1.0, 1.0), seed=1)
    first, second = (
        {pick.index for batch in itertools.islice(made, 20) for pick in batch} for _ in range(2)
    )
    assert first != second


def test_the_seed_decides() -> None:
    assert order(seed=1) == order(seed=1)
    assert order(seed=1) != order(seed=2)


def test_micro_batches_of_a_step_hold_like_lengths() -> None:
    by_chance = [[Pick(index=5 * row + column) for column in range(5)] for row in range(20)]
    assert padding(order()) < 0.7 * padding(by_chance)
    assert padding(order(buckets=10)) < 0.5 * padding(order())


def test_lengths_of_a_step_are_mixed_with_one_bucket_only() -> None:
    def spread(buckets: int) -> float:
        batches = order(buckets=buckets)
        steps = [itertools.chain(*batches[first : first + 4]) for first in range(0, 20, 4)]
        return float(np.mean([np.std([LENGTHS[pick.index] for pick in step]) for step in steps]))

    assert spread(1) > 2 * spread(10)


def test_speeds_lie_in_their_range_and_count_for_the_length() -> None:
    batches = order(slowest=0.85, fastest=1.15)
    rates = [pick.rate for batch in batches for pick in batch]
    assert 0.85 <= min(rates) < 0.9
    assert 1.1 < max(rates) <= 1.15
    assert padding(batches) == pytest.approx(padding(order()), abs=0.05)
