"""Check and score folders: one benchmark folder, a submission, a whole round."""

import json
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from trainmark import mllog
from trainmark.rules.rulesets import Ruleset, find_ruleset
from trainmark.rules.scoring import Score, may_fail, required_runs, score
from trainmark.rules.tree import Group, find_groups, is_log
from trainmark.rules.verdict import Verdict, check_log
from trainmark.types import Finding, Run, RunLog, Severity, UsageError

__all__ = ["FolderScore", "check_path", "score_path"]

_SCALING = "scaling.json"
_LARGEST_SCALING = 1000  # far beyond any score that reference convergence has corrected
_SEEDS_MUST_DIFFER_FROM = (4, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderScore:
    """The score of one benchmark folder.

    Attributes:
        path: The folder.
        benchmark: The benchmark, None if no log says one.
        division: The division as the logs have it, None if none says one.
        ruleset: The rules the logs were held to, None if no log is readable.
        score: The score.
        verdicts: What the checker says of each log; one with errors does not count as a success.
        findings: What is wrong with the folder itself.
    """

    path: str
    benchmark: str | None
    division: str | None
    ruleset: Ruleset | None
    score: Score
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """The score as plain data for ``--json``."""
        return {
            "path": self.path,
            "benchmark": self.benchmark,
            "division": self.division,
            "rules": None if self.ruleset is None else self.ruleset.name,
            "score": self.score.to_dict(),
            "logs": [
                {
                    "path": verdict.path,
                    "ok": verdict.ok,
                    "minutes": None if verdict.run is None else verdict.run.minutes,
                    "status": None if verdict.run is None else verdict.run.status,
                    "errors": [f.message for f in verdict.findings if f.is_error],
                }
                for verdict in self.verdicts
            ],
            "findings": [finding.to_dict() for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the user has laid down about the logs."""

    ruleset: Ruleset | str | None
    division: str | None = None
    benchmark: str | None = None


def check_path(
    path: str | Path,
    *,
    ruleset: Ruleset | str | None = None,
    division: str | None = None,
    benchmark: str | None = None,
) -> list[Verdict]:
    """Check a result log, a benchmark folder, or every benchmark folder below a folder.

    Links that lead out of the given folder are not followed.

    Args:
        path: The log or the folder.
        ruleset: The rules, or a round's name; by default those that each log follows.
        division: Taken instead of what the logs say.
        benchmark: Taken instead of what the logs say.

    Returns:
        For a log its verdict; for folders the verdicts of the logs of each benchmark folder,
        followed by that of the folder itself.

    Raises:
        UsageError: The path does not exist or holds no result logs; the round is unknown or
            nothing tells it.
    """
    asked = _Asked(ruleset, division, benchmark)
    if is_log(path):
        log = mllog.read(path)
        return [check_log(log, ruleset=ruleset, division=division, benchmark=benchmark)]
    verdicts = []
    for group in find_groups(Path(path)):
        logs = _check_group(group, asked)
        verdicts += [*logs, _folder_verdict(group, logs)]
    return verdicts


def score_path(path: str | Path, *, ruleset: Ruleset | str | None = None) -> list[FolderScore]:
    """Score a benchmark folder, or every benchmark folder below a folder.

    A log with errors takes the place of a run that did not succeed, as the official summarizer
    has it; a valid ``scaling.json`` beside the logs is applied.

    Args:
        path: The folder; a single log is scored as a folder of one run.
        ruleset: The rules, or a round's name; by default those that each log follows.

    Raises:
        UsageError: As ``check_path``.
    """
    groups = [Group(Path(path).parent, (Path(path),))] if is_log(path) else find_groups(Path(path))
    return [_score_group(group, _Asked(ruleset)) for group in groups]


def _score_group(group: Group, asked: _Asked) -> FolderScore:
    verdicts = _check_group(group, asked)
    runs = [_counted(verdict) for verdict in verdicts]
    benchmark = _first(verdict.benchmark for verdict in verdicts)
    scaling, findings = _scaling(group.folder)
    return FolderScore(
        path=str(group.folder),
        benchmark=benchmark,
        division=_first(verdict.division for verdict in verdicts),
        ruleset=_first(verdict.ruleset for verdict in verdicts),
        score=score(runs, benchmark=benchmark or "", scaling=scaling),
        verdicts=tuple(verdicts),
        findings=(*group.findings, *findings),
    )


def _counted(verdict: Verdict) -> Run:
    """The run of a log, as failed where the log breaks the rules."""
    run = verdict.run if verdict.run is not None else Run(source=verdict.path)
    return run if verdict.ok or not run.succeeded else replace(run, status="breaks the rules")


def _check_group(group: Group, asked: _Asked) -> list[Verdict]:
    """The verdicts of one folder's logs; one that does not tell its round follows the others."""
    read = [_read(file) for file in group.files]
    others = _round_of_most([one for one in read if isinstance(one, RunLog)], asked)
    return [
        one
        if isinstance(one, Verdict)
        else check_log(
            one,
            ruleset=others.get(one.source, asked.ruleset),
            division=asked.division,
            benchmark=asked.benchmark,
        )
        for one in read
    ]


def _read(file: Path) -> RunLog | Verdict:
    """The log, or the verdict on one that cannot be read."""
    try:
        is_log(file)  # a pipe would never end; os.walk has sorted out the folders
        return mllog.read(file)
    except UsageError as error:
        finding = Finding(
            rule="log.unreadable",
            severity=Severity.ERROR,
            message=error.message,
            fix="Make the file readable, or take it away.",
            path=str(file),
        )
        return Verdict(
            path=str(file),
            kind="log",
            ruleset=None,
            chosen="",
            benchmark=None,
            division=None,
            findings=(finding,),
        )


def _round_of_most(logs: Sequence[RunLog], asked: _Asked) -> dict[str, Ruleset]:
    """The ruleset of most logs of a folder, for each log that does not tell its own."""
    if asked.ruleset is not None:
        return {}
    told: Counter[Ruleset] = Counter()
    untold = []
    for log in logs:
        try:
            told[find_ruleset(log)[0]] += 1
        except UsageError:  # if no log tells, check_log raises it again
            untold.append(log.source)
    return {source: told.most_common(1)[0][0] for source in untold} if told else {}


def _folder_verdict(group: Group, verdicts: Sequence[Verdict]) -> Verdict:
    """What is wrong with a benchmark folder as a whole."""
    benchmark = _first(verdict.benchmark for verdict in verdicts)
    ruleset = _first(verdict.ruleset for verdict in verdicts)
    findings = [*group.findings, *_scaling(group.folder)[1], *_same(group, verdicts)]
    if benchmark is not None:
        findings += _counts(group, verdicts, benchmark, ruleset)
    findings += _seeds(group, verdicts, ruleset)
    if not verdicts:
        problem = "no log of this folder was read: each is a link that leads out of it"
        findings.append(_about(group, "folder.runs", problem, "Give the folder that holds them."))
    return Verdict(
        path=str(group.folder),
        kind="folder",
        ruleset=ruleset,
        chosen="",
        benchmark=benchmark,
        division=_first(verdict.division for verdict in verdicts),
        findings=tuple(findings),
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
            f"{len(failed)} of {_logs(len(verdicts))} {verb} not count "
            f"({names}"
            f"{', ...' if len(failed) > 5 else ''}); {allowed or 'none'} may fail",
            "Run those again."
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
            shown = ", ".join(f"{value!s:.60} ({count})" for value, count in found.most_common(5))
            yield _about(
                group,
                rule,
                f"the logs have different {name}: {shown}",
                "Keep only runs of one configuration in a folder.",
            )


def _seeds(group: Group, verdicts: Sequence[Verdict], ruleset: Ruleset | None) -> Iterator[Finding]:
    """Runs with the same seed, where the rules ask for different ones."""
    if ruleset is None or (ruleset.official and ruleset.round < _SEEDS_MUST_DIFFER_FROM):
        return
    seeds = Counter(
        verdict.run.seed
        for verdict in verdicts
        if verdict.run is not None and verdict.run.seed is not None
    )
    for seed, count in seeds.most_common(5):
        if count > 1:
            yield _about(
                group,
                "folder.seeds",
                f"{count} runs have the seed {seed}; every run needs one of its own",
                "Run again without --seed, or with a different one for each run.",
            )


def _scaling(folder: Path) -> tuple[float, list[Finding]]:
    """The factor in ``scaling.json``, 1 without the file, and what is wrong with it."""
    file = folder / _SCALING
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return 1.0, [_bad_scaling(file, "it is no file")]
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return 1.0, []
    except (OSError, UnicodeDecodeError) as error:
        return 1.0, [_bad_scaling(file, f"it cannot be read: {error}")]
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        return 1.0, [_bad_scaling(file, f"it is not JSON: {error}")]
    factor = content.get("scaling_factor") if isinstance(content, dict) else None
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        return 1.0, [_bad_scaling(file, "it has no number scaling_factor")]
    if not 1 <= factor <= _LARGEST_SCALING:  # false of NaN too
        problem = f"scaling_factor is {factor!s:.60}, expected 1 to {_LARGEST_SCALING:,}"
        return 1.0, [_bad_scaling(file, problem)]
    return float(factor), []


def _bad_scaling(file: Path, problem: str) -> Finding:
    return Finding(
        rule="folder.scaling",
        severity=Severity.ERROR,
        message=f"{problem}; the score is reckoned without it",
        fix='Write {"scaling_factor": 1.02}, or take the file away.',
        path=str(file),
    )


def _about(
    group: Group, rule: str, message: str, fix: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(group.folder))


_T = TypeVar("_T")


def _first(values: Iterable[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _logs(count: int) -> str:
    return "1 log" if count == 1 else f"{count} logs"
