"""A rule table as typed data: what it asks of the records of each key."""

from collections.abc import Mapping

from trainmark.rules.actions import Program
from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Constraint

__all__ = ["KeyRule", "Requirement", "Table"]

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
