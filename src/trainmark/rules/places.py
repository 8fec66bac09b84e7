"""What a path that a user gives holds: logs, system descriptions, submissions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainmark.rules.scaling_file import NAME as SCALING
from trainmark.rules.tree import Group, find_groups, is_log
from trainmark.types import Finding, UsageError

if TYPE_CHECKING:
    from trainmark.rules.submission.tree import Submission

__all__ = ["Place", "find_place"]

_POWER_LOG = re.compile(r"(node|sw)_[0-9]{1,9}\.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What there is to check at a path.

    Attributes:
        path: The path.
        groups: The folders with result logs, in the order of the tree.
        descriptions: The system descriptions.
        submissions: The submitters' folders.
        findings: What is wrong with a systems folder as a whole.
    """

    path: Path
    groups: tuple[Group, ...] = ()
    descriptions: tuple[Path, ...] = ()
    submissions: "tuple[Submission, ...]" = ()
    findings: tuple[Finding, ...] = ()


def find_place(path: str | Path) -> Place:
    """What a path holds.

    Args:
        path: A log, a system description, or a folder of any kind.

    Raises:
        UsageError: It does not exist, or holds nothing that can be checked.
    """
    if not is_log(path):
        return _folder(Path(path))
    path = Path(path)
    if _POWER_LOG.fullmatch(path.name):
        _refuse_power(path, path.absolute().parents)
    if path.suffix == ".json" and path.name != SCALING:
        return Place(path=path, descriptions=(path,))
    return Place(path=path, groups=(Group(path.parent, (path,), single=True),))


def _folder(path: Path) -> Place:
    # What a single log does not need is loaded here.
    from trainmark.rules.submission.systems import find_descriptions
    from trainmark.rules.submission.tree import Kind, find_submissions, identify

    try:
        kind, absolute = identify(path), path.absolute()
    except OSError:  # the working folder itself was removed; listing it says so
        return Place(path=path, groups=tuple(find_groups(path)))
    if kind is Kind.SYSTEMS:
        files, findings = find_descriptions(path)
        return Place(path=path, descriptions=tuple(files), findings=tuple(findings))
    _refuse_power(path, (absolute, absolute.parent))
    submissions = find_submissions(path)
    # Logs among the sources are examples: no tool takes them for results.
    sources = {one.root / "benchmarks" for one in submissions}
    return Place(
        path=path,
        groups=tuple(find_groups(path, may_lack=bool(submissions), leave_out=sources)),
        descriptions=tuple(file for one in submissions for file in one.systems),
        submissions=submissions,
    )


def _refuse_power(path: Path, candidates: Iterable[Path]) -> None:
    """Power logs mean something only beside the result logs of the runs that were measured.

    Args:
        path: What was given.
        candidates: The folders that may be the power folder it is in, the nearest first.

    Raises:
        UsageError: One of them is a folder ``power`` of a benchmark folder.
    """
    for folder in candidates:
        if folder.name == "power" and any(folder.parent.glob("result_*.txt")):
            raise UsageError(
                f"{path} holds power logs, which are checked with the result logs of their runs",
                hint=f"Give the benchmark folder: {folder.parent}",
            )
