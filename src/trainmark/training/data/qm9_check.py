"""What can be seen in a QM9 folder without reading it all: for ``trainmark data check``."""

from collections.abc import Iterator
from pathlib import Path

from trainmark.training.data import qm9
from trainmark.types import Finding, Severity, UsageError

__all__ = ["findings"]

_FIRST = 200  # molecules that are read for a look
_PUBLISHED_LEFT_OUT = 3_054


def findings(data: Path) -> Iterator[Finding]:
    """What is wrong with those of the two files that are there.

    Args:
        data: The folder.
    """
    listed, archive = data / qm9.LEFT_OUT, data / qm9.ARCHIVE
    if listed.is_file():
        yield from _of_list(listed)
    if archive.is_file():
        try:
            qm9.read_archive(archive, frozenset(), first=_FIRST)
        except UsageError as error:
            yield Finding.of_error(error, rule="data.format", path=archive)


def _of_list(listed: Path) -> Iterator[Finding]:
    try:
        left_out = qm9.read_left_out(listed)
    except UsageError as error:
        yield Finding.of_error(error, rule="data.format", path=listed)
        return
    if len(left_out) != _PUBLISHED_LEFT_OUT:
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not the published QM9: a run on it is another benchmark",
            fix="Fetch the published uncharacterized.txt.",
            path=str(listed),
            expected=f"{_PUBLISHED_LEFT_OUT:,} molecules to leave out",
            found=f"{len(left_out):,}",
        )
