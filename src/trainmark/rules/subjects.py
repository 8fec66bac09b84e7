"""What every constraint of the rules has in common: its protocol, and the place it looks at."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trainmark.rules.vocabulary import Scope

__all__ = ["Constraint", "Subject", "few", "named", "show"]

_SHOWN_CHARACTERS = 80
_THE_VALUE = "the value"


def show(value: Any) -> str:
    """A value from a log as one short, safe line of ASCII."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


class Constraint(Protocol):
    """One condition on a record (or, at the end of a table, on its state)."""

    @property
    def kind(self) -> str:
        """The shape's name, the last part of a finding's rule."""

    def holds(self, scope: Scope) -> Any:
        """The condition's truth; raises what Python raises when it cannot be evaluated."""

    def sentence(self) -> str:
        """What is expected, in English, to follow "expected that"."""

    def found(self, scope: Scope) -> str:
        """What the record has instead, short."""

    def fix(self, key: str) -> str:
        """What to change, for a record of that key."""


def named(constraint: Constraint, key: str) -> str:
    """A constraint's sentence with the key's name: "eval_accuracy is at least 0.759"."""
    return constraint.sentence().replace(_THE_VALUE, key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A place in a record: its value, its metadata, or an entry in one of them.

    Attributes:
        part: "value" or "metadata".
        path: Names to follow inside it.
    """

    part: str
    path: tuple[str | int, ...] = ()

    def get(self, scope: Scope) -> Any:
        """What stands there; raises KeyError or TypeError if nothing can."""
        value = scope.at().value[self.part]
        for name in self.path:
            value = value[name]
        return value

    def __str__(self) -> str:
        steps = "".join(f"[{json.dumps(name)}]" for name in self.path)
        return f"{_THE_VALUE if self.part == 'value' else 'metadata'}{steps}"

    def found(self, scope: Scope) -> str:
        """What stands there, in words."""
        try:
            return f"{self} is {show(self.get(scope))}"
        except (KeyError, IndexError, TypeError):
            return f"{self.part} is {show(scope.at().value[self.part])}"


def few(items: Sequence[Any], limit: int = 5) -> str:
    """The first items of a list, and how many more there are."""
    shown = ", ".join(show(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
