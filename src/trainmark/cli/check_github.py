"""``trainmark check --format github``: annotations in the form of GitHub's workflow commands."""

import click

from trainmark.cli.check_output import (
    MOST_OF_A_KIND,
    Block,
    Tally,
    bounded,
    clean,
    level_of,
    relative,
    summary,
)
from trainmark.types import Finding, Severity

__all__ = ["GithubOutput"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class GithubOutput:
    """Prints an annotation for each finding: GitHub shows it at the line of the file."""

    def begin(self) -> None:
        """Nothing comes first."""

    def add(self, block: Block) -> None:
        """Print the findings of one folder."""
        for verdict in block.verdicts:
            findings, left_out = bounded(verdict.findings, MOST_OF_A_KIND)
            for finding in findings:
                level = level_of(finding, verdict)
                click.echo(_annotation(finding, finding.path or verdict.path, level))
            for rule, number in left_out.items():
                click.echo(f"{clean(relative(verdict.path))}: {number:,} more of {clean(rule)}")

    def end(self, tally: Tally) -> None:
        """Print the verdict in one line."""
        click.echo(": ".join(summary(tally)))


def _annotation(finding: Finding, path: str, level: Severity) -> str:
    places = {"file": relative(path)}
    if finding.line_no is not None:
        places["line"] = str(finding.line_no)
    places["title"] = finding.rule
    named = ",".join(f"{name}={_property(clean(value))}" for name, value in places.items())
    text = "\n".join(clean(part) for part in (finding.message, finding.fix) if part)
    return f"::{_COMMANDS[level]} {named}::{_message(text)}"


def _message(text: str) -> str:
    """Text after the second ``::``: line ends and the escape's own sign are escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property's value: its separators are escaped as well."""
    return _message(text).replace(":", "%3A").replace(",", "%2C")
