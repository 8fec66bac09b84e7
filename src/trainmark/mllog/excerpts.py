"""Show lines of a log: shortened, printable, and read without holding the log."""

from collections.abc import Collection
from pathlib import Path

from trainmark.mllog.blocks import blocks
from trainmark.mllog.exact import shorten

__all__ = ["excerpts"]

_SHOWN_CHARACTERS = 160


def excerpts(path: str | Path, line_nos: Collection[int]) -> dict[int, str]:
    """The start of some lines of a file, as the reader counts them.

    Args:
        path: The file.
        line_nos: Their numbers, counted from 1.

    Returns:
        By number, at most 160 characters without control characters. A line that is not there,
        a record too long to be read, or a file that cannot be read has no entry.
    """
    left = sorted(set(line_nos), reverse=True)
    found: dict[int, str] = {}
    try:
        with Path(path).open("rb", buffering=0) as stream:
            first = 1
            for data, restarts in blocks(stream):
                first = 1 if restarts else first
                if data is None:
                    continue
                count = data.count(b"\n")
                lines = data.split(b"\n") if left and left[-1] < first + count else []
                while left and left[-1] < first + count:
                    number = left.pop()
                    if number >= first:
                        found.setdefault(number, shorten(lines[number - first], _SHOWN_CHARACTERS))
                if not left:
                    break
                first += count
    except OSError:
        return found
    return found
