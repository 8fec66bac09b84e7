"""``trainmark check``: check result logs against the rules of their round."""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import click

from trainmark.types import UsageError

if TYPE_CHECKING:
    from trainmark.cli.check_output import Output, Tally
    from trainmark.cli.check_progress import Progress
    from trainmark.rules import Verdict
    from trainmark.rules.options import CheckOptions

__all__ = ["command"]

_FORMATS = ("text", "json", "github", "sarif", "junit")


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="PATH...")
@click.option("--round", "round_name", metavar="ROUND", help="Hold the logs to these rules.")
@click.option("--division", metavar="NAME", help="Take this instead of the logs' division.")
@click.option("--benchmark", metavar="NAME", help="Take this instead of the logs' benchmark.")
@click.option("--strict", is_flag=True, help="Every warning is an error.")
@click.option(
    "--seeds",
    type=click.Choice(["rule", "always"]),
    default="rule",
    show_default=True,
    help="Ask for seeds from round 4.1 on, as the rules have it, or always, as the official tool.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(_FORMATS),
    default=None,
    help="How to print what is found; text if not given. The last three are for CI systems.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use so many processes; by default all cores where there is much to read.",
)
@click.option(
    "--explain",
    metavar="RULE",
    help="Tell what a rule is for; with --round and --benchmark also what they ask for.",
)
@click.option(
    "--rcp-table",
    metavar="BENCHMARK",
    help="Print the reference convergence points of a benchmark in the round of --round.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    style: str | None,
    as_json: bool,
    explain: str | None,
    rcp_table: str | None,
    **asked: Any,
) -> None:
    """Check result logs, benchmark folders, systems, or whole submissions.

    Which rules apply is found from the log, else from a folder named after a round (v2.0,
    training_results_v2.0), else from the keys in the log; --round says it outright.

    Nothing is written into what is checked, and nothing in it is executed. Each finding names its
    rule in brackets; --explain RULE tells more.

    Exit status: 0 no errors, 1 errors were found, 2 a wrong request.
    """
    style = _style(style, as_json=as_json)
    if explain is not None or rcp_table is not None:
        _answer(ctx, explain, rcp_table, paths, asked, as_json=style == "json")
        return
    if not paths:
        raise UsageError(
            "no PATH is given",
            hint="Give result logs or folders, for example: trainmark check results/",
        )
    tally = _run(paths, _options(asked), _output(style))
    ctx.exit(0 if tally.ok else 1)


def _answer(
    ctx: click.Context,
    explain: str | None,
    rcp_table: str | None,
    paths: tuple[str, ...],
    asked: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Answer a question about the rules: no path is checked."""
    from trainmark.cli.check_explain import print_explanation, print_references

    if paths or (explain is not None and rcp_table is not None):
        raise UsageError(
            "--explain and --rcp-table check nothing and answer one question at a time",
            hint="Leave out PATH, and one of them.",
        )
    if explain is not None:
        print_explanation(
            explain,
            round_name=asked["round_name"],
            benchmark=asked["benchmark"],
            division=asked["division"],
            as_json=as_json,
        )
    elif rcp_table is not None:
        print_references(rcp_table, round_name=asked["round_name"], as_json=as_json)
    ctx.exit(0)


def _style(style: str | None, *, as_json: bool) -> str:
    if as_json and style not in (None, "json"):
        raise UsageError(
            f"--json and --format {style} contradict each other", hint="Leave out one of them."
        )
    return "json" if as_json else style or "text"


def _options(asked: dict[str, Any]) -> "CheckOptions":
    from trainmark.rules import ruleset_named
    from trainmark.rules.options import CheckOptions, SeedRule

    name = asked["round_name"]
    return CheckOptions(
        ruleset=None if name is None else ruleset_named(name),
        division=asked["division"],
        benchmark=asked["benchmark"],
        seeds=SeedRule(asked["seeds"]),
        strict=asked["strict"],
        jobs=asked["jobs"],
    )


def _run(paths: tuple[str, ...], options: "CheckOptions", output: "Output") -> "Tally":
    """Check every path and print each folder when it is done."""
    from contextlib import closing
    from itertools import chain, islice

    from trainmark.cli.check_output import Tally, grouped
    from trainmark.cli.check_progress import Progress
    from trainmark.rules import check_paths

    tally, progress = Tally(), Progress(paths)
    # Closed at once when the reader goes away: other processes are told to stop.
    with closing(_watched(check_paths(paths, options), progress)) as verdicts:
        # A wrong request must not leave half an answer: begin when the first verdict is there.
        first = list(islice(verdicts, 1))
        output.begin()
        for block in grouped(chain(first, verdicts)):
            progress.clear()
            tally.add(block)
            output.add(block)
    output.end(tally)
    return tally


def _watched(
    verdicts: "Iterator[Verdict]", progress: "Progress"
) -> "Generator[Verdict, None, None]":
    """The verdicts; each log is counted. What they come from is closed with it."""
    from trainmark.cli.check_lines import with_lines

    try:
        for verdict in verdicts:
            if verdict.kind == "log":
                progress.log_done(verdict.path)
            yield with_lines(verdict)
    finally:
        progress.clear()
        if isinstance(verdicts, Generator):
            verdicts.close()


def _output(style: str) -> "Output":
    """The format of that name; only its module is loaded."""
    match style:
        case "json":
            from trainmark.cli.check_json import JsonOutput

            return JsonOutput()
        case "github":
            from trainmark.cli.check_github import GithubOutput

            return GithubOutput()
        case "sarif":
            from trainmark.cli.check_sarif import SarifOutput

            return SarifOutput()
        case "junit":
            from trainmark.cli.check_junit import JunitOutput

            return JunitOutput()
    from trainmark.cli.check_text import TextOutput

    return TextOutput()
