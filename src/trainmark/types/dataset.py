"""What a workload needs before it can be run: data, memory, time."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["DataFile", "DataSet", "Needs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """One published file of a data set.

    Attributes:
        path: Where it belongs below the data folder.
        size_bytes: Its published size, None where none is known.
        digest: Its published checksum as ``algorithm:hex``, "" where none is known.
        optional: Whether a run can do without it.
    """

    path: str
    size_bytes: int | None = None
    digest: str = ""
    optional: bool = False

    def __post_init__(self) -> None:
        assert not self.digest or self.digest.partition(":")[0] in ("md5", "sha1", "sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A public data set.

    Attributes:
        name: What it is called.
        url: Where it comes from.
        licence: Under which terms.
        size_bytes: How much has to be fetched, 0 for what ships in a package.
        layout: How to lay it out below the data folder, in words.
        files: Files of fixed names; folders of many files are the workload's to check.
    """

    name: str
    url: str
    licence: str
    size_bytes: int
    layout: str
    files: tuple[DataFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What one scale of a workload takes.

    Attributes:
        data: What it learns from.
        memory_bytes: Memory of the device with default settings.
        memory_basis: How that number was come by.
        time: The time to expect, in words, with where that comes from.
    """

    data: DataSet
    memory_bytes: int
    memory_basis: str
    time: str

    def to_dict(self) -> dict[str, Any]:
        """The needs as plain data."""
        return asdict(self)
