"""The vocabularies of ``tables/names/*.toml``, read once, when something is first looked up."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["LONGEST", "Named", "Row", "folded", "look_up", "rows_of", "table"]

LONGEST = 500  # characters of a value that are looked at; what is longer is no name


@dataclass(frozen=True, slots=True)
class Named:
    """A normalised value: the name, and whether a table row knew the raw one."""

    name: str
    known: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row: raw values in which ``pattern`` is found are called ``name``.

    Attributes:
        name: The name.
        pattern: Searched in any case.
        facts: The whole row as written in the file.
    """

    name: str
    pattern: re.Pattern[str]
    facts: Mapping[str, Any]


@cache
def table(file: str) -> Mapping[str, Any]:
    """One file of ``tables/names``.

    Args:
        file: Its name without ``.toml``.
    """
    place = resources.files("trainmark.catalogue") / "tables" / "names" / f"{file}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


@cache
def rows_of(file: str, kind: str) -> tuple[Row, ...]:
    """The rows ``[[kind]]`` of a file, in its order, with their patterns compiled."""
    return tuple(
        Row(row["name"], re.compile(row["pattern"], re.IGNORECASE), row)
        for row in table(file)[kind]
    )


def look_up(rows: tuple[Row, ...], raw: str) -> Row | None:
    """The first row that knows a value; None if none does."""
    value = raw.strip()[:LONGEST]
    return next((row for row in rows if row.pattern.search(value)), None)


def folded(text: str) -> str:
    """A name without what spellings differ in: case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", text[:LONGEST]).casefold()
