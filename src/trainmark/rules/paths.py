"""Check and score what a path holds: a log, a benchmark folder, or a whole tree of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from trainmark.rules.convergence import check_scaling
from trainmark.rules.files import Untold, check_file
from trainmark.rules.folders import check_folder, convergence_of, first
from trainmark.rules.options import CheckOptions
from trainmark.rules.places import Place, find_place
from trainmark.rules.processes import in_order
from trainmark.rules.rulesets import Ruleset, round_of_folder
from trainmark.rules.scaling_file import read_scaling
from trainmark.rules.scoring import Score, score
from trainmark.rules.submission.power_verdict import power_verdict
from trainmark.rules.submission.surroundings import surroundings_of
from trainmark.rules.submission.systems import check_system
from trainmark.rules.submission.tree_checks import check_tree
from trainmark.rules.tree import Group
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Run

__all__ = ["FolderScore", "check_path", "check_paths", "score_path"]


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


def check_path(
    path: str | Path,
    *,
    ruleset: Ruleset | str | None = None,
    division: str | None = None,
    benchmark: str | None = None,
) -> list[Verdict]:
    """Check one path in this process: ``check_paths`` with the common options.

    Args:
        path: The log or the folder.
        ruleset: The rules, or a round's name; by default those that each log follows.
        division: Taken instead of what the logs say.
        benchmark: Taken instead of what the logs say.

    Raises:
        UsageError: As ``check_paths``.
    """
    options = CheckOptions.of(ruleset=ruleset, division=division, benchmark=benchmark)
    return list(check_paths([path], options))


def check_paths(
    paths: Iterable[str | Path], options: CheckOptions | None = None
) -> Iterator[Verdict]:
    """Check result logs, benchmark folders, or all that is below other folders.

    Links that lead out of a given folder are not followed, and nothing is written.

    Args:
        paths: The logs and folders.
        options: How to check; by default by the rules that each log follows, in this process.

    Yields:
        For a log its verdict; for folders the verdicts of the logs of each benchmark folder,
        followed by that of the folder itself.

    Raises:
        UsageError: A path does not exist or holds no result logs, or nothing tells the round of a
            log or of a folder that was given.
    """
    options = options or CheckOptions()
    places = [find_place(path) for path in paths]
    stream = _verdicts([group for place in places for group in place.groups], options)
    for place in places:
        rounds: Counter[Ruleset] = Counter()
        for group, verdicts in islice(stream, len(place.groups)):
            rounds.update(one.ruleset for one in verdicts if one.ruleset is not None)
            yield from verdicts
            yield from _raised(_of_folder(group, verdicts, options), options)
        ruleset = options.ruleset or (rounds.most_common(1)[0][0] if rounds else None)
        yield from _raised(_around(place, ruleset or round_of_folder(place.path)), options)


def _of_folder(
    group: Group, verdicts: Sequence[Verdict], options: CheckOptions
) -> Iterator[Verdict]:
    """The verdict on a folder, and on the power logs in it."""
    if group.single:
        return
    folder = check_folder(group, verdicts, options)
    yield folder
    power = power_verdict(
        group.folder, group.files, ruleset=folder.ruleset, nodes=surroundings_of(group.folder).nodes
    )
    if power is not None:
        yield power


def _around(place: Place, ruleset: Ruleset | None) -> Iterator[Verdict]:
    """The verdicts on system descriptions and on how submissions are laid out."""
    if place.findings:
        yield Verdict(
            path=str(place.path),
            kind="submission",
            ruleset=ruleset,
            chosen="",
            benchmark=None,
            division=None,
            findings=place.findings,
        )
    for file in place.descriptions:
        yield check_system(file, ruleset=ruleset)
    for verdict in check_tree(place.submissions, ruleset=ruleset):
        # Our own sessions are laid out alike but are no submissions.
        if verdict.findings or ruleset is None or ruleset.official:
            yield verdict


def _raised(verdicts: Iterable[Verdict], options: CheckOptions) -> Iterator[Verdict]:
    return (one.strict() if options.strict else one for one in verdicts)


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
    return [
        _score_group(group, verdicts, reckon_scaling=reckon_scaling)
        for group, verdicts in _verdicts(groups, options)
    ]


def _verdicts(
    groups: Sequence[Group], options: CheckOptions
) -> Iterator[tuple[Group, list[Verdict]]]:
    """Each folder with the verdicts on its logs; one that does not tell its round follows others.

    Raises:
        UsageError: No log of any folder tells its round.
    """
    files = [file for group in groups for file in group.files]
    checked = in_order(check_file, files, options)
    told = False
    for group in groups:
        results = [next(checked) for _ in group.files]
        verdicts = [one for one in results if isinstance(one, Verdict)]
        others = Counter(one.ruleset for one in verdicts if one.ruleset is not None)
        untold = [one for one in results if isinstance(one, Untold)]
        if untold and not others and len(groups) == 1:
            raise untold[0].error()
        told = told or bool(others)
        yield group, [_settle(one, others, options) for one in results]


def _settle(result: Verdict | Untold, others: Counter[Ruleset], options: CheckOptions) -> Verdict:
    """The verdict on a log that has waited for what the others of its folder say."""
    if isinstance(result, Verdict):
        return result
    if not others:
        return result.verdict()
    checked = check_file(result.path, replace(options, ruleset=others.most_common(1)[0][0]))
    return checked if isinstance(checked, Verdict) else checked.verdict()


def _score_group(group: Group, verdicts: list[Verdict], *, reckon_scaling: bool) -> FolderScore:
    benchmark = first(verdict.benchmark for verdict in verdicts)
    ruleset = first(verdict.ruleset for verdict in verdicts)
    division = first(verdict.division for verdict in verdicts)
    in_file, unreadable = read_scaling(group.folder)
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
