"""Streams of interactions between nodes: who, with whom, when; what came before what.

An interaction is known by its place in the stream, counted from 0; the stream is in the order of
time. Nothing here knows a framework.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["History", "Interactions", "Split", "noise", "split"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

TRAIN_PERCENT = 70
TEST_PERCENT = 15
REPEATED = 0.79  # share of users' actions that repeat the last one, JODIE Wikipedia


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactions:
    """A stream of E interactions among nodes that are numbered from 0.

    Attributes:
        sources: Who acted, (E,).
        destinations: On whom or what, (E,).
        times: When, in the stream's own unit, never falling, (E,).
        features: What else is known of each, (E, F); F may be 0.
        nodes: Number of nodes.
    """

    sources: Ints
    destinations: Ints
    times: npt.NDArray[np.float64]
    features: Floats
    nodes: int

    def __post_init__(self) -> None:
        shapes = {self.sources.shape, self.destinations.shape, self.times.shape}
        assert shapes == {(len(self.features),)}, shapes

    def __len__(self) -> int:
        return len(self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A stream of interactions in three parts of time.

    Attributes:
        train: Interactions that are trained on: the first.
        test: Those that quality is measured on: the last. Those between are neither.
        total: All.
    """

    train: int
    test: int
    total: int

    @property
    def test_start(self) -> int:
        """The first interaction of the test part."""
        return self.total - self.test


def split(total: int) -> Split:
    """The usual parts: 70 % to train, 15 % to validate, 15 % to test, in the order of time."""
    train = total * TRAIN_PERCENT // 100
    test = total - total * (100 - TEST_PERCENT) // 100
    return Split(train=train, test=test, total=total)


def noise(*, users: int, items: int, length: int, features: int, seed: int) -> Interactions:
    """A stream of chance in the shape of real ones: users and items of unlike zeal, who repeat.

    Args:
        users: Number of users, the first nodes.
        items: Number of items, the nodes after them.
        length: Interactions.
        features: Features of each.
        seed: What draws them.
    """
    generator = np.random.default_rng(seed)
    sources = (users * generator.random(length) ** 3).astype(np.int64)
    drawn = users + (items * generator.random(length) ** 3).astype(np.int64)
    again = generator.random(length) < REPEATED
    latest: dict[int, int] = {}
    for place, (source, repeats) in enumerate(zip(sources.tolist(), again.tolist(), strict=True)):
        if repeats and source in latest:
            drawn[place] = latest[source]
        latest[source] = int(drawn[place])
    return Interactions(
        sources=sources,
        destinations=drawn,
        times=np.cumsum(generator.exponential(17.0, length)),
        features=generator.standard_normal((length, features), dtype=np.float32),
        nodes=users + items,
    )


@dataclass(frozen=True, slots=True)
class History:
    """Answers what a node did before a given place of the stream, for many nodes at once.

    Attributes:
        stream: The whole stream. A question never sees beyond the place that it names.
        earlier: For each interaction, how many of the stream have an earlier time: those that it
            may know of. Interactions of the same time do not know of each other.
    """

    stream: Interactions
    earlier: Ints = field(init=False)
    _keys: Ints = field(init=False)
    _interactions: Ints = field(init=False)
    _starts: Ints = field(init=False)

    def __post_init__(self) -> None:
        stream, places = self.stream, np.arange(len(self.stream))
        nodes = np.concatenate([stream.sources, stream.destinations])
        interactions = np.concatenate([places, places])
        order = np.lexsort((interactions, nodes))
        starts = np.searchsorted(nodes[order], np.arange(stream.nodes))
        for name, value in (
            ("earlier", np.searchsorted(stream.times, stream.times, side="left")),
            ("_keys", self._key(nodes[order], interactions[order])),
            ("_interactions", interactions[order]),
            ("_starts", starts),
        ):
            object.__setattr__(self, name, value)

    def last(self, nodes: Ints, before: Ints, count: int) -> Ints:
        """The latest interactions of nodes, each before a place of the stream.

        Args:
            nodes: Which nodes, (N,).
            before: For each node the place; that interaction and later ones are not seen, (N,).
            count: How many.

        Returns:
            Places in the stream, the latest first, -1 where there are no more, (N, count).
        """
        ends = np.searchsorted(self._keys, self._key(nodes, before))
        rows = ends[:, None] - 1 - np.arange(count)
        there = rows >= self._starts[nodes][:, None]
        return np.where(there, self._interactions[np.where(there, rows, 0)], -1)

    def others(self, nodes: Ints, interactions: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The other side of interactions, and whether the node was their source.

        Args:
            nodes: One side of each interaction.
            interactions: Places in the stream, in the same shape.
        """
        sources = self.stream.sources[interactions]
        acted = sources == nodes
        return np.where(acted, self.stream.destinations[interactions], sources), acted

    def _key(self, nodes: Ints, places: Ints) -> Ints:
        return nodes * (len(self.stream) + 1) + places
