"""Score what a path holds: a benchmark folder, or every one of a tree."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainmark.rules.convergence import check_scaling
from trainmark.rules.folders import convergence_of, first
from trainmark.rules.options import CheckOptions
from trainmark.rules.paths import check_groups
from trainmark.rules.places import find_place
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.scaling_file import read_scaling
from trainmark.rules.scoring import Score, score
from trainmark.rules.submission.surroundings import surroundings_of
from trainmark.rules.tree import Group
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Run, UsageError

__all__ = ["FolderScore", "score_path"]


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


def score_path(
    path: str | Path,
    *,
    ruleset: Ruleset | str | None = None,
    reckon_scaling: bool = False,
    jobs: int | None = 1,
) -> list[FolderScore]:
    """Score a benchmark folder, or every benchmark folder below a folder.

    A log with errors takes the place of a run that did not succeed, as the official summarizer
    has it. Nothing is written, so that the score is the same whenever it is reckoned.

    Args:
        path: The folder; a single log is scored as a folder of one run.
        ruleset: The rules, or a round's name; by default those that each log follows.
        reckon_scaling: Whether the factor of reference convergence is reckoned from the logs, as
            the official summarizer does before it scores a second time; else it is that of a
            ``scaling.json`` beside the logs.
        jobs: As in ``CheckOptions``.

    Raises:
        UsageError: As ``check_paths``.
    """
    options = replace(CheckOptions.of(ruleset=ruleset), jobs=jobs)
    groups = find_place(path).groups
    if not groups:  # a description, or a submission without logs
        raise UsageError(
            f"there are no result logs to score at {path}",
            hint="Give a benchmark folder with result_*.txt files, or any folder above.",
        )
    return [
        _score_group(group, verdicts, reckon_scaling=reckon_scaling)
        for group, verdicts in check_groups(groups, options)
    ]


def _score_group(group: Group, verdicts: list[Verdict], *, reckon_scaling: bool) -> FolderScore:
    benchmark = first(verdict.benchmark for verdict in verdicts)
    ruleset = first(verdict.ruleset for verdict in verdicts)
    division = first(verdict.division for verdict in verdicts)
    in_file, unreadable = (None, []) if group.unlisted else read_scaling(group.folder)
    convergence = convergence_of(
        group,
        verdicts,
        ruleset=ruleset,
        benchmark=benchmark,
        division=surroundings_of(group.folder).division or division,
    )
    scaling = convergence.factor if reckon_scaling else in_file
    doubts = [] if reckon_scaling or unreadable else check_scaling(in_file, convergence)
    return FolderScore(
        path=str(group.folder),
        benchmark=benchmark,
        division=division,
        ruleset=ruleset,
        score=score([*map(_counted, verdicts)], benchmark=benchmark or "", scaling=scaling or 1.0),
        verdicts=tuple(verdicts),
        findings=(*group.findings, *unreadable, *doubts),
    )


def _counted(verdict: Verdict) -> Run:
    """The run of a log, as failed where the log breaks the rules."""
    run = verdict.run if verdict.run is not None else Run(source=verdict.path)
    return run if verdict.ok or not run.succeeded else replace(run, status="breaks the rules")
