"""Checks of the rule tables as typed objects: evaluated, put in words, compared for equality.

``constraint_of`` turns one snippet into the object of its shape. A snippet of no known shape
becomes an ``Expression``: the same checked language, without a sentence of its own.
"""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

import functools
import json
import operator
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, ClassVar

from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Constraint, Evaluate, Subject, few, show
from trainmark.rules.vocabulary import MATH, TYPES, Scope, is_integer
from trainmark.rules.words import in_words

__all__ = [
    "AddsUp",
    "AllOf",
    "AnyOf",
    "Compare",
    "Divides",
    "Expression",
    "Flag",
    "Has",
    "HasPart",
    "IsType",
    "Length",
    "Near",
    "OneOf",
    "SameAsState",
    "SameItems",
    "StateIs",
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
_VALUE, _METADATA = Subject(part="value"), Subject(part="metadata")
# A comparison of the value itself, the most frequent check by far: one call instead of three.
_OF_THE_VALUE: Mapping[str, Callable[[Any], Evaluate]] = {
    "==": lambda limit: lambda scope: scope.value == limit,
    "<": lambda limit: lambda scope: scope.value < limit,
    "<=": lambda limit: lambda scope: scope.value <= limit,
    ">": lambda limit: lambda scope: scope.value > limit,
    ">=": lambda limit: lambda scope: scope.value >= limit,
}
# What makes an expression depend on more than the record.
_STATE = re.compile(r"\b(s|loglines)\b")
# What the state's flags stand for; a flag without an entry is named as it is.
_FLAGS: Mapping[str, str] = {
    "init_started": "init_start",
    "init_stopped": "init_stop",
    "run_started": "run_start",
    "run_stopped": "run_stop",
    "staging_started": "staging_start",
}


class _Condition(Node):
    """What every constraint has."""

    @property
    def stateless(self) -> bool:
        return False

    def test(self) -> Evaluate:
        raise NotImplementedError

    def holds(self, scope: Scope) -> Any:
        return self.test()(scope)


class _About(_Condition):
    """What the constraints on one subject share."""

    subject: Subject

    @property
    def stateless(self) -> bool:
        return True

    def found(self, scope: Scope) -> str:
        return self.subject.found(scope)

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."

    def sentence(self) -> str:
        raise NotImplementedError


class Compare(_About):
    """The subject stands in an order to a constant."""

    kind: ClassVar[str] = "value"
    operator: str
    limit: Any

    def test(self) -> Evaluate:
        get, limit = self.subject.getter(), self.limit
        if self.subject == _VALUE and self.operator in _OF_THE_VALUE:
            return _OF_THE_VALUE[self.operator](limit)
        compare = _OPERATORS[self.operator]
        return lambda scope: compare(get(scope), limit)

    def sentence(self) -> str:
        return f"{self.subject} is {self.bound()}"

    def bound(self) -> str:
        """The condition without its subject: "at least 0.759"."""
        if self.operator == "!=" and self.limit == "":
            return "not empty"
        return f"{_WORDS[self.operator]}{_constant(self.limit)}"


class OneOf(_About):
    """The subject is one of several constants."""

    kind: ClassVar[str] = "choice"
    options: tuple[Any, ...]

    def test(self) -> Evaluate:
        get, options = self.subject.getter(), self.options
        return lambda scope: get(scope) in options

    def sentence(self) -> str:
        return f"{self.subject} is one of {', '.join(_constant(o) for o in self.options)}"


class Has(_About):
    """The subject, a mapping, has an entry of that name."""

    kind: ClassVar[str] = "metadata"
    name: str

    def test(self) -> Evaluate:
        get, name = self.subject.getter(), self.name
        if self.subject == _METADATA:
            return lambda scope: name in scope.metadata
        return lambda scope: name in get(scope)

    def sentence(self) -> str:
        return f"{self.subject} has {json.dumps(self.name)}"

    def fix(self, key: str) -> str:
        where = "metadata" if self.subject.part == "metadata" else "value"
        return f"Add {json.dumps(self.name)} to the {where} of every {key} record."


class Whole(_About):
    """The subject, divided by a constant (and its binary logarithm taken), is whole."""

    kind: ClassVar[str] = "whole"
    divisor: float = 1
    log2: bool = False

    def test(self) -> Evaluate:
        get, divisor, log2 = self.subject.getter(), self.divisor, self.log2

        def whole(scope: Scope) -> bool:
            value = get(scope)
            if not isinstance(value, int | float):
                raise TypeError(f"not a number: {type(value).__name__}")
            scaled = value if divisor == 1 and not log2 else value / divisor
            return is_integer(MATH["log2"](scaled) if log2 else scaled)

        return whole

    def sentence(self) -> str:
        if self.log2:
            return f"{self.subject} is {_constant(self.divisor)} times a power of two"
        if self.divisor == 1:
            return f"{self.subject} is a whole number"
        return f"{self.subject} is a whole multiple of {_constant(self.divisor)}"


class Length(_About):
    """The number of items of the subject stands in an order to a constant."""

    kind: ClassVar[str] = "length"
    operator: str
    limit: int

    def test(self) -> Evaluate:
        get, compare, limit = self.subject.getter(), _OPERATORS[self.operator], self.limit
        return lambda scope: compare(len(get(scope)), limit)

    def sentence(self) -> str:
        return f"{self.subject} has {_WORDS[self.operator]}{self.limit} items"


class IsType(_About):
    """The subject is of a JSON type."""

    kind: ClassVar[str] = "type"
    type_name: str

    def test(self) -> Evaluate:
        get, kind = self.subject.getter(), TYPES[self.type_name]
        return lambda scope: isinstance(get(scope), kind)

    def sentence(self) -> str:
        return f"{self.subject} is of type {self.type_name}"


class Truthy(_About):
    """The subject is true, non-zero or non-empty."""

    kind: ClassVar[str] = "value"

    def test(self) -> Evaluate:
        return self.subject.getter()

    def sentence(self) -> str:
        return f"{self.subject} is neither empty, 0 nor false"


class _WithState(_About):
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
            _OPERATORS[self.operator],
            self.name,
            self.plus,
        )
        if plus:
            return lambda scope: compare(get(scope), scope.state[name] + plus)
        return lambda scope: compare(get(scope), scope.state[name])

    def sentence(self) -> str:
        plus = f", plus {_constant(self.plus)}" if self.plus else ""
        return f"{self.subject} is {_WORDS[self.operator]}the {self.name} of the log{plus}"


class AddsUp(_WithState):
    """The subject and something logged earlier add up to a constant."""

    kind: ClassVar[str] = "consistent"
    total: float

    def test(self) -> Evaluate:
        get, name, total = self.subject.getter(), self.name, self.total
        return lambda scope: get(scope) == total - scope.state[name]

    def sentence(self) -> str:
        return f"{self.subject} is {_constant(self.total)} minus the {self.name} of the log"


class Divides(_About):
    """A constant is a whole multiple of the subject."""

    kind: ClassVar[str] = "whole"
    dividend: float

    def test(self) -> Evaluate:
        get, dividend = self.subject.getter(), self.dividend

        def whole(scope: Scope) -> bool:
            value = get(scope)
            if not isinstance(value, int | float):
                raise TypeError(f"not a number: {type(value).__name__}")
            return is_integer(dividend / value)

        return whole

    def sentence(self) -> str:
        return f"{_constant(self.dividend)} is a whole multiple of {self.subject}"


class Near(_About):
    """The subject is a constant to within rounding."""

    kind: ClassVar[str] = "value"
    limit: float

    def test(self) -> Evaluate:
        get, limit, close = self.subject.getter(), self.limit, MATH["isclose"]
        return lambda scope: close(get(scope), limit)

    def sentence(self) -> str:
        return f"{self.subject} is {_constant(self.limit)}, but for rounding"


class HasPart(_Condition):
    """The record has a value, or metadata."""

    kind: ClassVar[str] = "value"
    part: str

    @property
    def stateless(self) -> bool:
        return True

    def test(self) -> Evaluate:
        part = self.part
        return lambda scope: part in scope.both()

    def sentence(self) -> str:
        return f"there is a {self.part}"

    def found(self, scope: Scope) -> str:
        return "there is none"

    def fix(self, key: str) -> str:
        return f"Log {key} with a {self.part}."


class StateIs(_Condition):
    """Something logged earlier stands in an order to a constant, or to something else."""

    kind: ClassVar[str] = "consistent"
    name: str
    operator: str
    limit: Any
    other: str = ""

    def test(self) -> Evaluate:
        name, compare, limit, other = self.name, _OPERATORS[self.operator], self.limit, self.other
        if other:
            return lambda scope: compare(scope.state[name], scope.state[other])
        return lambda scope: compare(scope.state[name], limit)

    def sentence(self) -> str:
        limit = f"the {self.other}" if self.other else _constant(self.limit)
        return f"the {self.name} of the log is {_WORDS[self.operator]}{limit}"

    def found(self, scope: Scope) -> str:
        names = [name for name in (self.name, self.other) if name]
        return ", ".join(f"{name} is {show(scope.state.get(name))}" for name in names)

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."


class Flag(_Condition):
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


class TimeLimit(_Condition):
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


class SameItems(_Condition):
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


class _Several(_Condition):
    """What the combinations share: the first part names the kind and the fix."""

    parts: tuple[Constraint, ...]

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    @property
    def stateless(self) -> bool:
        return all(part.stateless for part in self.parts)

    def found(self, scope: Scope) -> str:
        return "; ".join(dict.fromkeys(part.found(scope) for part in self.parts))

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."

    def sentence(self) -> str:
        raise NotImplementedError


class AllOf(_Several):
    """Every part holds; the parts after a failing one are not looked at."""

    def test(self) -> Evaluate:
        first, *others = (part.test() for part in self.parts)
        if len(others) == 1:
            second = others[0]
            return lambda scope: first(scope) and second(scope)

        def every(scope: Scope) -> bool:
            if not first(scope):
                return False
            for part in others:  # noqa: SIM110 -- a loop is twice as fast as all()
                if not part(scope):
                    return False
            return True

        return every

    def sentence(self) -> str:
        words = [self.parts[0].sentence()]
        for before, part in pairwise(self.parts):
            match before, part:
                case Compare(subject=one), Compare(subject=other) if one == other:
                    words.append(part.bound())
                case _:
                    words.append(part.sentence())
        return " and ".join(words)


class AnyOf(_Several):
    """At least one part holds; the parts after a holding one are not looked at."""

    def test(self) -> Evaluate:
        first, *others = (part.test() for part in self.parts)
        if len(others) == 1:
            second = others[0]
            return lambda scope: first(scope) or second(scope)
        return lambda scope: first(scope) or any(part(scope) for part in others)

    def sentence(self) -> str:
        return " or ".join(part.sentence() for part in self.parts)


class When(_Condition):
    """A part that is asked for only under a condition."""

    condition: Constraint
    then: Constraint
    otherwise: Constraint | None = None

    @property
    def kind(self) -> str:
        return self.then.kind

    @property
    def stateless(self) -> bool:
        parts = (self.condition, self.then, self.otherwise)
        return all(part is None or part.stateless for part in parts)

    def _active(self, scope: Scope) -> Constraint | None:
        return self.then if self.condition.holds(scope) else self.otherwise

    def test(self) -> Evaluate:
        asked, then = self.condition.test(), self.then.test()
        if self.otherwise is None:
            return lambda scope: then(scope) if asked(scope) else True
        otherwise = self.otherwise.test()
        return lambda scope: then(scope) if asked(scope) else otherwise(scope)

    def sentence(self) -> str:
        text = f"{self.then.sentence()} (if {self.condition.sentence()})"
        return text if self.otherwise is None else f"{text}, else {self.otherwise.sentence()}"

    def found(self, scope: Scope) -> str:
        return (self._active(scope) or self.then).found(scope)

    def fix(self, key: str) -> str:
        return self.then.fix(key)


class Expression(_Condition):
    """A condition of no common shape: checked, compiled when first needed, shown in words."""

    kind: ClassVar[str] = "expression"
    source: str

    @property
    def stateless(self) -> bool:
        return _STATE.search(self.source) is None

    def test(self) -> Evaluate:
        return compiled(self.source)

    def sentence(self) -> str:
        return in_words(self.source)

    def found(self, scope: Scope) -> str:
        if scope.record is None:
            return f"the state is {show(scope.state)}"
        return (
            f"the value is {show(scope.both().get('value'))}, "
            f"metadata is {show(scope.both().get('metadata'))}"
        )

    def fix(self, key: str) -> str:
        return f"Log {key} so that the rule's expression is true."


@functools.cache
def compiled(source: str) -> Evaluate:
    """The function of an expression; each source is compiled once.

    Raises:
        RuleLanguageError: The expression uses something that rules may not use.
    """
    from trainmark.rules.language import compile_expression, parse_expression

    return compile_expression(parse_expression(source))


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
