"""What can be seen in a QM9 folder without reading it all: for ``trainmark data check``."""

from collections.abc import Iterator
from pathlib import Path

from trainmark.training.data import qm9
from trainmark.types import Finding, Severity, UsageError

__all__ = ["findings"]

_FIRST = 200  # molecules that are read for a look
_PUBLISHED_LEFT_OUT = 3_054


def findings(data: Path) -> Iterator[Finding]:
    """What is wrong in a folder that holds both files.

    Args:
        data: The folder.
    """
    try:
        left_out = qm9.read_left_out(data / qm9.LEFT_OUT)
        qm9.read_archive(data / qm9.ARCHIVE, frozenset(), first=_FIRST)
    except UsageError as error:
        yield Finding.of_error(error, rule="data.format", path=data)
        return
    if len(left_out) != _PUBLISHED_LEFT_OUT:
        yield Finding(
            rule="data.count",
            severity=Severity.WARNING,
            message="this is not the published QM9: a run on it is another benchmark",
            fix="Fetch the published uncharacterized.txt.",
            path=str(data / qm9.LEFT_OUT),
            expected=f"{_PUBLISHED_LEFT_OUT:,} molecules to leave out",
            found=f"{len(left_out):,}",
        )
