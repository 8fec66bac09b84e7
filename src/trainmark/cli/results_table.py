"""How ``trainmark results`` prints: tables for people, CSV and JSON for programs.

On a terminal the columns that matter least are left out until the table fits; in a pipe every
column is there and no line is wrapped.
"""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import click
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from trainmark.cli.screen import Screen
from trainmark.types import Result, printable

__all__ = ["print_csv", "print_json", "print_tables"]

_GAP = 2
_LEAST_SYSTEM_WIDTH = 16
_WITHOUT_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its heading, its text, and its rank: the highest rank is left out first."""

    heading: str
    text: Callable[[Result], str]
    rank: int
    right: bool = False


def _minutes(result: Result) -> str:
    if result.minutes is None:
        return "none"
    magnitude = abs(result.minutes)
    decimals = 1 if magnitude >= 100 else 2 if magnitude >= 10 else 3
    return f"{result.minutes:.{decimals}f}{'*' if result.carried_over else ''}"


def _chips(result: Result) -> str:
    return "" if result.accelerators is None else str(result.accelerators)


def _when(result: Result) -> str:
    return f"v{result.round}" if result.round else result.recorded[:16].replace("T", " ")


def _batch(result: Result) -> str:
    return "" if result.global_batch_size is None else f"{result.global_batch_size:.0f}"


_COLUMNS = (
    _Column("minutes", _minutes, 0, right=True),
    _Column("benchmark", lambda result: result.benchmark, 1),
    _Column("round", _when, 1),
    _Column("submitter", lambda result: result.submitter, 4),
    _Column("system", lambda result: result.system, 0),
    _Column("chips", _chips, 2, right=True),
    _Column("accelerator", lambda result: result.accelerator or "none", 3),
    _Column("division", lambda result: result.division, 5),
    _Column("category", lambda result: result.category, 7),
    _Column("framework", lambda result: result.framework, 6),
    _Column("batch", _batch, 8, right=True),
)


def print_tables(results: Sequence[Result], total: int) -> None:
    """Print a table for each kind of standing: own and published results never share one.

    Args:
        results: What is shown, in order.
        total: How many there are.
    """
    console = Screen()
    width = console.width if console.is_terminal else _WITHOUT_LIMIT
    console.width = width
    for title in dict.fromkeys(_title(result) for result in results):
        group = [result for result in results if _title(result) == title]
        console.print(Text(title, style="bold"))
        console.print(_table(group, width))
        console.print()
    for line in _notes(results, total):
        console.print(Text(line, style="dim"))


def print_csv(results: Sequence[Result]) -> None:
    """Print one line for each result, with a heading line; control characters are replaced."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Result))
    for result in results:
        writer.writerow([_plain(value) for value in result.to_dict().values()])
    click.echo(text.getvalue(), nl=False)


def print_json(results: Sequence[Result], total: int) -> None:
    """Print ``{"total": N, "results": [...]}`` in ASCII."""
    found = {"total": total, "results": [result.to_dict() for result in results]}
    click.echo(json.dumps(found, indent=2))


def _title(result: Result) -> str:
    return printable(f"{result.origin.capitalize()} results: {result.label}")


def _table(results: Sequence[Result], width: int) -> Table:
    columns = _fitting(results, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(
            column.heading, justify="right" if column.right else "left", overflow="fold"
        )
    for result in results:
        table.add_row(*(Text(printable(column.text(result))) for column in columns))
    return table


def _fitting(results: Sequence[Result], width: int) -> list[_Column]:
    """The columns that say something, less those of the highest ranks until the width fits."""
    columns = [c for c in _COLUMNS if c.heading != "benchmark" or _several(results)]
    widths = {
        c.heading: max(cell_len(c.heading), *(cell_len(printable(c.text(r))) for r in results))
        for c in columns
    }
    for column in sorted(columns, key=lambda column: -column.rank):
        if column.rank == 0 or _needed(columns, widths) <= width:
            break
        columns.remove(column)
    return columns


def _several(results: Sequence[Result]) -> bool:
    return len({result.benchmark for result in results}) > 1


def _needed(columns: Sequence[_Column], widths: dict[str, int]) -> int:
    """The width of a table; the system's name may be folded to its least width."""
    return sum(
        (min(widths["system"], _LEAST_SYSTEM_WIDTH) if c.heading == "system" else widths[c.heading])
        + _GAP
        for c in columns
    )


def _notes(results: Sequence[Result], total: int) -> list[str]:
    benchmarks = sorted({result.benchmark for result in results})
    notes = []
    if len(benchmarks) == 1:
        notes.append(f"Benchmark: {benchmarks[0]}. Time to train in minutes.")
    else:
        notes.append("Minutes of different benchmarks cannot be compared: use --benchmark.")
    if any(result.carried_over for result in results):
        notes.append("* the same logs are published under another name as well")
    if any(result.minutes is None for result in results):
        notes.append("none: no score; --json says why (score_basis)")
    if len(results) < total:
        notes.append(f"{len(results)} of {total} results; --limit 0 shows all.")
    return [printable(note) for note in notes]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        value = json.dumps(value)
    elif isinstance(value, list | tuple):
        value = "; ".join(str(item) for item in value)
    return printable(value) if isinstance(value, str) else value
