"""The rules of one benchmark in one round as sentences: what ``trainmark rules show`` prints.

Nothing is retold by hand: the tables that apply are found by running them on a log that says
nothing but its division and its benchmark, and each sentence is that of the typed constraint.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainmark.mllog import keys
from trainmark.rules.constraints import AllOf, Flag, OneOf, SameItems, TimeLimit
from trainmark.rules.engine import Outcome, run_tables
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.subjects import Constraint, named, show
from trainmark.rules.tables import KeyRule, Table, known_tables, load_table
from trainmark.rules.vocabulary import Scope
from trainmark.types import Event, RunLog, UsageError, unknown_name

__all__ = ["DIVISIONS", "KeySentences", "RuleSheet", "benchmarks", "rule_sheet"]

DIVISIONS = ("closed", "open")
_NO_BENCHMARK = frozenset({"common", "generic"})
_DIVISION_LIMIT = "the division's limit"  # as TimeLimit words it
_CHOOSES = "its value chooses further rules"
_FORMULA = re.compile(r" [-+*/] |\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySentences:
    """What a round asks of the records of one key.

    Attributes:
        key: The key.
        table: The table that it stands in, without folder and ".yaml".
        when: The setting under which it applies, for example 'opt_name is "lars"'; "" for always.
        required: How often it must occur; "" if that is free.
        checks: What must hold for each record.
        order: What must come before or after it.
        first: What must hold for the first record only.
        target: What must hold for at least one record; "" without such a rule.
        chooses: The tables that its value chooses, in words; "" if it chooses none.
        gives: What is reckoned from its value for the rules of other keys.
    """

    key: str
    table: str
    when: str = ""
    required: str = ""
    checks: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    target: str = ""
    chooses: str = ""
    gives: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Every sentence, the requirement first."""
        return (
            *([self.required] if self.required else []),
            *([f"in at least one record {self.target}"] if self.target else []),
            *(f"in the first record {sentence}" for sentence in self.first),
            *self.checks,
            *self.order,
            *([self.chooses] if self.chooses else []),
            *self.gives,
        )

    def to_dict(self) -> dict[str, Any]:
        """The sentences as plain data for ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSheet:
    """All rules of one benchmark in one round and division.

    Attributes:
        ruleset: The round.
        benchmark: The benchmark's name in logs.
        division: "closed" or "open".
        tables: The tables in the order in which they are applied.
        keys: The rules by key, those of the most particular table first.
        end: What must hold when the whole log has been read, with its table.
    """

    ruleset: Ruleset
    benchmark: str
    division: str
    tables: tuple[str, ...]
    keys: tuple[KeySentences, ...]
    end: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The sheet as plain data for ``--json``."""
        return {
            "round": self.ruleset.name,
            "benchmark": self.benchmark,
            "division": self.division,
            "tables": list(self.tables),
            "keys": [key.to_dict() for key in self.keys],
            "end": [{"table": table, "sentence": sentence} for table, sentence in self.end],
        }


@functools.cache
def benchmarks(ruleset: Ruleset, division: str = "closed") -> tuple[str, ...]:
    """The benchmarks that a round has rules for in a division, sorted.

    Raises:
        TrainmarkError: A table cannot be read.
    """
    if not ruleset.official:
        folder = ruleset.first_table.split("/")[0]
        own = (_stem(table) for table in known_tables() if table.startswith(f"{folder}/"))
        return tuple(sorted(set(own) - _NO_BENCHMARK))
    allowed: tuple[Any, ...] = ()
    for name in _run(ruleset, {keys.SUBMISSION_DIVISION: division}).tables:
        rule = load_table(name).keys.get(keys.SUBMISSION_BENCHMARK)
        allowed = allowed if rule is None else _options(rule)
    names = sorted({option for option in allowed if isinstance(option, str)})
    return tuple(name for name in names if not _lacks_table(_run(ruleset, _said(name, division))))


def rule_sheet(ruleset: Ruleset, benchmark: str, division: str = "closed") -> RuleSheet:
    """All rules of one benchmark, each layer replacing what an earlier one said of a key.

    Args:
        ruleset: The round.
        benchmark: The benchmark's name in logs.
        division: "closed" or "open".

    Raises:
        UsageError: The round has no such division or benchmark.
        TrainmarkError: A table cannot be read.
    """
    if division not in DIVISIONS:
        raise unknown_name("division", division, DIVISIONS)
    if benchmark not in benchmarks(ruleset, division):
        raise _no_benchmark(ruleset, benchmark, division)
    said = _said(benchmark, division)
    names = _run(ruleset, said).tables
    tables = [load_table(name) for name in names]
    rows = list(_layered(tables, said))
    places = [_stem(name) for name in reversed(names)]
    rows.sort(key=lambda row: places.index(row.table))
    for key, option in _choices(tables):
        chosen = _run(ruleset, said | {key: option}).tables
        more = [load_table(name) for name in chosen if name not in names]
        rows += _layered(more, said, when=f"{key} is {show(option)}")
    return RuleSheet(
        ruleset=ruleset,
        benchmark=benchmark,
        division=division,
        tables=tuple(map(_stem, names)),
        keys=tuple(rows),
        end=tuple(
            (_stem(table.name), _reworded(_in_full(one), _terms(table, said)))
            for table in tables
            for one in table.end
        ),
    )


def _said(benchmark: str, division: str) -> dict[str, Any]:
    return {keys.SUBMISSION_DIVISION: division, keys.SUBMISSION_BENCHMARK: benchmark}


def _run(ruleset: Ruleset, said: Mapping[str, Any]) -> Outcome:
    """What the tables say of a log that holds these values and nothing else."""
    events = tuple(
        Event(key=key, value=value, metadata={}, time_ms=1.0, kind="", line_no=place)
        for place, (key, value) in enumerate(said.items(), start=1)
    )
    log = RunLog(events=events, source="")
    return run_tables(log, ruleset.first_table, resolve=ruleset.resolve)


def _lacks_table(outcome: Outcome) -> bool:
    return any(finding.rule == "rules.table" for finding in outcome.findings)


def _terms(table: Table, said: Mapping[str, Any]) -> dict[str, str]:
    """What stands for a number in the table's sentences, and that number.

    It is a limit that the division sets, or an entry of the state that nothing changes.
    """
    records: list[Any] = [
        Event(key=key, value=value, metadata={}, time_ms=1.0, kind="", line_no=1)
        for key, value in said.items()
    ]
    scope = Scope(records)
    table.begin.run(scope)
    actions = [
        action.sentence()
        for rule in table.keys.values()
        for action in (*rule.before.actions, *rule.after.actions)
    ]
    terms = {
        f"the {name} of the log": f"{value:.12g}"
        for name, value in scope.state.items()
        if type(value) in (int, float) and not any(name in action for action in actions)
    }
    for record in records:
        scope.record = record
        if rule := table.keys.get(record.key):
            rule.after.run(scope)
    limits = (one for rule in table.keys.values() for one in _parts(rule.checks))
    for one in limits:
        match one:
            case TimeLimit(minutes=None, minutes_in=name) if name in scope.state:
                terms[_DIVISION_LIMIT] = f"{scope.state[name]} minutes"
    return terms


def _reworded(sentence: str, terms: Mapping[str, str]) -> str:
    for term, number in terms.items():
        sentence = sentence.replace(term, number)
    return sentence


def _choices(tables: Sequence[Table]) -> Iterator[tuple[str, Any]]:
    """Keys whose value may choose further tables, with each value that is allowed."""
    for table in tables:
        for rule in table.keys.values():
            if "submission_" not in rule.name and (rule.after.actions or rule.before.actions):
                yield from ((rule.name, option) for option in _options(rule))


def _options(rule: KeyRule) -> tuple[Any, ...]:
    """The values that a rule lists for its key, () if it lists none."""
    lists = (check.options for check in rule.checks if isinstance(check, OneOf))
    return next(lists, ())


def _layered(
    tables: Sequence[Table], said: Mapping[str, Any], *, when: str = ""
) -> Iterator[KeySentences]:
    """The sentences of each key; a later table's rule replaces an earlier one's."""
    rules: dict[str, list[tuple[Table, KeyRule]]] = {}
    for table in tables:
        for key, rule in table.keys.items():
            rules.setdefault(key, []).append((table, rule))
    terms = {table.name: _terms(table, said) for table in tables}
    for several in rules.values():
        yield _sentences(several, terms, when)


def _sentences(
    several: Sequence[tuple[Table, KeyRule]], terms: Mapping[str, Mapping[str, str]], when: str
) -> KeySentences:
    """One key in words. Of replaced rules alternatives and targets stay, as in the engine."""
    table, rule = several[-1]
    replaced = [one.requirement for _, one in several[:-1]]
    needs = [need for need in replaced if need is not None and need.alternatives]
    needs += [rule.requirement] if rule.requirement else []
    targets = [
        _reworded(named(one.target, rule.name), terms[layer.name])
        for layer, one in several
        if one.target is not None
    ]

    def words(constraints: Sequence[Constraint]) -> tuple[str, ...]:
        sentences = (named(one, rule.name) for one in constraints)
        return tuple(dict.fromkeys(_reworded(one, terms[table.name]) for one in sentences))

    checks = list(_parts(rule.checks))
    asks = any(
        "table" in one.sentence() or "enqueue" in one.sentence() for one in rule.after.actions
    )
    return KeySentences(
        key=rule.name,
        table=_stem(table.name),
        when=when,
        required=" and ".join(dict.fromkeys(need.sentence(rule.name) for need in needs)),
        checks=words([one for one in checks if not isinstance(one, Flag)]),
        order=words([one for one in checks if isinstance(one, Flag)]),
        first=words(rule.first),
        target=" and ".join(dict.fromkeys(targets)),
        chooses=_CHOOSES if asks else "",
        gives=tuple(_reckoned(rule)),
    )


def _reckoned(rule: KeyRule) -> Iterator[str]:
    """What a record gives other rules by a formula: "for other rules lr_min is 5e-07 * seed"."""
    for action in (*rule.before.actions, *rule.after.actions):
        name, becomes, formula = action.sentence().partition(" becomes ")
        if becomes and name.isidentifier() and _FORMULA.search(formula):
            formula = formula.replace("the value", rule.name)
            yield f"for other rules {name} is {formula}"


def _parts(checks: Sequence[Constraint]) -> Iterator[Constraint]:
    """The checks, one that joins an order of records with others taken apart."""
    for check in checks:
        if isinstance(check, AllOf) and any(isinstance(part, Flag) for part in check.parts):
            yield from _parts(check.parts)
        else:
            yield check


def _no_benchmark(ruleset: Ruleset, benchmark: str, division: str) -> UsageError:
    """The error for a benchmark that the round lacks, or has only in the other division."""
    others = [one for one in DIVISIONS if benchmark in benchmarks(ruleset, one)]
    if others:
        return UsageError(
            f"{ruleset.title} have {benchmark!r} only in the {others[0]} division",
            hint=f"Use --division {others[0]}.",
        )
    unknown = unknown_name("benchmark", benchmark, benchmarks(ruleset, division))
    where = f"the {division} division of {ruleset.title}" if ruleset.official else ruleset.title
    return UsageError(f"{unknown.message} in {where}", hint=unknown.hint)


def _in_full(constraint: Constraint) -> str:
    """A sentence that names every item of a list: who has to log them needs them all."""
    if isinstance(constraint, SameItems):
        return constraint.sentence(limit=len(constraint.items))
    return constraint.sentence()


def _stem(table: str) -> str:
    return table.split("/")[-1].removesuffix(".yaml")
