"""``trainmark results --runs``: every run of the results that match."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from trainmark.catalogue.schema import RUN_COLUMNS, run_to_row
from trainmark.catalogue.search import Page, runs_by_result
from trainmark.cli import plain_table
from trainmark.cli.damaged import warn
from trainmark.cli.results_columns import cell
from trainmark.types import Finding, Result, Run

__all__ = ["COLUMNS", "run_cells", "show"]

# A result's id, the run's place among its runs, and the run.
Numbered = tuple[str, int, Run]
_AT_A_TIME = 250

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
    blocks = _blocks(page.results, where, evaluations=style != "table")
    if style == "json":
        _print_json(page, blocks)
    elif style == "csv":
        _print_csv(blocks)
    elif style == "parquet":
        _print_parquet(blocks, out)
    elif page.results:
        _print_table(page, blocks)


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


def _blocks(
    results: Sequence[Result], where: Path | None, *, evaluations: bool
) -> Iterator[list[Numbered]]:
    """The runs of some results at a time: those of all fill half a gigabyte."""
    told: set[str | None] = set()
    for start in range(0, len(results), _AT_A_TIME):
        some = results[start : start + _AT_A_TIME]
        findings: list[Finding] = []
        found = runs_by_result(
            some, evaluations=evaluations, where=where, on_finding=findings.append
        )
        warn(finding for finding in findings if finding.path not in told)
        told |= {finding.path for finding in findings}
        yield [(r.id, index, run) for r in some for index, run in enumerate(found[r.id])]


def _data(numbered: Numbered) -> dict[str, Any]:
    """A run as plain data: as ``Run.to_dict``, ten times faster."""
    result_id, index, run = numbered
    found = {column.name: getattr(run, column.name) for column in RUN_COLUMNS[2:]}
    found["target"] = None if run.target is None else run.target.to_dict()
    found["evaluations"] = [
        {
            "minutes": one.minutes,
            "samples": one.samples,
            "quality": one.quality,
            "train_loss": one.train_loss,
        }
        for one in run.evaluations
    ]
    return {"result_id": result_id, "run_index": index, **found}


def _print_json(page: Page, blocks: Iterable[list[Numbered]]) -> None:
    """``{"total_results": N, "runs": [...]}``, a run on each line."""
    click.echo(f'{{"total_results": {page.total}, "runs": [', nl=False)
    before = "\n"
    for block in blocks:
        lines = [json.dumps(_data(one), default=str) for one in block]
        if lines:
            click.echo(before + ",\n".join(lines), nl=False)
            before = ",\n"
    click.echo("\n]}")


def _print_csv(blocks: Iterable[list[Numbered]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(column.name for column in RUN_COLUMNS)
    for block in blocks:
        for one in block:
            row = _data(one)
            row["evaluations"] = json.dumps(row["evaluations"])
            writer.writerow([cell(value) for value in row.values()])


def _print_parquet(blocks: Iterable[list[Numbered]], out: Path | None) -> None:
    from trainmark.cli.parquet import send

    columns = [(column.name, column.sql) for column in RUN_COLUMNS]
    send(columns, ([run_to_row(*one) for one in block] for block in blocks), out)


def _print_table(page: Page, blocks: Iterable[list[Numbered]]) -> None:
    """One table for all: the result's id in front of its runs."""
    columns = (plain_table.Column("result", right=False), *COLUMNS)
    rows = [
        [result_id, *run_cells(index, run)[:-1], Path(run.source).name]
        for block in blocks
        for result_id, index, run in block
    ]
    width = plain_table.terminal_width()
    heading, *lines = plain_table.table_lines(columns, rows, width=width)
    click.secho(heading, bold=True)
    click.echo("".join(f"{line}\n" for line in lines), nl=False)
    shown = f"{len(page.results)} result{'' if len(page.results) == 1 else 's'}"
    if len(page.results) < page.total:
        shown += f" (of {page.total}; --limit 0 shows all)"
    click.secho(f"\n{len(rows)} run{'' if len(rows) == 1 else 's'} of {shown}.", dim=True)


def _whole(value: float | None) -> str:
    return " " if value is None else f"{value:,.0f}"
