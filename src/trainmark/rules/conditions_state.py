"""Checks of a record against what was logged before it."""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

from typing import Any, ClassVar

from trainmark.rules.conditions import OPERATORS, WORDS, About, Condition, constant
from trainmark.rules.statenames import (
    collected_key,
    counted_key,
    earlier_record,
    flag_words,
    state_words,
)
from trainmark.rules.subjects import Evaluate, few, show
from trainmark.rules.vocabulary import Scope

__all__ = ["AddsUp", "Flag", "SameAsState", "SameItems", "StateIs", "TimeLimit"]


class _WithState(About):
    """What the constraints share that compare the subject with something logged earlier."""

    name: str

    @property
    def stateless(self) -> bool:
        return False

    def found(self, scope: Scope) -> str:
        value, record = scope.state.get(self.name), earlier_record(self.name)
        if record is not None and value in (0, -1):  # as the tables begin
            return f"{self.subject.found(scope)}, and there is no {record} before it"
        return f"{self.subject.found(scope)}, {state_words(self.name)} is {show(value)}"


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
        return f"{self.subject} is {WORDS[self.operator]}{state_words(self.name)}{plus}"


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
        key = counted_key(self.name)
        if key is not None and self.other:
            return f'{key} is logged once if opt_name is "{self.other}", else never'
        limit = f"the {self.other}" if self.other else constant(self.limit)
        return f"the {self.name} of the log is {WORDS[self.operator]}{limit}"

    def found(self, scope: Scope) -> str:
        key, count = counted_key(self.name), scope.state.get(self.name)
        if key is not None and self.other:
            chosen = "" if scope.state.get(self.other) else "not "
            return f'it is logged {count} times, and opt_name is {chosen}"{self.other}"'
        names = [name for name in (self.name, self.other) if name]
        return ", ".join(f"{name} is {show(scope.state.get(name))}" for name in names)

    def fix(self, key: str) -> str:
        counted = counted_key(self.name)
        if counted is not None and self.other:
            return f"Log what belongs to the optimizer of opt_name: {counted} to {self.other}."
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
        return flag_words(self.name, expected=self.expected).expected

    def found(self, scope: Scope) -> str:
        return flag_words(self.name, expected=self.expected).found

    def fix(self, key: str) -> str:
        return flag_words(self.name, expected=self.expected).fix.replace("{key}", key)


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

    def sentence(self, limit: int = 5) -> str:
        """What is expected; ``limit`` says how many of the items are named."""
        key, items = collected_key(self.name), f"{len(self.items)} items: {few(self.items, limit)}"
        return f"{self.name} has exactly {items}" if key is None else f"{key} names {items}"

    def found(self, scope: Scope) -> str:
        seen = scope.state.get(self.name, [])
        missing = [item for item in self.items if item not in seen]
        extra = [item for item in seen if item not in self.items]
        if not missing and not extra:
            return f"{len(seen)} items, some of them more than once"
        parts = [f"{len(seen)} items"]
        if missing and (seen or collected_key(self.name) is None):
            parts.append(f"missing: {few(missing)}")
        parts += [f"not in the list: {few(extra)}"] if extra else []
        return ", ".join(parts)

    def fix(self, key: str) -> str:
        logged = collected_key(self.name)
        if logged is None:
            return f"Log one record for each item of {self.name}."
        return f'Log {logged} once for each, with metadata {{"tensor": NAME}}.'


def _event(name: str) -> str:
    return name.removeprefix("first_")
