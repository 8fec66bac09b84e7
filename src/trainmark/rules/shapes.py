"""Recognise the common shapes of rule snippets and make typed constraints of them."""

import ast
import math
from typing import Any

from trainmark.rules.constraints import (
    AddsUp,
    AllOf,
    AnyOf,
    Compare,
    Divides,
    Expression,
    Flag,
    Has,
    HasPart,
    IsType,
    Length,
    Near,
    OneOf,
    SameAsState,
    SameItems,
    StateIs,
    TimeLimit,
    Truthy,
    When,
    Whole,
)
from trainmark.rules.language import compile_expression, parse_expression
from trainmark.rules.subjects import Constraint, Subject
from trainmark.rules.vocabulary import TYPES

__all__ = ["constraint_of", "state_name", "subject_of"]

_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MINUTE_MS = 60e3
_MINUTE_S = 60.0


def constraint_of(source: str) -> Constraint:
    """The typed constraint of a CHECK snippet.

    Args:
        source: One Python expression.

    Raises:
        RuleLanguageError: The snippet uses something that rules may not use.
    """
    node = parse_expression(source)
    compile_expression(node)  # the whole snippet must be in the language, whatever its shape
    return _constraint(node)


def _constraint(node: ast.expr) -> Constraint:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return AllOf(tuple(_constraint(value) for value in values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return AnyOf(tuple(_constraint(value) for value in values))
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            both = (_constraint(left), _constraint(right))
            # `a | b` looks at both sides; only for membership in one mapping is that the same.
            if all(isinstance(part, Has) for part in both):
                return AnyOf(both)
        case ast.IfExp(test=test, body=body, orelse=ast.Constant(value=True)):
            return When(_constraint(test), _constraint(body))
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            return When(_constraint(test), _constraint(body), _constraint(otherwise))
        case ast.UnaryOp(op=ast.Not(), operand=operand) if name := state_name(operand):
            return Flag(name, expected=False)
        case ast.Compare(ops=[_], comparators=[right]):
            return _comparison(node) or _expression(node)
        case ast.Compare():
            return _chain(node) or _expression(node)
        case ast.Call():
            return _call(node) or _expression(node)
        case ast.Subscript():
            if name := state_name(node):
                return Flag(name)
            if subject := subject_of(node):
                return Truthy(subject)
    return _expression(node)


def _expression(node: ast.expr) -> Expression:
    return Expression(ast.unparse(node))


def subject_of(node: ast.expr) -> Subject | None:
    """``v['value']...`` or ``v['metadata']...`` as a subject, None for anything else."""
    path: list[str | int] = []
    while isinstance(node, ast.Subscript):
        match node.slice:
            case ast.Constant(value=str() | int() as name) if not isinstance(name, bool):
                path.append(name)
            case _:
                return None
        node = node.value
    if not (isinstance(node, ast.Name) and node.id == "v" and path):
        return None
    part = path.pop()
    if part not in ("value", "metadata"):
        return None
    return Subject(part=str(part), path=tuple(reversed(path)))


def state_name(node: ast.expr) -> str:
    """The name in ``s['name']``, "" for anything else."""
    match node:
        case ast.Subscript(value=ast.Name(id="s"), slice=ast.Constant(value=str(name))):
            return name
    return ""


def _comparison(node: ast.Compare) -> Constraint | None:
    """The constraint of one comparison with one operator."""
    left, op, right = node.left, node.ops[0], node.comparators[0]
    symbol = _SYMBOLS.get(type(op))
    if isinstance(op, ast.In):
        return _membership(left, right)
    if symbol is None:
        return None
    return (
        _bound(left, symbol, right)
        or _length(left, symbol, right)
        or _state_comparison(left, symbol, right)
        or _time_limit(left, symbol, right)
        or _same_items(left, symbol, right)
        or _type_test(left, symbol, right)
    )


def _bound(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    """``v['value'] >= 0.759``, or turned round."""
    subject, limit = subject_of(left), _literal(right)
    if subject is None:
        subject, limit, symbol = subject_of(right), _literal(left), _MIRRORED[symbol]
    if subject is None or limit is None:
        return None
    return Compare(subject, symbol, limit[0])


def _chain(node: ast.Compare) -> Constraint | None:
    """``0.0 <= v['value'] <= 1.0``: both comparisons hold."""
    sides = [node.left, *node.comparators]
    parts = []
    for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
        symbol = _SYMBOLS.get(type(op))
        part = _bound(left, symbol, right) if symbol else None
        if part is None:
            return None
        parts.append(part)
    return AllOf(tuple(parts))


def _membership(left: ast.expr, right: ast.expr) -> Constraint | None:
    """``'x' in v['metadata']`` or ``v['value'] in ['a', 'b']``."""
    match left, right:
        case ast.Constant(value="value" | "metadata" as part), ast.Name(id="v"):
            return HasPart(part)
    container, name = subject_of(right), _literal(left)
    if container is not None and name is not None and isinstance(name[0], str):
        return Has(container, name[0])
    subject, options = subject_of(left), _literals(right)
    if subject is not None and options is not None:
        return OneOf(subject, options)
    return None


def _length(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    match left, _literal(right):
        case ast.Call(func=ast.Name(id="len"), args=[argument]), (int(limit),):
            subject = subject_of(argument)
            return None if subject is None else Length(subject, symbol, limit)
    return None


def _state_comparison(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    """``v[...] == s['x']``, or ``s['x'] == True``."""
    subject, name = subject_of(left), state_name(right)
    if subject is not None and name:
        return SameAsState(subject, name, symbol)
    match state_name(left), symbol, right:
        case str(flag), "==", ast.Constant(value=bool(expected)) if flag:
            return Flag(flag, expected=expected)
        case str(state), _, _ if state:
            if subject := subject_of(right):
                return SameAsState(subject, state, _MIRRORED[symbol])
            if other := state_name(right):
                return StateIs(state, symbol, None, other)
            limit = _literal(right)
            return None if limit is None else StateIs(state, symbol, limit[0])
    return None if subject is None else _state_sum(subject, symbol, right)


def _state_sum(subject: Subject, symbol: str, right: ast.expr) -> Constraint | None:
    """``v[...] == s['x'] + 1`` or ``v[...] == 1200000 - s['x']``."""
    match right:
        case ast.BinOp(
            left=left, op=ast.Add(), right=ast.Constant(value=int() | float() as plus)
        ) if (name := state_name(left)) and plus and not isinstance(plus, bool):
            return SameAsState(subject, name, symbol, plus)
        case ast.BinOp(
            left=ast.Constant(value=int() | float() as total), op=ast.Sub(), right=taken
        ) if (name := state_name(taken)) and symbol == "==":
            return AddsUp(subject, name, total)
    return None


def _time_limit(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    """``ll.timestamp - s['first_init_start'] < 20*60*1e3``, or a limit from the state."""
    match left:
        case ast.BinOp(
            left=ast.Attribute(value=ast.Name(id="ll"), attr="timestamp"),
            op=ast.Sub(),
            right=since_node,
        ) if symbol == "<" and (since := state_name(since_node)):
            pass
        case _:
            return None
    limit_ms = _product(right)
    if limit_ms is not None:  # the rules of round 0.6 count in seconds
        unit = _MINUTE_MS if limit_ms >= _MINUTE_MS else _MINUTE_S
        return TimeLimit(since, limit_ms / unit, per_minute=unit)
    match right:
        case ast.BinOp(
            left=ast.BinOp(left=minutes, op=ast.Mult(), right=ast.Constant(value=60)),
            op=ast.Mult(),
            right=ast.Constant(value=1000.0),
        ) if name := state_name(minutes):
            return TimeLimit(since, None, name)
    return None


def _same_items(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    """``sorted(s['x']) == sorted([...])``."""
    match left, symbol, right:
        case (
            ast.Call(func=ast.Name(id="sorted"), args=[collected]),
            "==",
            ast.Call(func=ast.Name(id="sorted"), args=[ast.List() as wanted]),
        ):
            name, items = state_name(collected), _literals(wanted)
            if name and items is not None and all(isinstance(item, str) for item in items):
                return SameItems(name, tuple(sorted(items)))
    return None


def _type_test(left: ast.expr, symbol: str, right: ast.expr) -> Constraint | None:
    """``type(v['value']) == bool``: no other type is a bool, so it is the same as isinstance."""
    match left, symbol, right:
        case ast.Call(func=ast.Name(id="type"), args=[argument]), "==", ast.Name(id="bool"):
            subject = subject_of(argument)
            return None if subject is None else IsType(subject, "bool")
    return None


def _call(node: ast.Call) -> Constraint | None:
    match node.func, node.args:
        case ast.Name(id="is_integer"), [argument]:
            return _whole(argument)
        case (
            ast.Attribute(value=ast.Name(id="math"), attr="isclose"),
            [argument, ast.Constant(value=int() | float() as limit)],
        ):
            subject = subject_of(argument)
            return None if subject is None else Near(subject, limit)
        case ast.Name(id="isinstance"), [argument, ast.Name(id=kind)] if kind in TYPES:
            subject = subject_of(argument)
            return None if subject is None else IsType(subject, kind)
    return None


def _whole(node: ast.expr, *, log2: bool = False) -> Constraint | None:
    """``is_integer(v['value'] / 0.001)`` or ``is_integer(math.log2(v['value'] / 0.0001))``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr="log2"), args=[inner]) if (
            not log2
        ):
            return _whole(inner, log2=True)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as by)):
            subject = subject_of(left)
            return None if subject is None else Whole(subject, by, log2)
        case ast.BinOp(
            left=ast.Constant(value=int() | float() as dividend), op=ast.Div(), right=divisor
        ) if not log2:
            subject = subject_of(divisor)
            return None if subject is None else Divides(subject, dividend)
    subject = subject_of(node)
    return None if subject is None or log2 else Whole(subject)


def _literal(node: ast.expr) -> tuple[Any] | None:
    """The value of a constant, in a tuple; None if it is none."""
    match node:
        case ast.Constant(value=value):
            return (value,)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return (-value,)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf")]):
            return (math.inf,)
    return None


def _literals(node: ast.expr) -> tuple[Any, ...] | None:
    """The values of a list or set of constants, None if it is none."""
    if not isinstance(node, ast.List | ast.Set):
        return None
    values = [_literal(item) for item in node.elts]
    return None if None in values else tuple(value[0] for value in values if value is not None)


def _product(node: ast.expr) -> float | None:
    """The value of a product of constants, None if there is something else in it."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = _product(left), _product(right)
            return None if first is None or second is None else first * second
        case ast.Constant(value=int() | float() as value):
            return value
    return None
