"""A rule table as typed data: what it asks of the records of each key."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from trainmark.rules.actions import Program
from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Constraint

__all__ = ["KeyRule", "LazyRules", "Requirement", "Table"]

_NOTHING = Program()


class Requirement(Node, kw_only=True):
    """How often a key must occur.

    Attributes:
        least: The least number of records.
        once: Whether differing values of several records are an error.
        alternatives: Other keys, one record of any of which is enough.
    """

    least: int
    once: bool = False
    alternatives: tuple[str, ...] = ()

    def sentence(self, key: str) -> str:
        """What is expected, in English."""
        if self.once:
            return f"exactly one {key}"
        if self.alternatives:
            return f"at least one {' or '.join(sorted({key, *self.alternatives}))}"
        return f"at least {self.least} {key}"


class KeyRule(Node, kw_only=True):
    """What a table asks of the records of one key.

    Attributes:
        name: The key.
        requirement: How often it must occur, None if that is free.
        before: Run before the checks of each record (PRE).
        checks: Must hold for each record (CHECK).
        after: Run after the checks of each record (POST).
        first: Must hold for the first record only (FIRST_CHECK).
        target: Must hold for at least one record (ATLEAST_ONE_CHECK), None without one.
    """

    name: str
    requirement: Requirement | None = None
    before: Program = _NOTHING
    checks: tuple[Constraint, ...] = ()
    after: Program = _NOTHING
    first: tuple[Constraint, ...] = ()
    target: Constraint | None = None


class LazyRules(Mapping[str, KeyRule]):
    """Rules by key, each made when it is first asked for: most logs have few of the keys.

    Args:
        names: Every key.
        make: Makes the rule of a key.
        need: Makes the requirement of a key alone.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[str], KeyRule],
        need: Callable[[str], Requirement | None],
    ) -> None:
        self._made: dict[str, KeyRule | None] = dict.fromkeys(names)
        self._make = make
        self._need = need

    def __getitem__(self, key: str) -> KeyRule:
        rule = self._made[key]
        if rule is None:
            rule = self._made[key] = self._make(key)
        return rule

    def __contains__(self, key: object) -> bool:
        return key in self._made

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __reduce__(self) -> tuple[type[dict[str, KeyRule]], tuple[dict[str, KeyRule]]]:
        return dict, (dict(self),)

    def requirements(self) -> Mapping[str, Requirement | None]:
        """How often each key must occur, the rest of the rules left alone."""
        return {key: self._need(key) for key in self._made}


class Table(Node, kw_only=True):
    """One compiled rule table.

    Attributes:
        name: ``folder/file.yaml``.
        begin: Run before the first record.
        keys: The rules by key; of several for one key the last.
        before_end: Run after the last record.
        end: Must hold after that.
    """

    name: str
    begin: Program = _NOTHING
    keys: Mapping[str, KeyRule] = {}
    before_end: Program = _NOTHING
    end: tuple[Constraint, ...] = ()

    def requirements(self) -> Mapping[str, Requirement | None]:
        """How often each key must occur, None where that is free."""
        if isinstance(self.keys, LazyRules):
            return self.keys.requirements()
        return {key: rule.requirement for key, rule in self.keys.items()}
