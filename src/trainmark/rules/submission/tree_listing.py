"""List one folder of a submission: in natural order, links apart, nothing raised."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trainmark.types import Finding, Severity

__all__ = ["MAX_DEPTH", "Listing", "is_within", "list_folder", "natural", "walk"]

MAX_DEPTH = 64  # the deepest published tree has 23 levels
_DIGITS = re.compile(r"([0-9]{1,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What one folder holds, each kind by name in natural order.

    Attributes:
        folder: The folder.
        folder_names: Its folders, hidden ones too.
        file_names: Its regular files.
        link_names: Its symbolic links, whatever they lead to.
        other_names: Its pipes, sockets and devices.
        findings: Why it could not be listed; empty if it was.
    """

    folder: Path
    folder_names: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    link_names: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    # Paths are made for whom asks: a tree of sources has many files that nobody asks for.
    @property
    def folders(self) -> tuple[Path, ...]:
        """The paths of its folders."""
        return self._paths(self.folder_names)

    @property
    def files(self) -> tuple[Path, ...]:
        """The paths of its files."""
        return self._paths(self.file_names)

    @property
    def links(self) -> tuple[Path, ...]:
        """The paths of its links."""
        return self._paths(self.link_names)

    @property
    def others(self) -> tuple[Path, ...]:
        """The paths of what else it holds."""
        return self._paths(self.other_names)

    def shown_folders(self) -> Iterator[Path]:
        """The folders that are not hidden."""
        return (self.folder / name for name in self.folder_names if not name.startswith("."))

    def names(self) -> frozenset[str]:
        """The names of the folders that are not hidden."""
        return frozenset(name for name in self.folder_names if not name.startswith("."))

    def _paths(self, names: tuple[str, ...]) -> tuple[Path, ...]:
        return tuple(self.folder / name for name in names)


def list_folder(folder: Path) -> Listing:
    """What a folder holds; a folder that cannot be listed is a finding.

    Args:
        folder: The folder; links in it are listed, never followed.
    """
    kinds: dict[str, list[str]] = {"folders": [], "files": [], "links": [], "others": []}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                kinds[_kind(entry)].append(entry.name)
    except OSError as error:
        return Listing(folder=folder, findings=(_cannot_list(folder, error),))
    return Listing(
        folder=folder,
        folder_names=_in_order(kinds["folders"]),
        file_names=_in_order(kinds["files"]),
        link_names=_in_order(kinds["links"]),
        other_names=_in_order(kinds["others"]),
    )


def walk(root: Path) -> Iterator[Listing]:
    """A folder and every folder below it, top down; what is too deep is a finding.

    Args:
        root: The folder. Hidden folders below it and links are not entered.
    """
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        listing = list_folder(folder)
        inner = list(listing.shown_folders())
        if depth < MAX_DEPTH:
            waiting += [(one, depth + 1) for one in reversed(inner)]
            yield listing
        else:
            found = (*listing.findings, *(_too_deep(one) for one in inner[:1]))
            yield replace(listing, folder_names=(), other_names=(), findings=found)


def is_within(path: Path, root: Path) -> bool:
    """Whether a path, its links followed, lies in a folder and leads to something.

    Args:
        path: The path.
        root: The folder, its own links followed.
    """
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # leads nowhere, or in a ring
        return False


def natural(name: str) -> list[tuple[int, str]]:
    """The key under which result_10 comes after result_9."""
    parts = _DIGITS.split(name)
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts]


def _in_order(names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=natural) if len(names) > 1 else names)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "links"
    if entry.is_dir(follow_symlinks=False):
        return "folders"
    return "files" if entry.is_file(follow_symlinks=False) else "others"


def _cannot_list(folder: Path, error: OSError) -> Finding:
    return Finding(
        rule="submission.unreadable",
        severity=Severity.ERROR,
        message=f"the folder cannot be listed: {error.strerror or error}; what is in it was not "
        "checked",
        fix="Make the folder readable, or take it away.",
        path=str(folder),
    )


def _too_deep(folder: Path) -> Finding:
    return Finding(
        rule="submission.too_deep",
        severity=Severity.WARNING,
        message=f"folders nested more than {MAX_DEPTH} deep; what is below was not checked",
        fix="Keep the tree flat: results need four levels below the submitter's folder.",
        path=str(folder),
    )
