"""Checks of a record by itself: its value, its metadata, or an entry in one of them."""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

import json
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Evaluate, Subject
from trainmark.rules.vocabulary import MATH, TYPES, Scope, is_integer

__all__ = [
    "OPERATORS",
    "WORDS",
    "About",
    "Compare",
    "Condition",
    "Divides",
    "Has",
    "HasPart",
    "IsType",
    "Length",
    "Near",
    "OneOf",
    "Truthy",
    "Whole",
    "constant",
]

OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
WORDS: Mapping[str, str] = {
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

_TYPES_IN_JSON: Mapping[str, str] = {
    "bool": "true or false, not in quotes",
    "dict": "an object",
    "float": "a number, not in quotes",
    "int": "a whole number, not in quotes",
    "list": "a list",
    "str": "a text",
}


class Condition(Node):
    """What every constraint has."""

    @property
    def stateless(self) -> bool:
        return False

    def test(self) -> Evaluate:
        raise NotImplementedError

    def holds(self, scope: Scope) -> Any:
        return self.test()(scope)


class About(Condition):
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


class Compare(About):
    """The subject stands in an order to a constant."""

    kind: ClassVar[str] = "value"
    operator: str
    limit: Any

    def test(self) -> Evaluate:
        get, limit = self.subject.getter(), self.limit
        if self.subject == _VALUE and self.operator in _OF_THE_VALUE:
            return _OF_THE_VALUE[self.operator](limit)
        compare = OPERATORS[self.operator]
        return lambda scope: compare(get(scope), limit)

    def sentence(self) -> str:
        return f"{self.subject} is {self.bound()}"

    def bound(self) -> str:
        """The condition without its subject: "at least 0.759"."""
        if self.operator == "!=" and self.limit == "":
            return "not empty"
        return f"{WORDS[self.operator]}{constant(self.limit)}"


class OneOf(About):
    """The subject is one of several constants."""

    kind: ClassVar[str] = "choice"
    options: tuple[Any, ...]

    def test(self) -> Evaluate:
        get, options = self.subject.getter(), self.options
        return lambda scope: get(scope) in options

    def sentence(self) -> str:
        return f"{self.subject} is one of {', '.join(constant(o) for o in self.options)}"


class Has(About):
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


class HasPart(Condition):
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


class Whole(About):
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
            return f"{self.subject} is {constant(self.divisor)} times a power of two"
        if self.divisor == 1:
            return f"{self.subject} is a whole number"
        return f"{self.subject} is a whole multiple of {constant(self.divisor)}"


class Divides(About):
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
        return f"{constant(self.dividend)} is a whole multiple of {self.subject}"


class Near(About):
    """The subject is a constant to within rounding."""

    kind: ClassVar[str] = "value"
    limit: float

    def test(self) -> Evaluate:
        get, limit, close = self.subject.getter(), self.limit, MATH["isclose"]
        return lambda scope: close(get(scope), limit)

    def sentence(self) -> str:
        return f"{self.subject} is {constant(self.limit)}, but for rounding"


class Length(About):
    """The number of items of the subject stands in an order to a constant."""

    kind: ClassVar[str] = "length"
    operator: str
    limit: int

    def test(self) -> Evaluate:
        get, compare, limit = self.subject.getter(), OPERATORS[self.operator], self.limit
        return lambda scope: compare(len(get(scope)), limit)

    def sentence(self) -> str:
        items = "item" if self.limit == 1 else "items"
        return f"{self.subject} has {WORDS[self.operator]}{self.limit} {items}"


class IsType(About):
    """The subject is of a JSON type."""

    kind: ClassVar[str] = "type"
    type_name: str

    def test(self) -> Evaluate:
        get, kind = self.subject.getter(), TYPES[self.type_name]
        return lambda scope: isinstance(get(scope), kind)

    def sentence(self) -> str:
        return f"{self.subject} is {_TYPES_IN_JSON[self.type_name]}"


class Truthy(About):
    """The subject is true, non-zero or non-empty."""

    kind: ClassVar[str] = "value"

    def test(self) -> Evaluate:
        return self.subject.getter()

    def sentence(self) -> str:
        return f"{self.subject} is neither empty, 0 nor false"


def constant(value: Any) -> str:
    """A constant of a rule in words."""
    if value == math.inf:
        return "infinity"
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)
