"""Gather what a log holds, within bounds: a log of any size makes a RunLog that fits in memory.

Beyond a million events, or 128 MiB of record text, only the first of each key are
kept, so that the end of the run is still seen; a finding says which records were let go.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trainmark.mllog.batch import Batch
from trainmark.types import Event, Finding, RunLog, Severity, printable

__all__ = ["Kept"]

_MOST_EVENTS = 1_000_000
# What Python makes of record text takes about three times as much memory, at worst twenty.
_MOST_BYTES = 128 << 20

_MOST_OF_A_KEY = 1_000
_MOST_FURTHER_EVENTS = 20_000
_MOST_CHARACTERS, _MOST_ITEMS = 200, 20  # of one that is kept beyond the bounds
_MOST_FINDINGS = 1_000  # of one rule
_MOST_NAMES = 1_000
_OTHER_KEYS = "(other keys)"


class Kept:
    """What was read of one log so far.

    Args:
        source: The name of the log.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._events: list[Event] = []
        self._findings: list[Finding] = []
        self._of_rule: Counter[str] = Counter()
        self._token_lines = self._bytes = 0
        self._dropped: Counter[str] = Counter()
        self._beyond: Counter[str] = Counter()
        self._further: Counter[str] = Counter()
        self._further_events = 0

    def add(self, batch: Batch) -> None:
        """Keep what some lines hold."""
        self._token_lines += batch.token_lines
        for finding in batch.findings:
            self._of_rule[finding.rule] += 1
            if self._of_rule[finding.rule] <= _MOST_FINDINGS:
                self._findings.append(finding)
        _count(self._dropped, batch.dropped)
        if len(self._events) < _MOST_EVENTS and self._bytes < _MOST_BYTES:
            self._events += batch.events
            self._bytes += batch.text_bytes
        else:
            self._add_first(batch)

    def _add_first(self, batch: Batch) -> None:
        """Keep the first small events of each key beyond the bounds."""
        for event in batch.events:
            number = self._further[event.key]
            full = number >= _MOST_OF_A_KEY or self._further_events >= _MOST_FURTHER_EVENTS
            if full or not (_is_small(event.value) and _is_small(event.metadata)):
                _count(self._beyond, {event.key: 1})
            else:
                self._further[event.key] = number + 1
                self._further_events += 1
                self._events.append(event)

    def log(self, form: str) -> RunLog:
        """All of it as a log.

        Args:
            form: How its records are written.
        """
        dropped = Counter(self._dropped)
        _count(dropped, self._beyond)
        return RunLog(
            events=tuple(self._events),
            source=self._source,
            findings=(*self._findings, *self._more_findings(), *self._beyond_the_bounds()),
            token_lines=self._token_lines,
            form=form,
            dropped=dict(dropped),
        )

    def _more_findings(self) -> Iterator[Finding]:
        """One finding for all those of a rule that are too many to be kept."""
        for rule, count in self._of_rule.items():
            if count > _MOST_FINDINGS:
                more = count - _MOST_FINDINGS
                example = next(one for one in self._findings if one.rule == rule)
                yield Finding(
                    rule=rule,
                    severity=example.severity,
                    message=f"{more:,} more findings of this kind: {example.message}",
                    fix=example.fix,
                    path=self._source,
                )

    def _beyond_the_bounds(self) -> Iterator[Finding]:
        """What is said of a log with more records than are kept."""
        if not self._beyond:
            return
        count = self._beyond.total()
        names = ", ".join(
            f"{number:,} of {printable(key):.60}" for key, number in self._beyond.most_common(3)
        )
        yield Finding(
            rule="log.records",
            severity=Severity.ERROR,
            message=f"the log has more records than can be checked: {count:,} of them, the latest "
            f"of keys that come often, were not held to the rules ({names})",
            fix="Log less often, for example once for each evaluation instead of each step.",
            path=self._source,
            expected=f"at most {_MOST_EVENTS:,} records and {_MOST_BYTES >> 20} MiB of them",
            found=f"{len(self._events) + count:,} records",
        )


def _is_small(value: Any) -> bool:
    """Whether a value takes little memory."""
    if isinstance(value, dict | list):
        items = [*value, *value.values()] if isinstance(value, dict) else value
        return len(value) <= _MOST_ITEMS and not any(
            isinstance(item, dict | list) or not _is_small(item) for item in items
        )
    return not isinstance(value, str) or len(value) <= _MOST_CHARACTERS


def _count(counter: Counter[str], more: Mapping[str, int]) -> None:
    """Add to a count, for so many names at most."""
    for key, number in more.items():
        known = key in counter or len(counter) < _MOST_NAMES
        counter[key if known else _OTHER_KEYS] += number
