"""What an import has done, for people and for programs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from trainmark.catalogue.importing.build import RoundFacts
from trainmark.catalogue.importing.imports import Imported, SourceReport
from trainmark.types import Finding, Result, Severity, printable

__all__ = ["Report", "as_text", "report_of"]

_EXAMPLES = 3
_COLUMNS = (
    ("round", "round"),
    ("results", "results"),
    ("scored", "with score"),
    ("open", "open"),
    ("carried_over", "filed before"),
    ("logs", "logs"),
    ("absent", "absent"),
    ("energy", "energy"),
    ("new", "new"),
    ("changed", "changed"),
    ("unchanged", "unchanged"),
    ("gone", "gone"),
    ("findings", "findings"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an import has done.

    Attributes:
        sources: One row of counts for each source, with the ids of what is new, changed or gone.
        groups: Findings by rule.
        published: The facts of the files that --out wrote, None without it.
        where: The catalogue's folder.
        bytes: Bytes of logs that were read.
        seconds: How long it took.
    """

    sources: tuple[Mapping[str, Any], ...]
    groups: Mapping[str, Sequence[Finding]]
    published: Mapping[str, RoundFacts] | None
    where: str
    bytes: int
    seconds: float

    @property
    def lost(self) -> bool:
        """Whether something was damaged so that facts are lost."""
        return any(found.is_error for group in self.groups.values() for found in group)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data for ``--json``."""
        return {
            "catalogue": self.where,
            "seconds": round(self.seconds, 3),
            "bytes": self.bytes,
            "sources": [dict(row) for row in self.sources],
            "findings": [one.to_dict() for group in self.groups.values() for one in group],
            "published": None
            if self.published is None
            else {name: facts.to_dict() for name, facts in self.published.items()},
        }


def report_of(
    imported: Imported, published: Mapping[str, RoundFacts] | None, *, seconds: float
) -> Report:
    """Count what was imported.

    Args:
        imported: What was imported.
        published: What --out wrote, None without it.
        seconds: How long it took.
    """
    results = imported.results()
    groups: dict[str, list[Finding]] = defaultdict(list)
    for source in imported.sources:
        for finding in dict.fromkeys(source.findings):  # once where folders share a system file
            groups[finding.rule].append(finding)
        if not any(one.id for one in source.state.folders.values()):
            groups["import.empty"].append(_empty(source.state.name))
    return Report(
        sources=tuple(_row(source, results) for source in imported.sources),
        groups=dict(sorted(groups.items())),
        published=published,
        where=str(imported.where),
        bytes=sum(source.bytes for source in imported.sources),
        seconds=seconds,
    )


def _empty(name: str) -> Finding:
    return Finding(
        rule="import.empty",
        severity=Severity.ERROR,
        message="no results are in it; logs are looked for as "
        "SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt",
        fix="Give the folder above the submitters, or one submitter's.",
        path=name,
    )


def _row(source: SourceReport, results: Mapping[str, Result]) -> dict[str, Any]:
    state = source.state
    own = [results[one.id] for one in state.folders.values() if one.id]
    return {
        "name": state.name,
        "round": state.round,
        "commit": state.commit,
        "published": state.published,
        "results": len(own),
        "scored": sum(result.minutes is not None for result in own),
        "open": sum(result.division == "open" for result in own),
        "carried_over": sum(result.carried_over for result in own),
        "logs": sum(one.runs for one in state.folders.values()),
        "timed": sum(one.timed for one in state.folders.values()),
        "absent": sum(one.runs - one.there for one in state.folders.values()),
        "energy": sum(result.energy_joules is not None for result in own),
        "skipped": state.skipped,
        "new": len(source.new),
        "changed": len(source.changed),
        "unchanged": source.unchanged,
        "gone": len(source.gone),
        "findings": len(set(source.findings)),
        "bytes": source.bytes,
        "ids": {"new": source.new, "changed": source.changed, "gone": source.gone},
    }


def as_text(report: Report) -> None:
    """Print the report."""
    for line in _table(report.sources):
        click.echo(line)
    for rule, findings in report.groups.items():
        click.echo()
        first = findings[0]
        click.echo(f"{first.severity}: {len(findings)} of [{rule}]")
        for finding in findings[:_EXAMPLES]:
            click.echo(f"    {printable(finding.where)}: {printable(finding.message)}")
        if len(findings) > _EXAMPLES:
            click.echo(f"    ... and {len(findings) - _EXAMPLES} more")
    click.echo()
    read = report.bytes / 1e6
    rate = read / report.seconds if report.seconds > 0 else 0.0
    click.echo(
        f"Read {read:,.{read < 10:d}f} MB of logs in {report.seconds:,.1f} s"
        f"{f' ({rate:,.{rate < 10:d}f} MB/s)' if report.bytes else ''}; "
        f"the catalogue is {printable(report.where)}"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sources, and all together where there are several."""
    shown = [[_cell(row, key) for key, _ in _COLUMNS] for row in rows]
    if len(rows) > 1:
        sums = {key: sum(row[key] for row in rows) for key, _ in _COLUMNS[1:]}
        shown.append(["all", *(f"{sums[key]:,}" for key, _ in _COLUMNS[1:])])
    lines = [[title for _, title in _COLUMNS], *shown]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def _cell(row: Mapping[str, Any], key: str) -> str:
    if key != "round":
        return f"{row[key]:,}"
    return str(row["round"]) if row["published"] else printable(f"{row['round']} {row['name']}")
