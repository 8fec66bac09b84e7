"""What changed in the rules from one round to another: what ``trainmark rules diff`` prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.rules.rulesets import Ruleset
from trainmark.rules.sentences import DIVISIONS, KeySentences, RuleSheet, benchmarks, rule_sheet
from trainmark.types import UsageError, unknown_name

__all__ = ["Change", "Difference", "RoundDifference", "difference", "round_difference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of the rules of one key.

    Attributes:
        kind: "added", "removed" or "changed".
        key: The key.
        when: The setting under which its rules apply; "" for always.
        before: What the earlier round asks for; of a changed key only what is no longer there.
        after: What the later round asks for; of a changed key only what is new.
    """

    kind: str
    key: str
    when: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data for ``--json``."""
        return {
            "kind": self.kind,
            "key": self.key,
            "when": self.when,
            "before": list(self.before),
            "after": list(self.after),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed for one benchmark.

    Attributes:
        benchmark: The benchmark.
        changes: The changes in the order of the later round, removed keys last.
    """

    benchmark: str
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data for ``--json``."""
        return {
            "benchmark": self.benchmark,
            "changes": [change.to_dict() for change in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDifference:
    """What changed in a division from one round to another.

    Attributes:
        before: The earlier round (the first one named).
        after: The later round.
        division: "closed" or "open".
        removed: Benchmarks that only the first round has.
        added: Benchmarks that only the second round has.
        everywhere: Changes that are the same in every benchmark of both rounds.
        benchmarks: For each benchmark of both rounds the changes beyond those.
    """

    before: Ruleset
    after: Ruleset
    division: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    everywhere: tuple[Change, ...]
    benchmarks: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain data for ``--json``."""
        return {
            "before": self.before.name,
            "after": self.after.name,
            "division": self.division,
            "benchmarks_removed": list(self.removed),
            "benchmarks_added": list(self.added),
            "everywhere": [change.to_dict() for change in self.everywhere],
            "benchmarks": [one.to_dict() for one in self.benchmarks],
        }


def difference(before: RuleSheet, after: RuleSheet) -> Difference:
    """What changed from one sheet to another; where a rule stands makes no difference.

    Args:
        before: The earlier sheet.
        after: The later one.
    """
    earlier = {(row.key, row.when): row for row in before.keys}
    later = {(row.key, row.when): row for row in after.keys}
    changes = [
        change
        for place, row in later.items()
        if (change := _changed(earlier.get(place), row)) is not None
    ]
    changes += [_removed(row) for place, row in earlier.items() if place not in later]
    ends = _end(before, after)
    return Difference(benchmark=after.benchmark, changes=(*changes, *ends))


def round_difference(
    before: Ruleset, after: Ruleset, *, division: str = "closed", benchmark: str | None = None
) -> RoundDifference:
    """What changed from one round to another, for one benchmark or for all.

    Args:
        before: The earlier round.
        after: The later one.
        division: "closed" or "open".
        benchmark: Only this one; by default every one.

    Raises:
        UsageError: Neither round has the benchmark, or the division is unknown.
        TrainmarkError: A table cannot be read.
    """
    if division not in DIVISIONS:
        raise unknown_name("division", division, DIVISIONS)
    first, second = benchmarks(before, division), benchmarks(after, division)
    if benchmark is not None:
        if benchmark not in first and benchmark not in second:
            unknown = unknown_name("benchmark", benchmark, {*first, *second})
            where = f"in the {division} division of {before.title} or {after.title}"
            raise UsageError(f"{unknown.message} {where}", hint=unknown.hint)
        first = tuple(name for name in first if name == benchmark)
        second = tuple(name for name in second if name == benchmark)
    both = [name for name in first if name in second]
    found = [
        difference(rule_sheet(before, name, division), rule_sheet(after, name, division))
        for name in both
    ]
    common = _common(found)
    return RoundDifference(
        before=before,
        after=after,
        division=division,
        removed=tuple(name for name in first if name not in second),
        added=tuple(name for name in second if name not in first),
        everywhere=common,
        benchmarks=tuple(
            Difference(
                benchmark=one.benchmark,
                changes=tuple(change for change in one.changes if change not in common),
            )
            for one in found
        ),
    )


def _common(found: Sequence[Difference]) -> tuple[Change, ...]:
    """The changes that every one of several benchmarks has."""
    if len(found) < 2:
        return ()
    return tuple(
        change for change in found[0].changes if all(change in one.changes for one in found[1:])
    )


def _changed(before: KeySentences | None, after: KeySentences) -> Change | None:
    if before is None:
        return Change(kind="added", key=after.key, when=after.when, before=(), after=after.lines())
    old, new = before.lines(), after.lines()
    gone = tuple(line for line in old if line not in new)
    come = tuple(line for line in new if line not in old)
    if not gone and not come:
        return None
    return Change(kind="changed", key=after.key, when=after.when, before=gone, after=come)


def _removed(row: KeySentences) -> Change:
    return Change(kind="removed", key=row.key, when=row.when, before=row.lines(), after=())


def _end(before: RuleSheet, after: RuleSheet) -> list[Change]:
    """What must hold when the whole log has been read, as a change of its own."""
    old = tuple(sentence for _, sentence in before.end)
    new = tuple(sentence for _, sentence in after.end)
    gone = tuple(line for line in old if line not in new)
    come = tuple(line for line in new if line not in old)
    if not gone and not come:
        return []
    return [Change(kind="changed", key="end of the log", when="", before=gone, after=come)]
