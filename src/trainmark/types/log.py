"""A result log as data: events in the order of the file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainmark.types.finding import Finding

__all__ = ["Event", "RunLog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One record of a result log.

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
    """

    events: tuple[Event, ...]
    source: str
    findings: tuple[Finding, ...] = field(default=())
    token_lines: int = 0

    def all(self, key: str) -> Iterator[Event]:
        """Every event of that key, in order."""
        return (event for event in self.events if event.key == key)

    def first(self, key: str) -> Event | None:
        """The first event of that key, None if there is none."""
        return next(self.all(key), None)

    def last(self, key: str) -> Event | None:
        """The last event of that key, None if there is none."""
        return next((event for event in reversed(self.events) if event.key == key), None)

    def value(self, key: str) -> Any:
        """The value of the first event of that key, None if there is none."""
        event = self.first(key)
        return None if event is None else event.value
