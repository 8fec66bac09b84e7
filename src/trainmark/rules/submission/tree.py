"""What a path is (a log, a benchmark folder, a submission ...) and how a submission is laid out.

A submission is the folder of one submitter::

    <submitter>/systems/<system>.json
    <submitter>/results/<system>/<benchmark>/result_<i>.txt
    <submitter>/results/<system>/<benchmark>/power/result_<i>/node_<j>.txt
    <submitter>/benchmarks/<benchmark>/implementations/<implementation>/...

HPC submissions have ``strong`` or ``weak`` between system and benchmark. Source: submission rules
of MLCommons, section "Directory structure".
"""

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from trainmark.rules.submission.tree_listing import Listing, list_folder
from trainmark.types import Finding

__all__ = ["LOG_NAME", "Kind", "Submission", "find_submissions", "identify"]

LOG_NAME = re.compile(r"result_.*\.txt", re.DOTALL)
_PARTS = frozenset({"results", "systems", "benchmarks"})
_SCALINGS = frozenset({"strong", "weak"})
_SEARCHED_LEVELS = 3  # rounds / repository / submitter


class Kind(StrEnum):
    """What a path is."""

    LOG = "log"
    SYSTEM = "system"
    BENCHMARK = "benchmark folder"
    SYSTEM_RESULTS = "results of a system"
    SYSTEMS = "systems folder"
    RESULTS = "results folder"
    POWER = "power folder"
    SUBMISSION = "submission"
    REPOSITORY = "repository"
    OTHER = "folder"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """How one submitter's folder is laid out.

    Attributes:
        submitter: The folder's name.
        root: The folder.
        systems: The system descriptions, JSON files.
        results: The benchmark folders by (system, benchmark); for HPC the benchmark reads
            ``strong/<benchmark>`` or ``weak/<benchmark>``.
        benchmarks: The source folders by benchmark.
        parts: Which of results, systems and benchmarks the folder has.
        findings: Folders that could not be listed.
    """

    submitter: str
    root: Path
    systems: tuple[Path, ...] = ()
    results: Mapping[tuple[str, str], Path] = field(default_factory=dict)
    benchmarks: Mapping[str, Path] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def is_listed(self, part: str) -> bool:
        """Whether one of the folder's parts could be listed."""
        return str(self.root / part) not in {one.path for one in self.findings}

    def result_systems(self) -> tuple[str, ...]:
        """The systems that have results, each once, in order."""
        return tuple(dict.fromkeys(system for system, _ in self.results))

    def result_benchmarks(self) -> tuple[str, ...]:
        """The benchmarks that have results, each once, in order, without strong and weak."""
        return tuple(dict.fromkeys(name.rpartition("/")[2] for _, name in self.results))


def identify(path: Path) -> Kind:
    """What a path is.

    Args:
        path: Any path; NOTHING if it does not exist, is no file and no folder, or cannot be
            reached.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return Kind.NOTHING
    if stat.S_ISREG(mode):
        is_system = path.suffix == ".json" and path.name != "scaling.json"
        return Kind.SYSTEM if is_system else Kind.LOG
    if not stat.S_ISDIR(mode):
        return Kind.NOTHING
    listing = list_folder(path)
    if _is_submission(listing):
        return Kind.SUBMISSION
    if _has_logs(listing):
        return Kind.BENCHMARK
    # The whole path, so that `trainmark check .` inside a results folder is told too.
    by_name = _by_name(path.absolute().name, listing)
    if by_name is not None:
        return by_name
    if next(_submissions_below(listing, _SEARCHED_LEVELS), None) is not None:
        return Kind.REPOSITORY
    return Kind.SYSTEM_RESULTS if _has_benchmarks(listing) else Kind.OTHER


def find_submissions(root: Path) -> tuple[Submission, ...]:
    """The submissions at or below a folder, in natural order; () if there is none.

    Searched are the folder itself and three levels below it (submitters, repositories, rounds);
    links and hidden folders are not entered.

    Args:
        root: A submitter's folder, a repository of many, or a folder of repositories.
    """
    listing = list_folder(root)
    return tuple(_read(found) for found in _submissions_below(listing, _SEARCHED_LEVELS))


def _has_logs(listing: Listing) -> bool:
    return any(map(LOG_NAME.fullmatch, (*listing.file_names, *listing.link_names)))


def _has_benchmarks(listing: Listing) -> bool:
    """Whether folders with logs are in a folder, for HPC below strong or weak."""
    inner = [list_folder(folder) for folder in listing.shown_folders()]
    scalings = [one for one in inner if one.folder.name in _SCALINGS]
    inner += [list_folder(folder) for one in scalings for folder in one.shown_folders()]
    return any(map(_has_logs, inner))


def _is_submission(listing: Listing) -> bool:
    """Whether a folder is a submitter's: results beside it tell, also without the other two."""
    names = listing.names()
    return "results" in names or {"systems", "benchmarks"} <= names


def _by_name(name: str, listing: Listing) -> Kind | None:
    described = (*listing.file_names, *listing.link_names)
    if name == "systems" and any(one.endswith(".json") for one in described):
        return Kind.SYSTEMS
    if name == "results" and listing.folders:
        return Kind.RESULTS
    if name == "power" and any(one.name.startswith("result_") for one in listing.folders):
        return Kind.POWER
    return None


def _submissions_below(listing: Listing, levels: int) -> Iterator[Listing]:
    """The listings of the submissions at or below a folder."""
    if _is_submission(listing):
        yield listing
    elif levels:
        for folder in listing.shown_folders():
            yield from _submissions_below(list_folder(folder), levels - 1)


def _read(listing: Listing) -> Submission:
    """The submission in a folder."""
    root = listing.folder
    parts = listing.names() & _PARTS
    findings = list(listing.findings)
    systems: tuple[Path, ...] = ()
    benchmarks: dict[str, Path] = {}
    results: dict[tuple[str, str], Path] = {}
    if "systems" in parts:
        inner = list_folder(root / "systems")
        systems = tuple(one for one in inner.files if _is_description(one))
        findings += inner.findings
    if "benchmarks" in parts:
        inner = list_folder(root / "benchmarks")
        benchmarks = {one.name: one for one in inner.shown_folders()}
        findings += inner.findings
    if "results" in parts:
        inner = list_folder(root / "results")
        findings += inner.findings
        for system in inner.shown_folders():
            findings += _read_system(system, results)
    return Submission(
        submitter=root.absolute().name,
        root=root,
        systems=systems,
        results=results,
        benchmarks=benchmarks,
        parts=parts,
        findings=tuple(findings),
    )


def _is_description(file: Path) -> bool:
    return file.suffix == ".json" and not file.name.startswith(".")


def _read_system(system: Path, results: dict[tuple[str, str], Path]) -> tuple[Finding, ...]:
    """Put the benchmark folders of one system into the results."""
    listing = list_folder(system)
    findings = listing.findings
    for folder in listing.shown_folders():
        if folder.name not in _SCALINGS:
            results[system.name, folder.name] = folder
            continue
        inner = list_folder(folder)
        findings += inner.findings
        for benchmark in inner.shown_folders():
            results[system.name, f"{folder.name}/{benchmark.name}"] = benchmark
    return findings
