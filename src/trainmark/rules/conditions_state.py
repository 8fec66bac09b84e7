"""Checks of a record against what was logged before it."""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

from collections.abc import Mapping
from typing import Any, ClassVar

from trainmark.rules.conditions import OPERATORS, WORDS, About, Condition, constant
from trainmark.rules.subjects import Evaluate, few, show
from trainmark.rules.vocabulary import Scope

__all__ = ["AddsUp", "Flag", "SameAsState", "SameItems", "StateIs", "TimeLimit"]

# What the state's flags stand for; a flag without an entry is named as it is.
_FLAGS: Mapping[str, str] = {
    "init_started": "init_start",
    "init_stopped": "init_stop",
    "run_started": "run_start",
    "run_stopped": "run_stop",
    "staging_started": "staging_start",
}


class _WithState(About):
    """What the constraints share that compare the subject with something logged earlier."""

    name: str

    @property
    def stateless(self) -> bool:
        return False

    def found(self, scope: Scope) -> str:
        return f"{self.subject.found(scope)}, {self.name} is {show(scope.state.get(self.name))}"


class SameAsState(_WithState):
    """The subject stands in an order to something logged earlier, or to that and a constant."""

    kind: ClassVar[str] = "consistent"
    operator: str
    plus: float = 0

    def test(self) -> Evaluate:
        get, compare, name, plus = (
            self.subject.getter(),
            OPERATORS[self.operator],
            self.name,
            self.plus,
        )
        if plus:
            return lambda scope: compare(get(scope), scope.state[name] + plus)
        return lambda scope: compare(get(scope), scope.state[name])

    def sentence(self) -> str:
        plus = f", plus {constant(self.plus)}" if self.plus else ""
        return f"{self.subject} is {WORDS[self.operator]}the {self.name} of the log{plus}"


class AddsUp(_WithState):
    """The subject and something logged earlier add up to a constant."""

    kind: ClassVar[str] = "consistent"
    total: float

    def test(self) -> Evaluate:
        get, name, total = self.subject.getter(), self.name, self.total
        return lambda scope: get(scope) == total - scope.state[name]

    def sentence(self) -> str:
        return f"{self.subject} is {constant(self.total)} minus the {self.name} of the log"


class StateIs(Condition):
    """Something logged earlier stands in an order to a constant, or to something else."""

    kind: ClassVar[str] = "consistent"
    name: str
    operator: str
    limit: Any
    other: str = ""

    def test(self) -> Evaluate:
        name, compare, limit, other = self.name, OPERATORS[self.operator], self.limit, self.other
        if other:
            return lambda scope: compare(scope.state[name], scope.state[other])
        return lambda scope: compare(scope.state[name], limit)

    def sentence(self) -> str:
        limit = f"the {self.other}" if self.other else constant(self.limit)
        return f"the {self.name} of the log is {WORDS[self.operator]}{limit}"

    def found(self, scope: Scope) -> str:
        names = [name for name in (self.name, self.other) if name]
        return ", ".join(f"{name} is {show(scope.state.get(name))}" for name in names)

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."


class Flag(Condition):
    """Something has, or has not, been logged before: the order of records."""

    kind: ClassVar[str] = "order"
    name: str
    expected: bool = True

    def test(self) -> Evaluate:
        name = self.name
        if self.expected:
            return lambda scope: scope.state[name]
        return lambda scope: not scope.state[name]

    def sentence(self) -> str:
        event = _FLAGS.get(self.name)
        if event is None:
            return f"{self.name} is {'set' if self.expected else 'not set'}"
        return f"{event} {'comes before it' if self.expected else 'comes after it'}"

    def found(self, scope: Scope) -> str:
        event = _FLAGS.get(self.name, self.name)
        return f"{event} {'comes after it or is missing' if self.expected else 'comes before it'}"

    def fix(self, key: str) -> str:
        event = _FLAGS.get(self.name, self.name)
        return f"Log {key} {'after' if self.expected else 'before'} {event}."


class TimeLimit(Condition):
    """The record comes within a time of an earlier one.

    Attributes:
        since: The state's entry with the earlier time.
        minutes: The limit, None if ``minutes_in`` names it.
        minutes_in: The state's entry with the limit in minutes.
        per_minute: The unit of the rules' times: 60,000 for milliseconds, 60 for seconds.
    """

    kind: ClassVar[str] = "time"
    since: str
    minutes: float | None
    minutes_in: str = ""
    per_minute: float = 60e3

    def _limit(self, scope: Scope) -> Any:
        return scope.state[self.minutes_in] if self.minutes is None else self.minutes

    def test(self) -> Evaluate:
        since, limit, unit = self.since, self._limit, self.per_minute
        return lambda scope: scope.time() - scope.state[since] < limit(scope) * unit

    def sentence(self) -> str:
        limit = "the division's limit" if self.minutes is None else f"{self.minutes:g} minutes"
        return f"it comes within {limit} of the first {_event(self.since)}"

    def found(self, scope: Scope) -> str:
        taken = (scope.time() - scope.state[self.since]) / self.per_minute
        limit = self._limit(scope)
        return f"it took {taken:.2f} minutes, {taken - limit:.2f} over the limit of {limit:g}"

    def fix(self, key: str) -> str:
        return (
            "Shorten the initialisation (compile ahead, load data later), or check the log's times."
        )


class SameItems(Condition):
    """What was collected over the log is exactly a set list, in any order."""

    kind: ClassVar[str] = "items"
    name: str
    items: tuple[Any, ...]

    def test(self) -> Evaluate:
        name, items = self.name, list(self.items)
        return lambda scope: sorted(scope.state[name]) == items

    def sentence(self) -> str:
        return f"{self.name} has exactly {len(self.items)} items: {few(self.items)}"

    def found(self, scope: Scope) -> str:
        seen = scope.state.get(self.name, [])
        missing = [item for item in self.items if item not in seen]
        extra = [item for item in seen if item not in self.items]
        if not missing and not extra:
            return f"{len(seen)} items, some of them more than once"
        parts = [f"{len(seen)} items"]
        parts += [f"missing: {few(missing)}"] if missing else []
        parts += [f"not in the list: {few(extra)}"] if extra else []
        return ", ".join(parts)

    def fix(self, key: str) -> str:
        return f"Log one record for each item of {self.name}."


def _event(name: str) -> str:
    return name.removeprefix("first_")
