"""What software alone gained: the same hardware, round by round.

A chain is one accelerator, one number of them and one submitter; each round has its fastest
result. The gain is 1 - time now / time before, with the bootstrap interval of both sides' runs.
Where the rounds stop being comparable the chain starts anew, and says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainmark.analysis.comparability import Group, group_of, judge, refusal, round_key
from trainmark.analysis.series import Asked, gather, rate_of
from trainmark.analysis.statistics import Ratio, Sample, ratio
from trainmark.types import Finding, Result, TrainmarkError

__all__ = ["Chain", "Gain", "History", "Point", "chains_of", "gain_of", "history"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much less time a result takes than an earlier one.

    Attributes:
        value: 1 - minutes / minutes before: 0.24 is 24 % less time.
        low: Lower end of the 95 % interval, None without one.
        high: Upper end, None without one.
        within_noise: Whether the interval holds 0; None without one.
        note: Why there is no interval, or how rough it is.
    """

    value: float
    low: float | None
    high: float | None
    within_noise: bool | None
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The gain as plain data for ``--json``."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "within_noise": self.within_noise,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The fastest result of one round in a chain.

    Attributes:
        result: The result.
        group: The comparable group that it is of.
        since_before: Gain against the round before in the chain; None at a start.
        since_first: Gain against the first round since the chain last started; None at a start.
        rate: Samples a second over the whole run, None if unknown.
        rate_change: Rate over that of the round before, less 1; None at a start or if unknown.
        samples_change: Samples to the target over those of the round before, less 1; likewise.
        parted: Why it does not compare with the round before; () where it does.
        of: How many results of that round the chain could choose from.
    """

    result: Result
    group: Group
    since_before: Gain | None
    since_first: Gain | None
    rate: float | None
    rate_change: float | None
    samples_change: float | None
    parted: tuple[str, ...]
    of: int

    def to_dict(self) -> dict[str, Any]:
        """The point as plain data for ``--json``."""
        result = self.result
        return {
            "id": result.id,
            "round": result.round,
            "submitter": result.submitter,
            "system": result.system,
            "group": self.group.name,
            "minutes": result.minutes,
            "gain_since_before": None if self.since_before is None else self.since_before.to_dict(),
            "gain_since_first": None if self.since_first is None else self.since_first.to_dict(),
            "samples_per_second": self.rate,
            "rate_change": self.rate_change,
            "samples_to_target": result.samples_to_target,
            "samples_change": self.samples_change,
            "global_batch_size": result.global_batch_size,
            "scaling_factor": result.scaling_factor,
            "framework": result.framework,
            "parted": list(self.parted),
            "results_to_choose_from": self.of,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """One accelerator, one number of them, round by round.

    Attributes:
        accelerator: The accelerator's name.
        chips: How many.
        basis: Whose results, and how that was chosen.
        points: One for each round, oldest first.
        marks: What has to stand beside it.
    """

    accelerator: str
    chips: int
    basis: str
    points: tuple[Point, ...]
    marks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The chain as plain data for ``--json``."""
        return {
            "accelerator": self.accelerator,
            "accelerators": self.chips,
            "basis": self.basis,
            "points": [point.to_dict() for point in self.points],
            "marks": list(self.marks),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was asked for, and what else there is.

    Attributes:
        task: What is trained.
        chains: The chains that were asked for.
        others: Every other (accelerator, number of them) with two rounds or more.
    """

    task: str
    chains: tuple[Chain, ...]
    others: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data for ``--json``."""
        return {
            "task": self.task,
            "formula": "gain = 1 - minutes / minutes before; 95 % bootstrap interval",
            "chains": [chain.to_dict() for chain in self.chains],
            "others": [{"accelerator": a, "accelerators": n} for a, n in self.others],
        }


def history(
    asked: Asked,
    *,
    chips: int | None = None,
    every_chain: bool = False,
    any_submitter: bool = False,
    findings: list[Finding] | None = None,
) -> History:
    """Round by round on the same hardware.

    Args:
        asked: Which results. A benchmark that names two tasks gives the newer one's.
        chips: The number of accelerators; None for that of the accelerator's vendor with most
            rounds, else of whoever has most, the smallest of several.
        every_chain: Whether all numbers of accelerators with two rounds or more are wanted.
        any_submitter: Whether the fastest of all submitters counts, instead of one's.
        findings: Gets what is damaged in the catalogue.

    Raises:
        UsageError: An unknown benchmark or round.
        TrainmarkError: There is no such result, or none with that number of accelerators.
    """
    found = [result for result in gather(asked, findings) if result.round is not None]
    if not found:
        raise TrainmarkError(
            f"no round has results of {asked.benchmark} on {asked.accelerator}",
            hint="Own results have no rounds: compare them with trainmark diff.",
        )
    task = _newest_task(found)
    found = [r for r in found if (group := group_of(r)) is not None and group.task == task]
    plans = _plans(found, submitter=asked.submitter, any_submitter=any_submitter)
    if chips is not None:
        chosen = [plan for plan in plans if plan.chips == chips][:1]
        if not chosen:
            counts = ", ".join(str(n) for n in sorted({plan.chips for plan in plans}))
            raise TrainmarkError(
                f"there is no result of {asked.benchmark} on {chips} {asked.accelerator}",
                hint=f"Numbers of accelerators with results: {counts}.",
            )
    elif every_chain:
        chosen = [plan for plan in plans if plan.rounds > 1] or plans[:1]
    else:
        chosen = plans[:1]
    others = [p for p in plans if p not in chosen and p.rounds > 1]
    return History(
        task=task,
        chains=tuple(_chain(plan) for plan in chosen),
        others=tuple(sorted((plan.accelerator, plan.chips) for plan in others)),
    )


def chains_of(
    results: Sequence[Result], *, submitter: str | None = None, any_submitter: bool = False
) -> list[Chain]:
    """Every chain of given results: the vendor's first, then most rounds, fewest accelerators.

    Args:
        results: Results of one task with a score, a round and a number of accelerators.
        submitter: A part of a submitter's name that was asked for: the results are theirs.
        any_submitter: Whether the fastest of all submitters counts.
    """
    plans = _plans(results, submitter=submitter, any_submitter=any_submitter)
    return [_chain(plan) for plan in plans]


def gain_of(now: Result, before: Result) -> Gain:
    """How much less time one result takes than an earlier one."""
    assert now.minutes
    assert before.minutes
    sides = Sample.of(now), Sample.of(before)
    if sides[0] is None or sides[1] is None:
        found = Ratio(value=now.minutes / before.minutes, note="the runs do not give the score")
    else:
        found = ratio(sides[0], sides[1])
    return Gain(
        value=1 - found.value,
        low=None if found.high is None else 1 - found.high,
        high=None if found.low is None else 1 - found.low,
        within_noise=found.within_noise,
        note=found.note,
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """A chain before its gains are reckoned, which takes time."""

    accelerator: str
    chips: int
    basis: str
    results: tuple[Result, ...]
    is_vendor: bool  # whether all are of whoever makes the accelerator

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return _rounds_of(self.results)

    @property
    def rank(self) -> tuple[bool, bool, int, int, str]:
        """The least comes first: two rounds of one submitter, the vendor's, most rounds."""
        is_one = len({result.submitter for result in self.results}) == 1
        is_chain = is_one and self.rounds > 1
        is_vendor = is_chain and self.is_vendor
        return (not is_chain, not is_vendor, -self.rounds, self.chips, self.accelerator)


def _plans(results: Sequence[Result], *, submitter: str | None, any_submitter: bool) -> list[_Plan]:
    """The chains of given results, the one that says most about software first."""
    by_hardware: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        by_hardware.setdefault((result.accelerator, result.accelerators or 0), []).append(result)
    plans = []
    for (accelerator, chips), found in by_hardware.items():
        several = len({result.submitter for result in found}) > 1
        vendor = _vendor_of(accelerator) if several or len(by_hardware) > 1 else ""
        pool, basis = _pool(found, vendor, submitter, any_submitter)
        is_vendor = bool(vendor) and all(vendor in result.submitter.lower() for result in pool)
        plans.append(_Plan(accelerator, chips, basis, tuple(pool), is_vendor))
    return sorted(plans, key=lambda plan: plan.rank)


def _vendor_of(accelerator: str) -> str:
    """Who makes an accelerator, in small letters; "" if that is not known."""
    from trainmark.catalogue.naming.names import (
        accelerator_named,  # its vocabulary takes time to load
    )

    known = accelerator_named(accelerator)
    return "" if known is None else known.vendor.lower()


def _newest_task(results: Sequence[Result]) -> str:
    groups = [group for result in results if (group := group_of(result)) is not None]
    return max(groups, key=lambda group: round_key(group.rounds[-1])).task


def _pool(
    results: Sequence[Result], vendor: str, submitter: str | None, any_submitter: bool
) -> tuple[Sequence[Result], str]:
    """The results that a chain is made of, and whose they are."""
    by_submitter: dict[str, list[Result]] = {}
    for result in results:
        by_submitter.setdefault(result.submitter, []).append(result)
    if len(by_submitter) == 1:
        return results, next(iter(by_submitter))
    everyone = f"the fastest of {len(by_submitter)} submitters"
    if any_submitter:
        return results, everyone
    if submitter is not None:
        return results, f"{everyone} whose name holds {submitter!r}"
    best = max(by_submitter, key=lambda name: _rank(name, by_submitter[name], vendor))
    if _rounds_of(by_submitter[best]) < 2 and _rounds_of(results) > 1:
        return results, f"{everyone}: none of them has two rounds"
    is_vendor = bool(vendor) and vendor in best.lower()
    why = "who makes the accelerator" if is_vendor else "who has most rounds"
    return by_submitter[best], f"{best}, {why}"


def _rank(name: str, results: Sequence[Result], vendor: str) -> tuple[bool, bool, bool, int, float]:
    """The greatest is taken: two rounds, the vendor's, most rounds, the fastest."""
    rounds = _rounds_of(results)
    fastest = min(result.minutes or 0.0 for result in results)
    is_part = bool(vendor) and vendor in name.lower()
    return rounds > 1, is_part and name.lower() == vendor, is_part, rounds, -fastest


def _rounds_of(results: Sequence[Result]) -> int:
    return len({result.round for result in results})


def _chain(plan: _Plan) -> Chain:
    by_round: dict[str, list[Result]] = {}
    for result in plan.results:
        by_round.setdefault(result.round or "", []).append(result)
    points: list[Point] = []
    first: Result | None = None
    for name in sorted(by_round, key=round_key):
        result = min(by_round[name], key=lambda r: (r.minutes or 0.0, r.id))
        before = points[-1].result if points else None
        parted = () if before is None else refusal([before, result])
        if before is None or first is None or parted:
            first, before = result, None
        points.append(_point(result, before, first, parted, len(by_round[name])))
    chosen = [point.result for point in points]
    return Chain(
        accelerator=plan.accelerator,
        chips=plan.chips,
        basis=plan.basis,
        points=tuple(points),
        marks=_marks(chosen),
    )


def _point(
    result: Result, before: Result | None, first: Result, parted: tuple[str, ...], of: int
) -> Point:
    group = group_of(result)
    assert group is not None, result.id
    rate = rate_of(result)
    since_before = None if before is None else gain_of(result, before)
    return Point(
        result=result,
        group=group,
        since_before=since_before,
        since_first=since_before if before in (None, first) else gain_of(result, first),
        rate=rate,
        rate_change=_change(rate, None if before is None else rate_of(before)),
        samples_change=_change(
            result.samples_to_target, None if before is None else before.samples_to_target
        ),
        parted=parted,
        of=of,
    )


def _change(now: float | None, before: float | None) -> float | None:
    return None if not now or not before else now / before - 1


def _marks(results: Sequence[Result]) -> tuple[str, ...]:
    """What is judged of them all, less the rounds, which are the point here."""
    marks = [mark for mark in judge(results).marks if not mark.startswith("different rounds")]
    names = list(dict.fromkeys(result.submitter for result in results))
    if len(names) > 1:
        marks.insert(0, f"different submitters, whose machines may differ: {', '.join(names)}")
    systems = list(dict.fromkeys(result.system for result in results))
    if len(names) == 1 and len(systems) > 1:
        marks.insert(0, "the system's name is not the same in every round: see the last column")
    return tuple(marks)
