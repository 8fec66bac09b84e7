"""What makes a submission hard to keep in git: names, sizes, links. The official repo checker.

And, because the whole tree is walked here: result logs among the sources.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from trainmark.rules.submission.tree import LOG_NAME
from trainmark.rules.submission.tree_listing import Listing, is_within, walk
from trainmark.rules.submission.tree_logs import misplaced
from trainmark.types import Finding, Severity, printable

__all__ = ["LARGEST_BYTES", "check_repository"]

LARGEST_BYTES = 50 << 20  # the limit of the official repo checker
_MOST_OF_A_KIND = 100
# Spaces and a dot in front are the official checker's; the others no checkout on Windows takes.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+=,@-]{0,198}(?<!\.)")  # nothing to look for
_AWKWARD = re.compile(r"[\s\x00-\x1f\x7f<>:\"|?*\\]|\Z(?<=\.)")


def check_repository(root: Path) -> Iterator[Finding]:
    """Names, sizes and links in a submission that git, or a checkout of it, cannot well take.

    The official repo checker looks at the same and fails on them; published rounds are full of
    them, so here they are warnings. At most 100 of a kind are listed, then a count. Result logs
    among the sources are told too: no tool takes them for results.

    Args:
        root: The submission; ``.git`` in it is left out.
    """
    counts: dict[str, int] = {}
    inside, sources = root.resolve(), root / "benchmarks"
    for listing in walk(root):
        if listing.folder.is_relative_to(sources):
            logs = [*filter(LOG_NAME.fullmatch, listing.file_names)]
            if logs:
                yield misplaced(listing.folder, logs)
        for finding in (*listing.findings, *_in_folder(listing, inside)):
            counts[finding.rule] = counts.get(finding.rule, 0) + 1
            if counts[finding.rule] <= _MOST_OF_A_KIND:
                yield finding
    for rule, count in counts.items():
        if count > _MOST_OF_A_KIND:
            yield _found(
                rule, root, f"{count - _MOST_OF_A_KIND} more of the kind are not listed", ""
            )


def _in_folder(listing: Listing, inside: Path) -> Iterator[Finding]:
    for name in (*listing.folder_names, *listing.file_names, *listing.link_names):
        trouble = "" if _PLAIN.fullmatch(name) else _name_trouble(name)
        if trouble and name != ".git":
            yield _found(
                "submission.repo.name",
                listing.folder / name,
                f"the name {printable(name)!r} {trouble}",
                "Rename it with letters, digits, '-', '_' and '.', and a letter or digit in front.",
            )
    folder = str(listing.folder)
    for name in listing.file_names:
        size = _size(f"{folder}/{name}")
        if size > LARGEST_BYTES:
            yield _found(
                "submission.repo.size",
                listing.folder / name,
                f"the file has {size / (1 << 20):.0f} MiB; expected at most "
                f"{LARGEST_BYTES >> 20} MiB, which is what git hosts take",
                "Leave the file out, or write less into it.",
            )
    for path in listing.links:
        if not is_within(path, inside):
            yield _found(
                "submission.repo.link",
                path,
                "the link leads nowhere, or out of the submission; it was not followed",
                "Put the file itself here.",
            )


def _name_trouble(name: str) -> str:
    if name.startswith("."):
        return "starts with a dot"
    if " " in name:
        return "has a space in it"
    if not name.isprintable():
        return "has control characters, or such as are not Unicode text"
    match = _AWKWARD.search(name)
    if match is None:
        return ""
    return f"has {match[0]!r} in it" if match[0] else "ends with a dot"


def _size(path: str) -> int:
    """The file's size in bytes; 0 if it has just gone."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _found(rule: str, path: Path, message: str, fix: str) -> Finding:
    return Finding(rule=rule, severity=Severity.WARNING, message=message, fix=fix, path=str(path))
