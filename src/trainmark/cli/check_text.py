"""``trainmark check`` for people: folder by folder, errors first, alike findings of logs as one."""

import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainmark.cli.check_output import (
    MOST_OF_A_KIND,
    Block,
    Tally,
    clean,
    count,
    kind_of,
    summary,
)
from trainmark.types import Finding, Severity

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["TextOutput"]

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_ORDER = tuple(Severity)
_INDENT = " " * 6
_MOST_PLACES = 6
_MOST_EXAMPLES = 3
_FEW_MISSING = 3  # from here on missing records are told as one
_SUMMARY_FROM = 4  # failed logs and folders, from here on a table of the rules


@dataclass(slots=True)
class _Entry:
    """Findings that say the same of one or several files.

    Attributes:
        first: The first of them.
        found: Each with the file's name; "" for the folder itself.
    """

    first: Finding
    found: list[tuple[str, Finding]] = field(default_factory=list)

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.found))


class TextOutput:
    """Prints findings for people."""

    def begin(self) -> None:
        """Nothing comes first."""

    def add(self, block: Block) -> None:
        """Print what was found in one folder; nothing for one without findings."""
        entries = list(_entries(block))
        if not entries:
            return
        click.echo(_heading(block))
        shown: Counter[str] = Counter()
        table = [line for verdict in block.verdicts for line in verdict.table]
        for entry in entries:
            kind = kind_of(entry.first.rule)
            room = MOST_OF_A_KIND - shown[kind]
            shown[kind] += len(entry.found) if len(entry.files) == 1 else 1
            if room > 0:
                _print_entry(entry, block, room)
            if table and entry.first.rule.startswith("rcp."):
                _print_table(table)
                table = []
        for kind, number in shown.items():
            if number > MOST_OF_A_KIND:
                click.echo(clean(f"  and {number - MOST_OF_A_KIND:,} more of {kind}"))
        click.echo()

    def end(self, tally: Tally) -> None:
        """Print the verdict in one line; before it the rules broken, where there is much."""
        if tally.failed.total() >= _SUMMARY_FROM and tally.failed_folders > 1:
            click.echo("Errors by rule, and how many logs and folders have them:")
            for rule, number in tally.errors_by_rule.most_common():
                click.echo(f"  {number:>6,}  {clean(rule)}")
            click.echo()
        word, sentence = summary(tally)
        click.echo(f"{click.style(word, fg='green' if tally.ok else 'red', bold=True)}: {sentence}")


def _heading(block: Block) -> str:
    """The folder, or the log if it is alone, and the rules it was held to."""
    alone = len(block.logs) == 1 and not block.whole
    path = block.logs[0].path if alone else block.folder or "."
    about = [] if alone or not block.logs else [count(len(block.logs), "log")]
    reasons = dict.fromkeys(
        f"{verdict.ruleset.title}, {verdict.chosen}"
        for verdict in block.logs
        if verdict.ruleset is not None
    )
    rules = [verdict.ruleset.title for verdict in block.whole if verdict.ruleset is not None]
    about += list(reasons)[:_MOST_EXAMPLES] or rules[:1]
    return click.style(clean(path), bold=True) + clean(f"  ({'; '.join(about)})" if about else "")


def _entries(block: Block) -> Iterator[_Entry]:
    """The findings of a block, alike ones together, errors first."""
    entries: dict[tuple[str, ...], _Entry] = {}
    for verdict in block.verdicts:
        name = _name(verdict, block)
        for finding in verdict.findings:
            alike = (finding.severity, finding.rule, finding.fix, finding.expected)
            entries.setdefault(alike, _Entry(finding)).found.append((name, finding))
    found = sorted(entries.values(), key=lambda entry: _ORDER.index(entry.first.severity))
    return iter(_missing_together(found))


def _missing_together(entries: Sequence[_Entry]) -> list[_Entry]:
    """Several records missing from the same logs become one entry, where the first stands."""
    alike: dict[tuple[str, ...], list[_Entry]] = {}
    for entry in entries:
        if kind_of(entry.first.rule) == "rules.*.missing" and entry.first.line_no is None:
            alike.setdefault((entry.first.severity, *entry.files), []).append(entry)
    merged: dict[int, _Entry | None] = {}
    for several in alike.values():
        if len(several) >= _FEW_MISSING:
            merged |= {id(entry): None for entry in several}
            merged[id(several[0])] = _missing(several)
    mapped = (merged.get(id(entry), entry) for entry in entries)
    return [entry for entry in mapped if entry is not None]


def _missing(several: Sequence[_Entry]) -> _Entry:
    """One entry that names every record that is missing."""
    names = [entry.first.rule.removeprefix("rules.").removesuffix(".missing") for entry in several]
    first = Finding(
        rule="rules.*.missing",
        severity=several[0].first.severity,
        message=f"{len(names)} records that must be there are missing: {', '.join(names)}",
        fix="Log each of them with the value that the run used. What is asked for, and how often: "
        "trainmark rules show ROUND BENCHMARK",
        path=several[0].first.path,
    )
    return _Entry(first, [(name, first) for name in several[0].files])


def _name(verdict: "Verdict", block: Block) -> str:
    """A log's name within its block; "" for what the heading names."""
    if verdict.kind != "log" or (len(block.logs) == 1 and not block.whole):
        return ""
    return Path(verdict.path).name


def _print_entry(entry: _Entry, block: Block, room: int) -> None:
    if len(entry.files) == 1:
        for name, finding in entry.found[:room]:
            _print_one(name, finding)
            _print_advice(finding)
        return
    _print_several(entry, len(block.logs))


def _print_one(name: str, finding: Finding) -> None:
    """One finding with its place."""
    line = "" if finding.line_no is None else f" line {finding.line_no}"
    where = f" in {name}" if name else ""
    _print_headed(finding.severity, f"{where}{line}", finding.message)
    _print_details(finding)


def _print_several(entry: _Entry, logs: int) -> None:
    """One finding of several logs."""
    files = entry.files
    messages = {finding.message for _, finding in entry.found}
    many = f" in {len(files)} of {count(logs, 'log')}"
    if len(messages) == 1:
        _print_headed(entry.first.severity, many, entry.first.message)
        _print_details(entry.first)
        if len(files) < logs or entry.first.line_no is not None:
            _print_wrapped(_places(entry))
    else:
        _print_headed(entry.first.severity, many, "for example")
        by_file = dict(reversed(entry.found))
        for name in files[:_MOST_EXAMPLES]:
            finding = by_file[name]
            line = "" if finding.line_no is None else f" line {finding.line_no}"
            _print_wrapped(f"{name}{line}: {finding.message}")
            _print_details(finding)
        if len(files) > _MOST_EXAMPLES:
            left = [f"{name}" for name in files[_MOST_EXAMPLES:]]
            _print_wrapped(f"and likewise {_listed(left)}")
    _print_advice(entry.first)


def _places(entry: _Entry) -> str:
    """Where the findings of an entry stand: "result_0.txt:12, result_1.txt:14"."""
    firsts: dict[str, int | None] = {}
    for name, finding in entry.found:
        firsts.setdefault(name, finding.line_no)
    return "at " + _listed(
        [name if line is None else f"{name}:{line}" for name, line in firsts.items()]
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_PLACES])
    left = len(names) - _MOST_PLACES
    return f"{shown} and {left} more" if left > 0 else shown


def _print_headed(severity: Severity, where: str, message: str) -> None:
    """The first line of a finding; a long message goes on below."""
    head = f"  {severity}{clean(where)}: "
    lines = _wrapped(clean(message), head, _INDENT)
    styled = click.style(str(severity), fg=_COLOURS[severity], bold=True)
    click.echo(lines[0].replace(str(severity), styled, 1))
    for line in lines[1:]:
        click.echo(line)


def _print_details(finding: Finding) -> None:
    """The offending line, and what the message does not say of expected and found."""
    if finding.line:
        click.echo(f"{_INDENT}{clean(finding.line)}")
    for word, text in (("expected", finding.expected), ("found", finding.found)):
        if text and not _said(text, finding.message):
            _print_wrapped(f"{word}: {text}")


def _said(text: str, message: str) -> bool:
    """Whether a message says it already; "the value is 3" is said by "seed is 3" too."""
    return text in message or text.removeprefix("the value ") in message


def _print_advice(finding: Finding) -> None:
    text = f"[{finding.rule}] {finding.fix}".rstrip()
    for line in _wrapped(clean(text), _INDENT, _INDENT):
        click.echo(click.style(line, dim=True))


def _print_table(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(f"{_INDENT}{clean(line)}".rstrip())


def _print_wrapped(text: str) -> None:
    for line in _wrapped(clean(text), _INDENT, f"{_INDENT}  "):
        click.echo(line)


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    """Text on lines that fit the terminal; on one line in a pipe."""
    width = _width()
    if width is None:
        return [first + text]
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]


def _width() -> int | None:
    """The terminal's width, None where the output is no terminal."""
    try:
        columns = os.get_terminal_size(1).columns
    except (OSError, ValueError):
        return None
    return max(columns, 60) if columns else None
