"""``trainmark results``: list published and own results."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from trainmark.catalogue import Filters
    from trainmark.types import Finding, TrainmarkError

__all__ = ["command"]


Range = tuple[int | None, int | None]


def _chips(ctx: click.Context, param: click.Parameter, value: str | None) -> Range:
    """``16``, ``16-64``, ``16-`` or ``-64`` as (least, greatest)."""
    if value is None:
        return None, None
    match = re.fullmatch(r"(\d{1,9})|(\d{0,9})-(\d{0,9})", value)
    if match is None or value == "-":
        raise click.BadParameter(
            f"{value!r} is neither a number (16) nor a range (16-64, 16-, -64)", ctx, param
        )
    if match[1]:
        return int(match[1]), int(match[1])
    return int(match[2]) if match[2] else None, int(match[3]) if match[3] else None


@click.command("results")
@click.option("--benchmark", metavar="NAME", help="A benchmark, for example resnet or bert.")
@click.option("--round", "rounds", multiple=True, metavar="ROUND", help="A round; repeatable.")
@click.option("--submitter", metavar="TEXT", help="A part of the submitter's name.")
@click.option("--system", metavar="TEXT", help="A part of the system's name or folder.")
@click.option("--accelerator", metavar="TEXT", help="A part of the accelerator's name.")
@click.option("--framework", metavar="TEXT", help="A part of the framework's name.")
@click.option("--division", type=click.Choice(["closed", "open"], case_sensitive=False))
@click.option("--chips", callback=_chips, metavar="N|MIN-MAX", help="Number of accelerators.")
@click.option("--origin", type=click.Choice(["published", "own"], case_sensitive=False))
@click.option(
    "--sort",
    default="minutes",
    show_default=True,
    metavar="KEY",
    help="minutes, round, benchmark, submitter, system, accelerator, chips, nodes, framework, "
    "batch, samples or recorded.",
)
@click.option("--reverse", is_flag=True, help="The greatest first.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=25,
    show_default=True,
    metavar="N",
    help="Show at most N results; 0 shows all.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--catalogue",
    "where",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="The folder of own results, instead of the user's.",
)
def command(
    *,
    chips: Range,
    sort: str,
    reverse: bool,
    limit: int,
    style: str,
    as_json: bool,
    where: Path | None,
    **asked: Any,
) -> None:
    """List published results, and your own, by time to train.

    Published results were verified by MLCommons in their round; your own are unverified. Text
    filters find any part of a name, in any case.

    Exit status: 0 results were found, 1 none matches, 2 a wrong request.
    """
    from trainmark.catalogue import Filters, query
    from trainmark.cli import results_table

    least, greatest = chips
    filters = Filters(chips_min=least, chips_max=greatest, **asked)
    found = query(filters, sort=sort, descending=reverse, where=where, on_finding=_warn)
    shown = found[:limit] if limit else found
    if as_json or style == "json":
        results_table.print_json(shown, len(found))
    elif style == "csv":
        results_table.print_csv(shown)
    elif found:
        results_table.print_tables(shown, len(found))
    if not found:
        raise _nothing(filters, where)


def _nothing(filters: "Filters", where: Path | None) -> "TrainmarkError":
    """That no result matches, and what there is when one filter is left out."""
    from trainmark.catalogue import Filters, choices, query
    from trainmark.types import TrainmarkError, printable

    columns = {name: name for name in ("submitter", "system", "accelerator", "framework")}
    columns |= {"benchmark": "benchmark", "rounds": "round", "division": "division"}
    columns |= {"origin": "origin", "chips_min": "accelerators", "chips_max": "accelerators"}
    hints = []
    for name in filters.given():
        less = filters.without(name)
        count = len(query(less, where=where, on_finding=lambda _: None))
        if count:
            values = choices(columns[name], less, where=where)
            more = f" and {len(values) - 12} more" if len(values) > 12 else ""
            hints.append(f"{_option(name)} could be {', '.join(values[:12])}{more}.")
    if filters.origin == "own" and not query(Filters(origin="own"), where=where):
        hints = ["Nothing was recorded on this machine yet. Next: trainmark run resnet50"]
    described = ", ".join(f"{_option(n)} {_value(filters, n)}" for n in filters.given())
    return TrainmarkError(
        printable(f"no result matches {described}" if described else "the catalogue is empty"),
        hint=printable(" ".join(hints) or "Leave out one of the filters."),
    )


def _option(name: str) -> str:
    return {"rounds": "--round", "chips_min": "--chips", "chips_max": "--chips"}.get(
        name, f"--{name}"
    )


def _value(filters: "Filters", name: str) -> str:
    value = getattr(filters, name)
    return " ".join(value) if isinstance(value, tuple) else str(value)


def _warn(finding: "Finding") -> None:
    from trainmark.types import printable

    click.echo(printable(f"trainmark: {finding.path}: {finding.message}. {finding.fix}"), err=True)
