"""What the page says of one result beyond itself: its group, its hardware, its costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainmark.types import Result

if TYPE_CHECKING:
    from pathlib import Path

    from trainmark.analysis.cost import Derived

__all__ = ["DERIVED", "Subject", "subjects_of"]

# What is shown of the derived numbers, in this order: name in ``analysis.cost``, title, unit, form.
DERIVED: tuple[tuple[str, str, str, str], ...] = (
    ("accelerator_minutes", "Accelerator minutes", "min", "minutes"),
    ("dollar_minutes", "List price x minutes", "USD-minutes", "count"),
    ("run_cost_usd", "Cost of a run at cloud prices", "USD", "money"),
    ("rack_unit_minutes", "Rack units x minutes", "U-minutes", "minutes"),
    ("rated_watt_hours", "Rated power of the system x time", "Wh, by datasheet", "count"),
    ("accelerator_watt_hours", "Rated power of the chips x time", "Wh, by datasheet", "count"),
    ("energy_joules", "Energy, measured", "J", "count"),
    ("peak_pflop_hours", "Peak of the chips x time", "PFLOP/s-hours", "number"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A result and what is known around it.

    Attributes:
        result: The result.
        group: The comparability group's name, "" where it has none.
        vendor: Who makes the accelerator, "" if unknown.
        architecture: The accelerator's architecture or generation, "" if unknown.
        list_price_usd: List price of the system, None where none is known.
        derived: The derived numbers by name, as ``analysis.cost`` gives them.
    """

    result: Result
    group: str
    vendor: str
    architecture: str
    list_price_usd: float | None
    derived: "Mapping[str, Derived]"


def subjects_of(results: Sequence[Result], *, prices: "Path | None" = None) -> tuple[Subject, ...]:
    """What the page says of each result, in the same order.

    Args:
        results: Results of the catalogue, published, imported or own.
        prices: The user's own file of prices instead of the one in the user's folder.

    Raises:
        UsageError: A file of prices cannot be read.
    """
    from trainmark.analysis.comparability import group_of
    from trainmark.analysis.cost import derive
    from trainmark.catalogue.figures.tables import load_tables

    tables = load_tables(prices)
    found = []
    for result in results:
        group = group_of(result)
        hardware = tables.hardware(result.accelerator)
        listed = [price.amount for price in tables.list_prices(result)]
        found.append(
            Subject(
                result=result,
                group="" if group is None else f"{group.name}, {group.span}",
                vendor="" if hardware is None else hardware.vendor,
                architecture="" if hardware is None else hardware.architecture,
                list_price_usd=listed[0] if listed else None,
                derived=derive(result, tables, price="cloud"),
            )
        )
    return tuple(found)
