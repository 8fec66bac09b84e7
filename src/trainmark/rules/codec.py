"""Typed rules as plain lists and back, for the cache: data only, never code.

A node becomes ``[its class, its fields...]``, a tuple ``["()", items...]``; constants stand for
themselves. What is decoded may come from a spoilt file, so only the classes listed here are made,
and an expression's text is compiled through the same whitelists as if it came from a table.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from trainmark.rules import actions, combinations, conditions, conditions_state
from trainmark.rules.keyrules import KeyRule, LazyRules, Requirement, Table
from trainmark.rules.nodes import Node, make_node
from trainmark.rules.subjects import Subject

__all__ = ["SPOILT", "decode", "decode_table", "encode", "encode_table"]

# What comes of decoding something that was never encoded.
SPOILT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

_CLASSES: Mapping[str, type[Node]] = {
    one.__name__: one
    for module in (actions, combinations, conditions, conditions_state)
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
    return make_node(_CLASSES[kind], items)


def encode_table(table: Table) -> list[Any]:
    """A table as plain lists."""
    keys = [encode(rule) for rule in table.keys.values()]
    return [encode(table.begin), keys, encode(table.before_end), encode(table.end)]


def decode_table(name: str, data: Any, *, spoilt: Callable[[], Table]) -> Table:
    """The table of that name from what ``encode_table`` made; its rules are decoded when needed.

    Args:
        name: The table's name.
        data: What ``encode_table`` made.
        spoilt: Gives the table where a rule turns out to be nothing that ``encode_table`` makes.

    Raises:
        ValueError, TypeError, KeyError: It is nothing that ``encode_table`` makes.
    """
    begin, keys, before_end, end = data
    raw = {rule[1]: rule for rule in keys}

    def make(key: str) -> KeyRule:
        try:
            rule = decode(raw[key])
        except SPOILT:
            return spoilt().keys[key]
        return rule if isinstance(rule, KeyRule) else spoilt().keys[key]

    def need(key: str) -> Requirement | None:
        try:
            needed = decode(raw[key][2])
        except SPOILT:
            return spoilt().keys[key].requirement
        return needed if isinstance(needed, Requirement) else None

    return Table(
        name=name,
        begin=decode(begin),
        keys=LazyRules(list(raw), make, need),
        before_end=decode(before_end),
        end=decode(end),
    )
