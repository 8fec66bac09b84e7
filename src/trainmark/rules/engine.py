"""Run rule tables over the records of one log, with the meaning of the official checker.

Tables form layers: each runs over all records with a state of its own and may ask for the next.
What a table says about a key replaces what an earlier table said about it; statements about
alternatives, targets and the end of a table stay. ``docs/checking.md`` lists where the findings
say more than the official checker does; the verdict is the same.

A log may have a million records, so only those are looked at that a table has something to do
with, each check is one compiled function, and words are made for the first failure of a kind.
"""

from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import cast

from trainmark.rules.actions import Execute
from trainmark.rules.culprits import CANNOT, failing
from trainmark.rules.keyrules import KeyRule, Requirement, Table
from trainmark.rules.nodes import Node
from trainmark.rules.plans import Plan, TablePlan, plan_of
from trainmark.rules.reports import Missing, Reports, line_of, logged, value_of
from trainmark.rules.subjects import Constraint, Evaluate, named, show
from trainmark.rules.tables import known_tables, load_table
from trainmark.rules.vocabulary import Record, Scope
from trainmark.types import Event, Finding, RunLog

__all__ = ["Missing", "Outcome", "TargetRule", "run_tables"]

_MOST_TABLES = 64
_MOST_REFUSED = 20  # findings about tables that are not there; a log may ask for a million
_COUNTS_SECONDS = "training_0.6.0"


class TargetRule(Node, kw_only=True):
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


class Outcome(Node, kw_only=True):
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
    rules: Mapping[str, KeyRule]

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
    known = resolve or (lambda name: name if name in known_tables() else None)
    run = _Run(log, known, in_seconds=_folder(first) == _COUNTS_SECONDS)
    return run.all_layers(first)


class _Lines:
    """The records of a log by key: its events, then those that rules have added.

    Attributes:
        records: All of them; a BEGIN block may add some at the end.
        counts: The number of records by key.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self.records: list[Event | Record] = list(log.events)
        self._added: list[Event | Record] = []
        self.counts = {key: log.count(key) for key in log.keys()}  # noqa: SIM118 -- no dictionary

    def take_in(self) -> None:
        """Note the records that were added; one without a value counts as an unknown key."""
        added = self.records[len(self._log.events) + len(self._added) :]
        for record in added:
            if isinstance(record, Event) or _has_value(record):
                self.counts[record.key] = self.counts.get(record.key, 0) + 1
        self._added += added

    def of(self, keys: Sequence[str]) -> Iterable[Event | Record]:
        """The records of these keys, in order."""
        events = self._log.all(*keys)
        if not self._added:
            return events
        added = (one for one in self._added if isinstance(one, Event) or _has_value(one))
        return chain(events, (record for record in added if record.key in keys))


def _has_value(record: Record) -> bool:
    return isinstance(record.value, dict) and "value" in record.value


class _Layer:
    """A table being run: its state, and what has been seen of it."""

    __slots__ = ("first", "met", "once", "plan", "scope", "table")

    def __init__(self, table: Table, scope: Scope) -> None:
        self.table = table
        self.plan = plan_of(table)
        self.scope = scope
        self.met: dict[str, int | None] = {}
        self.once: set[str] = set()
        self.first: set[str] = set()


class _Run:
    """All layers over one log."""

    def __init__(
        self, log: RunLog, resolve: Callable[[str], str | None], *, in_seconds: bool
    ) -> None:
        self._lines = _Lines(log)
        self._resolve = resolve
        self._in_seconds = in_seconds
        self._reports = Reports(log.source)
        self._targets: dict[str, TargetRule] = {}
        self._refused: set[str] = set()
        self._rules: ChainMap[str, KeyRule] = ChainMap({})

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
        return Outcome(
            findings=self._reports.findings(),
            missing=self._reports.missing(),
            targets=tuple(self._targets.values()),
            tables=tuple(done),
            rules=self._rules,
        )

    def _layer(self, table: Table) -> list[str]:
        """Run one table; the names of the tables that it asks for."""
        scope = Scope(self._lines.records, in_seconds=self._in_seconds)
        layer = _Layer(table, scope)
        if not self._guarded(layer.plan.begin, scope, f"{table.name} cannot begin", table):
            return scope.enqueued
        self._lines.take_in()
        self._reports.take_back(table.keys)
        # A ChainMap only ever changes its first map, the empty one.
        self._rules.maps.insert(1, cast("dict[str, KeyRule]", table.keys))
        self._visit(layer, self._in_turn(layer.plan))
        scope.record = None
        for key, met in layer.met.items():
            self._check_target(table.keys[key], met)
        self._check_occurrence(layer.plan)
        if self._guarded(layer.plan.before_end, scope, f"{table.name} cannot end", table):
            for test, constraint in layer.plan.end:
                self._check_end(layer, test, constraint)
        return scope.enqueued

    def _guarded(self, steps: Sequence[Execute], scope: Scope, problem: str, table: Table) -> bool:
        """Run a whole-log program; a failure is a finding."""
        try:
            for step in steps:
                step(scope)
        except CANNOT as error:
            self._reports.fixed.append(
                self._reports.finding(
                    f"rules.{_stem(table)}.code",
                    f"{problem}: {type(error).__name__} {error}",
                    "Look for records that lack the metadata their key asks for.",
                )
            )
            return False
        return True

    def _in_turn(self, plan: TablePlan) -> Iterable[Event | Record]:
        """The records that the table has something to do with.

        Those of a key whose rule neither reads nor writes the state come last, key by key: where
        they stand among the others is of no matter.
        """
        in_order, alone = [], []
        for key in plan.table.keys:
            if key in self._lines.counts:
                of_key = plan.plans[key]
                if of_key.in_order:
                    in_order.append(key)
                elif not of_key.idle:
                    alone.append(key)
        groups = [self._lines.of([key]) for key in alone]
        return chain(self._lines.of(in_order) if in_order else (), *groups)

    def _visit(self, layer: _Layer, records: Iterable[Event | Record]) -> None:
        """Check each of these records: the one loop that a long log spends its time in."""
        scope, reports, plans = layer.scope, self._reports, layer.plan.plans
        once, first, met = layer.once, layer.first, layer.met
        for record in records:
            key = record.key
            plan = plans[key]
            if type(record) is Event:
                scope.here = record
                scope.value = record.value
                scope.metadata = record.metadata
            else:
                scope.record = record
            if not plan.once or key not in once:
                if plan.before:
                    try:
                        for step in plan.before:
                            step(scope)
                    except CANNOT as error:
                        reports.code_failed(key, scope, error)
                for test, constraint in plan.checks:
                    try:
                        if test(scope):
                            continue
                        fits = True
                    except CANNOT:
                        fits = False
                    reports.check_failed(key, scope, constraint, fits=fits)
                if plan.after:
                    try:
                        for step in plan.after:
                            step(scope)
                    except CANNOT as error:
                        reports.code_failed(key, scope, error)
                if plan.once:
                    once.add(key)
            if plan.first and key not in first:
                first.add(key)
                self._check_first(plan, scope)
            if plan.target is not None and self._meets(plan, scope):
                met[key] = met.get(key) or line_of(record)
            elif plan.target is not None:
                met.setdefault(key, None)

    def _meets(self, plan: Plan, scope: Scope) -> bool:
        """Whether the target is met; every record is asked, for one may not be comparable."""
        assert plan.target is not None, "only for a rule with a target"
        try:
            return bool(plan.target(scope))
        except CANNOT:
            self._cannot_compare(plan.rule, scope)
            return False

    def _check_first(self, plan: Plan, scope: Scope) -> None:
        for test, constraint in plan.first:
            try:
                if test(scope):
                    continue
                fits = True
            except CANNOT:
                fits = False
            self._reports.check_failed(plan.rule.name, scope, constraint, fits=fits)

    def _cannot_compare(self, rule: KeyRule, scope: Scope) -> None:
        assert rule.target is not None, "only for a rule with a target"
        name = f"rules.{rule.name}.target"
        if any(name == earlier.rule for earlier in self._reports.fixed):
            return  # one line of many is enough
        self._reports.fixed.append(
            self._reports.finding(
                name,
                f"{rule.name}: expected that {rule.target.sentence()}; {value_of(scope)}, which "
                "cannot be compared",
                rule.target.fix(rule.name),
                record=scope.at(),
                expected=rule.target.sentence(),
                found=value_of(scope),
            )
        )

    def _check_target(self, rule: KeyRule, met: int | None) -> None:
        assert rule.target is not None, "only for a rule with a target"
        self._targets[rule.name] = TargetRule(
            key=rule.name, constraint=rule.target, met_on_line=met
        )
        if met is None:
            records = list(self._lines.of([rule.name]))
            sentence, last = named(rule.target, rule.name), show(logged(records[-1]))
            self._reports.fixed.append(
                self._reports.finding(
                    f"rules.{rule.name}.target",
                    f"the target is not met: expected that in at least one of {len(records)} "
                    f"records {sentence}; the last is {last}",
                    "Train until the target is met; a run that does not meet it does not count.",
                    record=records[-1],
                    expected=sentence,
                    found=last,
                )
            )

    def _check_occurrence(self, plan: TablePlan) -> None:
        counts = self._lines.counts
        for key, least, once in plan.least:
            count = counts.get(key, 0)
            if count < least:
                need = plan.table.keys[key].requirement
                assert need is not None, "the plan is made of requirements"
                rule = plan.table.keys[key]
                self._reports.missing_by_key[key] = self._reports.lacks(
                    rule, need, count, self._unknown(plan.table)
                )
            elif once and count > 1:
                self._reports.repeated(key, list(self._lines.of([key])))
        for keys in plan.alternatives:
            if not any(key in counts and key in plan.table.keys for key in keys):
                key = min(keys)
                need = Requirement(least=1, alternatives=tuple(keys - {key}))
                rule = plan.table.keys.get(key) or KeyRule(name=key)
                self._reports.fixed_missing.append(
                    self._reports.lacks(rule, need, 0, self._unknown(plan.table))
                )

    def _unknown(self, table: Table) -> list[str]:
        """The keys of the log that no table so far has a rule for."""
        known = (table.keys, self._rules)
        return [key for key in self._lines.counts if not any(key in rules for rules in known)]

    def _check_end(self, layer: _Layer, test: Evaluate, constraint: Constraint) -> None:
        scope = layer.scope
        try:
            if test(scope):
                return
            constraint = failing(constraint, scope)
            found = constraint.found(scope)
        except CANNOT as error:
            found = f"it cannot be evaluated ({type(error).__name__}: {error})"
        self._reports.fixed.append(
            self._reports.finding(
                f"rules.{_stem(layer.table)}.{constraint.kind}",
                f"at the end expected that {constraint.sentence()}; {found}",
                constraint.fix("a record"),
                expected=constraint.sentence(),
                found=found,
            )
        )

    def _no_table(self, wanted: str, asked_by: str) -> None:
        shown = show(wanted)
        if shown in self._refused or len(self._refused) >= _MOST_REFUSED:
            return
        self._refused.add(shown)
        known = sorted(name for name in known_tables() if name.split("/")[0] == _folder(asked_by))
        finding = self._reports.finding(
            "rules.table",
            f"{shown} is no rule table that can be used here",
            "Give submission_division and submission_benchmark names that have a table: "
            + ", ".join(name.split("/")[1].removesuffix(".yaml") for name in known),
            found=shown,
        )
        self._reports.fixed.append(finding)


def _stem(table: Table) -> str:
    return table.name.split("/")[-1].removesuffix(".yaml")


def _folder(table: str) -> str:
    return table.split("/")[0]
