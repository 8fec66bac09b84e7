"""The tables of hardware, prices, space and power: the packaged ones and the user's own file.

    tables = load_tables()
    tables.hardware("A100-SXM-80GB").peak("bf16")
    tables.list_prices(result), tables.cloud_prices(result)

The user's own rows add to the packaged ones; one with the same id replaces it. What nobody has
stated is not there.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from trainmark.catalogue.figures.figure import is_date
from trainmark.catalogue.figures.hardware import Hardware
from trainmark.catalogue.figures.prices import Price, Product, RackUnits, Watts
from trainmark.catalogue.figures.reading import TableFile, read_table_file
from trainmark.catalogue.naming import names
from trainmark.types import Result, UsageError, unknown_name

__all__ = ["PACKAGED", "Tables", "load_tables", "own_file"]

_FOLDER = Path(__file__).parents[1] / "tables"
_HARDWARE = _FOLDER / "hardware.toml"
_PRODUCTS = tuple(_FOLDER / f"{name}.toml" for name in ("prices", "space", "power"))
PACKAGED = (_HARDWARE, *_PRODUCTS)

_Row = TypeVar("_Row", bound=Product)


class Tables:
    """All figures. The packaged files are read when something in them is first asked for.

    Args:
        own: What the user's own file holds.
        own_path: That file, None without one.
        date: Prices as known on this day (ISO date, month or year); the newest without it.
    """

    def __init__(
        self,
        own: TableFile | None = None,
        own_path: Path | None = None,
        *,
        date: str | None = None,
    ) -> None:
        self._own = own or TableFile()
        self.own_path = own_path
        self.date = date

    @cached_property
    def accelerators(self) -> Mapping[str, Hardware]:
        """Hardware by name."""
        found = dict(read_table_file(_HARDWARE, own=False).hardware)
        for name, hardware in self._own.hardware.items():
            found[name] = _over(found.get(name), hardware)
        return found

    @cached_property
    def products(self) -> Mapping[str, Product]:
        """Prices, rack units and rated powers by id."""
        found: dict[str, Product] = {}
        for path in _PRODUCTS:
            found |= read_table_file(path, own=False).products
        return found | self._own.products

    def hardware(self, accelerator: str) -> Hardware | None:
        """What an accelerator can do; None for an unknown one.

        Args:
            accelerator: Its name in the catalogue, or as somebody writes it.
        """
        return self.accelerators.get(self.name_of(accelerator))

    def list_prices(self, result: Result) -> tuple[Price, ...]:
        """What the result's system costs to buy, the user's own price first, then the newest.

        Empty where no price of just this product is known.
        """
        found = [
            price
            for row in self._rows(Price)
            if not row.hourly
            and self._known(row)
            and (price := row.of(result, self.name_of(result.accelerator)))
        ]
        return tuple(_newest_first(found))

    def cloud_prices(self, result: Result) -> tuple[Price, ...]:
        """What as many of the result's accelerators cost an hour in clouds.

        The user's own come first, then those of the very instance that was measured, then the
        cheapest. Of each instance, region and term only the newest price is taken.

        Args:
            result: The result.
        """
        name = self.name_of(result.accelerator)
        newest: dict[tuple[str, str, str, str], Price] = {}
        for row in self._rows(Price):
            price = row.let(result, name) if row.hourly else None
            if price is None or not self._known(row):
                continue
            key = (row.provider, row.product, row.region, row.term)
            if key not in newest or row.figure.date > newest[key].figure.date:
                newest[key] = price
        return tuple(
            sorted(
                newest.values(),
                key=lambda p: (not p.figure.own, not p.exact, p.per_accelerator, p.id),
            )
        )

    def rack_units(self, result: Result) -> RackUnits | None:
        """The height of the result's system in a rack; None where it is not known."""
        return self._first(RackUnits, result)

    def rated_watts(self, result: Result) -> Watts | None:
        """The greatest power of the result's whole system by its datasheet; None if not known.

        That of the accelerators alone is ``hardware(...).watts``.
        """
        return self._first(Watts, result)

    def price(self, name: str, result: Result) -> Price | None:
        """One price that was asked for by its id, for a result; None where it cannot be one.

        It need not be the price of the result's system, but of the same accelerator; the price
        of a product also of just as many. That it is not the system's own is then a mark.

        Args:
            name: The price's id.
            result: The result.

        Raises:
            UsageError: There is no such price.
        """
        row = self.products.get(name)
        if not isinstance(row, Price):
            raise unknown_name("price", name, (row.id for row in self._rows(Price)))
        accelerator = self.name_of(result.accelerator)
        if row.hourly:
            return row.let(result, accelerator)
        return row.of(result, accelerator) or row.instead(result, accelerator)

    def _known(self, price: Price) -> bool:
        """Whether a price is not of later than the day that was asked for."""
        return self.date is None or price.figure.date[: len(self.date)] <= self.date

    def _first(self, kind: type[_Row], result: Result) -> _Row | None:
        name = self.name_of(result.accelerator)
        found = [row for each in self._rows(kind) if (row := each.of(result, name))]
        return next(iter(_newest_first(found)), None)

    def _rows(self, kind: type[_Row]) -> Iterator[_Row]:
        return (row for row in self.products.values() if isinstance(row, kind))

    @cached_property
    def _named(self) -> frozenset[str]:
        """Names that need no looking up, which would read the vocabulary."""
        return frozenset(row.rule.accelerator for row in self.products.values())

    def name_of(self, accelerator: str) -> str:
        """The accelerator's name as the tables have it; as it was given, if none has it."""
        if accelerator in self._named:
            return accelerator
        found = names.accelerator(accelerator)
        return found.name if found.known else accelerator


def _newest_first(rows: list[_Row]) -> list[_Row]:
    found = sorted(rows, key=lambda row: row.id)
    found.sort(key=lambda row: row.figure.date, reverse=True)
    return sorted(found, key=lambda row: not row.figure.own)


def own_file() -> Path:
    """Where the user's own figures are kept unless somebody says otherwise.

    Raises:
        UsageError: The user has no home folder, and no variable names another.
    """
    from platformdirs import user_config_path

    try:
        return user_config_path("trainmark") / "prices.toml"
    except RuntimeError as error:  # a user without a home, as in some containers
        raise UsageError(
            f"cannot tell where own prices are kept: {error}",
            hint="Set HOME or XDG_CONFIG_HOME, or give a file with --prices.",
        ) from error


def load_tables(user: Path | None = None, *, date: str | None = None) -> Tables:
    """The packaged tables and the user's own file over them.

    Args:
        user: The user's file; that of ``own_file`` without it, if it is there.
        date: Prices as known on this day (ISO date, month or year); the newest without it.

    Raises:
        UsageError: The user's file is missing where it was named, or something in it is wrong;
            the date is none.
    """
    if date is not None and not is_date(date):
        raise UsageError(f"{date!r} is no date", hint="Give one like 2024-12-31, 2024-12 or 2024.")
    if user is None:
        user = own_file()
        if not os.path.lexists(user):
            return Tables(date=date)
    return Tables(read_table_file(user, own=True), user, date=date)


def _over(packaged: Hardware | None, own: Hardware) -> Hardware:
    """The packaged accelerator with the figures that the user's file has for it."""
    if packaged is None:
        return own
    return replace(
        packaged,
        vendor=own.vendor or packaged.vendor,
        architecture=own.architecture or packaged.architecture,
        year=own.year or packaged.year,
        figures={**packaged.figures, **own.figures},
    )
