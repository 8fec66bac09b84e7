"""Checks made of others, and conditions of no common shape."""

# The methods are those of the protocol Constraint and are described there:
# ruff: noqa: D102

import functools
import re
from itertools import pairwise
from typing import ClassVar

from trainmark.rules.conditions import Compare, Condition
from trainmark.rules.subjects import Constraint, Evaluate, show
from trainmark.rules.vocabulary import Scope
from trainmark.rules.words import in_words

__all__ = ["AllOf", "AnyOf", "Expression", "When"]

# What makes an expression depend on more than the record.
_STATE_NAME = re.compile(r"\bs\['(\w+)'\]")
_STATE = re.compile(r"\b(s|loglines)\b")


class _Several(Condition):
    """What the combinations share: the first part names the kind and the fix."""

    parts: tuple[Constraint, ...]

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    @property
    def stateless(self) -> bool:
        return all(part.stateless for part in self.parts)

    def found(self, scope: Scope) -> str:
        return "; ".join(dict.fromkeys(part.found(scope) for part in self.parts))

    def fix(self, key: str) -> str:
        return f"Log {key} so that {self.sentence()}."

    def sentence(self) -> str:
        raise NotImplementedError


class AllOf(_Several):
    """Every part holds; the parts after a failing one are not looked at."""

    def test(self) -> Evaluate:
        first, *others = (part.test() for part in self.parts)
        if len(others) == 1:
            second = others[0]
            return lambda scope: first(scope) and second(scope)

        def every(scope: Scope) -> bool:
            if not first(scope):
                return False
            for part in others:  # noqa: SIM110 -- a loop is twice as fast as all()
                if not part(scope):
                    return False
            return True

        return every

    def sentence(self) -> str:
        words = [self.parts[0].sentence()]
        for before, part in pairwise(self.parts):
            match before, part:
                case Compare(subject=one), Compare(subject=other) if one == other:
                    words.append(part.bound())
                case _:
                    words.append(part.sentence())
        return " and ".join(words)


class AnyOf(_Several):
    """At least one part holds; the parts after a holding one are not looked at."""

    def test(self) -> Evaluate:
        first, *others = (part.test() for part in self.parts)
        if len(others) == 1:
            second = others[0]
            return lambda scope: first(scope) or second(scope)
        return lambda scope: first(scope) or any(part(scope) for part in others)

    def sentence(self) -> str:
        return " or ".join(part.sentence() for part in self.parts)


class When(Condition):
    """A part that is asked for only under a condition."""

    condition: Constraint
    then: Constraint
    otherwise: Constraint | None = None

    @property
    def kind(self) -> str:
        return self.then.kind

    @property
    def stateless(self) -> bool:
        parts = (self.condition, self.then, self.otherwise)
        return all(part is None or part.stateless for part in parts)

    def _active(self, scope: Scope) -> Constraint | None:
        return self.then if self.condition.holds(scope) else self.otherwise

    def test(self) -> Evaluate:
        asked, then = self.condition.test(), self.then.test()
        if self.otherwise is None:
            return lambda scope: then(scope) if asked(scope) else True
        otherwise = self.otherwise.test()
        return lambda scope: then(scope) if asked(scope) else otherwise(scope)

    def sentence(self) -> str:
        text = f"{self.then.sentence()} (if {self.condition.sentence()})"
        return text if self.otherwise is None else f"{text}, else {self.otherwise.sentence()}"

    def found(self, scope: Scope) -> str:
        return (self._active(scope) or self.then).found(scope)

    def fix(self, key: str) -> str:
        return self.then.fix(key)


class Expression(Condition):
    """A condition of no common shape: checked, compiled when first needed, shown in words."""

    kind: ClassVar[str] = "expression"
    source: str

    @property
    def stateless(self) -> bool:
        return _STATE.search(self.source) is None

    def test(self) -> Evaluate:
        return compiled(self.source)

    def sentence(self) -> str:
        return in_words(self.source)

    def found(self, scope: Scope) -> str:
        if scope.record is None:
            return f"the state is {show(scope.state)}"
        found = [f"the value is {show(scope.both().get('value'))}"]
        if "v['metadata']" in self.source:
            found.append(f"metadata is {show(scope.both().get('metadata'))}")
        names = dict.fromkeys(_STATE_NAME.findall(self.source))
        return ", ".join([*found, *(f"{name} is {show(scope.state.get(name))}" for name in names)])

    def fix(self, key: str) -> str:
        return f"Log {key} so that the rule's expression is true."


@functools.cache
def compiled(source: str) -> Evaluate:
    """The function of an expression; each source is compiled once.

    Raises:
        RuleLanguageError: The expression uses something that rules may not use.
    """
    from trainmark.rules.language import compile_expression, parse_expression

    return compile_expression(parse_expression(source))
