"""The files of a data set as they were published, against those in a folder: size and checksum.

Files are read side by side, in blocks: hashing lets go of Python's lock, so several cores and a
fast disk are used, and a file of any size takes little memory.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from trainmark.types import DataFile, DataSet, Finding, Severity

__all__ = ["FileState", "check_files"]

Told = Callable[[int, int], None]
"""Told the bytes read so far, and how many there are to read."""

_BLOCK_BYTES = 4 << 20
_MOST_READERS = 8
_TOLD_EVERY_S = 0.2
_WHERE = "trainmark workloads show NAME says where from."
_AGAIN = f"Fetch it again; {_WHERE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """One file of the table and what was found.

    Attributes:
        file: As published.
        verified: "checksum", "size", "presence", or "" when it is missing or wrong.
        finding: What is wrong, None when nothing is.
    """

    file: DataFile
    verified: str
    finding: Finding | None = None


def check_files(data: DataSet, folder: Path, told: Told) -> Iterator[FileState]:
    """Check every file of the table, in its order.

    Args:
        data: The data set.
        folder: The data folder, which exists.
        told: Called from this thread while files are read.
    """
    looked = [_looked_at(file, folder) for file in data.files]
    with _Reader(told) as reader:
        hashes = {
            i: reader.start(folder / state.file.path, state.file.digest)
            for i, state in enumerate(looked)
            if state.finding is None and state.verified and state.file.digest
        }
        reader.wait(hashes.values())
    for i, state in enumerate(looked):
        yield _hashed(state, hashes[i], folder) if i in hashes else state


def _looked_at(file: DataFile, folder: Path) -> FileState:
    """What the folder's listing says: there, a file, of the right size."""
    path = folder / file.path
    try:
        size = path.stat().st_size
        if not path.is_file():
            return _wrong(file, path, "data.file", "is no file", found="a folder or a device")
    except FileNotFoundError:
        if file.optional:
            return FileState(
                file=file,
                verified="",
                finding=Finding(
                    rule="data.missing",
                    severity=Severity.NOTE,
                    message=f"{file.path} is not there; a run can do without it",
                    path=str(path),
                ),
            )
        return _wrong(file, path, "data.missing", "is not there", fix=f"Fetch it; {_WHERE}")
    except OSError as error:
        return _wrong(file, path, "data.unreadable", f"cannot be read: {error.strerror}")
    if file.size_bytes is None:
        return FileState(file=file, verified="presence")
    if size != file.size_bytes:
        return _wrong(
            file,
            path,
            "data.size",
            "has another size than the published file",
            expected=f"{file.size_bytes:,} bytes",
            found=f"{size:,} bytes",
            fix=_AGAIN,
        )
    return FileState(file=file, verified="size")


def _hashed(state: FileState, hashing: "Future[str]", folder: Path) -> FileState:
    """The state once the file's checksum is known."""
    path = folder / state.file.path
    wanted = state.file.digest.partition(":")[2].lower()
    try:
        found = hashing.result()
    except OSError as error:
        return _wrong(state.file, path, "data.unreadable", f"cannot be read: {error.strerror}")
    if found == wanted:
        return FileState(file=state.file, verified="checksum")
    return _wrong(
        state.file,
        path,
        "data.checksum",
        "is not the published file: its content differs",
        expected=state.file.digest,
        found=f"{state.file.digest.partition(':')[0]}:{found}",
        fix=_AGAIN,
    )


def _wrong(
    file: DataFile,
    path: Path,
    rule: str,
    what: str,
    *,
    expected: str = "",
    found: str = "",
    fix: str = "Put the published file there.",
) -> FileState:
    finding = Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=f"{file.path} {what}",
        fix=fix,
        path=str(path),
        expected=expected,
        found=found,
    )
    return FileState(file=file, verified="", finding=finding)


class _Reader:
    """Threads that hash files; stopped at the next block when the caller is interrupted."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._threads = ThreadPoolExecutor(min(_MOST_READERS, os.cpu_count() or 1))
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._read = self._all = 0

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._threads.shutdown(cancel_futures=True)

    def start(self, path: Path, digest: str) -> "Future[str]":
        """Hash a file in a thread: hexadecimal, by the algorithm that the digest names."""
        self._all += path.stat().st_size
        return self._threads.submit(self._hash, path, digest.partition(":")[0])

    def wait(self, hashes: "Collection[Future[str]]") -> None:
        """Until all are done, telling how far it is."""
        waiting = set(hashes)
        while waiting:
            waiting = wait(waiting, timeout=_TOLD_EVERY_S).not_done
            self._told(self._read, self._all)

    def _hash(self, path: Path, algorithm: str) -> str:
        made = hashlib.new(algorithm, usedforsecurity=False)
        with path.open("rb") as file:
            while (block := file.read(_BLOCK_BYTES)) and not self._stopped.is_set():
                made.update(block)
                with self._lock:
                    self._read += len(block)
        return made.hexdigest()
