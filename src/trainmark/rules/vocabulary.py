"""What the rule language offers: records, state, operators and functions.

Every table here is a whitelist: ``trainmark.rules.language`` compiles nothing that is not in one.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ATTRIBUTES",
    "BINARY",
    "COMPARE",
    "FUNCTIONS",
    "MATH",
    "METHODS",
    "TYPES",
    "UNARY",
    "Record",
    "Scope",
    "add",
    "is_integer",
]


@dataclass(slots=True)
class Record:
    """One record as the rules see it (they may copy and change records: stable diffusion does).

    Attributes:
        timestamp: Milliseconds since 1970.
        key: The record's key.
        value: ``{"value": ..., "metadata": ...}``.
        lineno: Line of the file counted from 1; below 1 for a record that a rule made.
        full_string: Kept for the rules that assign it; always empty.
    """

    timestamp: float
    key: str
    value: Any
    lineno: int
    full_string: str = ""


@dataclass(slots=True)
class Scope:
    """What a snippet works on.

    Attributes:
        records: Every record of the log; a BEGIN block may add some.
        state: The table's state ``s``.
        record: The record at hand; None in BEGIN and END.
        enqueued: Names of tables that the snippets asked for.
        names: Variables that the snippets assigned.
    """

    records: list[Record]
    state: dict[str, Any] = field(default_factory=dict)
    record: Record | None = None
    enqueued: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)

    def at(self) -> Record:
        """The record at hand; raises NameError where there is none, as the rules expect."""
        if self.record is None:
            raise NameError("there is no record here")
        return self.record


def is_integer(value: Any) -> bool:
    """Whether a number is whole, to 1e-5, as the official checker rounds."""
    return bool(abs(round(value) - value) < 0.00001)


def _numbers(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Arithmetic on numbers only: text from a log times a million must not fill the memory."""

    def calculate(left: Any, right: Any) -> Any:
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TypeError(f"not numbers: {type(left).__name__} and {type(right).__name__}")
        return function(left, right)

    return calculate


def add(left: Any, right: Any) -> Any:
    """Numbers added, or two lists joined; TypeError for anything else."""
    if isinstance(left, list) and isinstance(right, list):
        return left + right
    return _numbers(operator.add)(left, right)


def _power(left: float, right: float) -> Any:
    if abs(right) > 64:
        raise OverflowError("exponent beyond 64")
    return left**right


def _type_of(value: Any) -> type:
    return type(value)


def _copy(record: Any) -> Record:
    if not isinstance(record, Record):
        raise TypeError("only a record can be copied")
    return Record(
        record.timestamp, record.key, record.value, record.lineno, full_string=record.full_string
    )


def _nothing(*_: Any) -> None:
    """What ``print`` in a rule comes to."""


TYPES: Mapping[str, type] = {
    "bool": bool,
    "dict": dict,
    "float": float,
    "int": int,
    "list": list,
    "str": str,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "float": float,
    "int": int,
    "is_integer": is_integer,
    "isinstance": isinstance,
    "len": len,
    "max": max,
    "min": min,
    "print": _nothing,
    "replace": _copy,
    "round": round,
    "sorted": sorted,
    "sum": sum,
    "type": _type_of,
}
MATH: Mapping[str, Callable[..., Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "isclose": math.isclose,
    "log2": math.log2,
}
METHODS: Mapping[str, type] = {  # method: the one type that it may be called on
    "append": list,
    "extend": list,
    "get": dict,
    "lower": str,
    "update": dict,
    "values": dict,
}
ATTRIBUTES = frozenset({"timestamp", "key", "value", "lineno", "full_string"})
BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: add,
    ast.BitOr: _numbers(operator.or_),
    ast.Div: _numbers(operator.truediv),
    ast.Mod: _numbers(operator.mod),
    ast.Mult: _numbers(operator.mul),
    ast.Pow: _numbers(_power),
    ast.Sub: _numbers(operator.sub),
}
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
}
