"""What the rule tables do besides checking: remember something, ask for another table.

``program_of`` turns the code of a PRE, POST or BEGIN entry into a list of typed actions; a
statement of no common shape becomes a ``Statement`` in the same checked language.
"""

# The methods are those of the protocol Action and are described there:
# ruff: noqa: D102

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from trainmark.rules.language import compile_statements, parse_statements
from trainmark.rules.shapes import state_name, subject_of
from trainmark.rules.subjects import Subject, show
from trainmark.rules.vocabulary import Scope

__all__ = [
    "Action",
    "Collect",
    "Earliest",
    "Enqueue",
    "Program",
    "Remember",
    "SetState",
    "Statement",
    "program_of",
]


class Action(Protocol):
    """One effect on the state, or a request for another table."""

    def run(self, scope: Scope) -> None:
        """Carry it out; raises what Python raises when it cannot be."""

    def sentence(self) -> str:
        """What it does, in English."""


@dataclass(frozen=True, slots=True)
class SetState:
    """An entry of the state gets a constant."""

    name: str
    value: Any

    def run(self, scope: Scope) -> None:
        scope.state[self.name] = self.value

    def sentence(self) -> str:
        return f"{self.name} becomes {show(self.value)}"


@dataclass(frozen=True, slots=True)
class Remember:
    """An entry of the state gets a part of the record."""

    name: str
    subject: Subject

    def run(self, scope: Scope) -> None:
        scope.state[self.name] = self.subject.get(scope)

    def sentence(self) -> str:
        return f"{self.name} becomes {self.subject}"


@dataclass(frozen=True, slots=True)
class Collect:
    """A part of the record joins a list in the state."""

    name: str
    subject: Subject

    def run(self, scope: Scope) -> None:
        item = self.subject.get(scope)
        scope.state[self.name].extend([item])

    def sentence(self) -> str:
        return f"{self.subject} joins {self.name}"


@dataclass(frozen=True, slots=True)
class Earliest:
    """An entry of the state keeps the earliest time of these records."""

    name: str

    def run(self, scope: Scope) -> None:
        scope.state[self.name] = min(scope.state[self.name], scope.at().timestamp)

    def sentence(self) -> str:
        return f"{self.name} keeps the earliest time"


@dataclass(frozen=True, slots=True)
class Enqueue:
    """Another table is asked for, by a name that may contain a part of the record.

    The name is only ever looked up among the known tables; it is no path.
    """

    template: str
    subject: Subject | None = None

    def run(self, scope: Scope) -> None:
        if self.subject is None:
            scope.enqueued.append(self.template)
        else:
            scope.enqueued.append(self.template.format(self.subject.get(scope)))

    def sentence(self) -> str:
        return f"the table {self.template} with {{}} replaced by {self.subject} is checked next"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of no common shape: checked, compiled, shown as it is written."""

    source: str
    _run: Callable[[Scope], None] = field(compare=False, repr=False)

    def run(self, scope: Scope) -> None:
        self._run(scope)

    def sentence(self) -> str:
        return self.source


@dataclass(frozen=True, slots=True)
class Program:
    """The actions of one entry, in order."""

    actions: tuple[Action, ...] = ()

    def run(self, scope: Scope) -> None:
        """Carry out every action; raises what Python raises when one cannot be."""
        for action in self.actions:
            action.run(scope)


def program_of(source: str) -> Program:
    """The typed actions of a CODE, PRE or POST snippet.

    Args:
        source: Python statements.

    Raises:
        RuleLanguageError: The snippet uses something that rules may not use.
    """
    nodes = parse_statements(source)
    run = compile_statements(nodes)  # the whole snippet must be in the language
    actions = [_action(node) for node in nodes]
    typed = tuple(action for action in actions if action is not None)
    if len(typed) == len(nodes):
        return Program(typed)
    return Program((Statement("\n".join(ast.unparse(node) for node in nodes), run),))


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
