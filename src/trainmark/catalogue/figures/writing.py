"""Add a row to the user's own file of figures; what stands there already stays as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from trainmark.catalogue.figures.prices import Product
from trainmark.catalogue.figures.reading import KINDS, parse_table, read_text
from trainmark.types import UsageError, atomic_write

__all__ = ["Value", "add_row", "slug"]

Value = str | float | bool | Sequence[str]

_HEAD = "# Figures of your own: they add to trainmark's, or replace those of the same id.\n"


def add_row(path: Path, kind: str, row: Mapping[str, Value]) -> Product:
    """Write a row at the end of the user's file.

    The whole file is checked before and after; nothing is written when either is wrong.

    Args:
        path: The file; it and its folder are made when they are missing.
        kind: A key of ``KINDS``.
        row: The row's keys and values; its id must be new in the file.

    Returns:
        The row as it will be read.

    Raises:
        UsageError: The file or the row is wrong, or the file cannot be written.
        TrainmarkError: The write failed, for example on a full disk.
    """
    assert kind in KINDS, kind
    path = path.resolve()  # a link stays a link
    before = read_text(path) if path.exists() else _HEAD
    there = parse_table(path, before, own=True).products
    if row["id"] in there:
        raise UsageError(
            f"{path} has a row {row['id']!r} already",
            hint="Choose another name with --id, or edit the file.",
        )
    block = _block(kind, row)
    text = f"{before.rstrip()}\n\n{block}"
    try:
        parse_table(path, block, own=True)
    except UsageError as error:  # names a line of a file that is not written
        raise UsageError(error.message.partition(": ")[2], hint="Nothing was written.") from error
    added = parse_table(path, text, own=True).products[str(row["id"])]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder {path.parent}: {error.strerror}",
            hint="Give a file that you may write with --prices.",
        ) from error
    atomic_write(path, text)
    return added


def slug(text: str) -> str:
    """A name for a row: letters and digits of a text, with dashes between."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "own"


def _block(kind: str, row: Mapping[str, Value]) -> str:
    lines = [f"[[{kind}]]", *(f"{key} = {_toml(key, value)}" for key, value in row.items())]
    return "\n".join(lines) + "\n"


def _toml(key: str, value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(key, value)
    if isinstance(value, int | float):
        return repr(int(value) if isfinite(value) and value == int(value) else value)
    return f"[{', '.join(_text(key, one) for one in value)}]"


def _text(key: str, value: str) -> str:
    if not value.isprintable():
        raise UsageError(
            f"{key} has characters that cannot be printed: {value!r}", hint="Leave them out."
        )
    return json.dumps(value, ensure_ascii=False)
