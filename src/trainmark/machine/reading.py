"""Small readers of /proc and /sys. What is not there, or not readable, is None or nothing.

Every reader takes a path below the root that it was given, so that a test describes a machine
by a small folder. Only ``OSError`` counts as "not visible from here"; anything else is a bug.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["children", "cpu_list", "fields", "number", "text"]


def text(path: Path) -> str | None:
    """The content of a small file on one line, without the NUL that ends device-tree texts."""
    try:
        content = path.read_bytes()
    except OSError:  # absent, not permitted, or a driver that refuses (a link that is down)
        return None
    return content.decode("utf-8", "replace").strip("\0 \t\n")


def number(path: Path) -> int | None:
    """The whole number that a file starts with, decimal or 0x..., None without one."""
    match = re.match(r"-?\d+\b|0x[0-9a-fA-F]+", text(path) or "")
    return int(match.group(), 0) if match else None


def fields(content: str, separator: str | None = None) -> Iterator[tuple[str, str]]:
    """(name, value) of each line ``name<separator>value``, white space as separator without one."""
    for line in content.splitlines():
        name, *rest = line.split(separator, 1)
        if rest:
            yield name.strip(), rest[0].strip()


def children(folder: Path, pattern: str = "*") -> list[Path]:
    """What a folder holds, in natural order; nothing when there is no such folder."""
    try:
        return sorted(folder.glob(pattern), key=_natural)
    except OSError:
        return []


def cpu_list(content: str) -> frozenset[int]:
    """The numbers in the kernel's list form, ``0-3,8,10-11``."""
    return frozenset(_spans(re.findall(r"(\d+)(?:-(\d+))?", content)))


def _spans(pairs: Iterable[tuple[str, str]]) -> Iterator[int]:
    for first, last in pairs:
        yield from range(int(first), int(last or first) + 1)


def _natural(path: Path) -> tuple[tuple[int, str], ...]:
    parts = re.findall(r"\d+|\D+", path.name)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
