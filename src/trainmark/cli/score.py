"""``trainmark score``: the official score of folders of result logs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.rules import FolderScore, Verdict

__all__ = ["command"]


@click.command("score")
@click.argument("path", type=click.Path())
@click.option("--round", "round_name", metavar="ROUND", help="Hold the logs to these rules.")
@click.option(
    "--scaling",
    type=click.Choice(["file", "reckon"]),
    default="file",
    show_default=True,
    help="Multiply with the factor in scaling.json, or with the one that reference convergence "
    "gives for these logs, as a second run of the official summarizer does.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Use so many processes."
)
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    path: str,
    round_name: str | None,
    scaling: str,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Score a benchmark folder, or every one below a folder.

    The score is the mean time of the runs without the fastest and the slowest, times the scaling
    factor. A run that did not succeed, or whose log breaks the rules, takes the slowest place.
    Nothing is written: the score is the same whenever it is asked for.

    Exit status: 0 every folder has a score, 1 one has none, 2 a wrong request.
    """
    from trainmark.rules import score_path

    scores = score_path(path, ruleset=round_name, reckon_scaling=scaling == "reckon", jobs=jobs)
    if as_json:
        import json

        from trainmark.cli.check_json import plain

        click.echo(json.dumps(plain([one.to_dict() for one in scores]), indent=2))
    else:
        for one in scores:
            _print_score(one)
        click.echo("Scores are unverified unless MLCommons has published them.")
    ctx.exit(0 if all(one.score.minutes is not None for one in scores) else 1)


def _print_score(folder: "FolderScore") -> None:
    from trainmark.types import printable

    click.echo(printable(folder.path))
    score = folder.score
    benchmark = printable(f"{folder.benchmark or 'no benchmark known':.60}")
    minutes = "no score" if score.minutes is None else f"{score.minutes:.3f} minutes"
    rules = "" if folder.ruleset is None else f", {folder.ruleset.title}"
    click.echo(f"  {click.style(minutes, bold=True)}  {benchmark}{rules}")
    _print(score.basis, "  ")
    for verdict in folder.verdicts:
        _print(_run_line(verdict), "    ")
    for finding in folder.findings:
        _print(finding.message, f"  {finding.severity}: ")
        _print(finding.fix, "      ")
    click.echo()


def _print(text: str, indent: str) -> None:
    """A text on as many lines as the terminal needs; in a pipe on one."""
    from trainmark.cli.check_output import wrapped
    from trainmark.types import printable

    for line in wrapped(printable(text), indent, " " * 6):
        click.echo(line)


def _run_line(verdict: "Verdict") -> str:
    """One run: its file, its minutes, why it does not count."""
    run = verdict.run
    minutes = "-" if run is None or run.minutes is None else f"{run.minutes:.3f}"
    line = f"{Path(verdict.path).name}  {minutes}"
    reason = next((finding.message for finding in verdict.findings if finding.is_error), "")
    return f"{line}  does not count: {reason.partition('; ')[0]}" if reason else line
