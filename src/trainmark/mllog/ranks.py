"""Logs that several ranks wrote into one file: every record stands there several times."""

import json
from collections import Counter
from dataclasses import replace

from trainmark.mllog import keys
from trainmark.types import Event, RunLog

__all__ = ["count_ranks", "first_rank"]

# Measured by each rank for itself, so their values differ.
_MEASURED = frozenset({keys.TRACKED_STATS, keys.OWN_EFFICIENCY})


def count_ranks(log: RunLog) -> int:
    """How many ranks wrote the log, 1 for a well-made one.

    Several ranks are told from a second run_start by this: every record stands there as many
    times as run_start does, or a multiple of that. Keys of which some records were let go by the
    reader do not count.

    Args:
        log: The log as read.
    """
    starts = log.count(keys.RUN_START)
    if starts < 2:
        return 1
    counts = Counter(_content(event) for event in log.events if event.key not in log.dropped)
    return starts if all(count % starts == 0 for count in counts.values()) else 1


def first_rank(log: RunLog) -> RunLog:
    """The log with every record once, each at the time of the rank that wrote it first.

    Args:
        log: The log as read; returned as it is unless several ranks wrote it.
    """
    ranks = count_ranks(log)
    if ranks == 1:
        return log
    total, seen = Counter(map(_content, log.events)), Counter[str]()
    in_turn = _one_after_another(log)
    events = []
    for event in log.events:
        content = _content(event)
        place = seen[content]
        if place < total[content] // ranks if in_turn else place % ranks == 0:
            events.append(event)
        seen[content] += 1
    return replace(log, events=tuple(events))


def _one_after_another(log: RunLog) -> bool:
    """Whether a rank begins when another has ended: logs put together, not written together."""
    ends = [event.key for event in log.all(keys.RUN_START, keys.RUN_STOP)]
    return ends[:2] == [keys.RUN_START, keys.RUN_STOP]


def _content(event: Event) -> str:
    """What is the same in the records of all ranks."""
    if event.key in _MEASURED:
        return json.dumps(event.key)
    return json.dumps([event.key, event.value, dict(event.metadata)], sort_keys=True)
