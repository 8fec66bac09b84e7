"""``trainmark scaling``: the time of one benchmark by the number of accelerators."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainmark.cli.shared_options import catalogue_folder, narrowing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainmark.analysis.scaling import Curve, Scaling, Step

__all__ = ["command"]


@click.command("scaling")
@click.argument("benchmark")
@click.option(
    "--accelerator", required=True, metavar="TEXT", help="The accelerator's name, or a part of it."
)
@click.option("--round", "round_name", metavar="ROUND", help="Only this round.")
@narrowing
@click.option("--all", "show_all", is_flag=True, help="Every result, not the best of each number.")
@click.option("--explain", is_flag=True, help="Say how every column is reckoned.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@catalogue_folder
def command(
    *,
    benchmark: str,
    accelerator: str,
    round_name: str | None,
    submitter: str | None,
    framework: str | None,
    division: str,
    show_all: bool,
    explain: bool,
    as_json: bool,
    where: Path | None,
) -> None:
    """Time to train BENCHMARK by the number of accelerators.

    Efficiency is against the fastest result of the smallest number: of the time, and of the
    throughput alone; what lies between them is samples, of which a larger batch needs more. Only
    results that compare are put together: the newest such rounds, or those of --round. Each
    accelerator has a table of its own, also where --accelerator names a family.

    Exit status: 0 results were found, 1 none matches, 2 a wrong request.
    """
    from trainmark.analysis.scaling import scaling
    from trainmark.analysis.series import Asked
    from trainmark.cli.damaged import warn
    from trainmark.types import Finding

    asked = Asked(
        benchmark=benchmark,
        accelerator=accelerator,
        round=round_name,
        submitter=submitter,
        framework=framework,
        division=division.lower(),
        where=where,
    )
    findings: list[Finding] = []
    found = scaling(asked, findings)
    warn(findings)
    if as_json:
        import json

        click.echo(json.dumps(found.to_dict(), indent=2))
        return
    _print(found, asked.division, show_all=show_all)
    if explain:
        click.echo(_EXPLANATION)


_EXPLANATION = """
speed-up    minutes of the smallest system / minutes
time eff.   speed-up / (chips / chips of the smallest)
rate eff.   samples/s / samples/s of the smallest / (chips / chips of the smallest)
samples/s   samples to the target / time, a factor of reference convergence taken out
samples     to the target: mean of the runs that count
reference   samples of the round's reference convergence points at that batch size"""


def _print(found: "Scaling", division: str, *, show_all: bool) -> None:
    from trainmark.cli.plain_table import terminal_width, wrapped

    shown = [curve for curve in found.curves if len(curve.best) > 1] or list(found.curves)
    for place, curve in enumerate(shown):
        if place:
            click.echo()
        _print_curve(found, curve, division, show_all=show_all)
    click.echo()
    for text in _ending(found, shown):
        for line in wrapped(text, width=terminal_width()):
            click.echo(line)


def _print_curve(found: "Scaling", curve: "Curve", division: str, *, show_all: bool) -> None:
    from trainmark.cli.plain_table import Column, table_lines, terminal_width, wrapped
    from trainmark.types import printable

    group = found.group
    head = f"{group.task} on {curve.accelerator}, {division}, by number of accelerators"
    click.echo(printable(head))
    click.echo(f"{group.name}: {group.span}, target {group.target}\n")
    steps = curve.steps if show_all else curve.best
    columns = [Column(heading, rank, right) for heading, rank, right in _COLUMNS]
    rows = [_row(step, show_all=show_all) for step in steps]
    for line in table_lines(columns, rows, width=terminal_width()):
        click.echo(line)
    notes = list(_notes(curve, show_all=show_all))
    if notes:
        click.echo()
    for note in notes:
        for line in wrapped(note, width=terminal_width()):
            click.echo(line)


# Heading, rank (the highest is left out first on a narrow terminal), whether it is set right.
_COLUMNS = (
    ("", 0, True),
    ("chips", 0, True),
    ("minutes", 0, True),
    ("speed-up", 2, True),
    ("time eff.", 0, True),
    ("rate eff.", 1, True),
    ("samples/s", 4, True),
    ("samples", 3, True),
    ("reference", 6, True),
    ("batch", 3, True),
    ("round", 2, True),
    ("submitter", 5, False),
    ("system", 7, False),
)


def _row(step: "Step", *, show_all: bool) -> tuple[str, ...]:
    from trainmark.cli.plain_table import amount, number, percent

    result = step.result
    return (
        "*" if show_all and step.best else "",
        f"{step.chips:,}",
        number(step.minutes),
        number(step.speed_up, 3),
        percent(step.time_efficiency, places=0),
        percent(step.throughput_efficiency, places=0),
        number(step.rate),
        amount(result.samples_to_target),
        amount(step.reference_samples),
        "" if result.global_batch_size is None else f"{result.global_batch_size:,.0f}",
        result.round or "own",
        result.submitter,
        result.system,
    )


def _notes(curve: "Curve", *, show_all: bool) -> "Iterator[str]":
    from trainmark.cli.plain_table import number

    if show_all:
        yield "* the fastest of its number of accelerators"
    elif len(curve.steps) > len(curve.best):
        yield f"The fastest of each number; --all shows all {len(curve.steps)} results."
    if curve.fit is not None:
        fit = curve.fit
        yield (
            f"Fit: minutes = {number(fit.factor)} x chips^-{fit.exponent:.3f} over {fit.counts} "
            f"numbers of chips; the points lie {fit.residual:.0%} around it."
        )
    for mark in curve.marks:
        yield f"Mark: {mark}"


def _ending(found: "Scaling", shown: "Sequence[Curve]") -> "Iterator[str]":
    """What is said once, below all tables."""
    from trainmark.cli.plain_table import number

    for curve in found.curves:
        if curve not in shown:
            step = curve.best[0]
            chips = f"{step.chips:,} {curve.accelerator}"
            yield f"One number alone: {chips}, {number(step.minutes)} minutes"
    if found.others:
        names = "; ".join(f"{one.name} ({one.span})" for one in found.others)
        yield f"Not comparable with these, see --round: {names}"
    yield "Speed-up, efficiencies and fit are derived, not official."
