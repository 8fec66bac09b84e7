"""How ``trainmark prices`` prints: tables and entries for people."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trainmark.catalogue.figures.figure import CONFIDENCES, Figure
from trainmark.catalogue.figures.hardware import PRECISIONS, Hardware
from trainmark.catalogue.figures.prices import Price, Product, RackUnits, Watts
from trainmark.cli.plain_table import Column, table_lines, terminal_width

__all__ = ["entry_lines", "kind_of", "list_lines", "plain"]

_TITLES = {
    "price": "Prices",
    "space": "Space in a rack",
    "power": "Rated power: the greatest, by datasheet, never measured",
    "hardware": "Hardware: dense peaks, TFLOP/s",
}
_PRODUCTS = (
    Column("id", right=False),
    Column("amount"),
    Column("unit", right=False),
    Column("product", rank=1, right=False),
    Column("of", rank=3, right=False),
    Column("date", rank=2, right=False),
    Column("confidence", rank=4, right=False),
    Column("basis", rank=5, right=False),
    Column("own", rank=0, right=False),
)
_HARDWARE = (
    Column("id", right=False),
    *(Column(precision, rank=0 if precision == "bf16" else 2) for precision in PRECISIONS),
    Column("GB"),
    Column("GB/s", rank=1),
    Column("W"),
    Column("year", rank=3),
    Column("vendor", rank=4, right=False),
    Column("own", rank=0, right=False),
)


def kind_of(row: Product) -> str:
    """What kind of figure a row is: "price", "space" or "power"."""
    if isinstance(row, Price):
        return "price"
    assert isinstance(row, RackUnits | Watts)
    return "space" if isinstance(row, RackUnits) else "power"


def list_lines(products: Sequence[Product], hardware: Sequence[Hardware]) -> Iterator[str]:
    """A table for each kind that has entries."""
    width = terminal_width()
    for kind in ("price", "space", "power"):
        rows = [_product_row(row) for row in products if kind_of(row) == kind]
        if rows:
            yield from (_TITLES[kind], *table_lines(_PRODUCTS, rows, width=width), "")
    if hardware:
        rows = [_hardware_row(one) for one in hardware]
        yield from (_TITLES["hardware"], *table_lines(_HARDWARE, rows, width=width), "")
    yield "Source and what each is about: trainmark prices show ID"


def entry_lines(entry: Product | Hardware, results: Sequence[str]) -> Iterator[str]:
    """Everything about one entry, and which published results it is about.

    Args:
        entry: The entry.
        results: The ids of those results.
    """
    if isinstance(entry, Hardware):
        yield f"{entry.name}: {entry.vendor} {entry.architecture}, {entry.year or 'year unknown'}"
        yield from _figures(entry)
    else:
        yield f"{entry.id}: {entry.product}"
        yield f"  {plain(entry.figure.value)} {entry.figure.unit}, {entry.figure.basis}"
        yield from _provenance(entry.figure, "  ")
        if isinstance(entry, Price) and entry.hourly:
            place = ", ".join(filter(None, (entry.provider, entry.region, entry.term)))
            yield f"  {place}; {plain(entry.per_accelerator)} USD/hour for one accelerator"
        yield f"  of {_of(entry)}{_named(entry)}"
    yield _about(entry, results)
    yield from (f"  {name}" for name in results[:_MOST])
    if len(results) > _MOST:
        yield f"  and {len(results) - _MOST} more; --json has all"


_MOST = 8
_LABELS = {"memory_gb": "memory", "bandwidth_gbs": "bandwidth", "watts": "power"}


def _figures(hardware: Hardware) -> Iterator[str]:
    """The figures, those of one provenance together."""
    groups: dict[Figure, list[str]] = {}
    for name, figure in hardware.figures.items():
        label = f"{name} dense" if name in PRECISIONS else _LABELS[name]
        alike = replace(figure, value=0, unit="")
        groups.setdefault(alike, []).append(f"{label} {plain(figure.value)} {figure.unit}")
    for alike, texts in groups.items():
        yield f"  {', '.join(texts)}"
        yield from _provenance(alike, "    ")


def _about(entry: Product | Hardware, results: Sequence[str]) -> str:
    count = f"{len(results)} published result{'' if len(results) == 1 else 's'}"
    if isinstance(entry, Price) and entry.hourly:
        return f"Measured on just this instance: {count}"
    if isinstance(entry, Product) and not entry.rule.system:
        return "The price or size of a part: no result is about it"
    if not results:
        return "About: no published result; your own are found by the names of their systems"
    return f"About: {count}"


def _provenance(figure: Figure, indent: str) -> Iterator[str]:
    yield f"{indent}{figure.source} ({figure.date})"
    if figure.address:
        yield f"{indent}{figure.address}"
    own = "your own figure; " if figure.own else ""
    yield f"{indent}confidence: {own}{figure.confidence} ({CONFIDENCES[figure.confidence]})"
    if figure.note:
        yield f"{indent}{figure.note}"


def _named(entry: Product) -> str:
    rule = entry.rule
    parts = [f"named {' or '.join(rule.system)}"] if rule.system else []
    if rule.submitters:
        parts.append(f"by {' or '.join(rule.submitters)}")
    if rule.multiples:
        parts.append("or several of them")
    return f", {', '.join(parts)}" if parts else ""


def _of(entry: Product) -> str:
    if not entry.rule.accelerators:
        return "a machine without accelerators"
    return f"{entry.rule.accelerators} {entry.rule.accelerator}"


def _product_row(row: Product) -> list[str]:
    figure = row.figure
    return [
        row.id,
        plain(figure.value),
        figure.unit,
        row.product,
        _of(row),
        figure.date,
        figure.confidence,
        figure.basis,
        "own" if figure.own else "",
    ]


def _hardware_row(hardware: Hardware) -> list[str]:
    def shown(name: str) -> str:
        figure = hardware.figures.get(name)
        return "" if figure is None else plain(figure.value)

    return [
        hardware.name,
        *map(shown, PRECISIONS),
        *map(shown, ("memory_gb", "bandwidth_gbs", "watts")),
        str(hardware.year or ""),
        hardware.vendor,
        "own" if any(figure.own for figure in hardware.figures.values()) else "",
    ]


def plain(value: float) -> str:
    """A number as the file has it, with thousands apart."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"
