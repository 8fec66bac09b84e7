"""Settings: named, typed, frozen, and changed on the command line by name.

A workload declares one frozen dataclass per scale, derived from ``Settings``. The help, the
limits and the choices of a field stand in its metadata (see ``setting``), so that the command
line, the docs and the checks all read the same table.
"""

import dataclasses
import math
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from trainmark.types import UsageError, unknown_name

__all__ = ["PRECISIONS", "Settings", "change", "describe", "setting"]

PRECISIONS = ("fp32", "bf16", "fp16")
_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_KINDS: dict[type, tuple[Callable[[str], Any], str]] = {
    bool: (lambda text: _WORDS[text.lower()], "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    str: (str, "text"),
}


def setting(
    default: Any,
    help: str,  # noqa: A002 - the word that click and argparse use
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    fixed: bool = False,
) -> Any:
    """Declare one setting.

    Args:
        default: Its value unless changed.
        help: One line for people, with the unit.
        minimum: Smallest allowed number.
        maximum: Largest allowed number.
        choices: The allowed words.
        fixed: Whether the Closed division fixes it, and refuses another value than the default.
    """
    metadata = {
        "help": help,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "fixed": fixed,
    }
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every workload has. A value of "auto" is decided by measuring on this machine."""

    global_batch_size: int = setting(64, "samples in one optimizer step", minimum=1)
    micro_batch_size: int = setting(
        0, "samples in one forward and backward pass; 0: the whole batch", minimum=0
    )
    precision: str = setting("auto", "number format", choices=("auto", *PRECISIONS))
    memory_format: str = setting(
        "auto", "layout of image tensors", choices=("auto", "contiguous", "channels_last")
    )
    compile: bool = setting(False, "compile the model before the clock starts")
    threads: int = setting(0, "CPU threads for the model; 0: measure", minimum=0)
    device: str = setting("auto", "device: auto, cpu, cuda or cuda:N")

    @property
    def micro_batch(self) -> int:
        """Samples in one forward and backward pass."""
        return self.micro_batch_size or self.global_batch_size

    @property
    def gradient_accumulation_steps(self) -> int:
        """Forward and backward passes in one optimizer step."""
        return self.global_batch_size // self.micro_batch

    def validate(self) -> None:
        """Check every value and how they fit together.

        Raises:
            UsageError: A value is out of its range; says which are allowed.
        """
        for field in dataclasses.fields(self):
            _check(field, getattr(self, field.name))
        if self.global_batch_size % self.micro_batch:
            raise UsageError(
                f"global_batch_size={self.global_batch_size} is not a multiple of "
                f"micro_batch_size={self.micro_batch_size}",
                hint="A step accumulates whole micro-batches; choose a divisor.",
            )


_S = TypeVar("_S", bound=Settings)


def change(settings: _S, assignments: Iterable[str]) -> _S:
    """Apply ``name=value`` texts.

    Args:
        settings: What to start from.
        assignments: Texts of the form ``name=value``.

    Raises:
        UsageError: No such setting (lists the valid ones), or a value of the wrong kind.
    """
    fields = {field.name: field for field in dataclasses.fields(settings)}
    hints = typing.get_type_hints(type(settings))
    changes: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise UsageError(
                f"--set {assignment!r} is not of the form name=value",
                hint="For example: --set global_batch_size=128",
            )
        if name not in fields:
            raise unknown_name("setting", name, fields)
        changes[name] = _parse(name, text.strip(), hints[name])
    changed = dataclasses.replace(settings, **changes)
    changed.validate()
    return changed


def describe(settings: type[Settings]) -> list[Mapping[str, Any]]:
    """Every setting as a row: name, default, help, allowed values, fixed."""
    return [
        {
            "name": field.name,
            "default": field.default,
            "help": field.metadata["help"],
            "allowed": _allowed(field),
            "fixed": field.metadata["fixed"],
        }
        for field in dataclasses.fields(settings)
    ]


def _parse(name: str, text: str, kind: type) -> Any:
    parse, wanted = _KINDS[kind]
    try:
        return parse(text)
    except (ValueError, KeyError) as error:
        raise UsageError(
            f"setting {name}={text!r} is not {wanted}", hint=f"For example: --set {name}=1"
        ) from error


def _check(field: "dataclasses.Field[Any]", value: Any) -> None:
    low, high = field.metadata["minimum"], field.metadata["maximum"]
    choices = field.metadata["choices"]
    number = value if isinstance(value, int | float) else None
    fine = (
        (not choices or value in choices)
        and (number is None or math.isfinite(number))
        and (low is None or number is None or number >= low)
        and (high is None or number is None or number <= high)
    )
    if not fine:
        raise UsageError(
            f"setting {field.name}={value!r} is not allowed",
            hint=f"{field.metadata['help']}; allowed: {_allowed(field)}.",
        )


def _allowed(field: "dataclasses.Field[Any]") -> str:
    if field.metadata["choices"]:
        return ", ".join(field.metadata["choices"])
    low, high = field.metadata["minimum"], field.metadata["maximum"]
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"{low} or more"
    return "true, false" if isinstance(field.default, bool) else "any"
