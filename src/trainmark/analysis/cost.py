"""Numbers derived from a result: per accelerator, dollar, rack unit, watt and joule.

Each says by which formula it came about, with the numbers in it, on which basis, from whose
figures, and what must stand beside it; one that cannot be had says why. None of them is an official
metric. All are amounts spent until the target was met, so less is better, and

    performance per X of A against B  =  X of B / X of A        (``advantage``)
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trainmark.catalogue.figures.figure import Figure
from trainmark.catalogue.figures.prices import Price, Product
from trainmark.catalogue.figures.tables import Tables
from trainmark.types import Result, UsageError

__all__ = ["NAMES", "PER", "Derivations", "Derived", "advantage", "derive"]

# What performance is counted per, in words.
PER: dict[str, str] = {
    "accelerator_minutes": "accelerator",
    "dollar_minutes": "dollar of list price",
    "run_cost_usd": "dollar of running cost",
    "rack_unit_minutes": "rack unit",
    "rated_watt_hours": "rated watt of the system",
    "accelerator_watt_hours": "rated watt of the accelerators",
    "energy_joules": "joule",
    "peak_pflop_hours": "peak FLOP/s",
}
NAMES = tuple(PER)

_HOURS_PER_YEAR = 8766  # 365.25 days
_NOT_MEASURED = "upper bound by datasheet, not measured"
_PART = "datasheet, not measured; hosts, network and cooling come on top"


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """One derived number, or the reason why there is none.

    Attributes:
        name: One of ``NAMES``.
        value: The number, in ``unit``; None when it cannot be had.
        unit: "USD-minutes" and the like.
        formula: The arithmetic with its numbers, "" without a value.
        basis: What kind of number it is, in words.
        sources: Who states the figures that went into it.
        marks: What must stand beside it.
        missing: Why there is no value, and what to do about it; "" when there is one.
    """

    name: str
    value: float | None
    unit: str
    formula: str = ""
    basis: str = ""
    sources: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    missing: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The number as plain data for ``--json``."""
        return asdict(self)


Derivations = Mapping[str, Derived]


def derive(
    result: Result,
    tables: Tables,
    *,
    price: str = "list",
    years: float | None = None,
) -> Derivations:
    """All derived numbers of a result, by name, in the order of ``NAMES``.

    Args:
        result: A result; without a score nothing can be derived.
        tables: The figures.
        price: What ``run_cost_usd`` is reckoned with: "list" (the list price spread over
            ``years``), "cloud" (an hourly price), or a price's id. The id of a product's price
            also decides ``dollar_minutes``.
        years: Over how many years a list price is spread.

    Raises:
        UsageError: There is no price of that id; ``years`` is not above 0.
    """
    if years is not None and not 0 < years <= 100:
        raise UsageError(
            f"cannot spread a price over {years} years", hint="Give a number of years above 0."
        )
    asked = None if price in ("list", "cloud") else tables.price(price, result)
    derivation = _Derivation(result, tables)
    bought = derivation.list_price(price, asked)
    found = (
        derivation.accelerator_minutes(),
        derivation.dollar_minutes(price, bought),
        derivation.run_cost(price, asked, bought, years),
        derivation.rack_unit_minutes(),
        derivation.rated_watt_hours(),
        derivation.accelerator_watt_hours(),
        derivation.energy(),
        derivation.peak(),
    )
    return {derived.name: derived for derived in found}


def advantage(a: Derived, b: Derived, *, letters: tuple[str, str] = ("A", "B")) -> Derived:
    """Performance per X of A against B: B's amount divided by A's.

    Args:
        a: A derived number.
        b: The one of the same name of another result.
        letters: What texts call the two.
    """
    assert a.name == b.name, (a.name, b.name)
    name = f"performance per {PER[a.name]}"
    both = tuple(zip(letters, (a, b), strict=True))
    reasons = [f"{side}: {one.missing}" for side, one in both if one.missing]
    if not a.value or not b.value:
        return Derived(name=name, value=None, unit="x", missing="; ".join(reasons))
    value = b.value / a.value
    return Derived(
        name=name,
        value=value,
        unit="x",
        formula=f"{_number(b.value)} / {_number(a.value)} {a.unit} = {value:.3f}",
        basis=a.basis
        if a.basis == b.basis
        else f"{letters[0]}: {a.basis}; {letters[1]}: {b.basis}",
        sources=tuple(dict.fromkeys((*a.sources, *b.sources))),
        marks=tuple(dict.fromkeys(f"{side}: {m}" for side, one in both for m in one.marks)),
    )


class _Derivation:
    """One result with the tables: a method for each number."""

    def __init__(self, result: Result, tables: Tables) -> None:
        self.result, self.tables = result, tables
        # A broken log can say that no time passed, or less.
        self.minutes = result.minutes if result.minutes and result.minutes > 0 else None
        self.shown = "" if self.minutes is None else f"{_number(self.minutes)} min"

    def accelerator_minutes(self) -> Derived:
        name, unit = "accelerator_minutes", "accelerator-minutes"
        if not self.result.accelerators:
            return self.lacking(
                name, unit, "the system has no accelerators, or how many is unknown"
            )
        count = self.result.accelerators
        return self.product(
            name, unit, count, f"{count:,} accelerators", "accelerators as the system file counts"
        )

    def list_price(self, price: str, asked: Price | None) -> Price | None:
        """The price of the product: the one that was asked for, else the system's own."""
        if price not in ("list", "cloud") and (asked is None or not asked.hourly):
            return asked
        return next(iter(self.tables.list_prices(self.result)), None)

    def dollar_minutes(self, price: str, bought: Price | None) -> Derived:
        name, unit = "dollar_minutes", "USD-minutes"
        if bought is None:
            return self.lacking(name, unit, self.no_list_price(price))
        basis = _bought(bought)
        return self.product(name, unit, bought.amount, _amount(bought), basis, bought)

    def run_cost(
        self,
        price: str,
        asked: Price | None,
        bought: Price | None,
        years: float | None,
    ) -> Derived:
        """The running cost by an hourly price, or by a list price spread over years."""
        if price == "cloud" or (asked is not None and asked.hourly):
            return self.let(asked)
        name = "run_cost_usd"
        if bought is None:
            return self.lacking(name, "USD", self.no_list_price(price))
        if years is None:
            return self.lacking(
                name,
                "USD",
                "say over how many years the list price is spread, or take cloud prices",
            )
        hours = years * _HOURS_PER_YEAR
        return self.product(
            name,
            "USD",
            bought.amount / hours / 60,
            f"{_amount(bought)} / ({_number(years)} years x {_HOURS_PER_YEAR:,} h x 60)",
            f"{_bought(bought)} spread over {_number(years)} years",
            bought,
            marks=(
                f"as if the machine were busy for all of {_number(years)} years; "
                "without power, cooling, space and staff",
            ),
        )

    def let(self, asked: Price | None) -> Derived:
        """The running cost by the hourly price of a cloud."""
        found = self.tables.cloud_prices(self.result)
        price = asked or next(iter(found), None)
        name, unit = "run_cost_usd", "USD"
        if price is None:
            accelerator = self.result.accelerator or "a machine without accelerators"
            when = f" of {self.tables.date} or before" if self.tables.date else ""
            return self.lacking(
                name, unit, f"no hourly price of {accelerator}{when} is known; {_ADD}"
            )
        marks: tuple[str, ...] = ()
        if asked is None and len(found) > 1:
            others = ", ".join(f"{p.id} {p.amount:,.2f}" for p in found[1:])
            marks = (f"one of {len(found)} hourly prices; the others, USD/hour: {others}",)
        term = price.term or "hourly"
        basis = f"{term} price of {price.product}{f' in {price.region}' if price.region else ''}"
        return self.product(
            name, unit, price.amount / 60, f"{_amount(price)} / 60", basis, price, marks
        )

    def rack_unit_minutes(self) -> Derived:
        name, unit = "rack_unit_minutes", "U-minutes"
        units = self.tables.rack_units(self.result)
        if units is None:
            return self.lacking(name, unit, f"the height of {self.system} is not known; {_ADD}")
        basis = f"rack units of {units.product}"
        return self.product(name, unit, units.amount, _amount(units), basis, units)

    def rated_watt_hours(self) -> Derived:
        name, unit = "rated_watt_hours", "Wh"
        watts = self.tables.rated_watts(self.result)
        if watts is None:
            reason = f"the rated power of {self.system} is not known; {_ADD}"
            return self.lacking(name, unit, reason)
        return self.product(
            name,
            unit,
            watts.amount / 60,
            f"{_amount(watts)} / 60",
            f"rated power of {watts.product}",
            watts,
            marks=(_NOT_MEASURED,),
        )

    def accelerator_watt_hours(self) -> Derived:
        name, unit = "accelerator_watt_hours", "Wh"
        hardware = self.tables.hardware(self.result.accelerator)
        count = self.result.accelerators
        if hardware is None or hardware.watts is None or not count:
            accelerator = self.result.accelerator or "a machine without accelerators"
            return self.lacking(name, unit, f"the rated power of {accelerator} is not known")
        figure = hardware.watts
        return self.product(
            name,
            unit,
            count * figure.value / 60,
            f"{count:,} x {_number(figure.value)} W / 60",
            f"rated power of the accelerators {hardware.name} alone",
            sources=(_stated(figure),),
            marks=(_PART, *figure.marks),
        )

    def energy(self) -> Derived:
        name, unit, joules = "energy_joules", "J", self.result.energy_joules
        if joules is None:
            return Derived(
                name=name, value=None, unit=unit, missing="no power measurement was submitted"
            )
        basis = "measured at the supply of all nodes, mean of the runs that the score counts"
        if self.result.scaling_factor != 1:
            basis += f", times {self.result.scaling_factor:.6g} as its time is"
        return Derived(
            name=name,
            value=joules,
            unit=unit,
            formula=f"{_number(joules)} J",
            basis=basis,
            sources=_place(self.result),
        )

    def peak(self) -> Derived:
        name, unit = "peak_pflop_hours", "PFLOP/s-hours"
        hardware = self.tables.hardware(self.result.accelerator)
        found = hardware and hardware.peak_16_bit
        count = self.result.accelerators
        if not found or not count:
            accelerator = self.result.accelerator or "a machine without accelerators"
            return self.lacking(name, unit, f"the dense 16-bit peak of {accelerator} is not known")
        precision, figure = found
        return self.product(
            name,
            unit,
            count * figure.value / 1000 / 60,
            f"{count:,} x {_number(figure.value)} TFLOP/s / 1,000 / 60",
            f"dense {precision} peak of the accelerators, whatever precision was used",
            sources=(_stated(figure),),
            marks=figure.marks,
        )

    @property
    def system(self) -> str:
        return self.result.system or "this system"

    def no_list_price(self, price: str) -> str:
        """Why the result has no price of its product, or not the one that was asked for."""
        row = self.tables.products.get(price)
        if row is None:
            when = f" of {self.tables.date} or before" if self.tables.date else ""
            return f"no public list price of {self.system}{when} is known; {_ADD}"
        return (
            f"{price} is the price of {row.rule.accelerators} {row.rule.accelerator}; this "
            f"system has {self.result.accelerators} {self.result.accelerator}"
        )

    def lacking(self, name: str, unit: str, reason: str) -> Derived:
        if self.minutes is None:
            reason = f"there is no score: {self.result.score_basis}"
        return Derived(name=name, value=None, unit=unit, missing=reason)

    def product(
        self,
        name: str,
        unit: str,
        factor: float,
        shown: str,
        basis: str,
        figure: Product | None = None,
        marks: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> Derived:
        """Minutes times a factor, with all that has to be said about it."""
        if self.minutes is None:
            return self.lacking(name, unit, "")
        value = self.minutes * factor
        dated = f" ({basis}, {figure.figure.date})" if figure else ""
        return Derived(
            name=name,
            value=value,
            unit=unit,
            formula=f"{self.shown} x {shown} = {_number(value)} {unit}{dated}",
            basis=basis,
            sources=(*_place(self.result), *((_stated(figure.figure),) if figure else sources)),
            marks=(*marks, *(figure.marks if figure else ())),
        )


# What a price to buy is called, by its figure's basis, and what is said after it.
_BOUGHT = {
    "list": ("list price", ""),
    "vendor report": ("list price", " by a vendor's report"),
    "quote": ("price", " by an offer"),
    "estimate": ("price", " by an estimate"),
}
_ADD = "add your own: trainmark prices add"


def _bought(price: Price) -> str:
    """What a price to buy is: "list price of DGX A100 640GB by a vendor's report"."""
    what, how = _BOUGHT.get(price.figure.basis, ("price", f" by {price.figure.basis}"))
    return f"{what} of {price.product}{how}"


def _place(result: Result) -> tuple[str, ...]:
    """Where the result itself was published."""
    if not result.repository:
        return ()
    return (f"{result.repository}, {result.path}",)


def _stated(figure: Figure) -> str:
    """Who states a figure, when, as what, and how far that can be trusted."""
    return f"{figure.citation} [{figure.basis}; confidence {figure.confidence}]"


def _amount(row: Product) -> str:
    """A row's figure as it applies, with its unit: "2 x 21.96 USD/hour"."""
    count = "" if row.count == 1 else f"{_number(float(row.count))} x "
    return f"{count}{_number(row.figure.value)} {row.figure.unit}"


def _number(value: float) -> str:
    """A number to seven digits, or as a whole one, with thousands apart."""
    if value == int(value) or abs(value) >= 1e6:
        return f"{value:,.0f}"
    if abs(value) < 1:
        return f"{value:.7g}"
    return f"{value:,.{7 - len(str(int(abs(value))))}f}".rstrip("0").rstrip(".")
