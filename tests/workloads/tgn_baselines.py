"""Rules without learning, on the links that TGN is evaluated on at desk scale.

Each scores a link from what happened at strictly earlier times, as the network may know it.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from trainmark.training.average_precision import mean_average_precision
from trainmark.training.data.interactions import History, Interactions, split
from trainmark.training.data.link_batches import chance_destinations
from trainmark.workloads.tgn_torch import EVALUATION_SEED

__all__ = ["RULES", "average_precisions"]

BATCH = 200
NEVER = float("-inf")


class Past:
    """What happened so far."""

    def __init__(self) -> None:
        self.sent: dict[tuple[int, int], float] = {}
        self.received: dict[int, int] = {}
        self.active: dict[int, float] = {}

    def add(self, source: int, destination: int, time: float) -> None:
        self.sent[source, destination] = time
        self.received[destination] = self.received.get(destination, 0) + 1
        self.active[source] = self.active[destination] = time

    def since(self, node: int, now: float) -> float:
        return 1 + now - self.active.get(node, NEVER)

    def together(self, a: int, b: int) -> float:
        return max(self.sent.get((a, b), NEVER), self.sent.get((b, a), NEVER))


def _either(past: Past, a: int, b: int, now: float) -> float:
    """How long ago the two wrote to each other; else how long ago the receiver was active."""
    return 100 / (1 + now - past.together(a, b)) + 0.001 / past.since(b, now)


RULES: Mapping[str, Callable[[Past, int, int, float], float]] = {
    "EdgeBank": lambda past, a, b, _: (a, b) in past.sent,
    "EdgeBank in both directions": lambda past, a, b, _: past.together(a, b) > NEVER,
    "popularity of the receiver": lambda past, _, b, __: past.received.get(b, 0),
    "last activity of the receiver": lambda past, _, b, now: 1 / past.since(b, now),
    "EdgeBank, then last activity": lambda past, a, b, now: (
        10 * ((a, b) in past.sent) + 1 / past.since(b, now)
    ),
    "last message between the two, then last activity": _either,
}


def average_precisions(stream: Interactions) -> dict[str, float]:
    """The mean average precision of each rule."""
    parts, earlier, past, known = split(len(stream)), History(stream).earlier, Past(), 0
    generator = np.random.default_rng(EVALUATION_SEED)
    chance = chance_destinations(stream.destinations, parts.test, generator)
    scores: dict[str, npt.NDArray[np.float64]] = {name: np.zeros((2, parts.test)) for name in RULES}
    sources, destinations = stream.sources.tolist(), stream.destinations.tolist()
    times = stream.times.tolist()
    for link in range(parts.test):
        place = parts.test_start + link
        for added in range(known, int(earlier[place])):
            past.add(sources[added], destinations[added], times[added])
        known = int(earlier[place])
        for side, destination in enumerate((destinations[place], int(chance[link]))):
            for name, rule in RULES.items():
                scores[name][side, link] = rule(past, sources[place], destination, times[place])
    return {name: mean_average_precision(found, BATCH) for name, found in scores.items()}
