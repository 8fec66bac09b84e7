"""Recognise the common shapes of the rule tables' code and make typed actions of it."""

import ast

from trainmark.rules.actions import (
    Action,
    Collect,
    Count,
    Earliest,
    Enqueue,
    NewList,
    Program,
    Remember,
    RememberTime,
    SetState,
    SetWhere,
    Statement,
)
from trainmark.rules.language import compile_statements, parse_statements
from trainmark.rules.shapes import constraint_of, state_name, subject_of

__all__ = ["program_of"]


def program_of(source: str) -> Program:
    """The typed actions of a CODE, PRE or POST snippet.

    Args:
        source: Python statements.

    Raises:
        RuleLanguageError: The snippet uses something that rules may not use.
    """
    nodes = parse_statements(source)
    compile_statements(nodes)  # the whole snippet must be in the language
    if any(isinstance(node, ast.Name) and _is_assigned(node) for node in _walk(nodes)):
        # Statements that share variables stay together.
        return Program((Statement("\n".join(ast.unparse(node) for node in nodes)),))
    return Program(tuple(action for node in nodes for action in _actions(node)))


def _walk(nodes: list[ast.stmt]) -> list[ast.AST]:
    return [inner for node in nodes for inner in ast.walk(node)]


def _is_assigned(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _actions(node: ast.stmt) -> list[Action]:
    """The typed actions of one statement; itself where it has no common shape."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="s"), attr="update"), args=[ast.Dict() as new]
            )
        ):
            several = _entries(new)
            if several is not None:
                return several
    action = _action(node)
    return [Statement(ast.unparse(node)) if action is None else action]


def _entries(new: ast.Dict) -> list[Action] | None:
    """``{'init_started': False, 'seen': []}``, one action an entry."""
    found: list[Action] = []
    for key, value in zip(new.keys, new.values, strict=True):
        match key, value:
            case ast.Constant(value=str(name)), ast.Constant(value=constant):
                found.append(SetState(name, constant))
            case (
                ast.Constant(value=str(name)),
                ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)),
            ):
                found.append(SetState(name, -number))
            case ast.Constant(value=str(name)), ast.List(elts=[]):
                found.append(NewList(name))
            case _:
                return None
    return found


def _action(node: ast.stmt) -> Action | None:
    """The typed action of one statement, None if it has no common shape."""
    match node:
        case ast.Assign(targets=[target], value=value) if name := state_name(target):
            return _assignment(name, value)
        case ast.AugAssign(target=target, op=ast.Add(), value=ast.List(elts=[item])):
            name, subject = state_name(target), subject_of(item)
            return Collect(name, subject) if name and subject is not None else None
        case ast.Expr(value=ast.Call(func=ast.Name(id="enqueue_config"), args=[argument])):
            return _request(argument)
    return None


def _assignment(name: str, value: ast.expr) -> Action | None:
    subject = subject_of(value)
    if subject is not None:
        return Remember(name, subject)
    match value:
        case ast.Constant(value=constant):
            return SetState(name, constant)
        case ast.Call(
            func=ast.Name(id="min"),
            args=[earlier, ast.Attribute(value=ast.Name(id="ll"), attr="timestamp")],
        ) if state_name(earlier) == name:
            return Earliest(name)
        case ast.Attribute(value=ast.Name(id="ll"), attr="timestamp"):
            return RememberTime(name)
        case ast.BinOp(left=old, op=ast.Add(), right=ast.Constant(value=int() | float() as by)) if (
            state_name(old) == name
        ):
            return Count(name, by)
        case ast.IfExp(
            test=test, body=ast.Constant(value=first), orelse=ast.Constant(value=second)
        ):
            return SetWhere(name, constraint_of(ast.unparse(test)), first, second)
    return None


def _request(argument: ast.expr) -> Action | None:
    match argument:
        case ast.Constant(value=str(table)):
            return Enqueue(table)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(template)), attr="format"),
            args=[part],
        ):
            subject = subject_of(part)
            return None if subject is None else Enqueue(template, subject)
    return None
