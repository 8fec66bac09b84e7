"""A results repository as a list of files and their bytes: from git, or from a folder on disk.

Nothing in the repository is executed, no link in it is followed, nothing is written to it.
"""

import hashlib
import io
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from trainmark.catalogue.importing.git_objects import GitObjects, git, head
from trainmark.types import TrainmarkError

__all__ = ["FolderSource", "GitSource", "Source", "Watched"]

_BLOCK = 1 << 20
_START = 64 << 10  # bytes of a content's beginning that are kept
_ODD = frozenset({"", ".", ".."})
_ODD_IN_LISTING = [f"{a}{odd}{b}" for odd in _ODD for a in "\t/" for b in "/\0"]
# Of git ls-tree -z: mode, kind, object, path.
_FILE = re.compile(r"(?:^|(?<=\0))100[0-7]{3} blob ([0-9a-f]+)\t([^\0]*)")


class Source(Protocol):
    """Where results are read from.

    Attributes:
        name: What it is called, for example "mlcommons/training_results_v1.0".
        commit: Its commit, "" for a folder that is no repository.
        paths: Every file, as a path inside the repository.
        size: Number of bytes of what was opened last.
    """

    name: str
    commit: str
    paths: frozenset[str]
    size: int

    def object_id(self, path: str) -> str:
        """Git's object name of the content, "" when it is not known before reading."""

    def open(self, path: str) -> BinaryIO | None:
        """The content as a stream, None when it is absent or cannot be read.

        One stream at a time: the next ``open`` or ``read`` ends the one before.
        """

    def read(self, path: str, most: int = -1) -> bytes | None:
        """The content, or so many bytes of it; None when it is absent or cannot be read."""

    def expect(self, paths: Sequence[str]) -> None:
        """Say which files are opened next, in that order, so that they can be made ready."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class FolderSource:
    """A results repository as plain files.

    Args:
        root: The folder that holds the submitters' folders.
        name: What it is called.
        files: Path in the repository to file on disk, when it is known already.
    """

    def __init__(self, root: Path, name: str, files: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.commit = ""
        self._files = _walk(root) if files is None else files
        self.paths = frozenset(self._files)
        self.size = 0
        self._open: BinaryIO | None = None

    def list_only(self, files: Mapping[str, str]) -> None:
        """Hold these files and no others: path in the repository to file on disk."""
        self._files = files
        self.paths = frozenset(files)

    def location(self, path: str) -> str:
        """The file on disk of a listed path."""
        return self._files[path]

    def object_id(self, path: str) -> str:
        """Git's name of the content is known when the file has been read."""
        del path
        return ""

    def open(self, path: str) -> BinaryIO | None:
        """The file, None when it is not listed, has gone, is no file or is not readable."""
        self._close()
        file = self._files.get(path)
        if file is None:
            return None
        try:
            # A pipe that took the file's place would never end.
            handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                os.close(handle)
                return None
            self.size = status.st_size
            self._open = os.fdopen(handle, "rb", buffering=0)
        except OSError:
            return None
        return self._open

    def read(self, path: str, most: int = -1) -> bytes | None:
        """The content; None when the file is not listed, or has gone or is not readable."""
        stream = self.open(path)
        try:
            return None if stream is None else stream.read(most)
        except OSError:
            return None
        finally:
            self._close()

    def expect(self, paths: Sequence[str]) -> None:
        """Nothing to prepare: the system reads ahead by itself."""

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()


class GitSource:
    """The last commit of a git repository, bare or not; the work tree does not matter.

    Args:
        path: The repository.
        name: What it is called.
        commit: The commit and ...
        objects: ... its files' objects, when they are known already.

    Raises:
        TrainmarkError: git is missing or refuses the repository.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        commit: str = "",
        objects: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.commit = commit or head(path)
        if objects is None:
            objects = _tree(git(path, "ls-tree", "-r", "-z", self.commit, check=True))
        self._objects = objects
        self.paths = frozenset(self._objects)
        self.size = 0
        self._reader = GitObjects(path)

    def list_only(self, objects: Mapping[str, str]) -> None:
        """Hold these files and no others: path in the repository to object."""
        self._objects = objects
        self.paths = frozenset(objects)

    def location(self, path: str) -> str:
        """The object of a listed path."""
        return self._objects[path]

    def object_id(self, path: str) -> str:
        """Git's object name, "" of what is not listed."""
        return self._objects.get(path, "")

    def open(self, path: str) -> BinaryIO | None:
        """The content; None when the commit lists the file and the repository lacks it."""
        name = self._objects.get(path)
        stream = None if name is None else self._reader.open(name)
        self.size = self._reader.size
        return stream

    def read(self, path: str, most: int = -1) -> bytes | None:
        """The content; None when the commit lists the file and the repository lacks it."""
        stream = self.open(path)
        return None if stream is None else stream.read(most)

    def expect(self, paths: Sequence[str]) -> None:
        """Ask git for these files now: it unpacks them while others are looked at."""
        self._reader.expect([self._objects[path] for path in paths if path in self._objects])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


class Watched(io.RawIOBase):
    """A stream that keeps the beginning of what is read through it, and reckons its name.

    Args:
        stream: The content, from its beginning.
        size: Its length in bytes.
        name: Git's object name where it is known; "" to reckon it.
    """

    def __init__(self, stream: BinaryIO, size: int, name: str) -> None:
        super().__init__()
        self._stream = stream
        self._name = name
        self._hash = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        self.start = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, all that are left by default."""
        data = self._stream.read(-1 if size is None else size)
        self._see(memoryview(data))
        return data

    def readall(self) -> bytes:
        """All that is left."""
        return self.read()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; the number of bytes."""
        view = memoryview(buffer).cast("B")
        count = int(self._stream.readinto(view))  # type: ignore[attr-defined]
        self._see(view[:count])
        return count

    def name(self) -> str:
        """Git's object name; the rest is read where that is needed."""
        while not self._name and self.read(_BLOCK):
            pass
        return self._name or self._hash.hexdigest()

    def _see(self, view: memoryview) -> None:
        if len(self.start) < _START:
            self.start += bytes(view[: _START - len(self.start)])
        if not self._name:
            self._hash.update(view)


def _walk(root: Path) -> dict[str, str]:
    """Path in the repository (always valid text) to file; no links, nothing but files."""
    found: dict[str, str] = {}
    waiting = [(os.fspath(root), "")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if not prefix:
                raise TrainmarkError(
                    f"cannot read the folder {folder}: {error.strerror}",
                    hint="Give a folder that you may read.",
                ) from error
            continue
        for entry in entries:
            path = prefix + os.fsencode(entry.name).decode("utf-8", "replace")
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    waiting.append((entry.path, f"{path}/"))
            elif entry.is_file(follow_symlinks=False):
                found[path] = entry.path
    return found


def _tree(listing: str) -> Mapping[str, str]:
    """Path to object, regular files only (no links, no submodules)."""
    found = {path: name for name, path in _FILE.findall(listing)}
    if any(mark in listing for mark in _ODD_IN_LISTING):
        # A tree that somebody made up may say "..": such a path leads nowhere here.
        return {p: name for p, name in found.items() if not _ODD.intersection(p.split("/"))}
    return found
