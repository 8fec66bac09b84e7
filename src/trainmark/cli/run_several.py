"""``trainmark run A B ...``: a session for each workload, and one table at the end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from trainmark.cli.plain_table import Column, table_lines, terminal_width
from trainmark.cli.run_session import Asked, Attempt, attempt, print_json
from trainmark.report import format as text
from trainmark.report.medians import Medians, medians_of
from trainmark.training import plugins
from trainmark.training.session import new_folder, refuse_impossible
from trainmark.training.settings import change
from trainmark.types import InterruptedRunError, UsageError, printable, unknown_name

__all__ = ["expand", "run"]

ALL = "all"
_COLUMNS = (
    Column("Workload", right=False),
    Column("Reached"),
    Column("Minutes"),
    Column("Quality"),
    Column("Target", rank=2),
    Column("of", rank=3, right=False),
    Column("Samples", rank=1),
    Column("Samples/s"),
    Column("Padding", rank=4),
    Column("Checker", right=False),
)
_CHECKED = {True: "passes", False: "does not pass", None: "not checked"}


def expand(names: Sequence[str]) -> list[str]:
    """The workloads that are meant, each once, in the order given.

    Args:
        names: As written; "all" stands for every registered one.

    Raises:
        UsageError: There is no such workload.
    """
    known = plugins.workload_names()
    meant = [name for word in names for name in (known if word == ALL else [word])]
    for name in meant:
        if name not in known:
            raise unknown_name("workload", name, [*known, ALL])
    return list(dict.fromkeys(meant))


def run(names: Sequence[str], asked: Asked, console: Console, *, as_json: bool) -> int:
    """Carry out a session for each workload, whatever becomes of the others; the exit status.

    Args:
        names: The workloads' names.
        asked: What is asked for.
        console: Where progress goes.
        as_json: Whether to print everything as JSON.

    Raises:
        UsageError: The request makes no sense for one of them; nothing was run.
        InterruptedRunError: Somebody stopped it; what had ended is shown before.
    """
    _refuse(names, asked)
    base = asked.folder("several")
    with new_folder(base):
        return _run(names, asked, base, console, as_json=as_json)


def _run(names: Sequence[str], asked: Asked, base: Path, console: Console, *, as_json: bool) -> int:
    attempts: list[Attempt] = []
    try:
        for number, name in enumerate(names, start=1):
            console.print(f"{name}: workload {number} of {len(names)}", markup=False)
            attempts.append(attempt(asked.order(name, base / name), asked.catalogue, console))
    except InterruptedRunError as stopped:
        stopped.hint = f"Workloads that had ended before it: {len(attempts)}, in {base}."
        if attempts:
            _show(attempts, base, as_json=as_json)
        raise
    _show(attempts, base, as_json=as_json)
    return 0 if all(map(_is_fine, attempts)) else 1


def _refuse(names: Sequence[str], asked: Asked) -> None:
    """Look at the request for each workload before the first is run."""
    if asked.data is not None:
        raise UsageError(
            f"--data {asked.data} names the data of one workload, but {len(names)} are asked for",
            hint="Run those that need data one by one.",
        )
    for name in names:
        refuse_impossible(asked.order(name, asked.folder("several")))
        try:
            workload = plugins.workload(name)
        except UsageError:  # told when its turn comes: the others can be run
            continue
        if asked.scale not in workload.scales:
            raise unknown_name(f"scale of {name}", asked.scale, workload.scales)
        try:
            change(workload.scales[asked.scale](), asked.assignments)
        except UsageError as error:
            raise UsageError(f"{name}: {error.message}", hint=error.hint) from error


def _is_fine(one: Attempt) -> bool:
    return one.error is None and one.entry is not None and medians_of(one.entry).fine


def _show(attempts: Sequence[Attempt], base: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"folder": str(base), "sessions": [_to_dict(one) for one in attempts]})
        return
    click.echo()
    for line in table_lines(_COLUMNS, [_row(one) for one in attempts], width=terminal_width()):
        click.echo(line)
    click.echo("\nMinutes, quality, samples and rate are medians of the runs that have them.")
    labels = {one.entry.label for one in attempts if one.entry is not None}
    for label in sorted(labels):
        click.echo(f"Results are {label}.")
    click.echo(f"A folder with logs and report.html for each: {printable(base)}")


def _row(one: Attempt) -> list[str]:
    name = one.order.workload
    if one.entry is None:
        assert one.error is not None, "no runs and no error"
        return [name, *[""] * 8, f"failed: {one.error.message.splitlines()[0]}"]
    medians = medians_of(one.entry)
    target = medians.target
    return [
        name,
        f"{medians.reached} of {medians.runs}",
        _text(medians.minutes, text.minutes),
        _text(medians.quality, lambda value: text.quality(value, target)),
        "" if target is None else text.goal(target),
        "" if target is None else target.name or target.metric,
        _text(medians.samples, text.count),
        _text(medians.samples_per_second, text.rate),
        _text(medians.padding_share, text.share),
        _verdict(medians, one),
    ]


def _text(value: float | None, show: Any) -> str:
    return "" if value is None else str(show(value))


def _verdict(medians: Medians, one: Attempt) -> str:
    verdict = _CHECKED[medians.compliant]
    return verdict if one.error is None else f"{verdict}; {one.error.message.splitlines()[0]}"


def _to_dict(one: Attempt) -> dict[str, Any]:
    return {
        "workload": one.order.workload,
        "folder": str(one.order.out),
        "error": None if one.error is None else one.error.message,
        "medians": None if one.entry is None else medians_of(one.entry).to_dict(),
        "runs": [] if one.entry is None else [run.to_dict() for run in one.entry.runs],
    }
