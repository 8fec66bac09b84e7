"""Checks of the rule tables as typed objects: evaluated, put in words, compared for equality.

``constraint_of`` turns one snippet into the object of its shape. A snippet of no known shape
becomes an ``Expression``: the same checked language, without a sentence of its own.
"""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

from trainmark.rules.language import compile_expression
from trainmark.rules.subjects import Constraint, Subject, few, show
from trainmark.rules.vocabulary import MATH, TYPES, Scope, is_integer

__all__ = [
    "AllOf",
    "AnyOf",
    "Compare",
    "Expression",
    "Flag",
    "Has",
    "IsType",
    "Length",
    "OneOf",
    "SameAsState",
    "SameItems",
    "TimeLimit",
    "Truthy",
    "When",
    "Whole",
    "limits_a_number",
]

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS: Mapping[str, str] = {
    "==": "",
    "!=": "other than ",
    "<": "less than ",
    "<=": "at most ",
    ">": "more than ",
    ">=": "at least ",
}
# What the state's flags stand for; a flag without an entry is named as it is.
_FLAGS: Mapping[str, str] = {
    "init_started": "init_start",
    "init_stopped": "init_stop",
    "run_started": "run_start",
    "run_stopped": "run_stop",
    "staging_started": "staging_start",
}


@dataclass(frozen=True, slots=True)
class _About:
    """What the constraints on one subject share."""

    subject: Subject

    def found(self, scope: Scope) -> str:
        return self.subject.found(scope)

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."

    def sentence(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Compare(_About):
    """The subject stands in an order to a constant."""

    kind: ClassVar[str] = "value"
    operator: str
    limit: Any

    def holds(self, scope: Scope) -> Any:
        return _OPERATORS[self.operator](self.subject.get(scope), self.limit)

    def sentence(self) -> str:
        return f"{self.subject} is {self.bound()}"

    def bound(self) -> str:
        """The condition without its subject: "at least 0.759"."""
        if self.operator == "!=" and self.limit == "":
            return "not empty"
        return f"{_WORDS[self.operator]}{_constant(self.limit)}"


@dataclass(frozen=True, slots=True)
class OneOf(_About):
    """The subject is one of several constants."""

    kind: ClassVar[str] = "choice"
    options: tuple[Any, ...]

    def holds(self, scope: Scope) -> Any:
        return self.subject.get(scope) in self.options

    def sentence(self) -> str:
        return f"{self.subject} is one of {', '.join(_constant(o) for o in self.options)}"


@dataclass(frozen=True, slots=True)
class Has(_About):
    """The subject, a mapping, has an entry of that name."""

    kind: ClassVar[str] = "metadata"
    name: str

    def holds(self, scope: Scope) -> Any:
        return self.name in self.subject.get(scope)

    def sentence(self) -> str:
        return f"{self.subject} has {json.dumps(self.name)}"

    def fix(self, key: str) -> str:
        where = "metadata" if self.subject.part == "metadata" else "value"
        return f"Add {json.dumps(self.name)} to the {where} of every {key} record."


@dataclass(frozen=True, slots=True)
class Whole(_About):
    """The subject, divided by a constant (and its binary logarithm taken), is whole."""

    kind: ClassVar[str] = "whole"
    divisor: float = 1
    log2: bool = False

    def holds(self, scope: Scope) -> Any:
        value = self.subject.get(scope)
        if not isinstance(value, int | float):
            raise TypeError(f"not a number: {type(value).__name__}")
        scaled = value if self.divisor == 1 and not self.log2 else value / self.divisor
        return is_integer(MATH["log2"](scaled) if self.log2 else scaled)

    def sentence(self) -> str:
        if self.log2:
            return f"{self.subject} is {_constant(self.divisor)} times a power of two"
        if self.divisor == 1:
            return f"{self.subject} is a whole number"
        return f"{self.subject} is a whole multiple of {_constant(self.divisor)}"


@dataclass(frozen=True, slots=True)
class Length(_About):
    """The number of items of the subject stands in an order to a constant."""

    kind: ClassVar[str] = "length"
    operator: str
    limit: int

    def holds(self, scope: Scope) -> Any:
        return _OPERATORS[self.operator](len(self.subject.get(scope)), self.limit)

    def sentence(self) -> str:
        return f"{self.subject} has {_WORDS[self.operator]}{self.limit} items"


@dataclass(frozen=True, slots=True)
class IsType(_About):
    """The subject is of a JSON type."""

    kind: ClassVar[str] = "type"
    type_name: str

    def holds(self, scope: Scope) -> Any:
        return isinstance(self.subject.get(scope), TYPES[self.type_name])

    def sentence(self) -> str:
        return f"{self.subject} is of type {self.type_name}"


@dataclass(frozen=True, slots=True)
class Truthy(_About):
    """The subject is true, non-zero or non-empty."""

    kind: ClassVar[str] = "value"

    def holds(self, scope: Scope) -> Any:
        return self.subject.get(scope)

    def sentence(self) -> str:
        return f"{self.subject} is neither empty, 0 nor false"


@dataclass(frozen=True, slots=True)
class SameAsState(_About):
    """The subject stands in an order to something logged earlier."""

    kind: ClassVar[str] = "consistent"
    operator: str
    name: str

    def holds(self, scope: Scope) -> Any:
        return _OPERATORS[self.operator](self.subject.get(scope), scope.state[self.name])

    def sentence(self) -> str:
        return f"{self.subject} is {_WORDS[self.operator]}the {self.name} of the log"

    def found(self, scope: Scope) -> str:
        return f"{self.subject.found(scope)}, {self.name} is {show(scope.state.get(self.name))}"


@dataclass(frozen=True, slots=True)
class Flag:
    """Something has, or has not, been logged before: the order of records."""

    kind: ClassVar[str] = "order"
    name: str
    expected: bool = True

    def holds(self, scope: Scope) -> Any:
        return bool(scope.state[self.name]) is self.expected

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


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The record comes within a time of an earlier one.

    Attributes:
        since: The state's entry with the earlier time.
        minutes: The limit, None if ``minutes_in`` names it.
        minutes_in: The state's entry with the limit in minutes.
    """

    kind: ClassVar[str] = "time"
    since: str
    minutes: float | None
    minutes_in: str = ""

    def _limit(self, scope: Scope) -> Any:
        return scope.state[self.minutes_in] if self.minutes is None else self.minutes

    def _taken_ms(self, scope: Scope) -> Any:
        return scope.at().timestamp - scope.state[self.since]

    def holds(self, scope: Scope) -> Any:
        return self._taken_ms(scope) < self._limit(scope) * 60 * 1e3

    def sentence(self) -> str:
        limit = "the division's limit" if self.minutes is None else f"{self.minutes:g} minutes"
        return f"it comes within {limit} of the first {_event(self.since)}"

    def found(self, scope: Scope) -> str:
        taken, limit = self._taken_ms(scope) / 60e3, self._limit(scope)
        return f"it took {taken:.2f} minutes, {taken - limit:.2f} over the limit of {limit:g}"

    def fix(self, key: str) -> str:
        return (
            "Shorten the initialisation (compile ahead, load data later), or check the log's times."
        )


@dataclass(frozen=True, slots=True)
class SameItems:
    """What was collected over the log is exactly a set list, in any order."""

    kind: ClassVar[str] = "items"
    name: str
    items: tuple[Any, ...]

    def holds(self, scope: Scope) -> Any:
        return sorted(scope.state[self.name]) == list(self.items)

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


@dataclass(frozen=True, slots=True)
class _Several:
    """What the combinations share: the first part names the kind and the fix."""

    parts: tuple[Constraint, ...]

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    def found(self, scope: Scope) -> str:
        return "; ".join(dict.fromkeys(part.found(scope) for part in self.parts))

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."

    def sentence(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class AllOf(_Several):
    """Every part holds; the parts after a failing one are not looked at."""

    def holds(self, scope: Scope) -> Any:
        return all(part.holds(scope) for part in self.parts)

    def sentence(self) -> str:
        words = [self.parts[0].sentence()]
        for before, part in pairwise(self.parts):
            match before, part:
                case Compare(subject=one), Compare(subject=other) if one == other:
                    words.append(part.bound())
                case _:
                    words.append(part.sentence())
        return " and ".join(words)


@dataclass(frozen=True, slots=True)
class AnyOf(_Several):
    """At least one part holds; the parts after a holding one are not looked at."""

    def holds(self, scope: Scope) -> Any:
        return any(part.holds(scope) for part in self.parts)

    def sentence(self) -> str:
        return " or ".join(part.sentence() for part in self.parts)


@dataclass(frozen=True, slots=True)
class When:
    """A part that is asked for only under a condition."""

    condition: Constraint
    then: Constraint
    otherwise: Constraint | None = None

    @property
    def kind(self) -> str:
        return self.then.kind

    def _active(self, scope: Scope) -> Constraint | None:
        return self.then if self.condition.holds(scope) else self.otherwise

    def holds(self, scope: Scope) -> Any:
        active = self._active(scope)
        return True if active is None else active.holds(scope)

    def sentence(self) -> str:
        text = f"{self.then.sentence()} (if {self.condition.sentence()})"
        return text if self.otherwise is None else f"{text}, else {self.otherwise.sentence()}"

    def found(self, scope: Scope) -> str:
        return (self._active(scope) or self.then).found(scope)

    def fix(self, key: str) -> str:
        return self.then.fix(key)


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition of no common shape: checked, compiled, shown as it is written."""

    kind: ClassVar[str] = "expression"
    source: str
    _run: Callable[[Scope], Any] = field(compare=False, repr=False)

    @classmethod
    def of(cls, node: ast.expr) -> "Expression":
        """The condition of an expression tree."""
        return cls(ast.unparse(node), compile_expression(node))

    def holds(self, scope: Scope) -> Any:
        return self._run(scope)

    def sentence(self) -> str:
        return self.source

    def found(self, scope: Scope) -> str:
        if scope.record is None:
            return f"the state is {show(scope.state)}"
        return (
            f"the value is {show(scope.record.value.get('value'))}, "
            f"metadata is {show(scope.record.value.get('metadata'))}"
        )

    def fix(self, key: str) -> str:
        return f"Log {key} so that the rule's expression is true."


def limits_a_number(constraint: Constraint) -> bool:
    """Whether the constraint compares the record's value with a number (not with true)."""
    match constraint:
        case Compare(subject=Subject(part="value"), limit=limit):
            return isinstance(limit, int | float) and not isinstance(limit, bool)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            return any(limits_a_number(part) for part in parts)
        case Whole() | Length():
            return True
    return False


def _event(name: str) -> str:
    return name.removeprefix("first_")


def _constant(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)
