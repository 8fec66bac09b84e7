"""Result logs that are one and the same file under two names."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainmark.rules.submission.tree import LOG_NAME
from trainmark.rules.submission.tree_listing import list_folder
from trainmark.types import Finding, Severity, printable

__all__ = ["find_copies"]

_PIECE_BYTES = 1 << 20


def find_copies(folders: Iterable[Path]) -> Iterator[Finding]:
    """Logs whose bytes are those of an earlier one: an error in one folder, else a warning.

    In one folder a run is counted twice. In two folders it may be right: of round 4.0 one submitter
    filed the same runs three times, without power and with power measured in two ways (226 copies).
    More often a result was copied to the wrong place. Sizes are compared first, so that few files
    are read.

    Args:
        folders: Benchmark folders in the order in which they should be named; links in them are
            not followed.
    """
    by_size: dict[int, list[Path]] = {}
    for folder in folders:
        for name in filter(LOG_NAME.fullmatch, list_folder(folder).file_names):
            file = folder / name
            if size := _size(file):
                by_size.setdefault(size, []).append(file)
    first: dict[bytes, Path] = {}
    for files in by_size.values():
        for file in files if len(files) > 1 else ():
            digest = _digest(file)
            earlier = file if digest is None else first.setdefault(digest, file)
            if earlier is not file:
                yield _copy(file, earlier)


def _size(file: Path) -> int:
    """The size in bytes; 0 for a file that cannot be looked at."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _digest(file: Path) -> bytes | None:
    """What the file's bytes come to; None if it cannot be read, which checking it says."""
    digest = hashlib.blake2b(digest_size=20)
    try:
        with file.open("rb") as stream:
            while piece := stream.read(_PIECE_BYTES):
                digest.update(piece)
    except OSError:
        return None
    return digest.digest()


def _copy(file: Path, earlier: Path) -> Finding:
    same_folder = file.parent == earlier.parent
    shown = printable(earlier.relative_to(os.path.commonpath([file, earlier])))
    return Finding(
        rule="submission.same_log",
        severity=Severity.ERROR if same_folder else Severity.WARNING,
        message=f"the log is an exact copy of {shown}: "
        + ("one run is counted twice" if same_folder else "one result stands in two places"),
        fix="Put the log of this run here, or take the copy away.",
        path=str(file),
    )
