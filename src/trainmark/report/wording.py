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
    "apart_heading",
    "comparison_sentence",
    "facts",
    "facts_note",
    "goal",
    "group",
    "peak_note",
    "quality_heading",
    "quality_name",
    "rules_note",
    "score_basis",
    "score_headline",
    "score_rule",
    "score_story",
    "setup",
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

    Of broken lines the words quote what stands there, so for these the rule is enough.

    Args:
        findings: In the order found.
    """
    gathered: dict[tuple[str, Severity, str, str], list[Finding]] = {}
    for one in findings:
        words = "" if one.rule.startswith("log.") else one.message
        gathered.setdefault((one.rule, one.severity, words, one.fix), []).append(one)
    groups = [
        FindingGroup(
            rule=alike[0].rule,
            severity=alike[0].severity,
            message=alike[0].message,
            fix=alike[0].fix,
            places=tuple(one.where for one in alike),
        )
        for alike in gathered.values()
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


def score_story(entry: Entry) -> str:
    """How the score came about and the rule behind it, in full sentences."""
    basis = score_basis(entry)
    told = f"{basis[:1].upper()}{basis[1:]}."
    return " ".join(filter(None, (told, score_rule(entry))))


def score_rule(entry: Entry) -> str:
    """What the official formula makes of so few runs; "" for more than three or no score."""
    return "" if entry.score.minutes is None else _FEW_RUNS.get(len(entry.runs), "")


def quality_name(entry: Entry) -> str:
    """What the quality is: "word error rate", or "quality" where nothing says."""
    target = entry.target
    if target is not None and target.name:
        return printable(target.name)
    return "accuracy" if target is not None and target.metric == keys.EVAL_ACCURACY else "quality"


def quality_heading(entry: Entry) -> str:
    """The same at the head of a column or a chart: "Word error rate"."""
    name = quality_name(entry)
    return f"{name[:1].upper()}{name[1:]}"


def _goal_words(entry: Entry) -> str:
    """The target in words: ``97.5 % top-1 accuracy``; "" without one."""
    target = entry.target
    if target is None:
        return ""
    kind = quality_name(entry)
    return text.goal(target) if kind == "quality" else f"{text.goal(target)} {kind}"


def goal(entry: Entry) -> str:
    """What was timed: the quality to be reached and on which data; "" where nothing says."""
    reached, dataset = _goal_words(entry), "" if entry.info is None else entry.info.dataset
    return (
        f"Time to train to {reached}{f' on {dataset}' if dataset else ''}" if reached else dataset
    )


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


def rules_note(entry: Entry) -> str:
    """What trainmark's own rules are; "" where the logs were held to others, or to none."""
    rulesets = [one.ruleset for one in entry.verdicts if one.ruleset is not None]
    if not rulesets or any(one.official for one in rulesets):
        return ""
    return (
        "They ask of a log what MLPerf Training round 4.0 asks in its closed division, with this "
        "benchmark's own target in place of an official one."
    )


@dataclass(frozen=True, slots=True)
class _Measure:
    """A number that a run may hold, its name, how it is shown, its unit."""

    name: str
    value_of: Callable[[Run], float | None]
    show: Callable[[float], str]
    unit: str = ""


def _last_loss(run: Run) -> float | None:
    losses = [one.train_loss for one in run.evaluations if one.train_loss is not None]
    return losses[-1] if losses else None


_MEASURES = (
    _Measure("samples to target", lambda run: run.samples_to_target, text.count),
    _Measure("throughput", lambda run: run.samples_per_second, text.rate, " samples/s"),
    _Measure(
        "compute achieved", lambda run: efficiency(run, keys.EFFICIENCY_ACHIEVED), text.flop_rate
    ),
    _Measure(
        "share of measured peak",
        lambda run: efficiency(run, keys.EFFICIENCY_SHARE),
        text.share,
    ),
    _Measure(
        "measured peak",
        lambda run: efficiency(run, keys.EFFICIENCY_PEAK),
        text.flop_rate,
    ),
    _Measure(
        "time waiting for data",
        lambda run: efficiency(run, keys.EFFICIENCY_INPUT_WAIT),
        text.share,
    ),
    _Measure(
        "padding in the batches", lambda run: efficiency(run, keys.EFFICIENCY_PADDING), text.share
    ),
    _Measure("last training loss", _last_loss, lambda value: f"{value:.4g}"),
    _Measure("preparation, not timed", lambda run: run.init_minutes, text.minutes, " minutes"),
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
    between = "" if low == high else f"{_without_unit(low, high)} to {high}"
    return Fact(measure.name, f"{middle}{measure.unit}", between)


def _without_unit(low: str, high: str) -> str:
    """``29.9`` of ``29.9 GFLOP/s`` when the other end of the range has the same unit."""
    number, _, unit = low.partition(" ")
    return number if unit and high.partition(" ")[2] == unit else low


def facts_note(entry: Entry) -> str:
    """How to read the facts of several runs; "" for one."""
    if len(entry.runs) < 2:
        return ""
    return "Each is the median of the runs, with their range where they differ."


def peak_note(entry: Entry) -> str:
    """What the peak is; "" where the runs have none."""
    if entry.median(lambda run: efficiency(run, keys.EFFICIENCY_PEAK)) is None:
        return ""
    return (
        "The measured peak is what this machine itself reaches when it only multiplies large "
        "matrices at the same precision."
    )


def setup(entry: Entry) -> str:
    """How and when the runs ran, for the head of a report; "" where nothing says."""
    run = entry.runs[0] if entry.runs else Run(source="")
    precision = run.settings.get("precision") or ""
    threads = run.environment.get("threads")
    size = entry.median(lambda run: run.global_batch_size)
    framework = entry.system_description.get("framework")
    with_what = [
        "" if size is None else f"batch size {text.count(size)}",
        _number(threads, "thread") if type(threads) is int else "",
        framework if isinstance(framework, str) else "",
    ]
    listed = text.join(filter(None, with_what))
    how = " ".join(
        filter(
            None,
            (
                f"in {text.value_text(precision)}" if precision else "",
                f"with {listed}" if listed else "",
            ),
        )
    )
    started = entry.info.started if entry.info is not None else ""
    when = f"on {text.moment(started)}" if started else ""
    told = " ".join(filter(None, (how, when)))
    return printable(f"Trained {told}") if told else ""


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
    Meaning.UNKNOWN: "which may be chance: one side has a single run",
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
    # "5,000 digits: 4,000 to train, 1,000 held out": what comes after would split the sentence.
    dataset = "" if info is None else info.dataset.partition(":")[0]
    data = f", on {dataset}" if dataset else ""
    goal = f", to {reached}" if (reached := _goal_words(entry)) else ""
    return printable(
        f"Not comparable: these systems train {kin.full}. This report is about {here}{data}"
        f"{goal}: a much smaller task with a target of its own. Its minutes say nothing about "
        f"the minutes below."
    )


def apart_heading(entry: Entry) -> str:
    """The heading over the published results."""
    model = "" if entry.kin is None else f"{entry.kin.model} "
    if entry.is_official_benchmark:
        return f"Apart from this: published {model}results"
    return f"Apart from this, not comparable: published full-scale {model}results"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
