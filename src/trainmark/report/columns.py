"""Many records as columns of plain data, small enough to stand in a page.

    encode(FIELDS, records)   ->   {"size": 2258, "fields": [{"name": "round", ...}, ...]}

``words`` and ``lines`` (a word, or a list of them, for each record) hold each distinct text once
and its number for each record: names repeat. ``texts`` holds one text for each record: an id does
not. ``numbers``, ``lists`` (of numbers) and ``flags`` hold values, None where a record has none.
All text is made printable here, once, so that the page has nothing to clean.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trainmark.types import printable

__all__ = ["KINDS", "Field", "encode"]

KINDS = ("words", "lines", "texts", "numbers", "flags", "lists")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Generic[T]):
    """One column of the page.

    Attributes:
        name: Its key, in the data and in the page's address.
        title: What it is called for people.
        kind: One of ``KINDS``.
        get: The value in a record; None or "" where it has none.
        section: The heading under which a record's details show it, "" for nowhere.
        unit: Unit of a number, shown in the details.
        form: How the page writes a number: "minutes", "count", "money" or "number".
        digits: Decimals that are kept; None keeps the number as it is.
        facet: Title of the filter over its values, "" for no filter.
        listed: Whether the table can show it.
        shown: Whether the table shows it unless asked otherwise.
        narrow: The same on a phone.
        searched: Whether the search box looks into it.
    """

    name: str
    title: str
    kind: str
    get: Callable[[T], Any]
    section: str = ""
    unit: str = ""
    form: str = "number"
    digits: int | None = None
    facet: str = ""
    listed: bool = True
    shown: bool = False
    narrow: bool = False
    searched: bool = False

    def head(self) -> dict[str, Any]:
        """What the page has to know of the column, beside its values."""
        return {
            "name": self.name,
            "title": self.title,
            "kind": self.kind,
            "section": self.section,
            "unit": self.unit,
            "form": self.form,
            "facet": self.facet,
            "listed": self.listed,
            "shown": self.shown,
            "narrow": self.narrow,
            "searched": self.searched,
        }


def encode(fields: Sequence[Field[T]], records: Sequence[T]) -> dict[str, Any]:
    """Every record, column by column, as plain data.

    Args:
        fields: The columns.
        records: The records.
    """
    return {
        "size": len(records),
        "fields": [field.head() | _column(field, records) for field in fields],
    }


def _column(field: Field[T], records: Sequence[T]) -> dict[str, Any]:
    values = [field.get(record) for record in records]
    match field.kind:
        case "words":
            words: dict[str, int] = {}
            at = [words.setdefault(_text(value), len(words)) for value in values]
            return {"words": list(words), "at": at}
        case "lines":
            lines: dict[str, int] = {}
            at_all = [[lines.setdefault(_text(one), len(lines)) for one in few] for few in values]
            return {"words": list(lines), "at": at_all}
        case "texts":
            return {"values": [_text(value) for value in values]}
        case "numbers":
            return {"values": [_number(value, field.digits) for value in values]}
        case "flags":
            return {"values": [int(bool(value)) for value in values]}
    assert field.kind == "lists", field.kind
    return {"values": [[_number(one, field.digits) for one in few] for few in values]}


def _text(value: Any) -> str:
    return "" if value is None else printable(value)


def _number(value: Any, digits: int | None) -> float | None:
    """A finite number, whole where it is one: 8 and not 8.0; None for anything else."""
    if value is None or not math.isfinite(value):
        return None
    if digits is not None:
        value = round(value, digits)
    # Beyond 2**53 a script could not hold it exactly; as a float it is at least the nearest.
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
