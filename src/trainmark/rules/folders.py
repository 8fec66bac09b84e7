"""What is wrong with a benchmark folder as a whole: its logs taken together."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from trainmark.rules.convergence import Convergence, check_convergence, check_scaling
from trainmark.rules.options import CheckOptions, SeedRule
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.scaling_file import read_scaling
from trainmark.rules.scoring import may_fail, required_runs
from trainmark.rules.seeds import check_seeds, shared_seeds
from trainmark.rules.submission.surroundings import Surroundings
from trainmark.rules.submission.tree_logs import RCP_BYPASS, SEED_BYPASS
from trainmark.rules.tree import Group
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Severity

__all__ = ["check_folder", "convergence_of", "first", "may_have_failed"]

_SEEDS_FROM = {SeedRule.RULE: (4, 1), SeedRule.ALWAYS: (1, 0)}


def check_folder(
    group: Group,
    verdicts: Sequence[Verdict],
    around: Surroundings,
    options: CheckOptions,
    *,
    copies: Collection[str] = (),
) -> Verdict:
    """The verdict on a benchmark folder.

    Args:
        group: The folder.
        verdicts: Those on its logs.
        around: What stands around it.
        options: How to check.
        copies: The logs that are told to be copies of others: their seeds are no news.
    """
    benchmark = first(verdict.benchmark for verdict in verdicts)
    ruleset = first(verdict.ruleset for verdict in verdicts)
    division = around.division or first(verdict.division for verdict in verdicts)
    scaling, unreadable = read_scaling(group.folder)
    findings = [*group.findings, *unreadable, *_same(group, verdicts)]
    if benchmark is not None:
        findings += _counts(group, verdicts, benchmark, ruleset)
    runs = [one for one in verdicts if one.path not in copies]
    seeds = _seeds(group, runs, ruleset, division, options)
    findings += map(_let_through, seeds) if SEED_BYPASS in around.flags else seeds
    convergence = convergence_of(
        group,
        verdicts,
        ruleset=ruleset,
        benchmark=benchmark,
        division=division,
        bypass=RCP_BYPASS in around.flags,
    )
    findings += _not_said(convergence.findings, findings)
    findings += [] if unreadable else check_scaling(scaling, convergence)
    if not verdicts and all(finding.rule == "folder.link" for finding in group.findings):
        problem = "no log of this folder was read: each is a link that leads out of it"
        findings.append(_about(group, "folder.runs", problem, "Give the folder that holds them."))
    return Verdict(
        path=str(group.folder),
        kind="folder",
        ruleset=ruleset,
        chosen="",
        benchmark=benchmark,
        division=division,
        findings=tuple(findings),
        table=convergence.table,
    )


def may_have_failed(folder: Verdict) -> bool:
    """Whether a folder has runs that do not count, and no more of them than it may have."""
    return any(one.rule == "folder.failed_runs" and not one.is_error for one in folder.findings)


def convergence_of(
    group: Group,
    verdicts: Sequence[Verdict],
    *,
    ruleset: Ruleset | None,
    benchmark: str | None,
    division: str | None,
    bypass: bool = False,
) -> Convergence:
    """What reference convergence says of a folder.

    Args:
        group: The folder.
        verdicts: Those on its logs; a log that cannot be read counts as a failed run.
        ruleset: The rules of the folder.
        benchmark: Its benchmark.
        division: Its division; only closed results are held to references.
        bypass: Whether the submitter asks for runs that are too fast to be let through.

    Raises:
        TrainmarkError: The installed references cannot be read.
    """
    measured = [one.facts.measured for one in verdicts if one.facts is not None]
    logs = [one for one in measured if one is not None]
    if ruleset is None or benchmark is None or division is None:
        return Convergence(folder=str(group.folder))
    return check_convergence(
        str(group.folder),
        logs,
        ruleset=ruleset,
        benchmark=benchmark,
        division=division,
        bypass=bypass,
    )


def _counts(
    group: Group, verdicts: Sequence[Verdict], benchmark: str, ruleset: Ruleset | None
) -> Iterator[Finding]:
    """Too few runs, too many failed ones."""
    required, allowed = required_runs(benchmark), may_fail(len(verdicts), benchmark)
    if len(verdicts) < required:
        own = ruleset is not None and not ruleset.official
        yield _about(
            group,
            "folder.runs",
            f"{_logs(len(verdicts))}; {benchmark} asks for {required} runs",
            f"Run it {_times(required - len(verdicts))} more for a score by the official formula.",
            severity=Severity.WARNING if own else Severity.ERROR,
        )
    failed = [verdict for verdict in verdicts if not verdict.ok]
    if failed:
        names = ", ".join(Path(verdict.path).name for verdict in failed[:5])
        too_many = len(failed) > allowed
        verb = "does" if len(failed) == 1 else "do"
        yield _about(
            group,
            "folder.failed_runs",
            f"{len(failed):,} of {_logs(len(verdicts))} {verb} not count "
            f"({names}"
            f"{', ...' if len(failed) > 5 else ''}); {allowed or 'none'} may fail",
            "See what each of them lacks, and run those again."
            if too_many
            else "The folder has a score: a run that does not count takes the slowest place.",
            severity=Severity.ERROR if too_many else Severity.NOTE,
        )


def _same(group: Group, verdicts: Sequence[Verdict]) -> Iterator[Finding]:
    """Logs that disagree on what is measured."""
    runs = [verdict.run for verdict in verdicts if verdict.run is not None]
    for rule, name, values in (
        ("folder.benchmark", "benchmarks", [run.benchmark for run in runs]),
        ("folder.batch_size", "global batch sizes", [run.global_batch_size for run in runs]),
    ):
        found = Counter(value for value in values if value is not None)
        if len(found) > 1:
            shown = ", ".join(f"{_plain(value)} ({count})" for value, count in found.most_common(5))
            yield _about(
                group,
                rule,
                f"the logs have different {name}: {shown}",
                "Keep only runs of one configuration in a folder.",
            )


def _not_said(more: Iterable[Finding], said: Sequence[Finding]) -> Iterator[Finding]:
    """What is new of reference convergence: too many failed runs are named once."""
    failed = any(one.rule == "folder.failed_runs" and one.is_error for one in said)
    mixed = any(one.rule == "folder.batch_size" for one in said)
    for finding in more:
        if finding.rule == "rcp.insufficient" and failed:
            continue
        if finding.rule == "rcp.batch_size" and mixed and finding.line_no is None:
            continue
        yield finding


def _seeds(
    group: Group,
    verdicts: Sequence[Verdict],
    ruleset: Ruleset | None,
    division: str | None,
    options: CheckOptions,
) -> Iterable[Finding]:
    """Missing and shared seeds, where the rules ask for one of its own for each run."""
    seeds = [(one.path, one.facts.seeds) for one in verdicts if one.facts is not None]
    if ruleset is None:
        return ()
    if not ruleset.official:
        return shared_seeds(str(group.folder), seeds)
    asked = not ruleset.is_hpc and ruleset.round >= _SEEDS_FROM[options.seeds]
    return check_seeds(str(group.folder), seeds) if asked and division == "closed" else ()


def _let_through(finding: Finding) -> Finding:
    """What the official checker does not look at where the submitter asks for that."""
    message = f"{finding.message} (let through by {SEED_BYPASS})"
    return replace(finding, severity=Severity.WARNING, message=message)


def _about(
    group: Group, rule: str, message: str, fix: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(group.folder))


def _plain(value: str | float) -> str:
    return f"{value:.60}" if isinstance(value, str) else f"{value:.15g}"


_T = TypeVar("_T")


def first(values: Iterable[_T | None]) -> _T | None:
    """The first value that is not None."""
    return next((value for value in values if value is not None), None)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _logs(count: int) -> str:
    return "1 log" if count == 1 else f"{count:,} logs"
