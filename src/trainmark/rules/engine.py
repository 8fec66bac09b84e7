"""Run rule tables over the records of one log, with the meaning of the official checker.

Tables form layers: each runs over all records with a state of its own and may ask for the next.
What a table says about a key replaces what an earlier table said about it; statements about
alternatives, targets and the end of a table stay. ``docs/checking.md`` lists where the findings
say more than the official checker does; the verdict is the same.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainmark.rules.subjects import Constraint, named, show
from trainmark.rules.tables import KeyRule, Requirement, Table, known_tables, load_table
from trainmark.rules.vocabulary import Record, Scope
from trainmark.types import Event, Finding, RunLog, Severity

__all__ = ["Missing", "Outcome", "TargetRule", "run_tables"]

_MOST_TABLES = 64
_SUBMISSION = "submission_"
# What Python raises for a rule that does not fit the record: text compared with a number, ...
_CANNOT = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRule:
    """The condition that at least one record of a key must meet: the quality target.

    Attributes:
        key: The key, for example "eval_accuracy".
        constraint: The condition.
        met_on_line: The first line that meets it, None if none does; below 1 for a record that a
            rule made of several.
    """

    key: str
    constraint: Constraint
    met_on_line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A key that had to occur and does not.

    Attributes:
        keys: The key, or the alternatives.
        finding: What is said of it.
    """

    keys: frozenset[str]
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the rule tables say about a log.

    Attributes:
        findings: Errors and warnings, the missing keys left out.
        missing: The missing keys.
        targets: The quality targets of the last table that has one for that key.
        tables: The tables that were run, in order.
        rules: For each key the rule that came last.
    """

    findings: tuple[Finding, ...]
    missing: tuple[Missing, ...]
    targets: tuple[TargetRule, ...]
    tables: tuple[str, ...]
    rules: dict[str, KeyRule]

    @property
    def compliant(self) -> bool:
        """Whether the tables hold: the official checker's verdict on what it could parse."""
        return not self.missing and not any(finding.is_error for finding in self.findings)


def run_tables(
    log: RunLog, first: str, *, resolve: Callable[[str], str | None] | None = None
) -> Outcome:
    """Run a table and all that it asks for.

    Args:
        log: The log as read.
        first: The name of the table to start with.
        resolve: The known table that a name asked for stands for, None if there is none; by
            default the table of that name.

    Raises:
        TrainmarkError: A table cannot be read.
    """
    run = _Run(log, resolve or (lambda name: name if name in known_tables() else None))
    return run.all_layers(first)


@dataclass(slots=True)
class _Failure:
    """One kind of failure for one key: where it happened first, and how often."""

    finding: Finding
    count: int = 1

    def told(self) -> Finding:
        if self.count == 1:
            return self.finding
        more = f" (and {self.count - 1} more)"
        return replace(self.finding, message=self.finding.message + more)


@dataclass(slots=True)
class _Layer:
    """A table being run: its state and what it has seen."""

    table: Table
    scope: Scope
    seen: dict[str, list[Any]]
    met: dict[str, int | None] = field(default_factory=dict)
    once: set[str] = field(default_factory=set)  # submission keys: evaluated the first time only
    first: set[str] = field(default_factory=set)


class _Run:
    """All layers over one log."""

    def __init__(self, log: RunLog, resolve: Callable[[str], str | None]) -> None:
        self._source = log.source
        self._records = [_record(event) for event in log.events]
        self._resolve = resolve
        self._by_key: dict[str, dict[str, _Failure]] = {}
        self._missing_by_key: dict[str, Missing] = {}
        self._warnings: dict[str, Finding] = {}
        self._fixed: list[Finding] = []
        self._fixed_missing: list[Missing] = []
        self._targets: dict[str, TargetRule] = {}
        self._rules: dict[str, KeyRule] = {}

    def all_layers(self, first: str) -> Outcome:
        queue: deque[tuple[str, frozenset[str]]] = deque([(first, frozenset())])
        done: list[str] = []
        while queue:
            name, asked_by = queue.popleft()
            done.append(name)
            above = asked_by | {name}
            for wanted in self._layer(load_table(name)):
                known = self._resolve(wanted)
                if known is None or known in above or len(done) + len(queue) >= _MOST_TABLES:
                    self._no_table(wanted, name)
                elif not queue or queue[-1][0] != known:
                    queue.append((known, above))
        return self._outcome(done)

    def _outcome(self, done: Sequence[str]) -> Outcome:
        findings = [failure.told() for kinds in self._by_key.values() for failure in kinds.values()]
        return Outcome(
            findings=(*findings, *self._fixed, *self._warnings.values()),
            missing=(*self._missing_by_key.values(), *self._fixed_missing),
            targets=tuple(self._targets.values()),
            tables=tuple(done),
            rules=self._rules,
        )

    def _layer(self, table: Table) -> list[str]:
        """Run one table; the names of the tables that it asks for."""
        scope = Scope(self._records)
        layer = _Layer(table, scope, {key: [] for key in table.keys})
        if not self._guarded(table.begin.run, scope, f"{table.name} cannot begin", table):
            return scope.enqueued
        for key in table.keys:
            self._by_key.pop(key, None)
            self._missing_by_key.pop(key, None)
        self._rules.update(table.keys)
        for record in self._records:
            rule = table.keys.get(record.key)
            if rule is not None:
                layer.seen[record.key].append(record.value["value"])
                scope.record = record
                self._check_record(layer, rule, record)
        scope.record = None
        for rule in table.keys.values():
            self._check_target(layer, rule)
        self._check_occurrence(layer)
        if self._guarded(table.before_end.run, scope, f"{table.name} cannot end", table):
            for constraint in table.end:
                self._check_end(layer, constraint)
        return scope.enqueued

    def _guarded(
        self, run: Callable[[Scope], Any], scope: Scope, problem: str, table: Table
    ) -> bool:
        """Run a whole-log program; a failure is a finding."""
        try:
            run(scope)
        except _CANNOT as error:
            self._fixed.append(
                self._finding(
                    f"rules.{_stem(table)}.code",
                    f"{problem}: {type(error).__name__} {error}",
                    "Look for records that lack the metadata their key asks for.",
                )
            )
            return False
        return True

    def _check_record(self, layer: _Layer, rule: KeyRule, record: Record) -> None:
        scope = layer.scope
        if rule.name not in layer.once:
            self._act(scope, rule, record, rule.before.run)
            for constraint in rule.checks:
                self._check(scope, rule, record, constraint)
            self._act(scope, rule, record, rule.after.run)
        if rule.first and rule.name not in layer.first:
            layer.first.add(rule.name)
            for constraint in rule.first:
                self._check(scope, rule, record, constraint)
        if rule.target is not None:
            layer.met.setdefault(rule.name, None)
            # Every record is looked at: one that cannot be compared is an error of its own.
            if self._meets(scope, rule, record) and layer.met[rule.name] is None:
                layer.met[rule.name] = record.lineno
        if _SUBMISSION in rule.name:
            layer.once.add(rule.name)

    def _check(self, scope: Scope, rule: KeyRule, record: Record, constraint: Constraint) -> None:
        try:
            if constraint.holds(scope):
                return
            found = constraint.found(scope)
        except _CANNOT:
            found = f"{_value(record)}, which the rule cannot be applied to"
        self._fail(
            rule.name,
            self._finding(
                f"rules.{rule.name}.{constraint.kind}",
                f"{rule.name}: expected that {constraint.sentence()}; {found}",
                constraint.fix(rule.name),
                record=record,
                expected=constraint.sentence(),
                found=found,
            ),
        )

    def _act(
        self, scope: Scope, rule: KeyRule, record: Record, run: Callable[[Scope], None]
    ) -> None:
        try:
            run(scope)
        except _CANNOT as error:
            self._fail(
                rule.name,
                self._finding(
                    f"rules.{rule.name}.code",
                    f"{rule.name}: {_value(record)} does not fit the rule "
                    f"({type(error).__name__}: {error})",
                    f"Give {rule.name} the value and metadata that the other rules name.",
                    record=record,
                ),
            )

    def _meets(self, scope: Scope, rule: KeyRule, record: Record) -> bool:
        assert rule.target is not None, "only for a rule with a target"
        try:
            return bool(rule.target.holds(scope))
        except _CANNOT:
            finding = self._finding(
                f"rules.{rule.name}.target",
                f"{rule.name}: expected that {rule.target.sentence()}; {_value(record)}, which "
                "cannot be compared",
                rule.target.fix(rule.name),
                record=record,
                expected=rule.target.sentence(),
                found=_value(record),
            )
            if not any(finding.rule == earlier.rule for earlier in self._fixed):
                self._fixed.append(finding)  # one line of many is enough
            return False

    def _check_target(self, layer: _Layer, rule: KeyRule) -> None:
        if rule.target is None or rule.name not in layer.met:
            return
        met = layer.met[rule.name]
        self._targets[rule.name] = TargetRule(
            key=rule.name, constraint=rule.target, met_on_line=met
        )
        if met is None:
            seen = layer.seen[rule.name]
            sentence = named(rule.target, rule.name)
            self._fixed.append(
                self._finding(
                    f"rules.{rule.name}.target",
                    f"the target is not met: expected that in at least one of {len(seen)} records "
                    f"{sentence}; the last is {show(seen[-1])}",
                    "Train until the target is met; a run that does not meet it does not count.",
                    expected=sentence,
                    found=show(seen[-1]),
                )
            )

    def _check_occurrence(self, layer: _Layer) -> None:
        alternatives: set[frozenset[str]] = set()
        for rule in layer.table.keys.values():
            need, values = rule.requirement, layer.seen[rule.name]
            if need is None:
                continue
            if need.alternatives:
                alternatives.add(frozenset({rule.name, *need.alternatives}))
            elif len(values) < need.least:
                self._missing_by_key[rule.name] = self._lacks(rule.name, need, len(values))
            elif need.once and len(values) > 1:
                self._repeated(rule.name, values)
        for keys in sorted(alternatives, key=sorted):
            if not any(layer.seen.get(key) for key in keys):
                key = min(keys)
                need = Requirement(least=1, alternatives=tuple(keys - {key}))
                self._fixed_missing.append(self._lacks(key, need, 0))

    def _lacks(self, key: str, need: Requirement, count: int) -> Missing:
        keys = frozenset({key, *need.alternatives})
        return Missing(
            keys=keys,
            finding=self._finding(
                f"rules.{key}.missing",
                f"expected {need.sentence(key)}, found {count or 'none'}",
                f"Log {' or '.join(sorted(keys))}.",
                expected=need.sentence(key),
                found=str(count),
            ),
        )

    def _repeated(self, key: str, values: list[Any]) -> None:
        same = values.count(values[0]) == len(values)
        shown = "the same value each time" if same else f"the values {_distinct(values)}"
        finding = self._finding(
            f"rules.{key}.repeated",
            f"expected exactly one {key}, found {len(values)} with {shown}",
            f"Log {key} once, from one process.",
            severity=Severity.WARNING if same else Severity.ERROR,
            expected=f"exactly one {key}",
            found=str(len(values)),
        )
        if same:
            self._warnings[key] = finding
        else:
            self._fail(key, finding)

    def _check_end(self, layer: _Layer, constraint: Constraint) -> None:
        scope = layer.scope
        try:
            if constraint.holds(scope):
                return
            found = constraint.found(scope)
        except _CANNOT as error:
            found = f"it cannot be evaluated ({type(error).__name__}: {error})"
        self._fixed.append(
            self._finding(
                f"rules.{_stem(layer.table)}.{constraint.kind}",
                f"at the end expected that {constraint.sentence()}; {found}",
                constraint.fix("a record"),
                expected=constraint.sentence(),
                found=found,
            )
        )

    def _no_table(self, wanted: str, asked_by: str) -> None:
        known = sorted(name for name in known_tables() if name.split("/")[0] == _folder(asked_by))
        finding = self._finding(
            "rules.table",
            f"{show(wanted)} is no rule table that can be used here",
            "Give submission_division and submission_benchmark names that have a table: "
            + ", ".join(name.split("/")[1].removesuffix(".yaml") for name in known),
            found=show(wanted),
        )
        if finding not in self._fixed:
            self._fixed.append(finding)

    def _fail(self, key: str, finding: Finding) -> None:
        kinds = self._by_key.setdefault(key, {})
        kind = f"{finding.rule} {finding.expected}"
        if kind in kinds:
            kinds[kind].count += 1
        else:
            kinds[kind] = _Failure(finding)

    def _finding(
        self,
        rule: str,
        message: str,
        fix: str,
        *,
        record: Record | None = None,
        severity: Severity = Severity.ERROR,
        expected: str = "",
        found: str = "",
    ) -> Finding:
        return Finding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            path=self._source,
            line_no=record.lineno if record is not None and record.lineno >= 1 else None,
            expected=expected,
            found=found,
        )


def _record(event: Event) -> Record:
    return Record(
        event.time_ms, event.key, {"value": event.value, "metadata": event.metadata}, event.line_no
    )


def _value(record: Record) -> str:
    return f"the value is {show(record.value.get('value'))}"


def _distinct(values: list[Any]) -> str:
    shown = dict.fromkeys(show(value) for value in values)
    return ", ".join(list(shown)[:5]) + (" and others" if len(shown) > 5 else "")


def _stem(table: Table) -> str:
    return table.name.split("/")[-1].removesuffix(".yaml")


def _folder(table: str) -> str:
    return table.split("/")[0]
