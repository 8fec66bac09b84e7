from dataclasses import fields, replace
from itertools import islice

import numpy as np
import pytest

from trainmark.training.data.interactions import History, Interactions, noise
from trainmark.training.data.link_batches import (
    LinkBatch,
    LinkBatches,
    Training,
    chance_destinations,
    training_batches,
)

SIZE, LENGTH = 6, 120


@pytest.fixture(scope="module")
def stream() -> Interactions:
    return noise(users=9, items=4, length=LENGTH, features=2, seed=3)


def batches_of(stream: Interactions, *, see_own_batch: bool = True) -> LinkBatches:
    return LinkBatches(
        history=History(stream),
        starts=np.arange(len(stream)) // SIZE * SIZE,
        clock=stream.times,
        neighbours=3,
        see_own_batch=see_own_batch,
    )


def chance_of(stream: Interactions) -> np.ndarray:
    return chance_destinations(stream.destinations, SIZE, np.random.default_rng(1))


def test_a_batch_knows_nothing_of_what_comes_after_it(stream: Interactions) -> None:
    start, end = 60, 66
    other = replace(
        stream,
        sources=np.concatenate([stream.sources[:end], stream.sources[end:][::-1]]),
        destinations=np.concatenate([stream.destinations[:end], stream.destinations[end:][::-1]]),
    )
    chance = chance_of(stream)
    made = [batches_of(s).links(start, end, chance) for s in (stream, other)]
    for field in fields(LinkBatch):
        one, two = (getattr(batch, field.name) for batch in made)
        assert np.array_equal(one, two), field.name


def test_a_link_knows_earlier_times_only(stream: Interactions) -> None:
    times = stream.times.copy()
    times[60:63] = times[60]  # three of one minute
    tied = replace(stream, times=times)
    batch = batches_of(tied).links(60, 66, chance_of(stream))
    now = np.tile(times[60:66], 3)[:, None]
    assert (times[batch.interactions] < now)[batch.filled].all()
    assert (batch.interactions[batch.filled] >= 60).any()


def test_a_link_may_be_kept_from_its_own_batch(stream: Interactions) -> None:
    batch = batches_of(stream, see_own_batch=False).links(60, 66, chance_of(stream))
    assert batch.interactions.max() < 60


def test_neighbours_are_the_other_sides_with_their_ages(stream: Interactions) -> None:
    chance = chance_of(stream)
    batch = batches_of(stream).links(60, 66, chance)
    queried = batch.nodes[batch.asking[batch.queries]]
    assert len(batch.asking) == len(set(queried.tolist()))
    assert batch.there.tolist() == np.flatnonzero(batch.filled).tolist()
    ages = np.full(batch.filled.shape, np.nan)
    ages.flat[batch.there] = batch.ages
    assert queried.tolist() == [*stream.sources[60:66], *stream.destinations[60:66], *chance]
    now = np.tile(stream.times[60:66], 3)
    for row, column in np.argwhere(batch.filled):
        place = batch.interactions[row, column]
        ends = {int(stream.sources[place]), int(stream.destinations[place])}
        assert ends == {int(queried[row]), int(batch.nodes[batch.neighbours[row, column]])}
        assert ages[row, column] == pytest.approx(now[row] - stream.times[place], rel=1e-5)
        assert batch.sides[row, column] == (1 if stream.sources[place] == queried[row] else -1)


def test_ends_have_met_if_either_is_shown_the_other(stream: Interactions) -> None:
    chance = chance_of(stream)
    batch = batches_of(stream).links(60, 66, chance)
    shown = [
        {
            int(batch.nodes[row]): int(place)  # the latest of several comes last
            for row, place, there in list(zip(rows, places, filled, strict=True))[::-1]
            if there
        }
        for rows, places, filled in zip(
            batch.neighbours, batch.interactions, batch.filled, strict=True
        )
    ]
    seen = 0
    for link in range(2 * SIZE):
        source, other = link % SIZE, SIZE + link
        source_end, other_end = batch.asking[batch.queries[[source, other]]]
        ends = int(batch.nodes[source_end]), int(batch.nodes[other_end])
        met = max(shown[source].get(ends[1], -1), shown[other].get(ends[0], -1))
        assert batch.met[link] == (met >= 0)
        age = stream.times[60 + link % SIZE] - stream.times[met] if met >= 0 else 0
        assert batch.met_ages[link] == pytest.approx(age, rel=1e-5)
        seen += met >= 0
    assert 0 < seen < 2 * SIZE


def test_messages_wait_until_their_node_is_in_a_batch_again(stream: Interactions) -> None:
    """Against a walk through the stream that keeps for each node what it has not taken in."""
    batches, chance = batches_of(stream), chance_of(stream)
    waiting: dict[int, int] = {}
    taken: dict[int, float] = {}
    for start in range(0, LENGTH, SIZE):
        batch = batches.links(start, start + SIZE, chance)
        for row, node in enumerate(batch.nodes.tolist()):
            assert batch.waiting[row] == (node in waiting)
            if node in waiting:
                place = waiting[node]
                assert batch.messages[batch.message_rows[row]] == place
                sides = {int(stream.sources[place]), int(stream.destinations[place])}
                assert sides == {node, int(batch.partners[batch.partner_rows[row]])}
                gap = stream.times[place] - taken.get(node, 0.0)
                assert batch.gaps[row] == pytest.approx(gap, rel=1e-5, abs=1e-3)
        places = range(start, start + SIZE)
        ends = {int(n) for i in places for n in (stream.sources[i], stream.destinations[i])}
        assert set(batch.written.tolist()) == ends
        assert batch.nodes[batch.written_rows].tolist() == batch.written.tolist()
        taken |= {node: stream.times[waiting[node]] for node in ends if node in waiting}
        for i in places:
            waiting[int(stream.sources[i])] = waiting[int(stream.destinations[i])] = i


def test_passing_says_of_messages_what_links_say(stream: Interactions) -> None:
    batches = batches_of(stream)
    links, passing = batches.links(60, 66, chance_of(stream)), batches.passing(60, 66)
    assert len(passing.queries) == 0
    rows = np.searchsorted(links.nodes, passing.nodes)
    for name in ("waiting", "acted", "gaps"):
        assert np.array_equal(getattr(links, name)[rows], getattr(passing, name)), name
    for name, which in (("messages", "message_rows"), ("partners", "partner_rows")):
        one, two = (getattr(b, name)[getattr(b, which)] for b in (links, passing))
        assert np.array_equal(one[rows], two), name
        assert len(getattr(links, name)) == len(set(one.tolist())), "each once"


def test_an_epoch_is_whole_steps_in_the_order_of_time(stream: Interactions) -> None:
    training = Training(
        batches=batches_of(stream), train=80, micro_batch=SIZE, group=2 * SIZE, seed=1
    )
    made = list(islice(training_batches(training), 14))
    assert [batch.end for batch in made] == [*range(SIZE, 73, SIZE), SIZE, 2 * SIZE]
    assert [batch.first for batch in made] == [True] + [False] * 11 + [True, False]
    again = list(islice(training_batches(training), 14))
    assert np.array_equal(made[3].nodes, again[3].nodes)
    chance = [
        batch.nodes[batch.asking[batch.queries[2 * SIZE :]]].tolist()
        for batch in (made[0], made[12])
    ]
    assert chance[0] != chance[1], "an epoch draws other chance destinations"
