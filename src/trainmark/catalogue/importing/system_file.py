"""What the system file of a folder says, in the catalogue's words."""

from collections.abc import Sequence

from trainmark.catalogue.importing.entries import Folder
from trainmark.catalogue.importing.source import Source
from trainmark.catalogue.naming.describe import Described, describe
from trainmark.rules.submission.systems_claims import LoggedSystem
from trainmark.types import Run

__all__ = ["described"]

_MOST_BYTES = 16 << 20  # the longest that was ever published has less than 100 KiB


def described(
    source: Source,
    folder: Folder,
    *,
    round_name: str,
    benchmark: str,
    runs: Sequence[Run],
    counted: Sequence[LoggedSystem],
) -> Described:
    """Describe the system of one result from the first system file that it has.

    Args:
        source: Where the file stands.
        folder: The folder.
        round_name: The round, "2.0".
        benchmark: The benchmark's official name.
        runs: The result's runs.
        counted: What the logs counted on the machine.
    """
    path = folder.systems[0] if folder.systems else folder.expected_system
    return describe(
        source.read(path, _MOST_BYTES) if folder.systems else None,
        path=path,
        round_name=round_name,
        submitter=folder.submitter,
        system=folder.system,
        benchmark=benchmark,
        runs=runs,
        counted=counted,
        implementations=folder.implementations,
    )
