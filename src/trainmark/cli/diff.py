"""``trainmark diff``: runs of one machine before and after an update."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainmark.cli.shared_options import catalogue_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainmark.analysis.diff import Diff, Measure

__all__ = ["command"]

_BY = {"both": ("time", "throughput"), "time": ("time",), "throughput": ("throughput",)}


def _percent(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """``3%`` as 0.03."""
    if value is None:
        return None
    number = value.strip().removesuffix("%").strip()
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if not value.strip().endswith("%") or not 0 < share <= 10:
        raise click.BadParameter(
            f"{value!r} is no percentage between 0% and 1000%; write it as 3%", ctx, param
        )
    return share


@click.command("diff")
@click.argument("before", metavar="RUNS_A")
@click.argument("after", metavar="RUNS_B")
@click.option(
    "--fail-if-slower",
    "threshold",
    callback=_percent,
    metavar="P%",
    help="End with status 1 when B is slower beyond noise, and by more than P%.",
)
@click.option(
    "--by",
    type=click.Choice(tuple(_BY)),
    default="both",
    show_default=True,
    help="What decides: the time to train, the throughput, or the worse of them.",
)
@click.option(
    "--strict", is_flag=True, help="End with status 1 also when the runs are too few to tell."
)
@click.option(
    "--anyway", is_flag=True, help="Compare also where batch size, target or chips differ."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@catalogue_folder
@click.pass_context
def command(
    ctx: click.Context,
    *,
    before: str,
    after: str,
    threshold: float | None,
    by: str,
    strict: bool,
    anyway: bool,
    as_json: bool,
    where: Path | None,
) -> None:
    """Runs of one machine before (RUNS_A) and after (RUNS_B) an update.

    Each is a folder of result logs, or names own results as in trainmark compare. Time,
    throughput and samples to the target are told apart, each with the interval that the runs of
    both sides give: the time is noisy because of the samples, the throughput is not.

    Exit status: 0 not slower, or slower by less than --fail-if-slower; 1 slower beyond noise and
    by more, or no score any more; 2 a wrong request, or sides that are not alike.
    """
    from trainmark.analysis.diff import Outcome, diff
    from trainmark.cli.told import told

    if strict and threshold is None:
        raise click.UsageError("--strict needs --fail-if-slower", ctx)
    with told(f"reading {before} and {after} ..."):
        found = diff(before, after, threshold=threshold, by=_BY[by], anyway=anyway, where=where)
    if as_json:
        import json

        click.echo(json.dumps([one.to_dict() for one in found], indent=2))
    else:
        for place, one in enumerate(found):
            if place:
                click.echo()
            _print(one)
    untold = strict and any(one.outcome is Outcome.UNTOLD for one in found)
    no_score = any(one.outcome is Outcome.NO_SCORE for one in found)
    slower = threshold is not None and any(one.slower for one in found)
    ctx.exit(1 if slower or no_score or untold else 0)


def _print(one: "Diff") -> None:
    from trainmark.cli.plain_table import Column, table_lines, terminal_width, wrapped
    from trainmark.types import printable

    benchmark = one.after.result.benchmark or "no benchmark known"
    click.echo(printable(f"{benchmark}: {one.before.label} -> {one.after.label}"))
    counts = (f"{len(side.good)} of {len(side.runs)}" for side in (one.before, one.after))
    click.echo(f"Runs that count: {' and '.join(counts)}\n")
    columns = [Column(heading, rank, right) for heading, rank, right in _COLUMNS]
    rows = [_row(measure) for measure in one.measures]
    width = terminal_width()
    for line in table_lines(columns, rows, width=width):
        click.echo(line)
    headline = f"{click.style(_HEADLINES[one.outcome], bold=True)}{_limit(one)}"
    click.echo(f"\n{headline}")
    for reason in _reasons(one):
        for line in wrapped(reason, width=width, first="  ", rest="    "):
            click.echo(line)
    for text in (*one.unlike, *one.notes):
        for line in wrapped(f"Note: {text}", width=width):
            click.echo(line)
    if one.setup:
        click.echo("\nSet up otherwise:")
        rows = [(name, old or "(not said)", new or "(not said)") for name, old, new in one.setup]
        heads = [Column(text, right=False) for text in ("", "before", "after")]
        for line in table_lines(heads, rows):
            click.echo(f"  {line}")
    if any(side.result.origin != "published" for side in (one.before, one.after)):
        click.echo("Unverified: MLCommons has not reviewed these runs.")


# Heading, rank (the highest is left out first on a narrow terminal), whether it is set right.
_COLUMNS = (
    ("", 0, False),
    ("before", 0, True),
    ("after", 0, True),
    ("", 4, False),
    ("change", 0, True),
    ("95 % interval", 1, False),
    ("spread", 3, True),
    ("", 0, False),
)


def _row(measure: "Measure") -> tuple[str, ...]:
    from trainmark.cli.plain_table import amount, number, percent

    shown = amount if measure.name == "samples" else number
    return (
        measure.name,
        shown(measure.before) or "none",
        shown(measure.after) or "none",
        measure.unit,
        percent(_change(measure, measure.slowdown), sign=True),
        _interval(measure),
        percent(measure.spread),
        _word(measure),
    )


# What an outcome is called; of samples, which do not decide, more are not slower by themselves.
_WORDS = {
    "slower": "slower",
    "little slower": "slower, within the limit",
    "held": "within noise",
    "untold": "too few runs to tell",
    "faster": "faster",
    "no score": "no score",
}
_OF_SAMPLES = {"slower": "more", "little slower": "more", "faster": "fewer", "held": "within noise"}


def _word(measure: "Measure") -> str:
    if measure.name == "samples":
        return _OF_SAMPLES.get(measure.outcome, "")
    return _WORDS[measure.outcome]


def _change(measure: "Measure", slowdown: float | None) -> float | None:
    """The change of the quantity itself: throughput falls when time grows."""
    if slowdown is None:
        return None
    return 1 / (1 + slowdown) - 1 if measure.name == "throughput" else slowdown


def _interval(measure: "Measure") -> str:
    ends = [_change(measure, end) for end in (measure.low, measure.high)]
    if ends[0] is None or ends[1] is None:
        return ""
    low, high = sorted(round(100 * end, 1) + 0.0 for end in ends if end is not None)
    return f"[{low:+.1f}, {high:+.1f}]"


def _reasons(one: "Diff") -> "Iterator[str]":
    """What is to be said of each measure that decides."""
    for measure in one.measures:
        if measure.name not in one.judged:
            continue
        if measure.outcome == "untold":
            yield f"{measure.name}: {_untold(measure, one.threshold)}"
        elif measure.note:
            yield f"{measure.name}: {measure.note}"


_HEADLINES = {
    "slower": "Slower beyond noise",
    "little slower": "Slower beyond noise, within the limit",
    "held": "Within noise",
    "untold": "Too few runs to tell",
    "faster": "Faster beyond noise",
    "no score": "The runs after have no score: too many failed",
}


def _limit(one: "Diff") -> str:
    """What decided, and what the limit is; nothing did without a score."""
    if one.outcome == "no score":
        return "."
    names = [m.name for m in one.measures if m.name in one.judged and m.outcome == one.outcome]
    by = f", by {' and '.join(names)}" if names else ""
    return f"{by}." if one.threshold is None else f"{by}; limit {100 * one.threshold:.3g} %."


def _untold(measure: "Measure", threshold: float | None) -> str:
    """Why it cannot be told, and how many runs would tell it."""
    if measure.low is None:
        told = measure.note or "a side has no value"
    else:
        told = f"no change and {100 * (threshold or 0):.3g} % more time both lie in the interval"
    if measure.spread is None or threshold is None:
        return told
    runs = "over a thousand" if measure.needed is None else f"about {measure.needed}"
    return f"{told}; at a spread of {measure.spread:.1%} {runs} runs on each side would tell"
