"""The sentences of a report, the same on the terminal and on the page."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainmark.mllog import keys
from trainmark.report import format as text
from trainmark.report.compare import Comparison, spread
from trainmark.report.compare import Verdict as Meaning
from trainmark.report.session import Entry, efficiency
from trainmark.types import Finding, Run, Severity, printable

__all__ = [
    "NOTICE",
    "Fact",
    "FindingGroup",
    "apart",
    "comparison_sentence",
    "facts",
    "goal",
    "group",
    "score_basis",
    "score_headline",
    "score_rule",
    "spread_sentence",
    "verdict_sentence",
]

NOTICE = (
    "MLPerf is a trademark of MLCommons Association. Results made with trainmark are unverified: "
    "MLCommons has neither reviewed nor endorsed them. trainmark is an independent program and "
    "not a product of MLCommons."
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A named number in words.

    Attributes:
        name: What was measured: ``throughput``.
        value: The median over the runs: ``1,200 samples/s``.
        between: The range where the runs differ: ``1,180 to 1,230``; else "".
    """

    name: str
    value: str
    between: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """The same finding in several places.

    Attributes:
        rule: The rule's name.
        severity: Its weight.
        message: What was expected and found.
        fix: What to change.
        places: ``path:line`` of each, in order; "" where a finding has none.
    """

    rule: str
    severity: Severity
    message: str
    fix: str
    places: tuple[str, ...]


_WEIGHT = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def group(findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """Findings with the same rule and words as one group; errors first.

    Args:
        findings: In the order found.
    """
    gathered: dict[tuple[str, Severity, str, str], list[str]] = {}
    for one in findings:
        key = (one.rule, one.severity, one.message, one.fix)
        gathered.setdefault(key, []).append(one.where)
    groups = [
        FindingGroup(rule=rule, severity=severity, message=message, fix=fix, places=tuple(places))
        for (rule, severity, message, fix), places in gathered.items()
    ]
    return tuple(sorted(groups, key=lambda one: _WEIGHT[one.severity]))


def score_headline(entry: Entry) -> str:
    """The score in one line: ``1.083 minutes``, or that there is none."""
    minutes = entry.score.minutes
    return "no score" if minutes is None else f"{text.minutes(minutes)} minutes"


def score_basis(entry: Entry) -> str:
    """How the score came about, or why there is none."""
    return entry.score.basis.removeprefix("no score: ")


# How the official formula, the mean without the fastest and the slowest, meets a few runs.
_FEW_RUNS = {
    1: "The official formula leaves out the fastest and the slowest run; with a single run there "
    "is nothing to leave out, and its time stands alone.",
    2: "The official formula leaves out the fastest and the slowest run; with two runs nothing "
    "would be left, so this is their plain mean.",
    3: "The official formula leaves out the fastest and the slowest run and takes the mean of the "
    "rest; of three runs that is the one in the middle.",
}


def score_rule(entry: Entry) -> str:
    """What the official formula makes of so few runs; "" for more than three or no score."""
    return "" if entry.score.minutes is None else _FEW_RUNS.get(len(entry.runs), "")


def goal(entry: Entry) -> str:
    """What was timed: the quality to be reached and on which data; "" where nothing says."""
    target, dataset = entry.target, "" if entry.info is None else entry.info.dataset
    reached = f" to {text.quality(target.value, target.metric)}" if target else ""
    return f"Time to train{reached}{f' on {dataset}' if dataset else ''}" if target else dataset


def verdict_sentence(entry: Entry) -> str:
    """What the checker says of all logs and their folder together, and by which rules."""
    if entry.unchecked:
        return f"Not checked: {entry.unchecked}."
    logs = [verdict for verdict in entry.verdicts if verdict.kind == "log"]
    failed = sum(not verdict.ok for verdict in logs)
    held_to = text.join(
        {verdict.ruleset.title: None for verdict in logs if verdict.ruleset is not None}
    )
    by = held_to or "the rules"
    counts = text.join(
        _number(found, noun)
        for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"))
        if (found := sum(finding.severity is severity for finding in entry.findings))
    )
    if entry.compliant:
        which = "the log follows" if len(logs) == 1 else f"all {len(logs)} logs follow"
        return f"Passes: {which} {by}{f', with {counts}' if counts else ''}."
    if not failed:
        return f"Does not pass: every log follows {by}, the folder does not ({counts})."
    breaks = "breaks" if failed == 1 else "break"
    return f"Does not pass: {failed} of {_number(len(logs), 'log')} {breaks} {by} ({counts})."


@dataclass(frozen=True, slots=True)
class _Measure:
    """A number that a run may hold, its name, how it is shown, its unit."""

    name: str
    value_of: Callable[[Run], float | None]
    show: Callable[[float], str]
    unit: str = ""


_MEASURES = (
    _Measure("samples to target", lambda run: run.samples_to_target, text.count),
    _Measure("throughput", lambda run: run.samples_per_second, text.rate, " samples/s"),
    _Measure("achieved", lambda run: efficiency(run, keys.EFFICIENCY_ACHIEVED), text.flop_rate),
    _Measure(
        "share of matmul peak",
        lambda run: efficiency(run, keys.EFFICIENCY_SHARE),
        text.share,
    ),
    _Measure(
        "matmul peak, measured",
        lambda run: efficiency(run, keys.EFFICIENCY_PEAK),
        text.flop_rate,
    ),
    _Measure(
        "time waiting for input",
        lambda run: efficiency(run, keys.EFFICIENCY_INPUT_WAIT),
        text.share,
    ),
)


def facts(entry: Entry) -> tuple[Fact, ...]:
    """What the runs measured beside the time, median and range; only what the logs hold."""
    found = []
    for measure in _MEASURES:
        values = [value for run in entry.runs if (value := measure.value_of(run)) is not None]
        if values:
            found.append(_fact(measure, values))
    return tuple(found)


def _fact(measure: _Measure, values: list[float]) -> Fact:
    low, middle, high = (
        measure.show(value) for value in (min(values), statistics.median(values), max(values))
    )
    between = "" if low == high else f"{low} to {high}"
    return Fact(measure.name, f"{middle}{measure.unit}", between)


def spread_sentence(entry: Entry) -> str:
    """How far the runs lie apart; "" for fewer than two."""
    minutes = entry.score.run_minutes
    deviation = spread(minutes)
    if deviation is None:
        return ""
    return (
        f"{len(minutes)} runs from {text.minutes(min(minutes))} to {text.minutes(max(minutes))} "
        f"minutes, standard deviation {deviation * 100:.1f} % of the mean"
    )


_MEANINGS = {
    Meaning.FASTER: "more than the spread of the runs explains",
    Meaning.SLOWER: "more than the spread of the runs explains",
    Meaning.NOISE: "within noise: the runs of both sides lie as far apart as that",
    Meaning.UNKNOWN: "one side has a single run, so nobody knows whether that is noise",
}


def comparison_sentence(one: Comparison) -> str:
    """One earlier result against now: faster or slower, by how much, noise or not."""
    then = text.minutes(one.then.minutes or 0.0)
    when = text.moment(one.then.recorded) or "earlier"
    if text.change(one.change) == "0.0 %":
        moved = f"the same time as {when} ({then} minutes)"
    else:
        way = "less" if one.change < 0 else "more"
        moved = f"{abs(one.change) * 100:.1f} % {way} time than {when} ({then} minutes)"
    rate = (
        "" if one.rate_change is None else f"; training throughput {text.change(one.rate_change)}"
    )
    return f"{moved}, {_MEANINGS[one.verdict]}{rate}."


def apart(entry: Entry) -> str:
    """Why the published results stand apart from this one."""
    kin = entry.kin
    if kin is None:
        return ""
    if entry.is_official_benchmark:
        return (
            "The published results were reviewed by MLCommons; the one of this report was not. "
            "The same benchmark, another standing: compare with that in mind."
        )
    here = entry.title
    info = entry.info
    data = f" on {info.dataset}" if info is not None and info.dataset else ""
    target = entry.target
    goal = f" to {text.quality(target.value, target.metric)}" if target else ""
    return printable(
        f"Not comparable: these systems train {kin.full}. This report is about {here}{data}"
        f"{goal}, a much smaller task with a target of its own; its minutes say nothing about "
        f"the minutes below."
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
