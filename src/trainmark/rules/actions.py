"""What the rule tables do besides checking: remember something, ask for another table.

``trainmark.rules.programs`` makes these of the code of a PRE, POST or BEGIN entry; a statement of
no common shape becomes a ``Statement`` in the same checked language.
"""

# The methods are those of the protocol Action and are described there:
# ruff: noqa: D102

import functools
from collections.abc import Callable
from typing import Any, Protocol

from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Constraint, Subject, show
from trainmark.rules.vocabulary import Scope
from trainmark.rules.words import in_words

__all__ = [
    "Action",
    "Collect",
    "Count",
    "Earliest",
    "Enqueue",
    "Execute",
    "NewList",
    "Program",
    "Remember",
    "RememberTime",
    "SetState",
    "SetWhere",
    "Statement",
]

Execute = Callable[[Scope], None]


class Action(Protocol):
    """One effect on the state, or a request for another table."""

    def step(self) -> Execute:
        """The effect as one function, made anew; it raises what Python raises if it cannot be."""

    def run(self, scope: Scope) -> None:
        """Carry it out; raises what Python raises when it cannot be."""

    def sentence(self) -> str:
        """What it does, in English."""


class _Effect(Node):
    """What every action has."""

    def step(self) -> Execute:
        raise NotImplementedError

    def run(self, scope: Scope) -> None:
        self.step()(scope)


class SetState(_Effect):
    """An entry of the state gets a constant."""

    name: str
    value: Any

    def step(self) -> Execute:
        name, value = self.name, self.value

        def assign(scope: Scope) -> None:
            scope.state[name] = value

        return assign

    def sentence(self) -> str:
        return f"{self.name} becomes {show(self.value)}"


class NewList(_Effect):
    """An entry of the state gets an empty list."""

    name: str

    def step(self) -> Execute:
        name = self.name

        def assign(scope: Scope) -> None:
            scope.state[name] = []

        return assign

    def sentence(self) -> str:
        return f"{self.name} becomes an empty list"


class SetWhere(_Effect):
    """An entry of the state gets one constant under a condition, else another."""

    name: str
    condition: Constraint
    value: Any
    otherwise: Any

    def step(self) -> Execute:
        name, value, otherwise, holds = self.name, self.value, self.otherwise, self.condition.test()

        def assign(scope: Scope) -> None:
            scope.state[name] = value if holds(scope) else otherwise

        return assign

    def sentence(self) -> str:
        return (
            f"{self.name} becomes {show(self.value)} if {self.condition.sentence()}, "
            f"else {show(self.otherwise)}"
        )


class Count(_Effect):
    """An entry of the state grows by a number."""

    name: str
    by: float

    def step(self) -> Execute:
        name, by = self.name, self.by

        def grow(scope: Scope) -> None:
            scope.state[name] = scope.state[name] + by

        return grow

    def sentence(self) -> str:
        return f"{self.name} grows by {show(self.by)}"


class RememberTime(_Effect):
    """An entry of the state gets the record's time."""

    name: str

    def step(self) -> Execute:
        name = self.name

        def assign(scope: Scope) -> None:
            scope.state[name] = scope.time()

        return assign

    def sentence(self) -> str:
        return f"{self.name} becomes its time"


class Remember(_Effect):
    """An entry of the state gets a part of the record."""

    name: str
    subject: Subject

    def step(self) -> Execute:
        name, get = self.name, self.subject.getter()

        def assign(scope: Scope) -> None:
            scope.state[name] = get(scope)

        return assign

    def sentence(self) -> str:
        return f"{self.name} becomes {self.subject}"


class Collect(_Effect):
    """A part of the record joins a list in the state."""

    name: str
    subject: Subject

    def step(self) -> Execute:
        name, get = self.name, self.subject.getter()

        def collect(scope: Scope) -> None:
            item = get(scope)
            scope.state[name].extend([item])

        return collect

    def sentence(self) -> str:
        return f"{self.subject} joins {self.name}"


class Earliest(_Effect):
    """An entry of the state keeps the earliest time of these records."""

    name: str

    def step(self) -> Execute:
        name = self.name

        def keep(scope: Scope) -> None:
            time = scope.time()
            if time < scope.state[name]:
                scope.state[name] = time

        return keep

    def sentence(self) -> str:
        return f"{self.name} keeps the earliest time"


class Enqueue(_Effect):
    """Another table is asked for, by a name that may contain a part of the record.

    The name is only ever looked up among the known tables; it is no path.
    """

    template: str
    subject: Subject | None = None

    def step(self) -> Execute:
        template, subject = self.template, self.subject
        if subject is None:
            return lambda scope: scope.enqueued.append(template)
        get = subject.getter()
        # No str.format: a template that came through a spoilt cache must not reach attributes.
        return lambda scope: scope.enqueued.append(template.replace("{}", str(get(scope))))

    def sentence(self) -> str:
        return f"the table {self.template} with {{}} replaced by {self.subject} is checked next"


class Statement(_Effect):
    """A statement of no common shape: checked, compiled, shown as it is written."""

    source: str

    def step(self) -> Execute:
        return compiled(self.source)

    def sentence(self) -> str:
        return in_words(self.source)


class Program(Node):
    """The actions of one entry, in order."""

    actions: tuple[Action, ...] = ()

    def steps(self) -> tuple[Execute, ...]:
        """The actions as functions, in order."""
        return tuple(action.step() for action in self.actions)

    def run(self, scope: Scope) -> None:
        """Carry out every action; raises what Python raises when one cannot be."""
        for step in self.steps():
            step(scope)


@functools.cache
def compiled(source: str) -> Execute:
    """The function of statements; each source is compiled once.

    Raises:
        RuleLanguageError: A statement uses something that rules may not use.
    """
    from trainmark.rules.language import compile_statements, parse_statements

    return compile_statements(parse_statements(source))
