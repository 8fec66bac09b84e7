"""``trainmark check`` for people: folder by folder, errors first, alike findings of logs as one."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trainmark.cli.check_alike import Entry, alike
from trainmark.cli.check_output import (
    MOST_OF_A_KIND,
    Block,
    Tally,
    clean,
    count,
    kind_of,
    summary,
    unread,
    wrapped,
)
from trainmark.types import Finding, Severity

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["TextOutput"]

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_INDENT = " " * 6
_MOST_PLACES = 6
_MOST_EXAMPLES = 3
_LONG = 80
_MOST_TOLD = 10_000  # folders whose findings are remembered
_SUMMARY_FROM = 4  # failed logs and folders, from here on a table of the rules


class TextOutput:
    """Prints findings for people."""

    def __init__(self) -> None:
        self._told: dict[tuple[tuple[str, ...], ...], str] = {}
        self._known: set[tuple[str, ...]] = set()
        self._commands: set[str] = set()

    def begin(self) -> None:
        """Nothing comes first."""

    def add(self, block: Block) -> None:
        """Print what was found in one folder; nothing for one without findings."""
        entries = alike(block)
        if not entries:
            return
        _print_heading(block)
        table = [line for verdict in block.verdicts for line in verdict.table]
        earlier = None if table else self._earlier(block, entries)
        if earlier is None:
            self._print_entries(entries, block, table)
            self._print_where_to_read(entries, block)
        else:
            word = "finding" if len(entries) == 1 else "findings"
            where = "the logs above" if earlier == block.folder else earlier
            click.echo(clean(f"  the same {word} as in {where}"))
        click.echo()

    def _earlier(self, block: Block, entries: Sequence[Entry]) -> str | None:
        """A folder of several files in which the same was found in every one, None without one."""
        files = len(block.files)
        if files < 2 or any(one.of_files and len(one.files) < files for one in entries):
            return None
        if any(len({finding.message for _, finding in one.found}) > 1 for one in entries):
            return None
        said = tuple(entry.signature for entry in entries)
        if said in self._told:
            return self._told[said]
        if len(self._told) < _MOST_TOLD:
            self._told[said] = block.folder
        return None

    def _print_entries(self, entries: Sequence[Entry], block: Block, table: Sequence[str]) -> None:
        """What was found, at most so many of a kind; the table under what it explains."""
        shown: Counter[str] = Counter()
        for entry in entries:
            kind = kind_of(entry.first.rule)
            room = MOST_OF_A_KIND - shown[kind]
            shown[kind] += _number(entry) if len(entry.files) == 1 else 1
            if room > 0 and self._is_known(entry):
                _print_shortly(entry, block)
            elif room > 0:
                _print_entry(entry, block, room)
            if table and entry.first.rule.startswith("rcp."):
                _print_table(table)
                table = ()
        for kind, number in shown.items():
            if number > MOST_OF_A_KIND:
                click.echo(clean(f"  and {number - MOST_OF_A_KIND:,} more of {kind}"))

    def _print_where_to_read(self, entries: Sequence[Entry], block: Block) -> None:
        """The command that shows all that the round asks for, once for each benchmark."""
        if any(one.first.is_error and one.first.rule.startswith("rules.") for one in entries):
            command = next(filter(None, map(_sheet_command, block.files)), "")
            if command and command not in self._commands:
                self._commands.add(command)
                _print_dim(f"All that is asked for: {command}")

    def _is_known(self, entry: Entry) -> bool:
        """Whether what to do about it stands further up; an error is always told in full."""
        advice = (entry.first.severity, entry.first.rule, entry.first.fix)
        known = advice in self._known and not entry.first.is_error
        if len(self._known) < _MOST_TOLD:
            self._known.add(advice)
        return known

    def end(self, tally: Tally) -> None:
        """Print the verdict in one line; before it the rules broken, where there is much."""
        if tally.failed.total() >= _SUMMARY_FROM and tally.failed_folders > 1:
            _print_rules(tally)
        word, sentence = summary(tally)
        first, *rest = wrapped(sentence, f"{word}: ", "  ")
        styled = click.style(word, fg="green" if tally.ok else "red", bold=True)
        click.echo("\n".join((first.replace(word, styled, 1), *rest)))


def _print_heading(block: Block) -> None:
    """The folder, or the file if it is alone, and the rules it was held to."""
    path = block.files[0].path if block.is_one_file else block.folder
    about = [count(len(block.files), block.kind)] if block.files and not block.is_one_file else []
    reasons = dict.fromkeys(
        f"{verdict.ruleset.title}, {verdict.chosen}" if verdict.chosen else verdict.ruleset.title
        for verdict in block.files or block.whole
        if verdict.ruleset is not None
    )
    about += list(reasons)[:_MOST_EXAMPLES]
    told = f"({'; '.join(about)})" if about else ""
    if len(wrapped(clean(f"{path}  {told}"), "", "")) == 1 or not told:
        click.echo(f"{click.style(clean(path), bold=True)}{clean(f'  {told}' if told else '')}")
        return
    click.echo(click.style(clean(path), bold=True))
    for line in wrapped(clean(told), "  ", "   "):
        click.echo(line)


def _sheet_command(verdict: "Verdict") -> str:
    """The command that shows the rules a log was held to, "" if it names no known benchmark."""
    if verdict.ruleset is None or verdict.benchmark in (None, "common", "generic"):
        return ""
    from trainmark.rules.tables import known_tables

    folder = verdict.ruleset.first_table.split("/")[0]
    benchmark, division = verdict.benchmark, verdict.division
    names = (benchmark, f"{division}_{benchmark}")  # as of round 0.6 and our own, and later ones
    if not any(f"{folder}/{name}.yaml" in known_tables() for name in names):
        return ""
    command = f"trainmark rules show {verdict.ruleset.name} {benchmark}"
    return f"{command} --division open" if division == "open" else command


def _print_rules(tally: Tally) -> None:
    """Which rules were broken how often, with what they say."""
    from trainmark.rules.explain import find_explanation

    click.echo("Errors by rule, and how many logs and folders have them")
    click.echo("(trainmark check --explain RULE tells more):")
    widest = max(map(len, tally.errors_by_rule))
    for rule, number in tally.errors_by_rule.most_common():
        found = find_explanation(rule)
        title = f"  {found.title}" if found else ""
        click.echo(clean(f"  {number:>6,}  {rule:<{widest}}{title}").rstrip())
    click.echo(f"They are in {count(tally.failed_folders, 'folder')}:")
    for folder in tally.first_failed:
        click.echo(f"  {clean(folder)}")
    if tally.failed_folders > len(tally.first_failed):
        click.echo(f"  and {tally.failed_folders - len(tally.first_failed):,} more")
    click.echo()


def _print_entry(entry: Entry, block: Block, room: int) -> None:
    if len(entry.files) == 1:
        readable = [one for one in entry.found if not unread(one[1])]
        for name, finding in readable[:room]:
            _print_one(name, finding)
        _print_advice(entry.first)
        return
    _print_several(entry, block)


def _number(entry: Entry) -> int:
    """The number of findings, with those beyond what is kept of a log."""
    return sum(unread(finding) or 1 for _, finding in entry.found)


def _print_one(name: str, finding: Finding) -> None:
    """One finding with its place."""
    _print_headed(finding.severity, _where(name, finding), finding.message)
    _print_details(finding)


def _where(name: str, finding: Finding) -> str:
    line = "" if finding.line_no is None else f" line {finding.line_no}"
    return f" in {name}{line}" if name else line


def _print_shortly(entry: Entry, block: Block) -> None:
    """On one line, what further up stands with all that there is to say."""
    name, finding = entry.found[0]
    where = _where(name, finding) if len(entry.files) == 1 else _many(entry, block)
    if len({one.message for _, one in entry.found}) > 1:
        where = f"{where}, as {_place(name, finding)}"
    more = _number(entry) - len(entry.files)
    text = f"{finding.message} (and {more:,} more)" if more else finding.message
    _print_headed(finding.severity, where, f"{text} [{finding.rule}]")


def _many(entry: Entry, block: Block) -> str:
    """In how many files, or places of a folder."""
    of_all = f"{len(entry.files):,} of {count(len(block.files), block.kind)}"
    return f" in {of_all}" if entry.of_files else f" in {len(entry.files):,} places"


def _print_several(entry: Entry, block: Block) -> None:
    """One finding of several files: the first as it is, others where they say something else."""
    many = _many(entry, block)
    firsts = _firsts(entry)
    name, finding = firsts[0]
    if len({one.message for _, one in entry.found}) == 1:
        _print_headed(finding.severity, many, finding.message)
        _print_details(finding)
        in_all = entry.of_files and len(entry.files) == len(block.files)
        if not in_all or finding.line_no is not None:
            _print_places("at", [_place(*one) for one in firsts], entry)
    else:
        _print_headed(finding.severity, f"{many}, as {_place(name, finding)}", finding.message)
        _print_details(finding)
        said, left = {finding.message}, []
        for name, finding in firsts[1:]:
            if finding.message in said or len(said) >= _MOST_EXAMPLES:
                left.append(_place(name, finding))
            else:
                said.add(finding.message)
                _printwrapped(f"{_place(name, finding)}: {finding.message}")
        _print_places("and likewise", left, entry)
    _print_advice(entry.first)


def _print_places(word: str, places: Sequence[str], entry: Entry) -> None:
    """Some names: of logs that are alike a few, of anything else more."""
    most = _MOST_PLACES if entry.of_files else 2 * _MOST_PLACES
    left = len(places) - most
    if places:
        more = f" and {left:,} more" if left > 0 else ""
        _printwrapped(f"{word} {', '.join(places[:most])}{more}")


def _firsts(entry: Entry) -> list[tuple[str, Finding]]:
    """The first finding of each file."""
    firsts: dict[str, Finding] = {}
    for name, finding in entry.found:
        firsts.setdefault(name, finding)
    return list(firsts.items())


def _place(name: str, finding: Finding) -> str:
    return name if finding.line_no is None else f"{name}:{finding.line_no}"


def _print_headed(severity: Severity, where: str, message: str) -> None:
    """The first line of a finding; a long message goes on below."""
    head = f"  {severity}{clean(where)}: "
    lines = wrapped(clean(message), head, _INDENT)
    styled = click.style(str(severity), fg=_COLOURS[severity], bold=True)
    click.echo(lines[0].replace(str(severity), styled, 1))
    for line in lines[1:]:
        click.echo(line)


def _print_details(finding: Finding) -> None:
    """The offending line, and what the message does not say of expected and found."""
    if finding.line:
        click.echo(f"{_INDENT}{clean(finding.line)}")
    if kind_of(finding.rule) == "rules.*.missing":  # its message says both
        return
    for word, text in (("expected", finding.expected), ("found", finding.found)):
        if text and text not in finding.line and not _said(text, finding.message):
            _printwrapped(f"{word}: {text}")


def _said(text: str, message: str) -> bool:
    """Whether a message says it already; "the value is 3" is said by "seed is 3" too."""
    return text in message or text.removeprefix("the value ") in message


def _print_advice(finding: Finding) -> None:
    fix, expected = finding.fix, finding.expected
    if len(expected) > _LONG and expected in finding.message:  # once is enough
        fix = fix.replace(f"so that {expected}", "as expected")
    _print_dim(f"[{finding.rule}] {fix}".rstrip())


def _print_dim(text: str) -> None:
    for line in wrapped(clean(text), _INDENT, _INDENT):
        click.echo(click.style(line, dim=True))


def _print_table(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(f"{_INDENT}{clean(line)}".rstrip())


def _printwrapped(text: str) -> None:
    for line in wrapped(clean(text), _INDENT, f"{_INDENT}  "):
        click.echo(line)
