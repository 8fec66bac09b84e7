"""Batches of a temporal graph network: links to be told from chance, and what is known of them.

A batch is a pure function of the stream and of two places in it: which nodes it touches, the last
message that each of them has not yet taken in, and the neighbours of each end of each link. What a
network computes stays on the device; nothing here waits for it.

The rule of time (Rossi et al. 2020, arXiv:2006.10637): the memory used for a batch holds messages
of earlier batches only; a link knows the interactions of strictly earlier times, those of its own
batch among them, as in the paper's code (or, if asked, those of earlier batches only).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainmark.training.data.interactions import Floats, History, Interactions, Ints

__all__ = ["LinkBatch", "LinkBatches", "Training", "chance_destinations", "training_batches"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkBatch:
    """What a network needs of one batch of n links. Rows count the U touched nodes.

    Each link is asked twice: with its own destination, and with one drawn by chance. So there are
    Q = 3 n queries: the sources, the destinations, the chance destinations. A batch that only
    moves the memory on has Q = 0.

    Attributes:
        end: Place in the stream after its last interaction.
        first: Whether the stream begins anew with it: the memory is empty.
        nodes: The touched nodes, (U,).
        waiting: Whether a node has a message that its memory has not taken in, (U,).
        messages: The M interactions of those messages, each once. Both sides of one often wait.
        message_rows: Which of them is a node's, any one where there is none, (U,).
        partners: The P other sides of those messages, each once.
        partner_rows: Which of them is a node's, any one where there is none, (U,).
        acted: 1 where the node was its source, -1 where not, (U,).
        gaps: Its time, less that of the message before it, (U,).
        asking: Rows of the queried nodes, each once, (A,).
        queries: Which of them each query is about, (Q,).
        neighbours: Rows of their latest K neighbours, the latest first, (Q, K).
        filled: Whether there is such a neighbour, (Q, K).
        there: Where the N neighbours that there are stand among all Q x K places, (N,).
        interactions: The interaction that made it one, 0 where there is none, (Q, K).
        sides: 1 where the queried node was its source, -1 where not, (Q, K).
        ages: Time since then, of the neighbours that there are, (N,).
        met: Whether the ends of a link are among each other's latest neighbours: of the real links,
            then of the chance links, (2 n,).
        met_ages: Time since they last were, 0 where they are not, (2 n,).
        written: Nodes whose memory takes in its message with this batch, (W,).
        written_rows: Their rows, (W,).
    """

    end: int
    first: bool
    nodes: Ints
    waiting: Bools
    messages: Ints
    message_rows: Ints
    partners: Ints
    partner_rows: Ints
    acted: Floats
    gaps: Floats
    asking: Ints
    queries: Ints
    neighbours: Ints
    filled: Bools
    there: Ints
    interactions: Ints
    sides: Floats
    ages: Floats
    met: Bools
    met_ages: Floats
    written: Ints
    written_rows: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkBatches:
    """Makes batches of a stream whose division into batches is given.

    Attributes:
        history: The stream.
        starts: For each interaction the place where its batch starts, (E,).
        clock: The time of each interaction as the network is told it, (E,).
        neighbours: Neighbours of a query.
        see_own_batch: Whether a link knows earlier interactions of its own batch.
    """

    history: History
    starts: Ints
    clock: npt.NDArray[np.float64]
    neighbours: int
    see_own_batch: bool = True

    def links(self, start: int, end: int, chance: Ints) -> LinkBatch:
        """The links ``start`` to ``end`` against chance destinations, one for each.

        Args:
            start: First interaction.
            end: The one after the last.
            chance: Chance destinations, (end - start,).
        """
        stream = self.history.stream
        sources, destinations = stream.sources[start:end], stream.destinations[start:end]
        queries = np.concatenate([sources, destinations, chance])
        seen = self.history.earlier[start:end]
        seen = np.tile(seen if self.see_own_batch else np.minimum(seen, start), 3)
        found = self.history.last(queries, seen, self.neighbours)
        filled = found >= 0
        interactions = np.where(filled, found, 0)
        others, acted = self.history.others(queries[:, None], interactions)
        others = np.where(filled, others, queries[:, None])
        there = np.flatnonzero(filled)
        ages = np.tile(self.clock[start:end], 3)[:, None] - self.clock[interactions]
        met = _last_met(queries, found, others)
        met_ages = np.tile(self.clock[start:end], 2) - self.clock[np.maximum(met, 0)]
        touched = np.concatenate([queries, others.ravel()])
        nodes, rows = np.unique(touched, return_inverse=True)
        asking, asked = np.unique(rows[: len(queries)], return_inverse=True)
        return self._batch(
            start,
            end,
            nodes,
            asking=asking,
            queries=asked,
            neighbours=rows[len(queries) :].reshape(others.shape),
            filled=filled,
            there=there,
            interactions=interactions,
            sides=_signs(acted),
            ages=ages.ravel()[there].astype(np.float32),
            met=met >= 0,
            met_ages=np.where(met >= 0, met_ages, 0).astype(np.float32),
        )

    def passing(self, start: int, end: int) -> LinkBatch:
        """The interactions ``start`` to ``end``, for the memory alone."""
        stream = self.history.stream
        ends = np.concatenate([stream.sources[start:end], stream.destinations[start:end]])
        none = np.zeros((0, self.neighbours), dtype=np.int64)
        return self._batch(
            start,
            end,
            np.unique(ends),
            asking=none[:, 0],
            queries=none[:, 0],
            neighbours=none,
            filled=none.astype(np.bool_),
            there=none[:, 0],
            interactions=none,
            sides=none.astype(np.float32),
            ages=none[:, 0].astype(np.float32),
            met=none[:, 0].astype(np.bool_),
            met_ages=none[:, 0].astype(np.float32),
        )

    def _batch(
        self, start: int, end: int, nodes: Ints, **links: npt.NDArray[np.generic]
    ) -> LinkBatch:
        """A batch: what is said of its links, and the messages that its nodes wait to take in."""
        stream = self.history.stream
        last = self.history.last(nodes, np.full(len(nodes), start), 1)[:, 0]
        waiting = last >= 0
        messages = np.where(waiting, last, 0)
        partners, acted = self.history.others(nodes, messages)
        # The message before: the last one of an earlier batch than this one's.
        before = self.history.last(nodes, self.starts[messages], 1)[:, 0]
        since = np.where(before >= 0, self.clock[before], 0.0)
        gaps = np.where(waiting, self.clock[messages] - since, 0.0)
        ends = np.concatenate([stream.sources[start:end], stream.destinations[start:end]])
        written = np.unique(ends)
        distinct_messages, message_rows = np.unique(messages, return_inverse=True)
        distinct_partners, partner_rows = np.unique(partners, return_inverse=True)
        return LinkBatch(
            end=end,
            first=start == 0,
            nodes=nodes,
            waiting=waiting,
            messages=distinct_messages,
            message_rows=message_rows,
            partners=distinct_partners,
            partner_rows=partner_rows,
            acted=_signs(acted),
            gaps=gaps.astype(np.float32),
            written=written,
            written_rows=np.searchsorted(nodes, written),
            **links,  # type: ignore[arg-type]
        )


def _signs(acted: Bools) -> Floats:
    return np.where(acted, np.float32(1), np.float32(-1))


def _last_met(queries: Ints, found: Ints, others: Ints) -> Ints:
    """The latest interaction of the two ends of each link, of those that either end is shown.

    Args:
        queries: Sources, destinations, chance destinations, (3 n,).
        found: The latest interactions of each, -1 where there are no more, (3 n, K).
        others: Their other sides, (3 n, K).

    Returns:
        Of the real links, then of the chance links; -1 where there is none, (2 n,).
    """
    ends, shape = queries.reshape(3, -1), (3, len(queries) // 3, found.shape[1])
    found, others = found.reshape(shape), others.reshape(shape)

    def latest(shown: int, end: int) -> Ints:
        with_it = others[shown] == ends[end][:, None]
        latest: Ints = np.where(with_it, found[shown], -1).max(axis=1)
        return latest

    return np.concatenate([np.maximum(latest(0, end), latest(end, 0)) for end in (1, 2)])


def chance_destinations(known: Ints, number: int, generator: np.random.Generator) -> Ints:
    """Destinations drawn by chance, all equally likely.

    Args:
        known: Destinations to draw from; each counts once.
        number: How many.
        generator: What draws them.
    """
    return generator.choice(np.unique(known), number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The part of a stream to train on, and how.

    Attributes:
        batches: Makes the batches.
        train: Interactions to train on.
        micro_batch: Links of a batch.
        group: Links of a step: an epoch is whole steps.
        seed: What draws the chance destinations.
    """

    batches: LinkBatches
    train: int
    micro_batch: int
    group: int
    seed: int


def training_batches(training: Training) -> Iterator[LinkBatch]:
    """The training part again and again, in the order of time.

    The last links of an epoch that do not fill a step are left out; the memory takes them in when
    the network is evaluated.
    """
    stream: Interactions = training.batches.history.stream
    known = np.unique(stream.destinations[: training.train])
    generator = np.random.default_rng(training.seed)
    size, whole = training.micro_batch, training.train // training.group * training.group
    while True:
        for start in range(0, whole, size):
            yield training.batches.links(start, start + size, generator.choice(known, size))
