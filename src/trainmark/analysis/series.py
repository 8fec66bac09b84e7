"""The published results of one task on one kind of accelerator, in comparable groups.

What ``scaling`` and ``history`` start from: results with a score, carried-over ones left out,
each group of comparable rounds apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainmark.analysis.comparability import Group, group_of, groups, round_key
from trainmark.catalogue import Filters, query
from trainmark.types import Finding, Result, TrainmarkError, UsageError, unknown_name

__all__ = ["Asked", "gather", "group_for", "in_group", "known_benchmarks", "rate_of"]


_TELLING_RUNS = 3  # so many equal times are no chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which results are asked for.

    Attributes:
        benchmark: A benchmark or a task: "ssd", "retinanet".
        accelerator: The accelerator's name, its family's, or a part of the name.
        round: A round, None for any.
        submitter: A part of the submitter's name, None for any.
        framework: A part of the framework's name, None for any.
        division: "closed" or "open".
        where: The folder of own results instead of the user's.
    """

    benchmark: str
    accelerator: str
    round: str | None = None
    submitter: str | None = None
    framework: str | None = None
    division: str = "closed"
    where: Path | None = None


def known_benchmarks() -> tuple[str, ...]:
    """Every name of a benchmark or task that has a comparable group."""
    names = [name for group in groups() for name in (group.task, *group.benchmarks)]
    return tuple(sorted(set(names)))


def gather(asked: Asked, findings: list[Finding] | None = None) -> list[Result]:
    """The results that are asked for: with a score, in a comparable group, measured only once.

    Args:
        asked: What is asked for.
        findings: Gets what is damaged in the catalogue.

    Raises:
        UsageError: An unknown benchmark or round, or an empty name of an accelerator.
        TrainmarkError: There is no such result.
    """
    if not asked.accelerator.strip():
        raise UsageError(
            "the name of the accelerator is empty", hint="Give one, for example A100-SXM-80GB."
        )
    wanted = _groups_named(asked.benchmark)
    on_accelerator = _of_groups(asked, wanted, [] if findings is None else findings)
    found = [
        result
        for result in _most_exact(on_accelerator, asked.accelerator)
        if result.minutes is not None
        and result.accelerators
        and not result.carried_over
        and group_of(result) in wanted
    ]
    if not found:
        raise _nothing(asked, wanted)
    return _measured_once(found)


def _of_groups(asked: Asked, wanted: Sequence[Group], findings: list[Finding]) -> list[Result]:
    """What the filters give, as far as it can be of these groups; others would only take time."""
    filters = replace(_filters(asked), scored=True, not_carried_over=True)
    names = tuple(sorted({name for group in wanted for name in group.benchmarks}))
    found: list[Finding] = []
    try:
        results = query(
            replace(filters, benchmark=names), where=asked.where, on_finding=found.append
        )
    except UsageError:  # a benchmark that nobody has a result of is no name; a wrong round is told
        found.clear()
        results = query(filters, where=asked.where, on_finding=found.append)
    findings += found
    return results


def group_for(results: Sequence[Result]) -> Group:
    """The newest group that some of the results belong to."""
    found = [group for result in results if (group := group_of(result)) is not None]
    return max(found, key=lambda group: round_key(group.rounds[-1]))


def in_group(results: Sequence[Result], group: Group) -> list[Result]:
    """The results of one group."""
    return [result for result in results if group_of(result) == group]


def rate_of(result: Result) -> float | None:
    """Samples a second over the whole of a run: samples to the target over its time.

    Evaluation and whatever else the clock sees is in it. The time is the one before a factor of
    reference convergence, for that changes no machine's rate.
    """
    if not result.samples_to_target or not result.minutes:
        return None
    return result.samples_to_target / (result.minutes / result.scaling_factor * 60)


def _most_exact(results: list[Result], accelerator: str) -> list[Result]:
    """Those of the accelerator or the family so named; else all."""
    asked = accelerator.strip().lower()
    names = {result.accelerator for result in results}
    if len(names) < 2:
        return results
    meant = {name for name in names if asked in (name.lower(), _family(name).lower())}
    return [result for result in results if result.accelerator in meant] or results


def _measured_once(results: list[Result]) -> list[Result]:
    """Without results whose runs took, to the millisecond, what those of an earlier one took.

    Some carried-over logs were edited on the way, so that their bytes do not tell.
    """
    first: dict[tuple[str, tuple[float, ...]], str] = {}
    for result in sorted(results, key=lambda one: (round_key(one.round), one.id)):
        first.setdefault(_times_of(result), result.id)
    return [
        result
        for result in results
        if len(result.run_minutes) < _TELLING_RUNS or first[_times_of(result)] == result.id
    ]


def _times_of(result: Result) -> tuple[str, tuple[float, ...]]:
    return result.benchmark, tuple(sorted(round(minutes, 6) for minutes in result.run_minutes))


def _family(accelerator: str) -> str:
    from trainmark.catalogue.naming.names import (
        accelerator_named,  # its vocabulary takes time to load
    )

    known = accelerator_named(accelerator)
    return "" if known is None else known.family


def _groups_named(name: str) -> tuple[Group, ...]:
    """The groups of a benchmark's or a task's name."""
    asked = name.strip().lower().replace("-", "_")
    found = tuple(g for g in groups() if asked == g.task or asked in g.benchmarks)
    if found:
        return found
    try:  # the catalogue knows more spellings
        named = {result.benchmark for result in query(Filters(benchmark=name))}
    except UsageError:
        named = set()
    found = tuple(g for g in groups() if named.intersection(g.benchmarks))
    if not found:
        raise unknown_name("benchmark", name, known_benchmarks())
    return found


def _filters(asked: Asked) -> Filters:
    return Filters(
        accelerator=asked.accelerator,
        rounds=() if asked.round is None else (asked.round,),
        submitter=asked.submitter,
        framework=asked.framework,
        division=asked.division,
    )


# What of the question may be left out, with the field of the results that it is about.
_LESS = {
    "submitter": "submitter",
    "framework": "framework",
    "round": "round",
    "division": "division",
    "benchmark": "benchmark",
    "accelerator": "accelerator",
}


def _nothing(asked: Asked, wanted: Sequence[Group]) -> TrainmarkError:
    """That nothing matches, and what could be asked instead."""
    parts = [f"of {asked.benchmark} on {asked.accelerator}"]
    parts += [f"in round {asked.round}"] if asked.round else []
    parts += [f"by {asked.submitter}"] if asked.submitter else []
    parts += [f"with {asked.framework}"] if asked.framework else []
    hint = ""
    for name, field in _LESS.items():
        values = _values(asked, wanted, name, field)
        if values:
            hint = f"{name.capitalize()}s with such a result: {', '.join(values)}."
            break
    return TrainmarkError(
        f"there is no {asked.division} result with a score {' '.join(parts)}",
        hint=hint or "Leave out one of the filters.",
    )


def _values(asked: Asked, wanted: Sequence[Group], name: str, field: str) -> list[str]:
    """What a field could be where everything else stays as it is asked for."""
    filters = _filters(asked)
    if name != "benchmark":
        if getattr(asked, name) is None:
            return []
        filters = filters.without("rounds" if name == "round" else name)
    found = query(filters, where=asked.where, on_finding=lambda _: None)
    values = {
        getattr(result, field)
        for result in found
        if result.minutes is not None and (name == "benchmark" or group_of(result) in wanted)
    }
    return sorted(value for value in values if value)
