"""``trainmark check``: check result logs against the rules of their round."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.rules import Verdict
    from trainmark.types import Finding

__all__ = ["command"]

_MOST_OF_A_KIND = 20
_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--round", "round_name", metavar="ROUND", help="Hold the logs to these rules.")
@click.option("--division", metavar="NAME", help="Take this instead of the logs' division.")
@click.option("--benchmark", metavar="NAME", help="Take this instead of the logs' benchmark.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    round_name: str | None,
    division: str | None,
    benchmark: str | None,
    as_json: bool,
) -> None:
    """Check result logs, benchmark folders, or whole submissions.

    Which rules apply is found from the log, else from a folder named after a round (v2.0,
    training_results_v2.0), else from the keys in the log; --round says it outright.

    Exit status: 0 no errors, 1 errors were found, 2 a wrong request.
    """
    from trainmark.rules import check_path

    verdicts = [
        verdict
        for path in paths
        for verdict in check_path(path, ruleset=round_name, division=division, benchmark=benchmark)
    ]
    ok = all(verdict.ok for verdict in verdicts)
    if as_json:
        import json

        data = {"ok": ok, "verdicts": [verdict.to_dict() for verdict in verdicts]}
        click.echo(json.dumps(data, indent=2))
    else:
        for verdict in verdicts:
            _print_verdict(verdict)
        click.echo(_summary(verdicts))
    ctx.exit(0 if ok else 1)


def _print_verdict(verdict: "Verdict") -> None:
    """One file and what was found in it; nothing for a file without findings."""
    from trainmark.types import printable

    if not verdict.findings:
        return
    rules = "" if verdict.ruleset is None else f"  ({verdict.ruleset.title}"
    why = f", {verdict.chosen})" if verdict.chosen else ")"
    click.echo(printable(f"{verdict.path}{rules}{why if rules else ''}"))
    shown: Counter[str] = Counter()
    for finding in verdict.findings:
        shown[finding.rule] += 1
        if shown[finding.rule] <= _MOST_OF_A_KIND:
            _print_finding(finding, verdict.path)
    for rule, count in shown.items():
        if count > _MOST_OF_A_KIND:
            click.echo(printable(f"  and {count - _MOST_OF_A_KIND} more of {rule}"))
    click.echo()


def _print_finding(finding: "Finding", path: str) -> None:
    from trainmark.types import printable

    severity = click.style(str(finding.severity), fg=_COLOURS[finding.severity], bold=True)
    line = "" if finding.line_no is None else f" line {finding.line_no}"
    where = "" if finding.path == path else f" {finding.path}"
    click.echo(f"  {severity}{line}{printable(where)}: {printable(finding.message)}")
    if finding.line:
        click.echo(f"      {printable(finding.line)}")
    click.echo(click.style(f"      [{printable(finding.rule)}] {printable(finding.fix)}", dim=True))


def _summary(verdicts: "Sequence[Verdict]") -> str:
    """The verdict in one line."""
    logs = [verdict for verdict in verdicts if verdict.kind == "log"]
    folders = [verdict for verdict in verdicts if verdict.kind == "folder"]
    failed = sum(not verdict.ok for verdict in logs)
    bad_folders = sum(not verdict.ok for verdict in folders)
    rules = _names(verdict.ruleset.title for verdict in verdicts if verdict.ruleset is not None)
    by = f" by {rules}" if rules else ""
    warnings = sum(f.severity == "warning" for verdict in verdicts for f in verdict.findings)
    noted = f"; {_count(warnings, 'warning')}" if warnings else ""
    if not failed and not bad_folders:
        return (
            f"{click.style('Valid', fg='green', bold=True)}: {_count(len(logs), 'log')}{by}{noted}."
        )
    parts = [
        f"{bad} of {_count(len(all_), noun)}"
        for bad, all_, noun in ((failed, logs, "log"), (bad_folders, folders, "folder"))
        if bad
    ]
    have = "has" if failed + bad_folders == 1 else "have"
    return (
        f"{click.style('Not valid', fg='red', bold=True)}: {' and '.join(parts)} {have} errors"
        f"{by}{noted}."
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
