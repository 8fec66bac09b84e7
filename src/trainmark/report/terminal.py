"""A report on the terminal: what `trainmark run` prints at its end.

Every text goes out as ``rich.text.Text`` or with markup off, and free of control characters: a
system name that looks like markup or like an escape sequence shows as it is written.
"""

import textwrap
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from trainmark.report import wording
from trainmark.report.published import PICKED, pick
from trainmark.report.session import Entry, SessionReport
from trainmark.report.tables import Table, earlier_table, overview_table, published_table, run_table
from trainmark.types import Finding, Severity, printable

__all__ = ["print_session"]

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}
_VERDICT_STYLES = {True: "green", False: "bold red", None: "yellow"}
_MOST_GROUPS = 20
_MOST_PLACES = 3
_MOST_EARLIER = 5
_MOST_ENTRIES_IN_FULL = 3
_NAME_WIDTH = 22
_HEADING_WIDTH = 10
_BETWEEN_COLUMNS = 3
_UNBROKEN = 40  # a longer text is broken even where there is room
_BROKEN_FROM = 16  # before shorter texts are broken, the table goes without a column


def print_session(session: SessionReport, console: Console) -> None:
    """Print a report.

    A folder of many results gets one table of them; up to three are told in full.

    Args:
        session: The report.
        console: Where to; plain text when it is no terminal.
    """
    if len(session.entries) > 1:
        _table(console, overview_table(session.entries))
    if len(session.entries) <= _MOST_ENTRIES_IN_FULL:
        for entry in session.entries:
            _print_entry(entry, console)
    if session.findings:
        _heading(console, "Beside the logs")
        _findings(console, session.findings)
    console.print()
    _line(console, wording.NOTICE, style="dim")


def _print_entry(entry: Entry, console: Console) -> None:
    _heading(console, f"{entry.title} on {entry.machine_title}")
    if goal := wording.goal(entry):
        _line(console, goal)
    if setup := wording.setup(entry):
        _line(console, setup)
    console.print()
    _named(console, "score", f"{wording.score_headline(entry)} ({entry.label})", style="bold")
    _named(console, "", wording.score_story(entry))
    if spread := wording.spread_sentence(entry):
        _named(console, "spread", spread)
    style = _VERDICT_STYLES[entry.compliant]
    _named(console, "checker", wording.verdict_sentence(entry), style=style)
    if note := wording.rules_note(entry):
        _named(console, "", note)
    _findings(console, entry.findings)
    for fact in wording.facts(entry):
        _named(console, fact.name, f"{fact.value} ({fact.between})" if fact.between else fact.value)
    if note := " ".join(filter(None, (wording.facts_note(entry), wording.peak_note(entry)))):
        _named(console, "", note, style="dim")
    if entry.info is not None and entry.info.command:
        _named(console, "repeat it with", entry.info.command)
    _table(console, run_table(entry))
    _earlier(entry, console)
    _published(entry, console)


def _earlier(entry: Entry, console: Console) -> None:
    if entry.info is None or not entry.info.machine:
        return
    _heading(console, "Earlier on this machine")
    if not entry.comparisons:
        _line(console, "No earlier result of this benchmark: the next run will be compared.")
        return
    _line(console, f"Now: {wording.comparison_sentence(entry.comparisons[-1])}")
    shown = entry.comparisons[-_MOST_EARLIER:]
    if len(entry.comparisons) > 1:
        _table(console, earlier_table(shown))
    hidden = len(entry.comparisons) - len(shown)
    if hidden:
        _line(console, f"and {hidden} older", style="dim")


def _published(entry: Entry, console: Console) -> None:
    picked = pick(entry.published)
    if entry.kin is None or not picked:
        return
    _rule(console)
    _heading(console, wording.apart_heading(entry))
    _line(console, wording.apart(entry), style="yellow")
    _table(console, published_table(picked, PICKED, division=False))
    _rule(console)


def _findings(console: Console, findings: Iterable[Finding]) -> None:
    groups = wording.group(findings)
    for one in groups[:_MOST_GROUPS]:
        line = Text("  ")
        line.append(f"{one.severity} ", style=_STYLES[one.severity])
        line.append(printable(f"{one.rule}: {one.message}"))
        console.print(line, soft_wrap=False, highlight=False)
        if one.fix:
            _line(console, one.fix, indent=4)
        places = [place for place in one.places if place]
        for place in places[:_MOST_PLACES]:
            _line(console, place, indent=4, style="dim")
        if len(places) > _MOST_PLACES:
            _line(console, f"and {len(places) - _MOST_PLACES} more", indent=4, style="dim")
    if len(groups) > _MOST_GROUPS:
        _line(console, f"and {len(groups) - _MOST_GROUPS} more kinds of findings", indent=2)


def _heading(console: Console, words: str) -> None:
    console.print()
    console.print(Text(printable(words), style="bold underline"), highlight=False)


def _rule(console: Console) -> None:
    """A line across, so that what others published cannot be taken for this report's."""
    console.print()
    line = "=" if console.options.ascii_only else "\u2550"
    console.print(Rule(characters=line, style="yellow"))


def _named(console: Console, name: str, value: str, *, style: str = "") -> None:
    """``name  value``, the names in one column, long values wrapped in theirs."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(width=_NAME_WIDTH, style="dim")
    grid.add_column(ratio=1)
    grid.add_row(Text(printable(name)), Text(printable(value), style=style))
    console.print(grid, highlight=False)


def _line(console: Console, words: str, *, indent: int = 0, style: str = "") -> None:
    body = Text(printable(words), style=style)
    console.print(Padding(body, (0, 0, 0, indent), expand=False), highlight=False)


def _table(console: Console, table: Table) -> None:
    """A table as wide as the terminal at most: it goes without columns before it tears words."""
    console.print()
    _line(console, table.caption, style="bold")
    kept, widths = _fit(table, console.width)
    drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, width in zip(kept, widths, strict=True):
        drawn.add_column(
            Text(_wrapped(table.headings[i])),
            justify="right" if table.numeric[i] else "left",
            overflow="fold",
            width=width,
        )
    for row in table.rows:
        drawn.add_row(*(Text(row[i].text) for i in kept))
    console.print(drawn, highlight=False)
    left_out = [heading for i, heading in enumerate(table.headings) if i not in kept]
    if left_out:
        _line(console, f"No room here for: {', '.join(left_out)}.", style="dim")


def _wrapped(heading: str) -> str:
    return textwrap.fill(heading, _HEADING_WIDTH, break_long_words=False)


def _fit(table: Table, room: int) -> tuple[list[int], list[int]]:
    """The columns that fit and their widths."""
    kept = list(range(len(table.headings)))
    while True:
        optional = [i for i in kept if table.ranks[i]]
        shortest = _BROKEN_FROM if optional else 1
        for longest_text in range(_UNBROKEN, shortest - 1, -1):
            widths = [_width(table, i, longest_text) for i in kept]
            if sum(widths) + _BETWEEN_COLUMNS * (len(kept) - 1) <= room:
                return kept, widths
        if not optional:
            return kept, widths
        kept.remove(max(optional, key=lambda i: (table.ranks[i], i)))


def _width(table: Table, column: int, longest_text: int) -> int:
    """A column's width: numbers stay whole, text is broken after so many characters."""
    heading = max(map(len, _wrapped(table.headings[column]).splitlines()), default=1)
    longest = max((len(row[column].text) for row in table.rows), default=1)
    if table.numeric[column]:
        return max(heading, longest)
    return max(min(heading, longest_text), min(longest, longest_text))
