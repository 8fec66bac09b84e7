"""A result log as data: events in the order of the file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trainmark.types.finding import Finding

__all__ = ["Event", "RunLog"]


class Event(NamedTuple):
    """One record of a result log.

    A named tuple, because a check makes millions of them. Records that are alike share their
    metadata: it is not to be changed; ``event._replace(...)`` makes another event.

    Attributes:
        key: What is recorded, for example "eval_accuracy".
        value: Its value as JSON has it.
        metadata: What else is said of it, for example ``{"epoch_num": 4}``. Empty when the
            record has none or null.
        time_ms: Wall-clock time in milliseconds since 1970. NaN when the record has none.
        kind: "POINT_IN_TIME", "INTERVAL_START" or "INTERVAL_END"; as found otherwise.
        line_no: The line of the file it stands on, counted from 1.
        namespace: The writer's own grouping; usually empty.
    """

    key: str
    value: Any
    metadata: Mapping[str, Any]
    time_ms: float
    kind: str
    line_no: int
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """A whole result log.

    Attributes:
        events: Every readable record, in the order of the file.
        source: The path it was read from.
        findings: What the reader could not read, or read with a doubt.
        token_lines: Number of lines that carry the token, readable or not.
        form: How its records are written: "mllog" (``:::MLLOG {json}``, round 0.7 on), "mll"
            (``:::MLL seconds key: {json}``, round 0.6), "mlp" (``:::MLPv0.5.0 ...``, not read).
        dropped: How many records of which key were read but are not among the events: keys that
            nobody asked for, and what goes beyond the bounds of ``trainmark.mllog.kept``.
    """

    events: tuple[Event, ...]
    source: str
    findings: tuple[Finding, ...] = field(default=())
    token_lines: int = 0
    form: str = "mllog"
    dropped: Mapping[str, int] = field(default_factory=dict)
    _places: dict[str, list[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def _index(self) -> dict[str, list[int]]:
        """Where the events of each key stand; made when it is first asked for."""
        places = self._places
        if not places:
            for place, event in enumerate(self.events):
                if event.key in places:
                    places[event.key].append(place)
                else:
                    places[event.key] = [place]
        return places

    def keys(self) -> Iterator[str]:
        """Every key that the log has, in the order of its first event."""
        return iter(self._index())

    def all(self, *keys: str) -> Iterator[Event]:
        """Every event of that key, or of several keys, in order.

        Args:
            keys: One key or more.
        """
        index = self._index()
        if len(keys) == 1:
            places = index.get(keys[0], [])
        else:
            places = sorted(place for key in set(keys) for place in index.get(key, ()))
        return map(self.events.__getitem__, places)

    def count(self, key: str) -> int:
        """The number of events of that key."""
        return len(self._index().get(key, ()))

    def first(self, key: str) -> Event | None:
        """The first event of that key, None if there is none."""
        places = self._index().get(key)
        return self.events[places[0]] if places else None

    def last(self, key: str) -> Event | None:
        """The last event of that key, None if there is none."""
        places = self._index().get(key)
        return self.events[places[-1]] if places else None

    def value(self, key: str) -> Any:
        """The value of the first event of that key, None if there is none."""
        event = self.first(key)
        return None if event is None else event.value
