"""What the rule language offers: records, state, operators and functions.

Every table here is a whitelist: ``trainmark.rules.language`` compiles nothing that is not in one.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from trainmark.types import Event

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


class Record:
    """One record as a rule made it (stable diffusion copies and changes records).

    The records of a log are events; a rule reads both in the same way.

    Attributes:
        timestamp: Milliseconds since 1970 (round 0.6: seconds).
        key: The record's key.
        value: ``{"value": ..., "metadata": ...}``.
        lineno: Line of the file counted from 1; below 1 for a record that a rule made.
        full_string: Kept for the rules that assign it; always empty.
    """

    __slots__ = ("full_string", "key", "lineno", "timestamp", "value")

    def __init__(
        self, timestamp: float, key: str, value: Any, lineno: int, full_string: str = ""
    ) -> None:
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.lineno = lineno
        self.full_string = full_string


class Scope:
    """What a snippet works on.

    Attributes:
        records: Every record of the log; a BEGIN block may add some.
        state: The table's state ``s``.
        value: The value of the record at hand.
        metadata: Its metadata. Both are missing in BEGIN and END: there is no record there.
        enqueued: Names of tables that the snippets asked for.
        names: Variables that the snippets assigned.
        in_seconds: Whether the rules count time in seconds, as those of round 0.6 do.
    """

    __slots__ = (
        "enqueued",
        "here",
        "in_seconds",
        "metadata",
        "names",
        "records",
        "state",
        "value",
    )

    def __init__(
        self,
        records: "list[Event | Record]",
        state: dict[str, Any] | None = None,
        record: "Event | Record | None" = None,
        *,
        in_seconds: bool = False,
    ) -> None:
        self.records = records
        self.state: dict[str, Any] = {} if state is None else state
        self.enqueued: list[str] = []
        self.names: dict[str, Any] = {}
        self.in_seconds = in_seconds
        self.here: Event | Record | None = None
        self.value: Any
        self.metadata: Any
        if record is not None:
            self.record = record

    @property
    def record(self) -> "Event | Record | None":
        """The record at hand; None in BEGIN and END."""
        return self.here

    @record.setter
    def record(self, record: "Event | Record | None") -> None:
        before, self.here = self.here, record
        if record is None:
            if before is not None:
                del self.value, self.metadata
        elif isinstance(record, Event):
            self.value, self.metadata = record.value, record.metadata
        else:
            self.value, self.metadata = record.value["value"], record.value.get("metadata", {})

    def at(self) -> "Event | Record":
        """The record at hand; raises NameError where there is none, as the rules expect."""
        if self.here is None:
            raise NameError("there is no record here")
        return self.here

    def both(self) -> dict[str, Any]:
        """The record's ``v``: its value and metadata as the rules name them."""
        both = self.read(self.at(), "value")
        assert isinstance(both, dict), "rules make records with both entries"
        return both

    def time(self) -> float:
        """When the record at hand was logged, in the unit of the rules."""
        here = self.here
        if type(here) is Event and not self.in_seconds:  # nearly all of them
            return here.time_ms
        return self.time_of(self.at())

    def time_of(self, record: "Event | Record") -> float:
        """When a record was logged, in the unit of the rules."""
        if isinstance(record, Record):
            return record.timestamp
        return record.time_ms / 1000 if self.in_seconds else record.time_ms

    def read(self, record: Any, attribute: str) -> Any:
        """An attribute of a record by the rules' name for it; TypeError for anything else."""
        if isinstance(record, Record):
            return getattr(record, _known(attribute))
        if not isinstance(record, Event):
            raise TypeError("only a record has attributes")
        match attribute:
            case "timestamp":
                return self.time_of(record)
            case "key":
                return record.key
            case "value":
                return {"value": record.value, "metadata": record.metadata}
            case "lineno":
                return record.line_no
        _known(attribute)
        return ""

    def part(self, record: Any, part: str) -> Any:
        """The value or the metadata of any record; TypeError for anything else."""
        if type(record) is Event:
            return record.value if part == "value" else record.metadata
        return self.read(record, "value")[part]

    def copy(self, record: Any) -> Record:
        """A record that rules may change."""
        if not isinstance(record, Event | Record):
            raise TypeError("only a record can be copied")
        read = self.read
        return Record(
            read(record, "timestamp"), record.key, read(record, "value"), read(record, "lineno")
        )


def _known(attribute: str) -> str:
    assert attribute in ATTRIBUTES, "the language refuses other names"
    return attribute


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
# Operators by the names of their nodes in Python's syntax tree.
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": add,
    "BitOr": _numbers(operator.or_),
    "Div": _numbers(operator.truediv),
    "Mod": _numbers(operator.mod),
    "Mult": _numbers(operator.mul),
    "Pow": _numbers(_power),
    "Sub": _numbers(operator.sub),
}
COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda item, container: item in container,
    "NotIn": lambda item, container: item not in container,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
UNARY: Mapping[str, Callable[[Any], Any]] = {
    "Not": operator.not_,
    "USub": operator.neg,
}
