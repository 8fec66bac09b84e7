"""Tables as plain text, for verbs that print several and must start fast.

On a terminal the columns that matter least are left out until the table fits; in a pipe every
column is there and no line is broken.
"""

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from trainmark.types import printable

__all__ = ["Column", "amount", "number", "percent", "table_lines", "terminal_width", "wrapped"]

_GAP = "  "
_LEAST_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        heading: Its heading.
        rank: The highest is left out first; 0 stays.
        right: Whether it is set to the right: numbers are.
    """

    heading: str
    rank: int = 0
    right: bool = True


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int | None = None
) -> list[str]:
    """The lines of a table: headings, then rows.

    A column without any text is left out.

    Args:
        columns: The columns.
        rows: A text for each column; made printable here.
        width: The greatest width; None for no limit.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [
        max((_wide(text) for text in (column.heading, *(row[i] for row in cells))), default=0)
        for i, column in enumerate(columns)
    ]
    kept = [i for i in range(len(columns)) if not cells or any(row[i] for row in cells)]
    for i in sorted(kept, key=lambda i: (-columns[i].rank, -i)):
        total = sum(widths[k] for k in kept) + len(_GAP) * (len(kept) - 1)
        if width is None or total <= width or columns[i].rank == 0:
            break
        kept.remove(i)
    lines = [[column.heading for column in columns], *cells]
    return [
        _GAP.join(_set(line[i], widths[i], columns[i].right) for i in kept).rstrip()
        for line in lines
    ]


def terminal_width() -> int | None:
    """The terminal's width; None when the output is no terminal."""
    return shutil.get_terminal_size().columns or None if sys.stdout.isatty() else None


def wrapped(text: str, *, width: int | None, first: str = "", rest: str = "  ") -> list[str]:
    """A text as lines that fit; on one line without a width; none for "".

    Args:
        text: Made printable here.
        width: The greatest width; None for no limit.
        first: What the first line begins with.
        rest: What the others begin with.
    """
    if not text or width is None:
        return [first + printable(text)] if text else []
    return textwrap.wrap(
        printable(text),
        max(width, _LEAST_WIDTH),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def number(value: float | None, digits: int = 4) -> str:
    """A number for people with so many significant digits, "" for none."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    places = digits - len(str(int(abs(value)))) if abs(value) >= 1 else digits - 1
    return f"{value:,.{max(0, places)}f}"


def amount(value: float | None) -> str:
    """A large number for people, four digits and a prefix: 48.68M; "" for none."""
    if value is None or abs(value) < 10_000:
        return number(value)
    size, prefix = next((size, p) for size, p in _PREFIXES if abs(value) >= size)
    return f"{number(value / size)}{prefix}"


_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def percent(value: float | None, *, sign: bool = False, places: int = 1) -> str:
    """A share as per cent, "" for none."""
    if value is None:
        return ""
    rounded = round(100 * value, places) + 0.0  # no -0.0
    return f"{rounded:{'+' if sign else ''}.{places}f}%"


def _wide(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _set(text: str, width: int, right: bool) -> str:
    space = " " * (width - _wide(text))
    return space + text if right else text + space
