"""What every constraint of the rules has in common: its protocol, and the place it looks at."""

import json
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Protocol

from trainmark.rules.nodes import Node
from trainmark.rules.vocabulary import Scope

__all__ = ["Constraint", "Evaluate", "Subject", "few", "named", "show"]

Evaluate = Callable[[Scope], Any]

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

    @property
    def stateless(self) -> bool:
        """Whether the truth depends on the record alone, not on the records before it."""

    def test(self) -> Evaluate:
        """The condition as one function, made anew: it is called for each record of a log."""

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


class Subject(Node, kw_only=True):
    """A place in a record: its value, its metadata, or an entry in one of them.

    Attributes:
        part: "value" or "metadata".
        path: Names to follow inside it.
    """

    part: str
    path: tuple[str | int, ...] = ()

    def getter(self) -> Evaluate:
        """The function that gets what stands there; it raises what Python raises."""
        part: Evaluate = attrgetter("value" if self.part == "value" else "metadata")
        match self.path:
            case ():
                return part
            case (name,):
                if self.part == "value":
                    return lambda scope: scope.value[name]
                return lambda scope: scope.metadata[name]
        path = self.path

        def get(scope: Scope) -> Any:
            value = part(scope)
            for name in path:
                value = value[name]
            return value

        return get

    def get(self, scope: Scope) -> Any:
        """What stands there; raises KeyError or TypeError if nothing can."""
        return self.getter()(scope)

    def __str__(self) -> str:
        steps = "".join(f"[{json.dumps(name)}]" for name in self.path)
        return f"{_THE_VALUE if self.part == 'value' else 'metadata'}{steps}"

    def found(self, scope: Scope) -> str:
        """What stands there, in words."""
        try:
            return f"{self} is {show(self.get(scope))}"
        except (KeyError, IndexError, TypeError):
            return f"{self.part} is {show(scope.both().get(self.part))}"


def few(items: Sequence[Any], limit: int = 5) -> str:
    """The first items of a list, and how many more there are."""
    shown = ", ".join(show(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
