"""Which results may be compared, by benchmark and round; and what a reader has to be told.

Results compare when they had the same target, data and rules: the groups of
``catalogue/tables/comparability.toml``, each with its reason and source. What does not forbid a
comparison but matters to it (divisions, numbers of chips, categories, rounds) is a mark.
"""

import functools
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trainmark
from trainmark.types import Result

__all__ = [
    "RULES",
    "Change",
    "Group",
    "Judgement",
    "Source",
    "changes",
    "group_of",
    "groups",
    "judge",
    "refusal",
    "round_key",
]

RULES = "rules"  # in Result.raw of own results: the round whose rules the logs were held to
_TABLE = Path(trainmark.__file__).parent / "catalogue" / "tables" / "comparability.toml"
_OWN_TARGET = "own target"
_MOST_SCALED = 2  # more are told together
_SUBMITTED = frozenset({"published", "imported"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a statement of the table comes from.

    Attributes:
        title: What it is.
        url: Where it stands.
        date: ISO date on which it was read.
    """

    title: str
    url: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rounds whose results of one task may be compared.

    Attributes:
        task: What is trained.
        name: The group's name for people.
        benchmarks: What the task is called in the logs of these rounds.
        rounds: The rounds, in order.
        target: The quality target with its unit.
        model: The model.
        data: The data set.
        parted: Why it is a group of its own.
        source: Where that stands.
        epoch_samples: Samples of an epoch of the reference convergence points, None where those
            count no epochs.
        first_epoch: The number that those begin to count epochs at.
    """

    task: str
    name: str
    benchmarks: tuple[str, ...]
    rounds: tuple[str, ...]
    target: str
    model: str
    data: str
    parted: str
    source: Source
    epoch_samples: int | None = None
    first_epoch: int = 0

    @property
    def span(self) -> str:
        """The rounds for people: "rounds 0.6 to 4.0"."""
        first, last = self.rounds[0], self.rounds[-1]
        return f"round {first}" if first == last else f"rounds {first} to {last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What changed within a group, from a round on.

    Attributes:
        task: The task.
        since: The first round after the change.
        what: A sentence without a full stop.
        source: Where it stands.
    """

    task: str
    since: str
    what: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether results may be compared.

    Attributes:
        comparable: Whether they may.
        reasons: Why not; () when they may.
        marks: What has to stand beside the comparison.
    """

    comparable: bool
    reasons: tuple[str, ...]
    marks: tuple[str, ...]


def groups(task: str | None = None) -> tuple[Group, ...]:
    """The groups of the table in its order, of all tasks or of one."""
    return tuple(group for group in _table()[0] if task in (None, group.task))


def changes(task: str) -> tuple[Change, ...]:
    """What changed within the groups of a task, oldest first."""
    return tuple(change for change in _table()[1] if change.task == task)


def group_of(result: Result) -> Group | None:
    """The group that a result belongs to.

    A result of one's own of an official benchmark belongs to the group of the round whose rules
    its logs were held to; where nothing tells that, to the newest (see the mark). One with a
    target of its own, or of a round that the table does not know, belongs to none.
    """
    named = _groups_named(result)
    rules = _rules_of(result)
    if rules is not None:
        return next((group for group in named if rules in group.rounds), None)
    if not named or _has_own_target(result):
        return None
    return max(named, key=lambda group: round_key(group.rounds[-1]))


def judge(results: Sequence[Result]) -> Judgement:
    """Whether results may be compared, why not, and what has to be said beside it.

    Args:
        results: Two or more results, in the order that texts shall name them.
    """
    reasons = refusal(results)
    marks = [mark for find in _MARKS for mark in find(results)]
    return Judgement(comparable=not reasons, reasons=reasons, marks=tuple(dict.fromkeys(marks)))


def refusal(results: Sequence[Result]) -> tuple[str, ...]:
    """Why results may not be compared; () when they may."""
    kinds: dict[str, Result] = {}
    for result in results:
        kinds.setdefault(_kind(result), result)
    if len(kinds) < 2:
        return ()
    first, *others = kinds.values()
    return tuple(_difference(first, other) for other in others)


def round_key(name: str | None) -> tuple[int, ...]:
    """A round as numbers that sort in time; () for none, before all others."""
    parts = (name or "").split(".")
    return tuple(int(part) for part in parts) if all(p.isdecimal() for p in parts) else ()


@functools.cache
def _table() -> tuple[tuple[Group, ...], tuple[Change, ...]]:
    data: dict[str, Any] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    sources = {name: Source(**row) for name, row in data["sources"].items()}
    found = tuple(
        Group(
            **{
                **row,
                "benchmarks": tuple(row["benchmarks"]),
                "rounds": tuple(row["rounds"]),
                "source": sources[row["source"]],
            }
        )
        for row in data["group"]
    )
    changed = [Change(**{**row, "source": sources[row["source"]]}) for row in data["changed"]]
    return found, tuple(sorted(changed, key=lambda change: round_key(change.since)))


def _groups_named(result: Result) -> list[Group]:
    """The groups that a result may be of by its benchmark and task."""
    named = [group for group in groups() if result.benchmark in group.benchmarks]
    if result.task and result.task != result.benchmark:
        named = [group for group in named if group.task == result.task]
    return named


def _rules_of(result: Result) -> str | None:
    """The round whose rules a result follows; None where that is not known."""
    return result.round or (result.raw.get(RULES) if result.origin == "own" else None)


def _has_own_target(result: Result) -> bool:
    """Whether a result says of itself that its target is not the official one."""
    return _OWN_TARGET in result.label


def _kind(result: Result) -> str:
    """What two results must have in common."""
    group = group_of(result)
    if group is not None:
        return group.name
    return f"{result.task or result.benchmark} of {result.round or 'its own rules'}"


def _difference(one: Result, other: Result) -> str:
    """Why two results of different kinds do not compare."""
    first, second = group_of(one), group_of(other)
    if first is None or second is None:
        lacking = one if first is None else other
        if _has_own_target(lacking) or _rules_of(lacking) is None:
            return (
                f"{lacking.benchmark} has a target of its own: no result of another benchmark "
                "was trained to it"
            )
        return (
            f"nothing is known of {lacking.benchmark} in round {_rules_of(lacking)}: it may have "
            "another target, other data or other rules"
        )
    if first.task != second.task:
        return (
            f"{_called(one)} and {_called(other)} are different tasks ({first.model} on "
            f"{first.data}; {second.model} on {second.data})"
        )
    early, late = sorted((first, second), key=lambda group: round_key(group.rounds[0]))
    return (
        f"{late.task} of {early.span} ({early.target}) does not compare with {late.span} "
        f"({late.target}): {late.parted} [{late.source.title}]"
    )


def _called(result: Result) -> str:
    rules = _rules_of(result)
    return f"{result.benchmark} of round {rules}" if rules else result.benchmark


def _distinct(results: Iterable[Result], value: Callable[[Result], Any]) -> list[Any]:
    return list(dict.fromkeys(value(result) for result in results))


def _divisions(results: Sequence[Result]) -> list[str]:
    if len(_distinct(results, lambda result: result.division)) < 2:
        return []
    return ["closed with open: an open result may use another model, optimizer and data order"]


def _chips(results: Sequence[Result]) -> list[str]:
    counts = _distinct(results, lambda result: result.accelerators)
    if len(counts) < 2:
        return []
    known = [count for count in counts if count]
    if len(known) < len(counts):
        return ["the number of accelerators differs or is not known"]
    named = ", ".join(f"{count:,}" for count in counts)
    return [f"different numbers of accelerators: {named} ({max(known) / min(known):.3g} times)"]


def _categories(results: Sequence[Result]) -> list[str]:
    submitted = [result for result in results if result.origin in _SUBMITTED]
    categories = _distinct(submitted, lambda result: result.category)
    if len(categories) < 2:
        return []
    return [f"different categories: {', '.join(sorted(map(str, categories)))}"]


def _carried(results: Sequence[Result]) -> list[str]:
    return [
        f"{result.id} was carried over: the same logs were published before"
        for result in results
        if result.carried_over
    ]


def _scaled(results: Sequence[Result]) -> list[str]:
    scaled = [result for result in results if result.scaling_factor != 1]
    why = "as the rounds ask of runs that converged faster than the reference"
    if len(scaled) > _MOST_SCALED:
        factors = sorted(result.scaling_factor for result in scaled)
        ends = dict.fromkeys(f"{factor:.4g}" for factor in (factors[0], factors[-1]))
        return [f"{len(scaled)} results have their time multiplied, by {' to '.join(ends)}, {why}"]
    return [
        f"{result.id} has its time multiplied by {result.scaling_factor:.4g}, {why}"
        for result in scaled
    ]


def _rounds(results: Sequence[Result]) -> list[str]:
    rounds = sorted({result.round for result in results if result.round}, key=round_key)
    if len(rounds) < 2:
        return []
    marks = [f"different rounds ({', '.join(rounds)}): software had more time in the later one"]
    first, last = round_key(rounds[0]), round_key(rounds[-1])
    tasks = {group.task for result in results if (group := group_of(result))}
    for task in sorted(tasks):
        marks += [
            f"{task}: {change.what}"
            for change in changes(task)
            if first < round_key(change.since) <= last
        ]
    return marks


def _standing(results: Sequence[Result]) -> list[str]:
    verified = [result for result in results if result.origin == "published"]
    if not verified:
        return ["every result is unverified"] if results else []
    if len(verified) < len(results):
        return ["unverified results beside verified ones: MLCommons has reviewed only the latter"]
    return []


def _assumed(results: Sequence[Result]) -> list[str]:
    """Own results that may as well be of an earlier group."""
    marks = []
    for result in results:
        group = group_of(result)
        if group is None or _rules_of(result) is not None:
            continue
        # Its task was found from its benchmark's name, which tells no more.
        if sum(result.benchmark in each.benchmarks for each in groups()) > 1:
            marks.append(
                f"{result.id}: nothing tells by which round's rules it was run; taken to be "
                f"{group.name}, {group.span}"
            )
    return marks


def _own_targets(results: Sequence[Result]) -> list[str]:
    if not any(_has_own_target(result) for result in results):
        return []
    return ["own target: MLPerf procedure, but no official benchmark"]


_MARKS: tuple[Callable[[Sequence[Result]], list[str]], ...] = (
    _divisions,
    _chips,
    _categories,
    _rounds,
    _scaled,
    _carried,
    _standing,
    _assumed,
    _own_targets,
)
