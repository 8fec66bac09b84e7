"""Read a TOML file of figures: hardware, prices, space and power, the packaged ones and one's own.

    [sources.some-key]                  # who states the numbers; rows name it
    title = "..."
    address = "https://..."
    date = 2021-06-30
    confidence = "high"

    [[list]]                            # a price; [[cloud]] an hourly one; [[space]]; [[power]]
    id = "ipu-pod16"
    product = "IPU-POD16"
    amount = 149995
    currency = "USD"
    accelerator = "GC200-IPU"           # which results it is about: see prices.Rule
    accelerators = 16
    system = ["pod16"]
    source = "some-key"

    [accelerators."A100-SXM-80GB"]      # a figure may be a number or a table with its own source
    vendor = "NVIDIA"
    bf16 = 312
    watts = { value = 400, source = "other-key" }

A row may also say ``source = "any title"`` with a ``date`` of its own. Whatever is wrong ends with
a text that names the file, the line, the row and what is allowed.
"""

import datetime
import re
import tomllib
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from trainmark.catalogue.figures.figure import BASES, CONFIDENCES, Figure, is_date
from trainmark.catalogue.figures.hardware import UNITS, Hardware
from trainmark.catalogue.figures.lines import Place, line_of
from trainmark.catalogue.figures.prices import Price, Product, RackUnits, Rule, Watts
from trainmark.types import UsageError

__all__ = ["KINDS", "TableFile", "parse_table", "read_table_file", "read_text"]

_MOST_BYTES = 1_000_000  # the packaged files are 30 kB; this is no file of prices
_MOST_TEXT = 1000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_HINT = "docs/prices.md describes the file; trainmark prices check FILE checks it."


@dataclass(frozen=True, slots=True)
class _Kind:
    """A table of products: the key and unit of its number, and what its rows become."""

    key: str
    unit: str
    basis: str
    row: type[Product]


KINDS: dict[str, _Kind] = {
    "list": _Kind("amount", "USD", "list", Price),
    "cloud": _Kind("amount", "USD/hour", "cloud on demand per hour", Price),
    "space": _Kind("rack_units", "U", "datasheet", RackUnits),
    "power": _Kind("watts", "W", "datasheet", Watts),
}
_PROVENANCE = frozenset({"source", "address", "date", "basis", "confidence", "note"})
_RULE = frozenset({"accelerator", "accelerators", "system", "submitters", "multiples"})
_ROW = _PROVENANCE | _RULE | {"id", "product"}
_CLOUD = frozenset({"provider", "region", "term"})
_HARDWARE = _PROVENANCE | {"vendor", "architecture", "year"} | UNITS.keys()
_OF_SOURCE = frozenset({"address", "date", "confidence"})
_SOURCE = _OF_SOURCE | {"title"}


@dataclass(frozen=True, slots=True)
class TableFile:
    """What one file holds.

    Attributes:
        hardware: Accelerators by name.
        products: Rows of prices, space and power, by id, in file order.
    """

    hardware: dict[str, Hardware] = field(default_factory=dict)
    products: dict[str, Product] = field(default_factory=dict)


def read_table_file(path: Path, *, own: bool) -> TableFile:
    """Read and check one file.

    Args:
        path: A TOML file.
        own: Whether it is the user's own, so that its figures are marked so.

    Raises:
        UsageError: The file cannot be read, is no TOML, or says something that is not allowed.
    """
    return parse_table(path, read_text(path), own=own)


def parse_table(path: Path, text: str, *, own: bool) -> TableFile:
    """What the text of a file says, checked.

    Args:
        path: The file, for messages.
        text: Its text, TOML.
        own: Whether it is the user's own.

    Raises:
        UsageError: It is no TOML, or says something that is not allowed.
    """
    return _Reader(path, text, own).read()


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        UsageError: The file is missing, cannot be read, is too large or no text.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint=_HINT) from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} is no file of prices: it has over {_MOST_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}, line {line}: not UTF-8 text", hint=_HINT) from error


class _Reader:
    """One file: its text for the line numbers, and what was parsed."""

    def __init__(self, path: Path, text: str, own: bool) -> None:
        self.path, self.text, self.own = path, text, own
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            raise UsageError(f"{path} is not valid TOML: {error}", hint=_HINT) from error
        self.sources: dict[str, dict[str, str]] = {}

    def read(self) -> TableFile:
        """Everything in the file, checked."""
        known = {"sources", "accelerators", *KINDS}
        self.only(self.data, known, Place("the file", ""))
        for name, entry in self.tables("sources").items():
            place = Place(f"source {name!r}", f"sources.{name}")
            self.only(entry, _SOURCE, place)
            title = self.word(entry, "title", place)
            self.sources[name] = {"title": title, **self.provenance(entry, place)}
        found = TableFile()
        for name, entry in self.tables("accelerators").items():
            found.hardware[name] = self.accelerator(name, entry)
        for kind in KINDS:
            for index, row in enumerate(self.array(kind)):
                product = self.product(kind, index, row)
                if product.id in found.products:
                    place = Place(f"{kind} {product.id!r}", kind, index)
                    self.fail(place, "the id is there twice; each row needs one of its own", "id")
                found.products[product.id] = product
        return found

    def accelerator(self, name: str, entry: Mapping[str, Any]) -> Hardware:
        place = Place(f"accelerator {name!r}", f"accelerators.{name}")
        self.only(entry, _HARDWARE, place)
        year = entry.get("year", 0)
        if isinstance(year, bool) or not isinstance(year, int) or not 0 <= year <= 2100:
            self.fail(place, f"year is {_shown(year)}; allowed: a year", "year")
        figures = {}
        for key, unit in UNITS.items():
            if key in entry:
                figures[key] = self.hardware_figure(entry, key, unit, place)
        return Hardware(
            name=name,
            vendor=self.word(entry, "vendor", place, needed=not self.own),
            architecture=self.word(entry, "architecture", place, needed=not self.own),
            year=year,
            figures=figures,
        )

    def hardware_figure(
        self, entry: Mapping[str, Any], key: str, unit: str, place: Place
    ) -> Figure:
        """A number takes its accelerator's provenance, a table of its own that which it lacks."""
        given = entry[key]
        if not isinstance(given, dict):
            return self.figure(entry, given, unit, "datasheet", place, key)
        self.only(given, _PROVENANCE | {"value"}, place, key)
        inherited = {} if "source" in given else {k: entry[k] for k in _PROVENANCE & entry.keys()}
        return self.figure(
            {**inherited, **given}, given.get("value"), unit, "datasheet", place, key
        )

    def product(self, kind: str, index: int, row: Mapping[str, Any]) -> Product:
        about = KINDS[kind]
        place = Place(f"{kind} number {index + 1}", kind, index)
        name = self.word(row, "id", place)
        if not _ID.fullmatch(name):
            self.fail(place, f"id is {name!r}; allowed: letters, digits, dots and dashes", "id")
        place = Place(f"{kind} {name!r}", kind, index)
        priced = about.key == "amount"
        extra = ({"currency"} if priced else set()) | (_CLOUD if kind == "cloud" else set())
        self.only(row, _ROW | {about.key} | extra, place)
        if priced and row.get("currency") != "USD":
            currency = _shown(row.get("currency"))
            self.fail(place, f"currency is {currency}; only USD can be compared here", "currency")
        figure = self.figure(row, row.get(about.key), about.unit, about.basis, place, about.key)
        product = about.row(
            id=name,
            product=self.word(row, "product", place),
            figure=figure,
            rule=self.rule(row, place),
        )
        if isinstance(product, Price) and kind == "cloud":
            return replace(
                product,
                provider=self.word(row, "provider", place, needed=not self.own),
                region=self.word(row, "region", place, needed=not self.own),
                term=self.word(row, "term", place, needed=not self.own),
            )
        return product

    def rule(self, row: Mapping[str, Any], place: Place) -> Rule:
        count = row.get("accelerators")
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 1_000_000:
            self.fail(
                place,
                f"accelerators is {_shown(count)}; allowed: how many are in one product, 0 for "
                "a machine without",
                "accelerators",
            )
        name = self.word(row, "accelerator", place, needed=count > 0)
        if name and not count:
            self.fail(place, f"no accelerators, but accelerator is {name!r}", "accelerators")
        multiples = row.get("multiples", False)
        if not isinstance(multiples, bool):
            self.fail(
                place, f"multiples is {_shown(multiples)}; allowed: true or false", "multiples"
            )
        return Rule(
            accelerator=name,
            accelerators=count,
            system=self.words(row, "system", place),
            submitters=self.words(row, "submitters", place),
            multiples=multiples,
        )

    def figure(
        self,
        entry: Mapping[str, Any],
        value: object,
        unit: str,
        usual_basis: str,
        place: Place,
        key: str,
    ) -> Figure:
        """One number with the provenance that its row or the named source gives."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
            self.fail(place, f"{key} is {_shown(value)}; allowed: a number above 0", key)
        source = self.word(entry, "source", place)
        given = dict(self.sources.get(source) or {"title": source})
        if entry.keys() & _OF_SOURCE:
            given |= self.provenance({k: entry[k] for k in _OF_SOURCE & entry.keys()}, place)
        if "date" not in given:
            self.fail(
                place,
                f"there is no date: give one, or name a source that has one as [sources.{source}]",
                "source",
            )
        if "confidence" not in given and not self.own:
            self.fail(place, "there is no confidence", "source")
        basis = entry.get("basis", usual_basis)
        return Figure(
            value=value,
            unit=unit,
            source=given["title"],
            address=given.get("address", ""),
            date=given["date"],
            basis=self.one_of(basis, "basis", BASES, place),
            confidence=given.get("confidence", "medium"),
            note=self.word(entry, "note", place, needed=False),
            own=self.own,
        )

    def provenance(self, entry: Mapping[str, Any], place: Place) -> dict[str, str]:
        """Address, date and confidence, those that are given, checked."""
        found = {}
        if "address" in entry:
            found["address"] = self.word(entry, "address", place)
        if "date" in entry:
            found["date"] = self.date(entry, place)
        if "confidence" in entry:
            found["confidence"] = self.one_of(entry["confidence"], "confidence", CONFIDENCES, place)
        return found

    def date(self, entry: Mapping[str, Any], place: Place) -> str:
        value = entry.get("date")
        if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return value.isoformat()
        if isinstance(value, str) and is_date(value):
            return value
        return self.fail(
            place, f"date is {_shown(value)}; allowed: 2021-06-30, 2021-06 or 2021", "date"
        )

    def word(self, entry: Mapping[str, Any], key: str, place: Place, *, needed: bool = True) -> str:
        value = entry.get(key, "")
        if not isinstance(value, str) or len(value) > _MOST_TEXT or (needed and not value.strip()):
            problem = "missing" if key not in entry else _shown(value)
            self.fail(place, f"{key} is {problem}; allowed: a text", key)
        return value.strip()

    def words(self, entry: Mapping[str, Any], key: str, place: Place) -> tuple[str, ...]:
        value = entry.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self.fail(place, f'{key} is {_shown(value)}; allowed: a list of texts, ["pod16"]', key)
        return tuple(value)

    def one_of(self, value: object, key: str, known: Collection[str], place: Place) -> str:
        if isinstance(value, str) and value in known:
            return value
        return self.fail(place, f"{key} is {_shown(value)}; allowed: {', '.join(known)}", key)

    def only(self, entry: object, known: Set[str], place: Place, key: str = "") -> None:
        if not isinstance(entry, dict):
            self.fail(place, f"is {_shown(entry)}; allowed: a table of keys", key)
        strange = entry.keys() - known
        if strange:
            name = min(strange)
            self.fail(
                place,
                f"there is no key {name[:_MOST_TEXT]!r}; allowed: {', '.join(sorted(known))}",
                name,
            )

    def tables(self, key: str) -> Mapping[str, Any]:
        found = self.data.get(key, {})
        if not isinstance(found, dict):
            self.fail(Place(key, key), f"is {_shown(found)}; allowed: tables [{key}.NAME]")
        return found

    def array(self, key: str) -> list[Any]:
        found = self.data.get(key, [])
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            self.fail(Place(key, key), f"is {_shown(found)}; allowed: rows under [[{key}]]")
        return found

    def fail(self, place: Place, problem: str, key: str = "") -> NoReturn:
        line = line_of(self.text, place, key)
        where = f"{self.path}, line {line}" if line else str(self.path)
        raise UsageError(f"{where}: {place.name}: {problem}", hint=_HINT)


def _shown(value: object) -> str:
    return "missing" if value is None else repr(value)[:100]
