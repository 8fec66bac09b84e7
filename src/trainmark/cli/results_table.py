"""How ``trainmark results`` prints: tables for people; CSV, JSON and Parquet for programs.

On a terminal the usual columns that matter least are left out until the table fits; columns that
were asked for stay. In a pipe every column is there and no line is broken.
"""

import csv
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from trainmark.catalogue.search import Page
from trainmark.cli import plain_table
from trainmark.cli.results_columns import DEFAULT, Choice, Deriving, cell, every, plain, text
from trainmark.types import Result, printable

__all__ = ["explanations", "print_csv", "print_json", "print_parquet", "print_tables"]

_LEAST_SYSTEM_WIDTH = 16
_WITHOUT_LIMIT = 100_000
# Which of the usual columns are left out first: those with the highest rank.
_RANKS = {
    "minutes": 0,
    "system": 0,
    "round": 1,
    "benchmark": 2,
    "chips": 3,
    "accelerator": 4,
    "submitter": 5,
    "division": 6,
    "framework": 7,
    "category": 8,
    "batch": 9,
}


def print_tables(
    page: Page, choices: Sequence[Choice], deriving: Deriving, *, by_minutes: bool
) -> None:
    """Print a table for each kind of standing: own and published results never share one.

    Args:
        page: What is shown, in order, and how many there are.
        choices: The columns.
        deriving: Reckons derived numbers.
        by_minutes: Whether they are in the order of their minutes.
    """
    width = plain_table.terminal_width()
    results = page.results
    usual = tuple(choice.name for choice in choices) == DEFAULT
    for title in dict.fromkeys(_title(result) for result in results):
        group = [result for result in results if _title(result) == title]
        heading, *lines = _lines(group, choices, deriving, width, usual=usual)
        click.secho(title, bold=True)
        click.secho(heading, bold=True)
        click.echo("\n".join(lines) + "\n")
    for line in _notes(page, choices, deriving, by_minutes=by_minutes):
        for part in textwrap.wrap(printable(line), width or _WITHOUT_LIMIT):
            click.secho(part, dim=True)


def print_csv(results: Sequence[Result], choices: Sequence[Choice], deriving: Deriving) -> None:
    """Print one line for each result, with a heading line; control characters are replaced."""
    rows = [[cell(plain(result, choice, deriving)) for choice in choices] for result in results]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(choice.name for choice in choices)
    writer.writerows(rows)


def print_json(
    page: Page, choices: Sequence[Choice] | None, deriving: Deriving, *, explain: bool
) -> None:
    """Print ``{"total": N, "results": [...]}`` in ASCII, a result on each line.

    Args:
        page: What is shown, in order, and how many there are.
        choices: The columns; all fields without it.
        deriving: Reckons derived numbers.
        explain: Whether each result says how its derived numbers came about.
    """
    shown = every() if choices is None else choices
    names = [choice.field for choice in choices or () if choice.derived]
    lines: list[str] = []
    for result in page.results:
        row = {choice.name: plain(result, choice, deriving) for choice in shown}
        if explain:
            found = deriving(result)
            row["derived"] = {name: found[name].to_dict() for name in names or found}
        lines.append(json.dumps(row))
    rows = ",\n".join(lines)
    click.echo(f'{{"total": {page.total}, "results": [\n{rows}\n]}}')


def print_parquet(
    results: Sequence[Result], choices: Sequence[Choice], deriving: Deriving, out: Path | None
) -> None:
    """Write the columns as Parquet, to a file or to standard output.

    Raises:
        UsageError: Standard output is a terminal, or the file cannot be made.
        TrainmarkError: The write failed.
    """
    from trainmark.cli.parquet import send

    columns = [(choice.name, choice.kind) for choice in choices]
    rows = [[_stored(plain(result, choice, deriving)) for choice in choices] for result in results]
    send(columns, [rows], out)


def explanations(
    results: Sequence[Result], choices: Sequence[Choice], deriving: Deriving
) -> Iterator[str]:
    """How the derived numbers of each result came about, or why there is none."""
    for result in results:
        yield result.id
        for choice in choices:
            if not choice.derived:
                continue
            found = deriving.number(result, choice.field)
            yield f"  {choice.name}: {found.formula or f'none: {found.missing}'}"
            yield from (f"    {mark}" for mark in found.marks)
            yield from (f"    source: {source}" for source in found.sources)


def _stored(value: Any) -> Any:
    """Text and mappings as Parquet can hold them."""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _title(result: Result) -> str:
    return printable(f"{result.origin.capitalize()} results: {result.label}")


def _lines(
    results: Sequence[Result],
    choices: Sequence[Choice],
    deriving: Deriving,
    width: int | None,
    *,
    usual: bool,
) -> list[str]:
    """The lines of one table, the heading first."""
    if usual and len({result.benchmark for result in results}) == 1:
        choices = [choice for choice in choices if choice.name != "benchmark"]
    columns = [
        plain_table.Column(choice.name, _RANKS[choice.name] if usual else 0, choice.is_number)
        for choice in choices
    ]
    rows: list[list[str]] = []
    for result in results:
        cells = [text(result, choice, deriving) or " " for choice in choices]
        if usual and result.framework_name:  # as written it may be a whole line
            named = f"{result.framework_name} {result.framework_version}".strip()
            cells[[choice.name for choice in choices].index("framework")] = named
        rows += [cells] if width is None or not usual else _folded(cells, choices, width)
    return plain_table.table_lines(columns, rows, width=width if usual else None)


def _folded(cells: list[str], choices: Sequence[Choice], width: int) -> list[list[str]]:
    """A row with the system's name on several lines where it is long."""
    place = next(i for i, choice in enumerate(choices) if choice.name == "system")
    name, most = printable(cells[place]), max(_LEAST_SYSTEM_WIDTH, width // 4)
    pieces = [name[start : start + most] for start in range(0, len(name), most)] or [""]
    rest = [" " for _ in cells]
    return [
        [*(cells if not i else rest)[:place], piece, *(cells if not i else rest)[place + 1 :]]
        for i, piece in enumerate(pieces)
    ]


def _notes(
    page: Page, choices: Sequence[Choice], deriving: Deriving, *, by_minutes: bool
) -> Iterator[str]:
    results = page.results
    benchmarks = sorted({result.benchmark for result in results})
    if len({result.task or result.benchmark for result in results}) == 1:
        yield f"Benchmark: {' and '.join(benchmarks)}. Time to train in minutes."
        if by_minutes:
            yield from _parted(results)
    else:
        yield "Minutes of different benchmarks cannot be compared: use --benchmark."
    if any(result.carried_over for result in results):
        yield "* the same logs are published under another name as well"
    if any(result.minutes is None for result in results):
        yield "none: no score; --json says why (score_basis)"
    yield from _derived_notes(results, choices, deriving)
    if len(results) < page.total:
        yield f"{len(results)} of {page.total} results; --limit 0 shows all."


def _parted(results: Sequence[Result]) -> Iterator[str]:
    """That results of one benchmark do not compare, where rounds had other targets or data."""
    if len({(result.round, result.task) for result in results}) < 2:
        return
    from trainmark.analysis.comparability import refusal

    for reason in refusal(results):
        yield f"Not all of these compare: {reason}."


def _derived_notes(
    results: Sequence[Result], choices: Sequence[Choice], deriving: Deriving
) -> Iterator[str]:
    """What has to stand beside derived numbers."""
    derived = [choice for choice in choices if choice.derived]
    if not derived:
        return
    yield "Derived numbers are not official; less is better. --explain says how each came about."
    for choice in derived:
        found = [deriving.number(result, choice.field) for result in results]
        missing = [number.missing for number in found if number.value is None]
        if missing:
            reasons = sorted(set(missing), key=lambda reason: (-missing.count(reason), reason))
            count = f"{len(missing)} of {len(found)} results"
            more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
            yield f"{choice.name} is not known of {count}: {reasons[0]}{more}"
