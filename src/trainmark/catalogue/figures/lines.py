"""Where in a TOML file a row or a key stands: the parser of the standard library does not tell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Place", "line_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """A table in the file: its name for people, its header, and which one of an array it is."""

    name: str
    header: str
    index: int | None = None


def line_of(text: str, place: Place, key: str) -> int | None:
    """The line of a key in its table, else of the table's header; None where it is not found.

    Tables may be written in other ways than with headers; then there is no line to tell.
    """
    number, found, top = -1, None, True
    for line, header, content in _headed(text):
        if header is not None:
            if found:
                return found
            top = False
            if not place.header and header.partition(".")[0] == key:
                return line
            if header == place.header:
                number += 1
                found = line if place.index in (None, number) else None
            continue
        inside = found or (top and not place.header)
        sought = key if inside else place.header if top else ""  # "list = 3" has no header
        if sought and _starts(content, sought):
            return line
    return found


def _headed(text: str) -> Iterator[tuple[int, str | None, str]]:
    """Each line's number, the header that it is, if it is one, and its content."""
    for number, content in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"\s*\[{1,2}\s*(.*?)\s*\]{1,2}\s*(#.*)?", content)
        header = match and match[1].replace('"', "").replace("'", "").replace(" ", "")
        yield number, header, content


def _starts(content: str, key: str) -> bool:
    return re.match(rf"\s*[\[\"']*{re.escape(key)}\b", content) is not None
