"""``trainmark history``: what software gained on the same hardware, round by round."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainmark.cli.shared_options import catalogue_folder, narrowing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainmark.analysis.history import Chain, Gain, History, Point

__all__ = ["command"]


def _chips(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """``16``, or ``all``."""
    if value is None or value.lower() == "all":
        return value and value.lower()
    if not value.isascii() or not value.isdecimal() or not 0 < int(value[:10]) < 10**9:
        raise click.BadParameter(f"{value!r} is neither a number (16) nor 'all'", ctx, param)
    return int(value)


@click.command("history")
@click.option("--benchmark", required=True, metavar="NAME", help="A benchmark or task.")
@click.option(
    "--accelerator", required=True, metavar="TEXT", help="The accelerator's name, or a part of it."
)
@click.option(
    "--chips",
    callback=_chips,
    metavar="N|all",
    help="The number of accelerators; all shows every number with two rounds. Without it: the "
    "vendor's number with most rounds.",
)
@narrowing
@click.option(
    "--any-submitter", is_flag=True, help="The fastest of all submitters, not one submitter's."
)
@click.option("--explain", is_flag=True, help="Say how every column is reckoned.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@catalogue_folder
def command(
    *,
    benchmark: str,
    accelerator: str,
    chips: int | str | None,
    submitter: str | None,
    any_submitter: bool,
    framework: str | None,
    division: str,
    explain: bool,
    as_json: bool,
    where: Path | None,
) -> None:
    """What software gained on the same hardware, round by round.

    The same accelerators, the same number of them, the same submitter: that of the accelerator's
    vendor, else the one with most rounds. Where rounds do not compare, the chain starts anew.
    Carried-over results are left out: they are no new measurement.

    Exit status: 0 results were found, 1 none matches, 2 a wrong request.
    """
    from trainmark.analysis.history import history
    from trainmark.analysis.series import Asked
    from trainmark.cli.damaged import warn
    from trainmark.types import Finding, printable

    findings: list[Finding] = []
    asked = Asked(
        benchmark=benchmark,
        accelerator=accelerator,
        submitter=submitter,
        framework=framework,
        division=division.lower(),
        where=where,
    )
    found = history(
        asked,
        chips=chips if isinstance(chips, int) else None,
        every_chain=chips == "all",
        any_submitter=any_submitter,
        findings=findings,
    )
    warn(findings)
    if as_json:
        import json

        click.echo(json.dumps(found.to_dict(), indent=2))
        return
    for chain in found.chains:
        _print(chain, found.task, asked.division, explain=explain)
    if explain:
        click.echo(_EXPLANATION)
    for line in _others(found):
        click.echo(printable(line))


_EXPLANATION = """\
gain         1 - minutes / minutes of the round before; below 0: slower
since first  1 - minutes / minutes of the first round since the chain started
[ ]          95 % bootstrap interval from the runs of both sides; ~ within noise: it holds 0
rate         samples/s over that of the round before
samples/s    samples to the target / time, a factor of reference convergence taken out
samples      to the target, over those of the round before; a larger batch needs more
The gains are derived, not official.
"""

# Heading, rank (the highest is left out first on a narrow terminal), whether it is set right.
_COLUMNS = (
    ("round", 0, True),
    ("minutes", 0, True),
    ("gain", 0, True),
    ("", 1, False),
    ("since first", 2, True),
    ("", 5, False),
    ("rate", 3, True),
    ("samples", 3, True),
    ("batch", 4, True),
    ("scaled", 6, True),
    ("framework", 4, False),
    ("submitter", 7, False),
    ("system", 8, False),
)


def _print(chain: "Chain", task: str, division: str, *, explain: bool) -> None:
    from trainmark.cli.plain_table import Column, table_lines, terminal_width, wrapped
    from trainmark.types import printable

    head = f"{task} on {chain.chips:,} {chain.accelerator}, {division}, round by round"
    click.echo(printable(head))
    click.echo(printable(f"Results of {chain.basis}"))
    columns = [Column(heading, rank, right) for heading, rank, right in _COLUMNS]
    several = len({point.result.submitter for point in chain.points}) > 1
    width = terminal_width()
    rows = [_row(point, several=several) for point in chain.points]
    lines = table_lines(columns, rows, width=width)
    click.echo(f"\n{lines[0]}")
    group = None
    for point, line in zip(chain.points, lines[1:], strict=True):
        if point.group != group:
            for reason in point.parted:
                for part in wrapped(f"-- the chain starts anew: {reason}", width=width, rest="   "):
                    click.echo(part)
            click.echo(f"-- {point.group.name}, target {point.group.target}")
            group = point.group
        click.echo(line)
    click.echo()
    for note in _notes(chain, explain=explain):
        for part in wrapped(note, width=width):
            click.echo(part)
    click.echo()


def _row(point: "Point", *, several: bool) -> tuple[str, ...]:
    from trainmark.cli.plain_table import number, percent

    result = point.result
    return (
        result.round or "",
        number(result.minutes),
        "" if point.since_before is None else percent(point.since_before.value),
        _interval(point.since_before),
        "" if point.since_first is None else percent(point.since_first.value),
        _interval(point.since_first),
        percent(point.rate_change, sign=True),
        percent(point.samples_change, sign=True),
        "" if result.global_batch_size is None else f"{result.global_batch_size:,.0f}",
        "" if result.scaling_factor == 1 else f"x {result.scaling_factor:.4g}",
        _framework(point),
        result.submitter if several else "",
        result.system,
    )


def _framework(point: "Point") -> str:
    result = point.result
    if result.framework_name:
        return f"{result.framework_name} {result.framework_version}".strip()
    return result.framework


def _interval(gain: "Gain | None") -> str:
    if gain is None or gain.low is None or gain.high is None:
        return ""
    noise = " ~" if gain.within_noise else ""
    low, high = (round(100 * end, 1) + 0.0 for end in (gain.low, gain.high))  # no -0.0
    return f"[{low:.1f}, {high:.1f}]{noise}"


def _notes(chain: "Chain", *, explain: bool) -> "Iterator[str]":
    if any(gain.within_noise for gain in _gains(chain)):
        yield "~ within noise: the interval holds 0"
    for point in chain.points:
        gains = [gain for gain in (point.since_before, point.since_first) if gain is not None]
        notes = {g.note for g in gains if g.note and (explain or g.low is None)}
        yield from (f"{point.result.round}: {note}" for note in sorted(notes))
    for mark in chain.marks:
        yield f"Mark: {mark}"
    yield "Gains are derived, not official."


def _gains(chain: "Chain") -> "Iterator[Gain]":
    for point in chain.points:
        yield from (gain for gain in (point.since_before, point.since_first) if gain is not None)


def _others(found: "History") -> "Iterator[str]":
    """How to ask for the other machines with several rounds."""
    import shlex

    by_name: dict[str, list[str]] = {}
    for name, chips in found.others:
        by_name.setdefault(name, []).append(str(chips))
    if by_name:
        yield "Others with two rounds or more:"
    for name, counts in by_name.items():
        yield f"  --accelerator {shlex.quote(name)} --chips {' or '.join(counts)}"
