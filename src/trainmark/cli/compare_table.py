"""Tables of ``trainmark compare``: up to three sides as columns, more of them as rows.

On a terminal everything fits its width: cells are folded, or columns left out. In a pipe no line is
broken.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainmark.cli.plain_table import Column, table_lines
from trainmark.types import printable

if TYPE_CHECKING:
    from trainmark.analysis.comparison import Against, Side, Versus

__all__ = ["MOST_COLUMNS", "advantages", "number", "sides"]

MOST_COLUMNS = 3
_GAP = 2
_LEAST_CELL = 12


def sides(versus: "Versus", width: int | None) -> list[str]:
    """The sides: what they are, their minutes, in what they differ."""
    if len(versus.sides) > MOST_COLUMNS:
        return _as_rows(versus, width)
    rows = [("", [side.letter for side in versus.sides])]
    for name, text in _FACTS:
        rows.append((name, [text(side) for side in versus.sides]))
    for name, text in _SPENT:
        cells = [text(side) for side in versus.sides]
        if any(cells):
            rows.append((name, [cell or "unknown" for cell in cells]))
    rows += [(one.name, [value or "unknown" for value in one.values]) for one in versus.differences]
    return _grid(rows, width)


def advantages(versus: "Versus", names: Sequence[str], width: int | None) -> list[str]:
    """A's speed, and its performance per something, where another side is 1.

    Args:
        versus: The comparison.
        names: The derived amounts to show.
        width: The terminal's width, None without a terminal.
    """
    rows: list[tuple[str, list[str]]] = [("", [f"{one.letter} = 1" for one in versus.against])]
    rows.append(("speed", [_speed(one) for one in versus.against]))
    for name in names:
        measures = [m for one in versus.against for m in one.measures if m.name == name]
        cells = [_interval(m.against.value, m.low, m.high) for m in measures]
        rows.append((f"per {measures[0].per}", cells))
    if len(versus.sides) <= MOST_COLUMNS:
        return _grid(rows, width)
    columns = [Column("", right=False), Column("A's speed")]
    columns += [Column(label, rank=place) for place, (label, _) in enumerate(rows[2:], start=1)]
    lines = [
        # without the intervals, for which there is no room
        [one.letter, *(cells[place].partition(" ")[0] for _, cells in rows[1:])]
        for place, one in enumerate(versus.against)
    ]
    return table_lines(columns, lines, width=width)


def number(value: float) -> str:
    """Minutes, to as many places as they are worth."""
    return f"{value:,.{1 if value >= 1000 else 2 if value >= 100 else 3}f}"


def _grid(rows: Sequence[tuple[str, Sequence[str]]], width: int | None) -> list[str]:
    """A label and a cell for each side in a row, cells folded where the width asks for it."""
    cells = [[printable(cell) for cell in row] for _, row in rows]
    labels = max(len(label) for label, _ in rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        room = width - labels - _GAP * len(widths)
        widths = _shared(widths, max(room, _LEAST_CELL * len(widths)))
    lines = []
    for (label, _), row in zip(rows, cells, strict=True):
        folded = [
            textwrap.wrap(cell, most, break_on_hyphens=False) or [""]
            for cell, most in zip(row, widths, strict=True)
        ]
        for place in range(max(map(len, folded))):
            parts = [f"{label if place == 0 else '':{labels}}"]
            for cell, most in zip(folded, widths, strict=True):
                parts.append(f"{cell[place] if place < len(cell) else '':{most}}")
            lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def _shared(widths: Sequence[int], room: int) -> list[int]:
    """The room among columns: what is narrow stays as it is, the others share the rest."""
    given = list(widths)
    while sum(given) > room:
        given[given.index(max(given))] -= 1
    return given


def _as_rows(versus: "Versus", width: int | None) -> list[str]:
    columns = [
        Column("", right=False),
        Column("minutes"),
        Column("interval", rank=4),
        Column("A's speed", rank=1),
        Column("system", right=False),
        Column("submitter", rank=6, right=False),
        Column("round", rank=2),
        Column("chips", rank=3),
        Column("cost", rank=4),
        Column("energy", rank=4),
        Column("division", rank=5, right=False),
        Column("accelerator", rank=7, right=False),
        Column("batch", rank=8),
        Column("framework", rank=9, right=False),
        Column("standing", rank=10, right=False),
    ]
    speeds = ["", *(_plain(one.speed) for one in versus.against)]
    rows = []
    for side, speed in zip(versus.sides, speeds, strict=True):
        result = side.result
        batch = result.global_batch_size
        rows.append(
            [
                side.letter,
                _minutes(side),
                _spread(side),
                speed,
                result.system,
                result.submitter,
                _round(side),
                "" if result.accelerators is None else f"{result.accelerators:,}",
                _cost(side),
                _energy(side),
                result.division,
                result.accelerator,
                "" if batch is None else f"{batch:,.0f}",
                result.framework,
                result.label,
            ]
        )
    return table_lines(columns, rows, width=width)


def _minutes(side: "Side") -> str:
    minutes = side.result.minutes
    return "no score" if minutes is None else number(minutes)


def _spread(side: "Side") -> str:
    found = side.estimate
    if found is None or found.low is None or found.high is None:
        return "none"
    return f"{number(found.low)} to {number(found.high)}"


def _runs(side: "Side") -> str:
    if not side.result.run_minutes:
        return "none with success"
    count = len(side.result.run_minutes) if side.estimate is None else side.estimate.runs
    failed = count - len(side.result.run_minutes)
    return f"{count}, {failed} of them failed" if failed > 0 else str(count)


def _round(side: "Side") -> str:
    result = side.result
    return f"v{result.round}" if result.round else result.recorded[:10] or "own"


def _chips(side: "Side") -> str:
    result = side.result
    if result.accelerators is None:
        return f"unknown number of {result.accelerator}" if result.accelerator else "unknown"
    if result.accelerators == 0:
        return "none"
    return f"{result.accelerators:,} {result.accelerator or 'of unknown kind'}"


_FACTS = (
    ("system", lambda side: side.result.system),
    ("submitter", lambda side: side.result.submitter),
    ("round", _round),
    ("standing", lambda side: side.result.label),
    ("accelerators", _chips),
    ("minutes", _minutes),
    ("95 % interval", _spread),
    ("runs", _runs),
)


def _cost(side: "Side") -> str:
    """What a run costs; "" unless it was asked how that is to be reckoned."""
    cost = side.derived["run_cost_usd"].value
    return "" if cost is None else f"{cost:,.2f} USD"


def _energy(side: "Side") -> str:
    joules = side.derived["energy_joules"].value
    return "" if joules is None else f"{joules / 1e6:,.4g} MJ"


_SPENT = (("cost of a run", _cost), ("measured energy", _energy))


def _speed(one: "Against") -> str:
    return _interval(one.speed, one.speed_low, one.speed_high)


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "none"
    if low is None or high is None:
        return _plain(value)
    return f"{_plain(value)} [{_plain(low)} to {_plain(high)}]"


def _plain(value: float | None) -> str:
    """A ratio to three digits after the point, or to three significant ones."""
    if value is None:
        return "none"
    return f"{value:.3f}" if 0.1 <= value < 100 else f"{value:.3g}"
