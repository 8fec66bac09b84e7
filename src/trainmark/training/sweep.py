"""A sweep: the same workload with one setting at several values, a session for each.

Every value is looked at before anything is run: its form, its range, and what the workload says
of the settings as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.training.settings import Settings, change
from trainmark.types import UsageError

__all__ = ["Sweep", "parse_sweep"]

_EXAMPLE = "For example: --sweep global_batch_size=50,100,200"
_MOST_VALUES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One setting and its values.

    Attributes:
        setting: The setting's name.
        values: Its values in the order given.
    """

    setting: str
    values: tuple[Any, ...]

    @property
    def assignments(self) -> tuple[str, ...]:
        """``name=value`` for each value, as ``--set`` takes it."""
        return tuple(f"{self.setting}={value}" for value in self.values)


def parse_sweep(text: str, defaults: Settings, assignments: Sequence[str]) -> Sweep:
    """The sweep that ``name=value,value,...`` asks for.

    Args:
        text: What the user wrote.
        defaults: The workload's settings at that scale.
        assignments: The user's other ``name=value`` settings, which hold for every value.

    Raises:
        UsageError: It is not of that form, or a value is not allowed; says which are.
    """
    name, equals, listed = text.partition("=")
    name = name.strip().replace("-", "_")
    texts = [part.strip() for part in listed.split(",")]
    if not equals or not name or not all(texts):
        raise UsageError(f"--sweep {text!r} is not of the form name=value,value", hint=_EXAMPLE)
    if len(texts) > _MOST_VALUES:
        raise UsageError(
            f"--sweep {name} has {len(texts)} values", hint=f"Give {_MOST_VALUES} at most."
        )
    if any(_name_of(one) == name for one in assignments):
        raise UsageError(f"--sweep and --set both give {name}", hint=f"Leave one out. {_EXAMPLE}")
    values = [getattr(change(defaults, [*assignments, f"{name}={one}"]), name) for one in texts]
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(
                f"--sweep gives {name}={value} twice", hint="For repeats use --runs N."
            )
    return Sweep(setting=name, values=tuple(values))


def _name_of(assignment: str) -> str:
    return assignment.partition("=")[0].strip().replace("-", "_")
