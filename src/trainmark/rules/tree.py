"""Find the result logs of a tree: which folders hold some, and what is no log to read."""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainmark.types import Finding, Severity, UsageError

__all__ = ["Group", "find_groups", "is_log", "status_of"]

_PRUNED = "pruned_results"
_RESULT = re.compile(r"result_.*\.txt", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Group:
    """The result logs of one folder.

    Attributes:
        folder: The folder.
        files: The logs, in the order of their numbers.
        findings: What is wrong with the files of the folder.
        single: Whether it stands for one log that was named by itself.
        unlisted: Whether the folder could not be listed.
    """

    folder: Path
    files: tuple[Path, ...]
    findings: tuple[Finding, ...] = ()
    single: bool = False
    unlisted: bool = False


def is_log(path: str | Path) -> bool:
    """Whether a path is a file to be read, rather than a folder to be searched.

    Raises:
        UsageError: It is neither, or cannot be reached.
    """
    return stat.S_ISREG(status_of(path).st_mode)


def status_of(path: str | Path) -> os.stat_result:
    """The status of a file or folder.

    Raises:
        UsageError: It is neither, or cannot be reached.
    """
    wanted = "Give a result log, or a folder with result_*.txt files."
    if not os.fspath(path):  # for pathlib the working folder: a variable of a script is unset
        raise UsageError("the path is empty", hint=wanted)
    try:
        status = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"there is no {path}", hint=wanted) from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint=wanted) from error
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return status
    raise UsageError(
        f"{path} is neither a file nor a folder: pipes and devices are not read",
        hint="Save the log to a file first.",
    )


def find_groups(
    root: Path, *, may_lack: bool = False, leave_out: Collection[Path] = ()
) -> list[Group]:
    """Every folder below ``root`` that holds result logs, or that cannot be listed.

    Args:
        root: The folder.
        may_lack: Whether a folder without logs is as good as one with.
        leave_out: Folders below it that are not searched.

    Raises:
        UsageError: There are no logs.
    """
    unlisted: list[OSError] = []
    groups = list(_walk(root, unlisted.append, leave_out))
    if not groups and unlisted:
        raise _cannot_list(unlisted[0], unlisted[0].filename)
    groups += [_unlisted(error) for error in unlisted]
    if not groups and not may_lack:
        raise UsageError(
            f"there are no result logs below {root}",
            hint="Result logs are named result_0.txt, result_1.txt, ...; another file can be given "
            "by its own path.",
        )
    return groups


def _walk(
    root: Path, on_error: Callable[[OSError], None], leave_out: Collection[Path]
) -> Iterator[Group]:
    names_left_out = {folder.name for folder in leave_out}
    try:
        inside = root.resolve()
    except OSError as error:  # the working folder itself was removed
        raise _cannot_list(error, root) from error
    for place, folders, names in os.walk(root, onerror=on_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names_left_out.intersection(folders):
            if Path(place, name) in leave_out:
                folders.remove(name)
        files, findings = [], []
        for name in sorted(filter(_RESULT.fullmatch, names), key=_natural):
            file = Path(place, name)
            if _leads_out(file, inside):
                findings.append(_link(file))
            else:
                files.append(file)
        if files and _PRUNED in folders:  # runs that were taken out of the result beside them
            folders.remove(_PRUNED)
        if files or findings:
            yield Group(Path(place), tuple(files), tuple(findings))


def _leads_out(file: Path, inside: Path) -> bool:
    """Whether a link leads out of the folder; one that leads nowhere does not."""
    try:
        return not file.resolve().is_relative_to(inside)
    except (OSError, RuntimeError):  # a ring of links: reading it says so
        return False


def _unlisted(error: OSError) -> Group:
    """A folder that may not be read, among others that may."""
    folder = Path(error.filename)
    finding = Finding(
        rule="folder.unreadable",
        severity=Severity.ERROR,
        message=f"the folder cannot be listed: {error.strerror}",
        fix="Make the folder readable, or take it away.",
        path=str(folder),
    )
    return Group(folder, (), (finding,), unlisted=True)


def _cannot_list(error: OSError, folder: str | Path) -> UsageError:
    return UsageError(
        f"cannot list {folder}: {error.strerror}", hint="Give a folder that you may read."
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """result_10 comes after result_9."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts]


def _link(file: Path) -> Finding:
    return Finding(
        rule="folder.link",
        severity=Severity.WARNING,
        message="the file is a link that leads out of the folder; it was not read",
        fix="Copy the log into the folder, or give its own path.",
        path=str(file),
    )
