"""What is wrong with a text that is nearly JSON, and where, in words for people."""

import re

from trainmark.rules.subjects import show
from trainmark.types import printable

__all__ = ["NO_COMMA", "after_spaces", "explain", "line_at", "line_breaks", "line_no"]

_SHOWN_CHARACTERS = 160
_SPACES = re.compile(r"[ \t\n\r]*")
NO_COMMA = "Expecting ',' delimiter"  # as the standard library says it
# What stands at the place where JSON ends being JSON, and what is wrong with it.
_FAULTS = (
    ("'", "names and texts stand in double quotes in JSON, not in single ones"),
    ("\N{LEFT DOUBLE QUOTATION MARK}", 'this is a typographic quotation mark; JSON has only "'),
    ("\N{RIGHT DOUBLE QUOTATION MARK}", 'this is a typographic quotation mark; JSON has only "'),
    ("//", "JSON has no comments"),
    ("/*", "JSON has no comments"),
    ("#", "JSON has no comments"),
    ("True", "true and false are written in small letters in JSON"),
    ("False", "true and false are written in small letters in JSON"),
    ("None", "an empty value is written null in JSON"),
    ("\0", "there is a NUL byte in the file"),
    ("\\", "a backslash in a text is written twice in JSON"),
    ('"', 'the " that ends this text is missing'),
    ("\n", 'the text of this line goes on over its end, or the " that ends it is missing'),
    ("\r", 'the text of this line goes on over its end, or the " that ends it is missing'),
    ("\t", "a tab in a text is written \\t in JSON"),
    ("{", "a second object stands here; expected a field"),
    (",", "there is a comma too many"),
)


def explain(text: str, place: int, reason: str = "") -> tuple[str, int]:
    """What is wrong where reading ended, and the place to show.

    Args:
        text: The file.
        place: Where reading ended.
        reason: What the standard library says, if it was asked.
    """
    if place >= len(text):
        return "the file ends in the middle of the object", max(len(text.rstrip()) - 1, 0)
    before = _last_before(text, place)
    if text[place] == "," and text[after_spaces(text, place + 1) :][:1] in ("}", "]"):
        return _trailing_comma(text, place), place
    if text[place] in "}]" and before >= 0 and text[before] == ",":
        return _trailing_comma(text, before), before
    fault = next((words for start, words in _FAULTS if text.startswith(start, place)), None)
    if reason == NO_COMMA and text[place] in '"{[' and before >= 0:
        place, fault = before, "a comma is missing after this"
    if fault is None:
        fault = f"{show(text[place : place + 20])} is not expected here"
    return f"this is not JSON at {_where(text, place)}: {fault}", place


def _trailing_comma(text: str, place: int) -> str:
    return f"a trailing comma at {_where(text, place)}: JSON has none after the last entry"


def after_spaces(text: str, place: int) -> int:
    """The first place from there on that holds no space of JSON's; the text's end otherwise."""
    match = _SPACES.match(text, place)
    return place if match is None else match.end()


def _last_before(text: str, place: int) -> int:
    """The place of the last character before that is no space; -1 if there is none."""
    place -= 1
    while place >= 0 and text[place] in " \t\n\r":
        place -= 1
    return place


def line_breaks(text: str, start: int, end: int) -> int:
    """Line ends (LF, CR LF, CR) between two places."""
    lone = text.count("\r", start, end) - text.count("\r\n", start, min(end + 1, len(text)))
    return text.count("\n", start, end) + lone


def line_no(text: str, place: int) -> int:
    """The line of a place, counted from 1."""
    return 1 + line_breaks(text, 0, place)


def _line_start(text: str, place: int) -> int:
    return 1 + max(text.rfind("\n", 0, place), text.rfind("\r", 0, place))


def _where(text: str, place: int) -> str:
    return f"line {line_no(text, place)}, column {place - _line_start(text, place) + 1}"


def line_at(text: str, place: int) -> str:
    """The line of a place, shortened around it and fit to be shown."""
    start = max(_line_start(text, place), place - _SHOWN_CHARACTERS // 2)
    piece = re.split(r"[\r\n]", text[start : start + _SHOWN_CHARACTERS], maxsplit=1)[0]
    return printable(piece.strip())
