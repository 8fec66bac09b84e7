"""Check how submissions are laid out: what is missing, misplaced, misspelt or there twice."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainmark.rules.rulesets import Ruleset
from trainmark.rules.subjects import few
from trainmark.rules.submission.sources import check_sources
from trainmark.rules.submission.tree import LOG_NAME, Submission
from trainmark.rules.submission.tree_copies import find_copies
from trainmark.rules.submission.tree_listing import Listing, list_folder
from trainmark.rules.submission.tree_logs import (
    check_benchmark_folder,
    check_parameters,
    misplaced,
)
from trainmark.rules.submission.tree_repository import check_repository
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Severity, printable

__all__ = ["benchmarks_of", "check_tree"]

_SEVERITIES = tuple(Severity)
_ALIASES = {"mask": "maskrcnn"}  # the one that the official summarizer knows, of round 0.6


def check_tree(
    submissions: Sequence[Submission], *, rulesets: Sequence[Ruleset | None]
) -> list[Verdict]:
    """Check the layout of submissions, each for itself and for logs that they share.

    What stands in the logs, the system descriptions and the power folders is checked elsewhere.

    Args:
        submissions: As ``find_submissions`` returns them.
        rulesets: For each the round's rules, which say what benchmarks there are; None if the round
            is not known. Our own rules ask for no layout: then only copies of logs are looked for.

    Returns:
        A verdict of kind "submission" for each, in the same order.
    """
    copies = list(find_copies(folder for one in submissions for folder in one.results.values()))
    verdicts = []
    for submission, ruleset in zip(submissions, rulesets, strict=True):
        findings = [one for one in copies if _is_below(one.path, submission.root)]
        if ruleset is None or ruleset.official:
            findings += _layout(submission, ruleset)
        findings.sort(key=lambda finding: _SEVERITIES.index(finding.severity))
        verdicts.append(
            Verdict(
                path=str(submission.root),
                kind="submission",
                ruleset=ruleset,
                chosen="",
                benchmark=None,
                division=None,
                findings=tuple(findings),
            )
        )
    return verdicts


def benchmarks_of(ruleset: Ruleset) -> tuple[str, ...]:
    """The benchmarks of a round as its result folders name them; () if the round has no list.

    The list is that of the installed package mlperf-logging.

    Args:
        ruleset: The round.
    """
    from mlperf_logging.benchmark_meta import get_allowed_benchmarks

    usage, number = "training", ruleset.name
    if "-" in number:
        usage, _, number = number.partition("-")
    try:
        return tuple(dict.fromkeys(get_allowed_benchmarks(usage, number)))
    except ValueError:
        return ()


def _is_below(path: str, root: Path) -> bool:
    return Path(path).is_relative_to(root)


def _layout(submission: Submission, ruleset: Ruleset | None) -> Iterator[Finding]:
    yield from submission.findings
    yield from _parts(submission)
    yield from _systems(submission)
    yield from _results(submission, ruleset)
    yield from check_parameters(list_folder(submission.root), read=False)
    yield from check_sources(submission)
    told = {one.path for one in submission.findings}
    for finding in check_repository(submission.root):
        if finding.rule != "submission.unreadable" or finding.path not in told:
            yield finding


def _parts(submission: Submission) -> Iterator[Finding]:
    """A submission without results or without systems."""
    wanted = (
        ("submission.no_results", "results", "results/<system>/<benchmark>/result_<i>.txt"),
        ("submission.no_systems", "systems", "systems/<system>.json"),
    )
    for rule, part, form in wanted:
        if part not in submission.parts:
            yield _found(
                rule,
                submission.root,
                f"there is no folder {part}; expected {form}",
                f"Make the folder {part} in the submitter's folder.",
            )


def _systems(submission: Submission) -> Iterator[Finding]:
    """Results without a system description, and the other way round."""
    described = {file.stem: file for file in submission.systems}
    used = submission.result_systems()
    spare = [name for name in described if name not in used]
    if "systems" in submission.parts and submission.is_listed("systems"):
        for system in used:
            if system not in described:
                yield _no_description(submission, system, spare)
        yield from _stray_systems(submission)
    for name in spare:
        yield _found(
            "submission.system_unused",
            described[name],
            f"no result is of the system {printable(name)!r}",
            "Name the folder in results as the file, or take the file away.",
            severity=Severity.WARNING,
        )


def _no_description(submission: Submission, system: str, spare: Sequence[str]) -> Finding:
    place = submission.root / "results" / system
    shown = printable(system)
    folded = {_folded(name): name for name in spare}
    if _folded(system) in folded:
        near = printable(folded[_folded(system)])
        return _found(
            "submission.system_case",
            place,
            f"the system is described in systems/{near}.json; expected systems/{shown}.json: "
            "upper and lower case, spaces, '-' and '_' count",
            f"Rename the file to {shown}.json, or the folder to {near}.",
        )
    close = difflib.get_close_matches(system, spare, n=1)
    looks = f"; {printable(close[0])}.json looks like it" if close else ""
    return _found(
        "submission.no_system",
        place,
        f"there are results of the system {shown!r}, but no systems/{shown}.json{looks}",
        "Describe the system there; the official checker stops without it.",
    )


def _folded(name: str) -> str:
    return "".join(c for c in name.casefold() if c not in " -_")


def _stray_systems(submission: Submission) -> Iterator[Finding]:
    listing = list_folder(submission.root / "systems")
    known = set(submission.systems)
    stray = [one for one in (*listing.files, *listing.links, *listing.folders) if one not in known]
    stray = [one for one in stray if not one.name.lower().startswith("readme")]
    if stray:
        yield _found(
            "submission.stray_system",
            stray[0],
            f"{len(stray)} in systems that no tool reads: {few([one.name for one in stray])}; "
            "expected <system>.json",
            "Name it <system>.json, or take it away.",
            severity=Severity.WARNING,
        )


def _results(submission: Submission, ruleset: Ruleset | None) -> Iterator[Finding]:
    """What the result folders hold."""
    known = () if ruleset is None else benchmarks_of(ruleset)
    for (_, key), folder in submission.results.items():
        name = key.rpartition("/")[2]
        if known and _ALIASES.get(name, name) not in known:
            yield _unknown(folder, name, known)
        yield from check_benchmark_folder(folder)
    for folder in (submission.root, submission.root / "results"):
        yield from _logs_in(list_folder(folder))
    for system in submission.result_systems():
        listing = list_folder(submission.root / "results" / system)
        yield from _logs_in(listing)
        yield from check_parameters(listing, read=True)


def _logs_in(listing: Listing) -> Iterator[Finding]:
    """Result logs in a folder that should have none."""
    logs = [*filter(LOG_NAME.fullmatch, listing.file_names)]
    if logs:
        yield misplaced(listing.folder, logs)


def _unknown(folder: Path, name: str, known: Sequence[str]) -> Finding:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; {near[0]} may be meant" if near else ""
    return _found(
        "submission.benchmark",
        folder,
        f"the round has no benchmark {printable(name)!r}{meant}; the official checker leaves the "
        f"folder out. Benchmarks: {', '.join(known)}",
        f"Rename the folder to {near[0]}." if near else "Name the folder as one of them.",
    )


def _found(
    rule: str, path: Path, message: str, fix: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(path))
