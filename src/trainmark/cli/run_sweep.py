"""``trainmark run WORKLOAD --sweep NAME=VALUE,VALUE``: a session for each value."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click
import orjson
from rich.console import Console

from trainmark.cli.plain_table import Column, table_lines, terminal_width
from trainmark.cli.run_session import Asked, Attempt, attempt, print_json
from trainmark.machine import describe_short
from trainmark.report.sweep import (
    Point,
    SweepReport,
    sweep_table,
    sweep_to_dict,
    write_sweep_page,
)
from trainmark.training import plugins
from trainmark.training.progress import ProgressLine
from trainmark.training.session import check_order, new_folder, safe_name
from trainmark.training.settings import describe
from trainmark.training.sweep import Sweep, parse_sweep
from trainmark.training.task import Workload
from trainmark.types import InterruptedRunError, UsageError, atomic_write, printable, unknown_name

__all__ = ["run"]

_DATA, _PAGE = "sweep.json", "sweep.html"


def run(
    names: Sequence[str], wanted: Sequence[str], asked: Asked, console: Console, *, as_json: bool
) -> int:
    """Carry out a sweep; the exit status.

    Args:
        names: The workloads' names; one is allowed.
        wanted: The setting and its values, as written; one is allowed.
        asked: What is asked for besides.
        console: Where progress goes.
        as_json: Whether to print everything as JSON.

    Raises:
        UsageError: The request makes no sense, or a value is not allowed; nothing was run.
        InterruptedRunError: Somebody stopped it; what had ended is written and shown before.
    """
    if len(names) > 1:
        raise UsageError(
            f"--sweep is for one workload, but {len(names)} are asked for",
            hint="Sweep them one by one.",
        )
    if len(wanted) > 1:
        raise UsageError(
            f"--sweep is for one setting, but {len(wanted)} are asked for",
            hint="Sweep them one by one, the other held by --set.",
        )
    workload: Workload = plugins.workload(names[0])
    if asked.scale not in workload.scales:
        raise unknown_name(f"scale of {workload.name}", asked.scale, workload.scales)
    sweep = parse_sweep(wanted[0], workload.scales[asked.scale](), asked.assignments)
    base = asked.folder(f"{workload.name}-{sweep.setting}")
    with new_folder(base):
        with ProgressLine(console) as progress:
            check_order(asked.order(workload.name, base), sweep.assignments, progress)
        return _run(workload, sweep, asked, base, console, as_json=as_json)


def _run(
    workload: Workload, sweep: Sweep, asked: Asked, base: Path, console: Console, *, as_json: bool
) -> int:
    attempts: list[Attempt] = []
    try:
        for number, assignment in enumerate(sweep.assignments, start=1):
            console.print(f"{assignment}: value {number} of {len(sweep.values)}", markup=False)
            order = asked.order(workload.name, base / safe_name(assignment), assignment)
            attempts.append(attempt(order, asked.catalogue, console))
    except InterruptedRunError as stopped:
        stopped.hint = f"Values that had ended before it: {len(attempts)}, in {base}."
        if attempts:
            _finish(workload, sweep, asked, attempts, base, as_json=as_json)
        raise
    report = _finish(workload, sweep, asked, attempts, base, as_json=as_json)
    return 0 if report.ok else 1


def _finish(
    workload: Workload,
    sweep: Sweep,
    asked: Asked,
    attempts: Sequence[Attempt],
    base: Path,
    *,
    as_json: bool,
) -> SweepReport:
    """Write and show what there is."""
    rows = describe(workload.scales[asked.scale])
    report = SweepReport(
        title=workload.title,
        workload=workload.name,
        scale=asked.scale,
        setting=sweep.setting,
        help=next(row["help"] for row in rows if row["name"] == sweep.setting),
        machine_title=describe_short(asked.system),
        command=shlex.join(asked.command),
        started=asked.started.isoformat(timespec="milliseconds"),
        points=tuple(
            Point(
                value=value,
                folder=one.order.out.name,
                entry=one.entry,
                error="" if one.error is None else one.error.message.splitlines()[0],
            )
            for value, one in zip(sweep.values, attempts, strict=False)
        ),
    )
    data = sweep_to_dict(report)
    atomic_write(base / _DATA, orjson.dumps(data, option=orjson.OPT_INDENT_2))
    write_sweep_page(report, base / _PAGE)
    if as_json:
        print_json(data | {"path": str(base), "page": str(base / _PAGE)})
    else:
        _show(report)
        click.echo(f"A session for each value, {_DATA} and page: {printable(base)}")
        click.echo(f"Open {printable(base / _PAGE)} in a browser.")
    return report


def _show(report: SweepReport) -> None:
    table = sweep_table(report)
    columns = [
        Column(heading, rank=rank, right=numeric)
        for heading, rank, numeric in zip(table.headings, table.ranks, table.numeric, strict=True)
    ]
    rows = [[cell.text for cell in row] for row in table.rows]
    click.echo(f"\n{table.caption}")
    for line in table_lines(columns, rows, width=terminal_width()):
        click.echo(line)
    click.echo(f"\nResults are {report.label}.")
