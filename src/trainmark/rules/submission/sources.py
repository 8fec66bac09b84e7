"""The sources of a submission: code and a README for every benchmark that has results.

The written rules ask for them (submission rules, sections "Directory structure" and "Source code
requirements for replication"); the official tools do not look. Several published submissions lack
them, which is why nothing here is an error.
"""

import difflib
from collections.abc import Iterator
from pathlib import Path

from trainmark.rules.subjects import few
from trainmark.rules.submission.tree import Submission
from trainmark.rules.submission.tree_listing import list_folder, walk
from trainmark.types import Finding, Severity, printable

__all__ = ["check_sources"]

# What the official seed checker takes for a source file, and notebooks.
_SOURCE_SUFFIXES = (
    *(".py", ".ipynb", ".sh", ".sub", ".cu", ".cuh"),
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"),
)


def check_sources(submission: Submission) -> Iterator[Finding]:
    """What the sources of a submission lack.

    Args:
        submission: The submission.
    """
    wanted = submission.result_benchmarks()
    spare = [name for name in submission.benchmarks if name not in wanted]
    if "benchmarks" not in submission.parts:
        yield _no_benchmarks(submission)
    elif submission.is_listed("benchmarks"):
        for name in wanted:
            folder = submission.benchmarks.get(name)
            if folder is None:
                yield _no_folder(submission, name, spare)
            else:
                yield from _in_folder(folder)
    for name in spare:
        yield _found(
            "submission.unused_sources",
            submission.benchmarks[name],
            f"no result is of a benchmark {printable(name)!r}; results are of {few(wanted, 12)}",
            "Name the folder as the results name the benchmark, or take it away.",
            severity=Severity.NOTE,
        )


def _no_benchmarks(submission: Submission) -> Finding:
    there = list_folder(submission.root).names()
    near = [name for name in ("benchmark", "Benchmarks", "code") if name in there]
    found = f"; there is a folder {near[0]}" if near else ""
    return _found(
        "submission.no_benchmarks",
        submission.root,
        f"there is no folder benchmarks with the sources{found}",
        "Put the code of each benchmark into benchmarks/<benchmark>/implementations/<name>."
        if not near
        else f"Rename {near[0]} to benchmarks.",
    )


def _no_folder(submission: Submission, name: str, spare: list[str]) -> Finding:
    near = difflib.get_close_matches(name, spare, n=1)
    found = f"; {near[0]} looks like it" if near else ""
    return _found(
        "submission.no_sources",
        submission.root / "benchmarks",
        f"there are results of {printable(name)}, but no folder benchmarks/{printable(name)} with "
        f"its sources{printable(found)}",
        "Put the code, the settings and a README there.",
    )


def _in_folder(folder: Path) -> Iterator[Finding]:
    """What one benchmark's folder lacks."""
    listing = list_folder(folder)
    if listing.findings:  # the walk through the repository says so
        return
    if "implementations" not in listing.names():
        yield _found(
            "submission.no_implementations",
            folder,
            "there is no folder implementations; expected implementations/<name> with the code",
            "Put each implementation into implementations/<name>.",
        )
    has_source, has_readme = _look(folder)
    if not has_source:
        yield _found(
            "submission.no_source_files",
            folder,
            "there is no source file below the folder",
            "Put the code here that makes the result, or scripts that fetch it by commit or tag.",
        )
    if not has_readme:
        yield _found(
            "submission.no_readme",
            folder,
            "there is no README below the folder",
            "Write one with the steps and the command line that repeat the result.",
        )


def _look(folder: Path) -> tuple[bool, bool]:
    """Whether there is a source file, and a README, anywhere below a folder."""
    has_source = has_readme = False
    for listing in walk(folder):
        names = (*listing.file_names, *listing.link_names)
        has_source = has_source or any(map(_is_source, names))
        has_readme = has_readme or any(name.lower().startswith("readme") for name in names)
        if has_source and has_readme:
            break
    return has_source, has_readme


def _is_source(name: str) -> bool:
    return name.lower().endswith(_SOURCE_SUFFIXES)


def _found(
    rule: str, path: Path, message: str, fix: str, *, severity: Severity = Severity.WARNING
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(path))
