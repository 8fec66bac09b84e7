"""A report on the terminal: what `trainmark run` prints at its end.

Every text goes out as ``rich.text.Text`` or with markup off, and free of control characters: a
system name that looks like markup or like an escape sequence shows as it is written.
"""

import textwrap
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
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
_SHORTEST = 8  # a text column is never made narrower
_BETWEEN_COLUMNS = 3
_UNBROKEN = 20  # a cell up to this long is never broken


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
    _table(console, run_table(entry, narrow=True))
    _named(console, "score", f"{wording.score_headline(entry)} ({entry.label})", style="bold")
    _named(console, "", wording.score_basis(entry))
    if rule := wording.score_rule(entry):
        _named(console, "", rule)
    if spread := wording.spread_sentence(entry):
        _named(console, "spread", spread)
    style = _VERDICT_STYLES[entry.compliant]
    _named(console, "checker", wording.verdict_sentence(entry), style=style)
    _findings(console, entry.findings)
    for fact in wording.facts(entry):
        _named(console, fact.name, f"{fact.value} ({fact.between})" if fact.between else fact.value)
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
        _table(console, earlier_table(shown, narrow=True))
    hidden = len(entry.comparisons) - len(shown)
    if hidden:
        _line(console, f"and {hidden} older", style="dim")


def _published(entry: Entry, console: Console) -> None:
    picked = pick(entry.published)
    if entry.kin is None or not picked:
        return
    _heading(console, f"Apart from this: published {entry.kin.model} results")
    _line(console, wording.apart(entry))
    _table(console, published_table(picked, PICKED, narrow=True))


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


def _named(console: Console, name: str, value: str, *, style: str = "") -> None:
    """``name  value``, the names in one column, long values wrapped in theirs."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(width=_NAME_WIDTH, style="dim")
    grid.add_column(ratio=1)
    grid.add_row(Text(printable(name)), Text(printable(value), style=style))
    console.print(grid, highlight=False)


def _line(console: Console, words: str, *, indent: int = 0, style: str = "") -> None:
    body = Text(printable(words), style=style)
    console.print(Padding(body, (0, 0, 0, indent)), highlight=False)


def _table(console: Console, table: Table) -> None:
    drawn = RichTable(
        title=Text(table.caption), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    headings = [textwrap.fill(h, _HEADING_WIDTH, break_long_words=False) for h in table.headings]
    longest = [
        max((len(row[i].text) for row in table.rows), default=0) for i in range(len(headings))
    ]
    unbroken = _unbroken(table, headings, longest, console.width)
    for i, heading in enumerate(headings):
        drawn.add_column(
            Text(heading),
            justify="right" if table.numeric[i] else "left",
            overflow="fold",
            no_wrap=table.numeric[i] or longest[i] <= unbroken,
            min_width=longest[i] if table.numeric[i] else min(longest[i], unbroken),
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell.text) for cell in row))
    console.print(drawn, highlight=False)


def _unbroken(table: Table, headings: list[str], longest: list[int], width: int) -> int:
    """How long a text may be and stay on one line, so that all columns fit and no number tears."""
    for limit in range(_UNBROKEN, _SHORTEST, -1):
        needed = _BETWEEN_COLUMNS * (len(headings) - 1)
        for i, heading in enumerate(headings):
            word = max(map(len, heading.split()), default=0)
            needed += max(word, longest[i] if table.numeric[i] else min(longest[i], limit))
        if needed <= width:
            return limit
    return _SHORTEST
