"""``trainmark check --format json``: one object, written verdict by verdict, in ASCII."""

import json
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.check_output import MOST_IN_DATA, Block, Tally, bounded, escaped

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["JsonOutput", "plain"]


class JsonOutput:
    """Prints ``{"verdicts": [...], "counts": {...}, "ok": true}``, each verdict at its time."""

    def __init__(self) -> None:
        self._any = False

    def begin(self) -> None:
        """Open the object."""
        click.echo('{"verdicts": [', nl=False)

    def add(self, block: Block) -> None:
        """Print the verdicts of one folder."""
        for verdict in block.verdicts:
            text = json.dumps(plain(_data(verdict)), indent=2)
            click.echo(f"{',' if self._any else ''}\n{text}", nl=False)
            self._any = True

    def end(self, tally: Tally) -> None:
        """Print the counts and close the object."""
        data = {
            "counts": {
                "checked": dict(tally.checked),
                "failed": dict(tally.failed),
                "tolerated": tally.tolerated,
                "findings": {str(severity): number for severity, number in tally.findings.items()},
                "errors_by_rule": dict(tally.errors_by_rule.most_common()),
            },
            "ok": tally.ok,
        }
        click.echo(f"\n],\n{json.dumps(plain(data), indent=2)[2:]}")


def _data(verdict: "Verdict") -> dict[str, Any]:
    """A verdict with so many findings of a rule at most, and how many more there were."""
    findings, left_out = bounded(verdict.findings, MOST_IN_DATA)
    data = verdict.to_dict() | {"findings": [finding.to_dict() for finding in findings]}
    return data | {"findings_left_out": left_out} if left_out else data


def plain(data: Any) -> Any:
    r"""Data for JSON whose texts every reader takes: bytes that are no UTF-8 as ``\xff``.

    NaN and the infinities, which JSON lacks, become null.
    """
    match data:
        case str():
            return escaped(data)
        case float() if data != data or data in (float("inf"), float("-inf")):
            return None
        case dict():
            return {plain(key): plain(value) for key, value in data.items()}
        case list() | tuple():
            return [plain(item) for item in data]
    return data
