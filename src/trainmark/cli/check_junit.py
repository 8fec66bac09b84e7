"""``trainmark check --format junit``: a test case for each log and folder, for CI servers."""

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import click

from trainmark.cli.check_output import MOST_IN_DATA, Block, Tally, bounded, clean, fails
from trainmark.types import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainmark.rules import Verdict

__all__ = ["JunitOutput"]


class JunitOutput:
    """Prints a test suite for each folder; errors are failures, the rest stands beside them."""

    def begin(self) -> None:
        """Open the document."""
        click.echo('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="trainmark check">')

    def add(self, block: Block) -> None:
        """Print one folder's suite."""
        failed = sum(map(fails, block.verdicts))
        name = _attribute(block.folder)
        counts = f'tests="{len(block.verdicts)}" failures="{failed}" errors="0" skipped="0"'
        click.echo(f"  <testsuite name={name} {counts}>")
        for verdict in block.verdicts:
            _print_case(verdict, block)
        click.echo("  </testsuite>")

    def end(self, tally: Tally) -> None:
        """Close the document."""
        click.echo("</testsuites>")


def _print_case(verdict: "Verdict", block: Block) -> None:
    name = _attribute(Path(verdict.path).name or verdict.path)
    click.echo(
        f"    <testcase classname={_attribute(block.folder)} name={name} "
        f"file={_attribute(verdict.path)}>"
    )
    findings, left_out = bounded(verdict.findings, MOST_IN_DATA)
    errors = [finding for finding in findings if finding.is_error]
    more = [f"and {number:,} more of {rule}" for rule, number in left_out.items()]
    if fails(verdict):
        head = f"message={_attribute(errors[0].message)} type={_attribute(errors[0].rule)}"
        text = _text((*map(_line, errors), *more, *verdict.table))
        click.echo(f"      <failure {head}>{text}</failure>")
    others = [_line(one) for one in findings if verdict.tolerated or not one.is_error]
    if others:
        click.echo(f"      <system-out>{_text(others)}</system-out>")
    click.echo("    </testcase>")


def _line(finding: Finding) -> str:
    line = "" if finding.line_no is None else f" line {finding.line_no}"
    return f"{finding.severity}{line}: {finding.message} [{finding.rule}] {finding.fix}"


def _text(lines: "Iterable[str]") -> str:
    """Lines as XML text; ``clean`` leaves no character that XML forbids."""
    return _ascii(escape("\n".join(map(clean, lines))))


def _attribute(text: str) -> str:
    return _ascii(quoteattr(clean(text)))


def _ascii(text: str) -> str:
    """XML text that means the same in whatever encoding the output has."""
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
