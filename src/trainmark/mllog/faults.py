"""What is wrong with a record, in the words of JSON: nobody who reads them need know Python."""

import json
from typing import Any

from trainmark.types import printable

__all__ = ["json_fault", "kind_of", "shown"]

_SHOWN_CHARACTERS = 60
_SHOWN_PLACE = 20
_LOOKED_AT = 200
# What stands in the messages of Python's reader, and what a line should have held there.
_EXPECTED = {
    "Expecting value": "a value",
    "Expecting property name": "a name in double quotes",
    "Expecting ':'": "a colon",
    "Expecting ','": "a comma or a closing bracket",
    "Invalid control character": "no control character",
    "Invalid \\": "no such escape",
}
_KINDS = {str: "text", bool: "true or false", list: "a list", dict: "an object"}


def json_fault(error: Exception) -> str:
    """Why a text is no JSON, with what stands at the place.

    Args:
        error: What Python's reader has raised.
    """
    if isinstance(error, RecursionError):
        return "lists and objects are nested too deep"
    if not isinstance(error, json.JSONDecodeError):  # more digits than Python turns into a number
        return "a number has too many digits"
    rest = error.doc[error.pos : error.pos + _LOOKED_AT].strip(" \r\n")
    if not rest.strip():
        return "the line ends before its record does"
    if error.msg.startswith("Unterminated string"):
        return f"the line ends inside the quotes that begin at {_quoted(rest)}"
    expected = next((what for msg, what in _EXPECTED.items() if error.msg.startswith(msg)), "")
    return f"expected {expected or 'something else'} where {_quoted(rest)} stands"


def _quoted(rest: str) -> str:
    more = "…" if len(rest) > _SHOWN_PLACE else ""
    return f"{printable(rest[:_SHOWN_PLACE])}{more}"


def shown(value: Any) -> str:
    """A value as the log has it, in short."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return "something else"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def kind_of(value: Any) -> str:
    """What a value is where an object is wanted: "a list", "text", "a number"."""
    if value is None:
        return "null"
    return _KINDS.get(type(value), "a number")
