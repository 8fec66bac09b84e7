"""The tables that ``trainmark sql`` offers: what their columns mean, and how they are filled."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark.catalogue import engine
from trainmark.catalogue.meanings import meanings, result_meanings, run_meanings
from trainmark.catalogue.opening import open_results, open_runs
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, Column
from trainmark.types import Finding

__all__ = ["TABLES", "Described", "Table", "fill", "named_in"]


@dataclass(frozen=True, slots=True)
class Described:
    """One column.

    Attributes:
        name: Its name.
        kind: DuckDB's type.
        meaning: A sentence.
    """

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        name: Its name.
        meaning: What a row of it is.
        columns: Its columns; made when they are asked for.
    """

    name: str
    meaning: str
    columns: Callable[[], tuple[Described, ...]]


def _stored(columns: Sequence[Column], texts: Callable[[], dict[str, str]]) -> Any:
    def make() -> tuple[Described, ...]:
        said = texts()
        return tuple(
            Described(c.name, c.sql, re.sub(r"\bNone\b", "NULL", said.get(c.name, "")))
            for c in columns
        )

    return make


_FIGURE = (
    ("unit", "VARCHAR"),
    ("basis", "VARCHAR"),
    ("confidence", "VARCHAR"),
    ("source", "VARCHAR"),
    ("address", "VARCHAR"),
    ("date", "VARCHAR"),
    ("note", "VARCHAR"),
    ("own", "BOOLEAN"),
)


def _figure_columns() -> tuple[Described, ...]:
    from trainmark.catalogue.figures.figure import Figure

    said = meanings(Figure)
    return tuple(Described(name, kind, said.get(name, "")) for name, kind in _FIGURE)


def _hardware() -> tuple[Described, ...]:
    from trainmark.catalogue.figures.hardware import PRECISIONS, UNITS, Hardware

    said = meanings(Hardware)
    return (
        Described("accelerator", "VARCHAR", "Its name: results.accelerator."),
        *(Described(name, "VARCHAR", said.get(name, "")) for name in ("vendor", "architecture")),
        Described("year", "INTEGER", said.get("year", "")),
        *(
            Described(name, "DOUBLE", f"{'Dense peak, ' if name in PRECISIONS else ''}{unit}.")
            for name, unit in UNITS.items()
        ),
    )


def _figures() -> tuple[Described, ...]:
    return (
        Described("accelerator", "VARCHAR", "Its name: results.accelerator."),
        Described("quantity", "VARCHAR", "A column of hardware: fp16, memory_gb, watts, ..."),
        Described("value", "DOUBLE", "The number, in unit."),
        *_figure_columns(),
    )


def _prices() -> tuple[Described, ...]:
    return (
        Described("id", "VARCHAR", "The row's name, as trainmark prices show takes it."),
        Described("kind", "VARCHAR", '"price", "space" (rack units) or "power" (rated watts).'),
        Described("product", "VARCHAR", "What the figure is about."),
        Described("accelerator", "VARCHAR", "The accelerator in it: results.accelerator."),
        Described("accelerators", "INTEGER", "How many are in one product."),
        Described("value", "DOUBLE", "The figure of one product, in unit."),
        *_figure_columns(),
        Described("provider", "VARCHAR", 'The cloud; "" for a product that is sold.'),
        Described("region", "VARCHAR", "The cloud's region."),
        Described("term", "VARCHAR", '"on demand" and the like.'),
    )


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "results",
            "A row for each result: a system, a benchmark, a score.",
            _stored(RESULT_COLUMNS, result_meanings),
        ),
        Table(
            "runs",
            "A row for each run of a result: runs.result_id = results.id.",
            _stored(RUN_COLUMNS, run_meanings),
        ),
        Table("hardware", "A row for each accelerator: datasheets' numbers.", _hardware),
        Table("hardware_figures", "The same numbers, each with its source.", _figures),
        Table("prices", "Prices, rack units and rated powers of products.", _prices),
    )
}

# Words by which a statement may reach tables without naming them.
_INDIRECT = ("query", "show", "describe", "summarize", "schema", "duckdb_", "pg_", "sqlite_")


def named_in(statement: str) -> frozenset[str]:
    """The tables that a statement may read: all where it may find them without their names."""
    text = statement.lower()
    if any(word in text for word in _INDIRECT):
        return frozenset(TABLES)
    return frozenset(name for name in TABLES if name in text)


def fill(
    database: engine.Database,
    names: frozenset[str],
    *,
    where: Path | None = None,
    prices: Path | None = None,
) -> list[Finding]:
    """Make tables with all rows in a database that may still read files.

    Args:
        database: An empty one.
        names: Which.
        where: The catalogue's folder instead of the user's.
        prices: The user's file of prices instead of the usual one.

    Returns:
        A finding for each damaged file.

    Raises:
        UsageError: The user's file of prices is wrong.
    """
    findings: list[Finding] = []
    if names & {"results", "runs"}:
        findings += open_results(database, where)
        if "runs" in names:
            findings += open_runs(database, where)
            database.execute("CREATE TABLE main.runs AS FROM temp.runs")
        if "results" in names:
            database.execute("CREATE TABLE main.results AS FROM temp.results")
        _drop_temporary(database)
    if names & {"hardware", "hardware_figures", "prices"}:
        _fill_figures(database, names, prices)
    return findings


def _drop_temporary(database: engine.Database) -> None:
    """Leave only the tables themselves: what they were made of is no part of the catalogue."""
    for kind in ("view", "table"):
        listed = f"SELECT {kind}_name FROM duckdb_{kind}s() WHERE temporary AND NOT internal"  # noqa: S608
        for (name,) in database.execute(listed).fetchall():
            database.execute(f"DROP {kind} temp.{name}")


def _fill_figures(database: engine.Database, names: frozenset[str], prices: Path | None) -> None:
    from trainmark.catalogue.figures.hardware import UNITS
    from trainmark.catalogue.figures.tables import load_tables

    tables = load_tables(prices)
    accelerators = list(tables.accelerators.values())
    made: dict[str, list[list[Any]]] = {"hardware": [], "hardware_figures": [], "prices": []}
    for one in accelerators:
        known = {name: figure.value for name, figure in one.figures.items()}
        made["hardware"].append(
            [one.name, one.vendor, one.architecture, one.year, *(known.get(name) for name in UNITS)]
        )
        for name, figure in one.figures.items():
            stated = [getattr(figure, column) for column, _ in _FIGURE]
            made["hardware_figures"].append([one.name, name, figure.value, *stated])
    wanted = [column.name for column in _prices()]
    made["prices"] = [
        [row.to_dict().get(name) for name in wanted] for row in tables.products.values()
    ]
    for name in sorted(names & made.keys()):
        columns = ", ".join(f'"{column.name}" {column.kind}' for column in TABLES[name].columns())
        database.execute(f"CREATE TABLE {name} ({columns})")
        engine.insert(database, name, made[name])
