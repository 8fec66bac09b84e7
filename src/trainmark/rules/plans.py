"""A key's rule made ready to run: its checks and actions as functions, made once a process."""

from collections.abc import Callable, Mapping

from trainmark.rules.keyrules import KeyRule, Table
from trainmark.rules.subjects import Constraint, Evaluate
from trainmark.rules.vocabulary import Scope

__all__ = ["Plan", "plans_of"]

_SUBMISSION = "submission_"


class Plan:
    """What is done with each record of one key.

    Attributes:
        rule: The key's rule.
        before: Run before the checks.
        checks: Each check's function, and the check for words about it.
        after: Run after the checks.
        first: As ``checks``, for the first record only.
        target: The function of the target, None without one.
        once: Whether only the first record is looked at, apart from the target.
        in_order: Whether the records of other keys before it matter, or it matters to them.
    """

    __slots__ = ("after", "before", "checks", "first", "in_order", "once", "rule", "target")

    def __init__(self, rule: KeyRule) -> None:
        self.rule = rule
        self.before: tuple[Callable[[Scope], None], ...] = rule.before.steps()
        self.checks: tuple[tuple[Evaluate, Constraint], ...] = _tests(rule.checks)
        self.after: tuple[Callable[[Scope], None], ...] = rule.after.steps()
        self.first: tuple[tuple[Evaluate, Constraint], ...] = _tests(rule.first)
        self.target: Evaluate | None = None if rule.target is None else rule.target.test()
        self.once = _SUBMISSION in rule.name
        asked = [*rule.checks, *rule.first, *([] if rule.target is None else [rule.target])]
        self.in_order = bool(self.before or self.after) or not all(one.stateless for one in asked)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do but to count the records."""
        return not (self.before or self.checks or self.after or self.first or self.target)


def _tests(constraints: tuple[Constraint, ...]) -> tuple[tuple[Evaluate, Constraint], ...]:
    return tuple((constraint.test(), constraint) for constraint in constraints)


class _Plans:
    """The plans of one table, each made when a log first has a record of its key."""

    def __init__(self, table: Table) -> None:
        self._rules: Mapping[str, KeyRule] = table.keys
        self._made: dict[str, Plan] = {}

    def of(self, key: str) -> Plan:
        """The plan of a key that the table has a rule for."""
        plan = self._made.get(key)
        if plan is None:
            plan = self._made[key] = Plan(self._rules[key])
        return plan


_BY_TABLE: dict[int, tuple[Table, _Plans]] = {}
_MOST_TABLES = 1024


def plans_of(table: Table) -> Callable[[str], Plan]:
    """The plans of a table by key; those of one table are made once.

    Args:
        table: The table.
    """
    known = _BY_TABLE.get(id(table))
    if known is None or known[0] is not table:  # an id may be used again
        if len(_BY_TABLE) >= _MOST_TABLES:
            _BY_TABLE.clear()
        known = _BY_TABLE[id(table)] = (table, _Plans(table))
    return known[1].of
