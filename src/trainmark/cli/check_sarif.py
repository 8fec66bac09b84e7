"""``trainmark check --format sarif``: SARIF 2.1.0, the form that code scanning services read."""

import json
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from trainmark import __version__
from trainmark.cli.check_json import plain
from trainmark.cli.check_output import (
    MOST_IN_DATA,
    Block,
    Tally,
    bounded,
    clean,
    level_of,
    relative,
    summary,
)
from trainmark.types import Finding, Severity

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["SarifOutput"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"  # the name that services use for the top of the checked-out tree


class SarifOutput:
    """Prints one run; each finding is a result, the rules that were broken come at its end."""

    def __init__(self) -> None:
        self._rules: dict[str, None] = {}
        self._any = False

    def begin(self) -> None:
        """Open the run and its list of results."""
        head = f'{{"$schema": {json.dumps(_SCHEMA)}, "version": "2.1.0", "runs": [{{"results": ['
        click.echo(head, nl=False)

    def add(self, block: Block) -> None:
        """Print the findings of one folder."""
        for verdict in block.verdicts:
            findings, left_out = bounded(verdict.findings, MOST_IN_DATA)
            for finding in (*findings, *_further(verdict, left_out)):
                self._rules[finding.rule] = None
                level = level_of(finding, verdict)
                result = _result(finding, finding.path or verdict.path, level)
                text = json.dumps(plain(result))
                click.echo(f"{',' if self._any else ''}\n{text}", nl=False)
                self._any = True

    def end(self, tally: Tally) -> None:
        """Print the rules and close the run."""
        rest = {
            "columnKind": "unicodeCodePoints",
            "tool": {
                "driver": {
                    "name": "trainmark",
                    "version": __version__,
                    "rules": [_rule(name) for name in self._rules],
                }
            },
            "invocations": [{"executionSuccessful": True}],
            "properties": {"summary": ": ".join(summary(tally))},
        }
        click.echo(f"\n],\n{json.dumps(plain(rest), indent=2)[2:-2]}\n}}]}}")


def _further(verdict: "Verdict", left_out: Mapping[str, int]) -> Iterator[Finding]:
    """One finding for those of a rule that are too many to be printed."""
    severities = {one.rule: one.severity for one in verdict.findings}
    for rule, number in left_out.items():
        message = f"{number:,} more findings of this kind"
        yield Finding(rule=rule, severity=severities[rule], message=message)


def _result(finding: Finding, path: str, level: Severity) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if finding.line_no is not None:
        location["region"] = {"startLine": finding.line_no}
        if finding.line:
            location["region"]["snippet"] = {"text": clean(finding.line)}
    more = {"expected": finding.expected, "found": finding.found}
    return {
        "ruleId": clean(finding.rule),
        "level": str(level),
        "message": {
            "text": clean(f"{finding.message}. {finding.fix}" if finding.fix else finding.message)
        },
        "locations": [{"physicalLocation": location}],
        "properties": {name: clean(text) for name, text in more.items() if text},
    }


def _artifact(path: str) -> dict[str, str]:
    """A path as a URI: below the working folder a relative one."""
    place = relative(path)
    uri = urllib.parse.quote(place.encode("utf-8", "surrogateescape"))
    return {"uri": f"file://{uri}"} if place.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _rule(name: str) -> dict[str, Any]:
    """A rule with what it is for."""
    from trainmark.rules.explain import find_explanation

    found = find_explanation(name)
    if found is None:
        return {"id": clean(name)}
    return {
        "id": clean(name),
        "shortDescription": {"text": found.title},
        "fullDescription": {"text": found.why},
        "help": {"text": f"{found.fix} ({found.section})"},
        "properties": {"official": found.official},
    }
