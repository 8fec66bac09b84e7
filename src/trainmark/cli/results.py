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
    match = re.fullmatch(r"([0-9]{1,9})|([0-9]{0,9})-([0-9]{0,9})", value)
    if match is not None and match[1]:
        return int(match[1]), int(match[1])
    least = int(match[2]) if match and match[2] else None
    greatest = int(match[3]) if match and match[3] else None
    neither = least is None and greatest is None
    if neither or (least is not None and greatest is not None and least > greatest):
        raise click.BadParameter(
            f"{value!r} is neither a number (16) nor a range (16-64, 16-, -64)", ctx, param
        )
    return least, greatest


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
    findings: list[Finding] = []
    found = query(filters, sort=sort, descending=reverse, where=where, on_finding=findings.append)
    for finding in findings:
        _warn(finding)
    shown = found[:limit] if limit else found
    if as_json or style == "json":
        results_table.print_json(shown, len(found))
    elif style == "csv":
        results_table.print_csv(shown)
    elif found:
        results_table.print_tables(shown, len(found))
    if not found:
        raise _nothing(filters, where, damaged=bool(findings))


# Each option with the fields of the filters that it fills, and the column that it is about.
_OPTIONS = {
    "--benchmark": (("benchmark",), "benchmark"),
    "--round": (("rounds",), "round"),
    "--submitter": (("submitter",), "submitter"),
    "--system": (("system",), "system"),
    "--accelerator": (("accelerator",), "accelerator"),
    "--framework": (("framework",), "framework"),
    "--division": (("division",), "division"),
    "--chips": (("chips_min", "chips_max"), "accelerators"),
    "--origin": (("origin",), "origin"),
}
_MOST_CHOICES = 12


def _nothing(filters: "Filters", where: Path | None, *, damaged: bool) -> "TrainmarkError":
    """That no result matches, and what there is when one filter is left out."""
    from trainmark.catalogue import Filters, choices, query
    from trainmark.types import TrainmarkError, printable

    hints, described = [], []
    for option, (names, column) in _OPTIONS.items():
        given = [name for name in names if name in filters.given()]
        if not given:
            continue
        described.append(f"{option} {_value(filters, names)}")
        less = filters
        for name in given:
            less = less.without(name)
        values = choices(column, less, where=where)
        if values:
            left_out = len(values) - _MOST_CHOICES
            more = f" and {left_out} more" if left_out > 0 else ""
            hints.append(f"{option} could be {', '.join(values[:_MOST_CHOICES])}{more}.")
    own = Filters(origin="own")
    if filters.origin == "own" and not query(own, where=where, on_finding=lambda _: None):
        hints = ["Nothing was recorded on this machine yet. Next: trainmark run resnet50"]
        if damaged:
            hints = ["Files of own results are damaged: the lines above name them."]
    return TrainmarkError(
        printable(
            f"no result matches {', '.join(described)}" if described else "the catalogue is empty"
        ),
        hint=printable(" ".join(hints) or "Leave out one of the filters."),
    )


def _value(filters: "Filters", names: tuple[str, ...]) -> str:
    """What an option was given, as a user writes it."""
    values = [getattr(filters, name) for name in names]
    if isinstance(values[0], tuple):
        return " ".join(values[0])
    shown = ["" if value is None else str(value) for value in values]
    return shown[0] if len(set(shown)) == 1 else "-".join(shown)


def _warn(finding: "Finding") -> None:
    from trainmark.types import printable

    click.echo(printable(f"trainmark: {finding.path}: {finding.message}. {finding.fix}"), err=True)
