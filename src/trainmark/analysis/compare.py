"""Results side by side: how much faster, whether that is more than noise, and per what.

    compare(sides(["graphcore pod16 v2.0", "nvidia dgxa100 v2.0"]), tables=tables)

The sides are A, B, C... and A is held against each of the others, for each task that all have. What
divides a speed by accelerators, dollars, rack units or watts is ``analysis.cost``'s, with its
formula; whether results may be compared at all is ``analysis.comparability``'s.
"""

from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import TypeGuard

from trainmark.analysis.comparability import Judgement, group_of, judge
from trainmark.analysis.comparison import (
    Against,
    Comparison,
    Difference,
    Measure,
    Refused,
    Side,
    Split,
    Versus,
)
from trainmark.analysis.cost import NAMES, PER, advantage, derive
from trainmark.analysis.selection import Selection, one_system, task_of
from trainmark.analysis.statistics import Ratio, Sample, estimate, ratio
from trainmark.catalogue.figures.tables import Tables
from trainmark.types import Result, TrainmarkError, UsageError

__all__ = ["compare"]

MOST_SIDES = len(ascii_uppercase)
_LEAST, _GREATEST = 1e-9, 1e18  # of minutes, samples and factors


def compare(
    selections: Sequence[Selection],
    *,
    tables: Tables,
    anyway: bool = False,
    price: str = "list",
    years: float | None = None,
) -> Comparison:
    """Compare what several selections mean, task by task.

    Args:
        selections: Two or more; results of tasks that not all have are left out, and what is
            left must be of one system each.
        tables: The figures of hardware, prices, space and power.
        anyway: Also compare what does not compare; it is marked.
        price: As for ``cost.derive``: "list", "cloud" or a price's id.
        years: Over how many years a list price is spread.

    Raises:
        UsageError: Too few or too many sides, or a side means several systems.
        TrainmarkError: The sides have no task in common, or nothing of them compares.
    """
    if not 2 <= len(selections) <= MOST_SIDES:
        raise UsageError(
            f"cannot compare {len(selections)} sides",
            hint=f"Give two to {MOST_SIDES}: trainmark compare A B.",
        )
    versus, refused = [], []
    for results in _pairs(selections):
        judgement = judge(results)
        if judgement.comparable or anyway:
            sides = _sides(selections, results, tables, price, years)
            versus.append(_versus(sides, judgement))
        else:
            ids = tuple(result.id for result in results)
            task = " and ".join(dict.fromkeys(map(task_of, results)))
            refused.append(Refused(task=task, ids=ids, reasons=judgement.reasons))
    if not versus:
        raise _not_comparable(refused)
    return Comparison(versus=tuple(versus), refused=tuple(refused))


def _pairs(selections: Sequence[Selection]) -> list[tuple[Result, ...]]:
    """The results to compare, a tuple with one of each side for each task."""
    tasks = [list(dict.fromkeys(map(task_of, one.results))) for one in selections]
    common = [task for task in tasks[0] if all(task in others for others in tasks[1:])]
    if not common:
        alone = [one_system(selection).results for selection in selections]
        if all(len(results) == 1 for results in alone):
            return [tuple(result for (result,) in alone)]
        have = [
            f"{letter} has {', '.join(sorted(names))}"
            for letter, names in zip(ascii_uppercase, tasks, strict=False)
        ]
        raise TrainmarkError(
            f"the sides have no benchmark in common: {'; '.join(have)}",
            hint="Name one result a side to be told why they do not compare.",
        )
    chosen = [one_system(selection.of_task(common)) for selection in selections]
    by_task = [{task_of(result): result for result in one.results} for one in chosen]
    return [tuple(side[task] for side in by_task) for task in sorted(common)]


def _not_comparable(refused: Sequence[Refused]) -> TrainmarkError:
    lines = []
    for one in refused:
        lines += [f"{' and '.join(one.ids)}:", *(f"    {reason}" for reason in one.reasons)]
    return TrainmarkError(
        "these results do not compare\n" + "\n".join(lines),
        hint="Compare results of one group of rounds, or add --anyway: the comparison is then "
        "marked.",
    )


def _sides(
    selections: Sequence[Selection],
    results: Sequence[Result],
    tables: Tables,
    price: str,
    years: float | None,
) -> tuple[Side, ...]:
    sides = []
    for letter, selection, result in zip(ascii_uppercase, selections, results, strict=False):
        sample = Sample.of(result)
        sides.append(
            Side(
                letter=letter,
                asked=selection.label,
                result=result,
                estimate=None if sample is None else estimate(sample),
                derived=derive(result, tables, price=price, years=years),
            )
        )
    return tuple(sides)


def _versus(sides: tuple[Side, ...], judgement: Judgement) -> Versus:
    first, *others = sides
    results = [side.result for side in sides]
    group = group_of(first.result)
    same_group = all(group_of(result) == group for result in results)
    return Versus(
        task=" and ".join(dict.fromkeys(map(task_of, results))),
        target=f"{group.name}, {group.span}" if group and same_group else "",
        sides=sides,
        against=tuple(_against(first, other) for other in others),
        differences=_differences(results),
        marks=(*_same(sides), *judgement.marks),
        forced=judgement.reasons,
    )


def _same(sides: Sequence[Side]) -> list[str]:
    """Which sides are one and the same result."""
    letters: dict[str, list[str]] = {}
    for side in sides:
        letters.setdefault(side.result.id, []).append(side.letter)
    return [f"{', '.join(who)}: the very same result" for who in letters.values() if len(who) > 1]


def _against(first: Side, other: Side) -> Against:
    a, b = first.result, other.result
    time = _time_ratio(a, b)
    measures = [_measure(name, first, other, time) for name in NAMES]
    if time is None:
        return Against(
            letter=other.letter,
            time=None,
            speed=None,
            speed_low=None,
            speed_high=None,
            less_time=None,
            split=None,
            measures=tuple(measures),
        )
    return Against(
        letter=other.letter,
        time=time,
        speed=1 / time.value,
        speed_low=_inverse(time.high),
        speed_high=_inverse(time.low),
        less_time=1 - time.value,
        split=_split(a, b),
        measures=tuple(measures),
    )


def _time_ratio(a: Result, b: Result) -> Ratio | None:
    """A's minutes over B's; without an interval where a score does not follow from its runs."""
    if not _sound(a.minutes) or not _sound(b.minutes):
        return None
    samples = Sample.of(a), Sample.of(b)
    if samples[0] is None or samples[1] is None:
        lacking = [one.id for one, sample in zip((a, b), samples, strict=True) if sample is None]
        note = f"no interval: the score does not follow from the runs of {', '.join(lacking)}"
        return Ratio(value=a.minutes / b.minutes, note=note)
    return ratio(samples[0], samples[1])


def _measure(name: str, first: Side, other: Side, time: Ratio | None) -> Measure:
    letters = first.letter, other.letter
    against = advantage(first.derived[name], other.derived[name], letters=letters)
    low = high = None
    # What was measured of its own has a spread of its own, which is not known.
    if against.value is not None and time is not None and name != "energy_joules":
        factor = against.value * time.value
        low, high = _times(factor, _inverse(time.high)), _times(factor, _inverse(time.low))
    return Measure(name=name, per=PER[name], against=against, low=low, high=high)


def _inverse(value: float | None) -> float | None:
    return None if not value else 1 / value


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _split(a: Result, b: Result) -> Split | None:
    if task_of(a) != task_of(b):  # samples of different data
        return None
    rates = []
    for result in (a, b):
        samples, minutes, factor = result.samples_to_target, result.minutes, result.scaling_factor
        if not _sound(samples) or not _sound(minutes) or not _sound(factor):
            return None
        rates.append(samples / (minutes / factor))
    assert a.samples_to_target is not None
    assert b.samples_to_target is not None
    return Split(
        samples=b.samples_to_target / a.samples_to_target,
        rate=rates[0] / rates[1],
        scaling=b.scaling_factor / a.scaling_factor,
    )


def _sound(value: float | None) -> TypeGuard[float]:
    """Whether a number can be one of a run: a broken log may say that no time passed, or less."""
    return value is not None and _LEAST < value < _GREATEST


def _differences(results: Sequence[Result]) -> tuple[Difference, ...]:
    found = []
    for name, text in _COMPARED.items():
        values = tuple(text(result) for result in results)
        if len(set(values)) > 1:
            found.append(Difference(name=name, values=values))
    return tuple(found)


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _samples(result: Result) -> str:
    return "" if result.samples_to_target is None else f"{result.samples_to_target:,.0f}"


_COMPARED: Mapping[str, Callable[[Result], str]] = {
    "division": lambda result: result.division,
    "category": lambda result: result.category,
    "batch size": lambda result: _count(result.global_batch_size),
    "samples to target": _samples,
    "framework": lambda result: result.framework,
    "nodes": lambda result: _count(result.nodes),
    "hosts": lambda result: _count(result.hosts),
    "host processor": lambda result: result.host_processor,
    "interconnect": lambda result: result.interconnect,
}
