"""``trainmark results --runs``: every run of the results that match."""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from trainmark.catalogue.search import Page, runs_by_result
from trainmark.cli import plain_table
from trainmark.cli.damaged import warn
from trainmark.cli.results_columns import cell
from trainmark.types import Finding, Result, Run

__all__ = ["COLUMNS", "run_cells", "show"]

COLUMNS = (
    plain_table.Column("run", right=True),
    plain_table.Column("minutes", right=True),
    plain_table.Column("status", 1, right=False),
    plain_table.Column("quality", 2, right=True),
    plain_table.Column("samples", 3, right=True),
    plain_table.Column("batch", 5, right=True),
    plain_table.Column("seed", 6, right=True),
    plain_table.Column("log", 4, right=False),
)


def show(page: Page, where: Path | None, *, style: str, out: Path | None) -> None:
    """Print the runs in the order of their results.

    Args:
        page: The results.
        where: The catalogue's folder instead of the user's.
        style: "table", "csv", "json" or "parquet".
        out: Where Parquet goes instead of standard output.
    """
    findings: list[Finding] = []
    found = runs_by_result(page.results, where=where, on_finding=findings.append)
    warn(findings)
    if style == "json":
        rows = [_row(result, i, run) for result, i, run in _each(page.results, found)]
        click.echo(json.dumps({"total_results": page.total, "runs": rows}, indent=2, default=str))
    elif style == "csv":
        _print_csv(page.results, found)
    elif style == "parquet":
        _print_parquet(page.results, found, out)
    elif page.results:
        _print_table(page, found)


def run_cells(index: int, run: Run) -> list[str]:
    """The texts of ``COLUMNS`` for one run.

    Args:
        index: Its place among the result's runs, from 0.
        run: The run.
    """
    status = run.status or "no run_stop"
    return [
        str(index),
        "none" if run.minutes is None else plain_table.number(run.minutes, 5),
        status if run.available else "absent from the repository",
        plain_table.number(run.quality, 5) or " ",
        _whole(run.samples_to_target),
        _whole(run.global_batch_size),
        " " if run.seed is None else str(run.seed),
        run.source,
    ]


def _each(
    results: Sequence[Result], found: dict[str, list[Run]]
) -> Iterator[tuple[Result, int, Run]]:
    for result in results:
        for index, run in enumerate(found[result.id]):
            yield result, index, run


def _row(result: Result, index: int, run: Run) -> dict[str, Any]:
    return {"result_id": result.id, "run_index": index, **run.to_dict()}


def _print_csv(results: Sequence[Result], found: dict[str, list[Run]]) -> None:
    from trainmark.catalogue.schema import RUN_COLUMNS

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(column.name for column in RUN_COLUMNS)
    for result, index, run in _each(results, found):
        row = _row(result, index, run)
        row["evaluations"] = json.dumps(row["evaluations"])
        writer.writerow([cell(row[column.name]) for column in RUN_COLUMNS])


def _print_parquet(
    results: Sequence[Result], found: dict[str, list[Run]], out: Path | None
) -> None:
    from trainmark.catalogue.schema import RUN_COLUMNS, run_to_row
    from trainmark.cli.parquet import send

    columns = [(column.name, column.sql) for column in RUN_COLUMNS]
    send(columns, [[run_to_row(r.id, index, run) for r, index, run in _each(results, found)]], out)


def _print_table(page: Page, found: dict[str, list[Run]]) -> None:
    """One table for all: the result's id in front of its runs."""
    columns = (plain_table.Column("result", right=False), *COLUMNS)
    rows = [
        [result.id, *run_cells(index, run)[:-1], Path(run.source).name]
        for result, index, run in _each(page.results, found)
    ]
    width = plain_table.terminal_width()
    heading, *lines = plain_table.table_lines(columns, rows, width=width)
    click.secho(heading, bold=True)
    for line in lines:
        click.echo(line)
    shown = f"{len(page.results)} result{'' if len(page.results) == 1 else 's'}"
    if len(page.results) < page.total:
        shown += f" (of {page.total}; --limit 0 shows all)"
    click.secho(f"\n{len(rows)} run{'' if len(rows) == 1 else 's'} of {shown}.", dim=True)


def _whole(value: float | None) -> str:
    return " " if value is None else f"{value:,.0f}"
