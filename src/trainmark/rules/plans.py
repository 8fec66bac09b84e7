"""A table made ready to run: its checks and actions as functions, made once a process."""

from trainmark.rules.actions import Execute
from trainmark.rules.keyrules import KeyRule, Table
from trainmark.rules.subjects import Constraint, Evaluate

__all__ = ["Plan", "TablePlan", "plan_of"]

_SUBMISSION = "submission_"
_MOST_TABLES = 1024

Tests = tuple[tuple[Evaluate, Constraint], ...]


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
        idle: Whether there is nothing to do but to count the records.
    """

    __slots__ = ("after", "before", "checks", "first", "idle", "in_order", "once", "rule", "target")

    def __init__(self, rule: KeyRule) -> None:
        self.rule = rule
        self.before: tuple[Execute, ...] = rule.before.steps()
        self.checks: Tests = _tests(rule.checks)
        self.after: tuple[Execute, ...] = rule.after.steps()
        self.first: Tests = _tests(rule.first)
        self.target: Evaluate | None = None if rule.target is None else rule.target.test()
        self.once = _SUBMISSION in rule.name
        asked = [*rule.checks, *rule.first, *([] if rule.target is None else [rule.target])]
        acts = bool(self.before or self.after)
        self.in_order = acts or not all(one.stateless for one in asked)
        self.idle = not acts and not asked


class _Plans(dict[str, Plan]):
    """The plans of a table by key, each made when a log first has a record of that key."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._rules = table.keys

    def __missing__(self, key: str) -> Plan:
        plan = self[key] = Plan(self._rules[key])
        return plan


class TablePlan:
    """What is done with one log by one table.

    Attributes:
        table: The table.
        begin: Run before the first record.
        plans: What is done with the records of a key that the table has.
        least: Key, the least number of records, and whether differing values are an error.
        alternatives: Sets of keys one of which must occur.
        before_end: Run after the last record.
        end: Tested after that.
    """

    __slots__ = ("alternatives", "before_end", "begin", "end", "least", "plans", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.begin: tuple[Execute, ...] = table.begin.steps()
        self.plans: dict[str, Plan] = _Plans(table)
        needs = table.requirements().items()
        self.least = tuple(
            (key, need.least, need.once) for key, need in needs if need and not need.alternatives
        )
        several = {frozenset({key, *need.alternatives}) for key, need in needs if need}
        self.alternatives = sorted((keys for keys in several if len(keys) > 1), key=sorted)
        self.before_end: tuple[Execute, ...] = table.before_end.steps()
        self.end: Tests = _tests(table.end)


def _tests(constraints: tuple[Constraint, ...]) -> Tests:
    return tuple((constraint.test(), constraint) for constraint in constraints)


_MADE: dict[int, TablePlan] = {}


def plan_of(table: Table) -> TablePlan:
    """The plan of a table, made once.

    Args:
        table: The table.
    """
    plan = _MADE.get(id(table))
    if plan is None or plan.table is not table:  # an id may be used again
        if len(_MADE) >= _MOST_TABLES:
            _MADE.clear()
        plan = _MADE[id(table)] = TablePlan(table)
    return plan
