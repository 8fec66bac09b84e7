"""What the engine has to say: findings by key, later tables' words replacing earlier ones'."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from trainmark.rules.culprits import CANNOT, failing
from trainmark.rules.keyrules import KeyRule, Requirement
from trainmark.rules.nodes import Node
from trainmark.rules.subjects import Constraint, named, show
from trainmark.rules.vocabulary import Record, Scope
from trainmark.types import Event, Finding, Severity, printable

__all__ = ["CANNOT", "Missing", "Reports", "distinct", "line_of", "logged", "value_of"]

_SHOWN_VALUES = 5
_SHOWN_CHECKS = 2
_COMPARED = 100  # a log may hold any number of keys
_ALIKE = 0.75  # opt_epsilon for opt_lamb_epsilon


class Missing(Node, kw_only=True):
    """A key that had to occur and does not.

    Attributes:
        keys: The key, or the alternatives.
        finding: What is said of it.
    """

    keys: frozenset[str]
    finding: Finding


class _Failure:
    """One kind of failure for one key: where it happened first, and how often."""

    __slots__ = ("count", "finding")

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self.count = 1

    def told(self) -> Finding:
        if self.count == 1:
            return self.finding
        more = f" (and {self.count - 1} more)"
        return replace(self.finding, message=self.finding.message + more)


class Reports:
    """Everything said about one log so far.

    Attributes:
        missing_by_key: Keys that the last table with a rule for them misses.
        warnings: By key; never taken back.
        fixed: What no later table takes back.
        fixed_missing: Alternatives none of which occurs; never taken back.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._by_key: dict[str, dict[tuple[str, str], _Failure]] = {}
        # The same by the check itself, so that a log of failures costs no words for each.
        self._told: dict[str, dict[int, _Failure]] = {}
        self.missing_by_key: dict[str, Missing] = {}
        self.warnings: dict[str, Finding] = {}
        self.fixed: list[Finding] = []
        self.fixed_missing: list[Missing] = []

    def findings(self) -> tuple[Finding, ...]:
        """All findings but those about missing keys."""
        failures = [one.told() for kinds in self._by_key.values() for one in kinds.values()]
        return (*failures, *self.fixed, *self.warnings.values())

    def missing(self) -> tuple[Missing, ...]:
        """The keys that are missing."""
        return (*self.missing_by_key.values(), *self.fixed_missing)

    def take_back(self, keys: Iterable[str]) -> None:
        """Forget what was said of these keys: another table has the say."""
        if not self._by_key and not self.missing_by_key:
            return
        for key in keys:
            self._by_key.pop(key, None)
            self._told.pop(key, None)
            self.missing_by_key.pop(key, None)

    def check_failed(self, key: str, scope: Scope, constraint: Constraint, *, fits: bool) -> None:
        """A check of a key does not hold, or does not fit, for the record at hand."""
        told = self._told.setdefault(key, {})
        known = told.get(id(constraint))
        if known is not None:
            known.count += 1
            return
        whole, constraint = constraint, failing(constraint, scope)
        name = f"rules.{key}.{constraint.kind}"
        kinds = self._by_key.setdefault(key, {})
        expected = constraint.sentence()
        known = kinds.get((name, expected))
        if known is not None:
            known.count += 1
            return
        record = scope.at()
        try:
            found = constraint.found(scope) if fits else ""
        except CANNOT:
            found = ""
        found = found or f"{value_of(scope)}, which the rule cannot be applied to"
        finding = self.finding(
            name,
            f"{key}: expected that {expected}; {found}",
            constraint.fix(key),
            record=record,
            expected=expected,
            found=found,
        )
        kinds[name, expected] = _Failure(finding)
        if constraint is whole:  # of a part, another part may fail next time
            told[id(constraint)] = kinds[name, expected]

    def code_failed(self, key: str, scope: Scope, error: Exception) -> None:
        """What a table does with a record of that key does not fit the record."""
        name = f"rules.{key}.code"
        kinds = self._by_key.setdefault(key, {})
        known = kinds.get((name, ""))
        if known is not None:
            known.count += 1
            return
        finding = self.finding(
            name,
            f"{key}: {value_of(scope)} does not fit the rule ({type(error).__name__}: {error})",
            f"Give {key} the value and metadata that the other rules name.",
            record=scope.at(),
        )
        kinds[name, ""] = _Failure(finding)

    def lacks(
        self, rule: KeyRule, need: Requirement, count: int, unknown: Sequence[str]
    ) -> Missing:
        """A key that must occur and does not, or not often enough.

        Args:
            rule: The key's rule.
            need: How often it, or one of its alternatives, must occur.
            count: How often it does.
            unknown: Keys in the log that have no rule: one may be this key under another name.
        """
        expected = need.sentence(rule.name)
        near = [] if count else get_close_matches(rule.name, unknown[:_COMPARED], 1, _ALIKE)
        near = [printable(key) for key in near]
        renamed = f"; there is {near[0]}, which these rules do not know" if near else ""
        finding = self.finding(
            f"rules.{rule.name}.missing",
            f"expected {expected}, found {count or 'none'}{renamed}",
            f"Rename {near[0]} to {rule.name}." if near else _how_to_log(rule, need),
            expected=expected,
            found=str(count),
        )
        return Missing(keys=frozenset({rule.name, *need.alternatives}), finding=finding)

    def repeated(self, key: str, records: Sequence[Event | Record]) -> None:
        """A key that comes once stands there several times: an error if the values differ."""
        values = [logged(record) for record in records]
        first = values[0]
        other = next((n for n, one in enumerate(values) if one is not first and one != first), 0)
        same = not other
        shown = "the same value each time" if same else f"the values {distinct(values)}"
        finding = self.finding(
            f"rules.{key}.repeated",
            f"expected exactly one {key}, found {len(values)} with {shown}",
            f"Log {key} once, from one process.",
            record=records[other or 1],
            severity=Severity.WARNING if same else Severity.ERROR,
            expected=f"exactly one {key}",
            found=str(len(values)),
        )
        if same:
            self.warnings[key] = finding
        else:
            kinds = self._by_key.setdefault(key, {})
            kinds[finding.rule, finding.expected] = _Failure(finding)

    def finding(
        self,
        rule: str,
        message: str,
        fix: str,
        *,
        record: Event | Record | None = None,
        severity: Severity = Severity.ERROR,
        expected: str = "",
        found: str = "",
    ) -> Finding:
        """A finding about the log, or about one of its records."""
        line = None if record is None else line_of(record)
        return Finding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            path=self._source,
            line_no=line if line is not None and line >= 1 else None,
            expected=expected,
            found=found,
        )


def _how_to_log(rule: KeyRule, need: Requirement) -> str:
    """What to do about a missing key: how often to log it, and with what value."""
    keys = " or ".join(sorted({rule.name, *need.alternatives}))
    times = " once" if need.once else ""
    told = [named(one, "its value") for one in rule.checks if one.stateless]
    return f"Log {keys}{times}{''.join(f'; {one}' for one in told[:_SHOWN_CHECKS])}."


def line_of(record: Event | Record) -> int:
    """The line of the file; below 1 for a record that a rule made."""
    return record.lineno if isinstance(record, Record) else record.line_no


def logged(record: Event | Record) -> Any:
    """The value as the log has it."""
    return record.value if isinstance(record, Event) else record.value["value"]


def value_of(scope: Scope) -> str:
    """The value at hand, in words."""
    return f"the value is {show(scope.value)}"


def distinct(values: Sequence[Any]) -> str:
    """The first few different values."""
    shown: dict[str, None] = {}
    for value in values:
        shown.setdefault(show(value))
        if len(shown) > _SHOWN_VALUES:
            break
    more = " and others" if len(shown) > _SHOWN_VALUES else ""
    return ", ".join(list(shown)[:_SHOWN_VALUES]) + more
