"""The columns of ``trainmark results``: every field of a result, and numbers derived from it.

A column has one name in tables, CSV, JSON and Parquet. Short names (chips, batch, samples) stand
for long ones, and derived numbers are reckoned only where they are asked for.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainmark.catalogue.schema import RESULT_COLUMNS
from trainmark.types import Result, UsageError, printable, unknown_name

if TYPE_CHECKING:
    from trainmark.analysis.cost import Derivations, Derived

__all__ = [
    "DEFAULT",
    "Choice",
    "Deriving",
    "cell",
    "chosen",
    "derived_name",
    "described",
    "every",
    "plain",
    "text",
]

DEFAULT = (
    "minutes",
    "benchmark",
    "round",
    "submitter",
    "system",
    "chips",
    "accelerator",
    "division",
    "category",
    "framework",
    "batch",
)

_SHORT = {
    "chips": "accelerators",
    "batch": "global_batch_size",
    "samples": "samples_to_target",
}
# Short names of derived numbers; their long ones and meanings are those of ``analysis.cost``.
_DERIVED_SHORT = {
    "per_accelerator": "accelerator_minutes",
    "per_dollar": "dollar_minutes",
    "run_cost": "run_cost_usd",
    "per_rack_unit": "rack_unit_minutes",
    "per_rated_watt": "rated_watt_hours",
}
_DERIVED = {
    "accelerator_minutes": "Minutes times accelerators.",
    "dollar_minutes": "Minutes times the list price of the system, USD-minutes.",
    "run_cost_usd": "What one run costs, USD: by --price cloud, or list with --years.",
    "rack_unit_minutes": "Minutes times the system's rack units.",
    "rated_watt_hours": "Hours times the system's rated power: by datasheet, not measured.",
    "accelerator_watt_hours": "Hours times the accelerators' rated power: not measured.",
    "peak_pflop_hours": "Hours times the accelerators' dense 16-bit peak, PFLOP/s-hours.",
}
_SQL = {column.name: column.sql for column in RESULT_COLUMNS}
_NUMBERS = ("INTEGER", "DOUBLE")


@dataclass(frozen=True, slots=True)
class Choice:
    """A column that was chosen.

    Attributes:
        name: As it was asked for.
        field: The field of ``Result``, or the derived number's name.
        kind: DuckDB's type of its values.
        derived: Whether it has to be reckoned.
    """

    name: str
    field: str
    kind: str
    derived: bool

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.kind in _NUMBERS


class Deriving:
    """Reckons derived numbers, each result once.

    Args:
        prices: The user's file of prices instead of the usual one.
        price: "list", "cloud" or a price's id.
        years: Over how many years a list price is spread.
        date: Cloud prices as known on this day; the newest without it.
    """

    def __init__(
        self,
        prices: Path | None = None,
        price: str = "list",
        years: float | None = None,
        date: str | None = None,
    ) -> None:
        self._prices, self._price, self._years, self._date = prices, price, years, date
        self._tables: Any = None
        self._found: dict[str, Derivations] = {}

    @property
    def was_asked(self) -> bool:
        """Whether prices were asked for in so many words."""
        others = (self._prices, self._years, self._date)
        return self._price != "list" or any(one is not None for one in others)

    def __call__(self, result: Result) -> "Derivations":
        """All derived numbers of a result."""
        from trainmark.analysis.cost import derive
        from trainmark.catalogue.figures.tables import load_tables

        if self._tables is None:
            self._tables = load_tables(self._prices, date=self._date)
        if result.id not in self._found:
            self._found[result.id] = derive(
                result, self._tables, price=self._price, years=self._years
            )
        return self._found[result.id]

    def number(self, result: Result, field: str) -> "Derived":
        """One derived number of a result."""
        return self(result)[field]


def derived_name(name: str) -> str | None:
    """The derived number that a column's name stands for; None for a field of a result."""
    field = _DERIVED_SHORT.get(name, name)
    return field if field in _DERIVED else None


def every() -> tuple[Choice, ...]:
    """A column for each field of a result."""
    return tuple(map(_choice, _SQL))


def chosen(text: str | None) -> tuple[Choice, ...]:
    """The columns of a comma-separated list; the usual ones without it.

    Raises:
        UsageError: A column's name is unknown or given twice.
    """
    names = DEFAULT if text is None else tuple(n.strip() for n in text.split(",") if n.strip())
    if not names:
        raise UsageError("no column is named", hint=f"Columns: {', '.join(_names())}.")
    found = [_choice(name) for name in names]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the column {name!r} is named twice", hint="Name each once.")
    return tuple(found)


def described() -> list[tuple[str, str]]:
    """Name and meaning of each column, for ``--columns help``."""
    from trainmark.catalogue.meanings import result_meanings

    meanings = result_meanings()
    short = {name: f"{field}, in short." for name, field in (_SHORT | _DERIVED_SHORT).items()}
    fields = {name: meanings.get(name, "") for name in _SQL}
    return list((fields | {n: f"Derived: {text}" for n, text in _DERIVED.items()} | short).items())


def plain(result: Result, choice: Choice, deriving: Deriving) -> Any:
    """A column's value as plain data, None where it is not known."""
    if choice.derived:
        return deriving.number(result, choice.field).value
    value = getattr(result, choice.field)
    if choice.field == "doubts":
        return [{"kind": d.kind, "text": d.text, "resolved": d.resolved} for d in value]
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _choice(name: str) -> Choice:
    field = (_SHORT | _DERIVED_SHORT).get(name, name)
    if field in _DERIVED:
        return Choice(name, field, "DOUBLE", True)
    if field not in _SQL:
        raise unknown_name("column", name, _names())
    return Choice(name, field, _SQL[field], False)


def _names() -> list[str]:
    return [*_SQL, *_DERIVED, *_SHORT, *_DERIVED_SHORT]


def _minutes(result: Result) -> str:
    if result.minutes is None:
        return "none"
    magnitude = abs(result.minutes)
    decimals = 1 if magnitude >= 100 else 2 if magnitude >= 10 else 3
    return f"{result.minutes:.{decimals}f}{'*' if result.carried_over else ''}"


def _when(result: Result) -> str:
    return f"v{result.round}" if result.round else result.recorded[:16].replace("T", " ")


_TEXTS: dict[str, Callable[[Result], str]] = {
    "minutes": _minutes,
    "round": _when,
    "accelerator": lambda result: result.accelerator or "none",
    "task": lambda result: result.task or result.benchmark,
    "doubts": lambda result: "; ".join(result.notes),
    "run_minutes": lambda result: " ".join(f"{minutes:.3f}" for minutes in result.run_minutes),
}


def text(result: Result, choice: Choice, deriving: Deriving) -> str:
    """A column's value for people."""
    if not choice.derived and choice.field in _TEXTS:
        return _TEXTS[choice.field](result)
    value = plain(result, choice, deriving)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return "" if value is None else str(value)


def _number(value: float) -> str:
    """A number with four significant digits at least, whole ones whole."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def cell(value: Any) -> Any:
    """A plain value as one cell of CSV, without control characters."""
    if isinstance(value, dict):
        value = json.dumps(value)
    elif isinstance(value, list):
        value = "; ".join(_item(item) for item in value)
    return printable(value) if isinstance(value, str) else value


def _item(item: Any) -> str:
    return str(item["text"]) if isinstance(item, dict) else str(item)
