"""Checks of the rule tables as typed objects: evaluated, put in words, compared for equality.

``trainmark.rules.shapes`` turns one snippet into the object of its shape. A snippet of no known
shape becomes an ``Expression``: the same checked language, its sentence made of its text.
"""

from trainmark.rules.combinations import AllOf, AnyOf, Expression, When
from trainmark.rules.conditions import (
    Compare,
    Divides,
    Has,
    HasPart,
    IsType,
    Length,
    Near,
    OneOf,
    Truthy,
    Whole,
)
from trainmark.rules.conditions_state import (
    AddsUp,
    Flag,
    SameAsState,
    SameItems,
    StateIs,
    TimeLimit,
)
from trainmark.rules.subjects import Constraint, Subject

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
