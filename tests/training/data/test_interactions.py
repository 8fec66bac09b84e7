import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainmark.training.data.interactions import History, Interactions, noise, split

NODES = 5


@st.composite
def streams(draw: st.DrawFn) -> Interactions:
    length = draw(st.integers(1, 25))
    pairs = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
    drawn = draw(st.lists(pairs, min_size=length, max_size=length))
    gaps = draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    return Interactions(
        sources=np.array([a for a, _ in drawn]),
        destinations=np.array([b if a != b else (b + 1) % NODES for a, b in drawn]),
        times=np.cumsum(gaps).astype(np.float64),
        features=np.zeros((length, 0), dtype=np.float32),
        nodes=NODES,
    )


@given(streams(), st.data())
def test_the_latest_interactions_are_those_of_a_plain_search(
    stream: Interactions, data: st.DataObject
) -> None:
    node = data.draw(st.integers(0, NODES - 1))
    before = data.draw(st.integers(0, len(stream)))
    places = range(before - 1, -1, -1)
    wanted = [i for i in places if node in (stream.sources[i], stream.destinations[i])][:3]
    found = History(stream).last(np.array([node]), np.array([before]), 3)
    assert found.tolist() == [wanted + [-1] * (3 - len(wanted))]


@given(streams())
def test_interactions_of_one_time_do_not_know_of_each_other(stream: Interactions) -> None:
    wanted = [sum(other < time for other in stream.times) for time in stream.times]
    assert History(stream).earlier.tolist() == wanted


@given(streams())
def test_both_sides_see_each_other(stream: Interactions) -> None:
    history, places = History(stream), np.arange(len(stream))
    others, acted = history.others(stream.sources, places)
    assert others.tolist() == stream.destinations.tolist()
    assert acted.all()
    others, acted = history.others(stream.destinations, places)
    assert others.tolist() == stream.sources.tolist()
    assert not acted.any()


def test_the_parts_are_those_of_the_published_streams() -> None:
    wikipedia = split(157_474)
    assert (wikipedia.train, wikipedia.test, wikipedia.test_start) == (110_231, 23_622, 133_852)


def test_noise_repeats_as_users_do() -> None:
    stream = noise(users=50, items=20, length=4000, features=3, seed=1)
    assert stream.features.shape == (4000, 3)
    assert stream.sources.max() < 50 <= stream.destinations.min()
    latest: dict[int, int] = {}
    repeated = 0
    for source, item in zip(stream.sources.tolist(), stream.destinations.tolist(), strict=True):
        repeated += latest.get(source) == item
        latest[source] = item
    assert 0.75 < repeated / 4000 < 0.95
