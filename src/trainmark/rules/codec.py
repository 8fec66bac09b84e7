"""Typed rules as plain lists and back, for the cache: data only, never code.

A node becomes ``[its class, its fields...]``, a tuple ``["()", items...]``; constants stand for
themselves. What is decoded may come from a spoilt file, so only the classes listed here are made,
and an expression's text is compiled through the same whitelists as if it came from a table.
"""

import math
from collections.abc import Mapping
from typing import Any

from trainmark.rules import actions, constraints
from trainmark.rules.keyrules import KeyRule, Requirement, Table
from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Subject

__all__ = ["decode", "decode_requirements", "decode_table", "encode", "encode_table"]

_CLASSES: Mapping[str, type[Node]] = {
    one.__name__: one
    for module in (actions, constraints)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, Node) and not one.__name__.startswith("_")
} | {one.__name__: one for one in (KeyRule, Requirement, Subject)}
_TUPLE, _FLOAT = "()", "float"


def encode(value: Any) -> Any:
    """A node, a tuple or a constant as JSON can hold it.

    Raises:
        ValueError: It is something else.
    """
    if isinstance(value, Node) and type(value).__name__ in _CLASSES:
        return [type(value).__name__, *map(encode, value.values_())]
    if isinstance(value, tuple):
        return [_TUPLE, *map(encode, value)]
    if isinstance(value, float) and not math.isfinite(value):
        return [_FLOAT, str(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"not a part of a rule: {value!r:.60}")


def decode(data: Any) -> Any:
    """What ``encode`` was given.

    Raises:
        ValueError, TypeError, KeyError: It is nothing that ``encode`` makes.
    """
    if not isinstance(data, list):
        return data
    kind, *parts = data
    if kind == _FLOAT:
        return float(parts[0])
    items = [decode(part) if isinstance(part, list) else part for part in parts]
    if kind == _TUPLE:
        return tuple(items)
    one = _CLASSES[kind]
    return one(**dict(zip(one.fields_, items, strict=True)))


def encode_table(table: Table) -> list[Any]:
    """A table as plain lists."""
    keys = [encode(rule) for rule in table.keys.values()]
    return [encode(table.begin), keys, encode(table.before_end), encode(table.end)]


def decode_table(name: str, data: Any) -> Table:
    """The table of that name from what ``encode_table`` made.

    Raises:
        ValueError, TypeError, KeyError: It is nothing that ``encode_table`` makes.
    """
    begin, keys, before_end, end = data
    rules = [decode(rule) for rule in keys]
    if not all(isinstance(rule, KeyRule) for rule in rules):
        raise ValueError("rules of keys only")
    return Table(
        name=name,
        begin=decode(begin),
        keys={rule.name: rule for rule in rules},
        before_end=decode(before_end),
        end=decode(end),
    )


def decode_requirements(data: Any) -> dict[str, Requirement | None]:
    """How often each key of a table must occur, the rest of the table left alone.

    Raises:
        ValueError, TypeError, KeyError: It is nothing that ``encode_table`` makes.
    """
    return {rule[1]: decode(rule[2]) for rule in data[1]}
