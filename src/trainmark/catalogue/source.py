"""A results repository as a list of files and their bytes: from git, or from a folder on disk.

Nothing in the repository is executed, no link in it is followed, nothing is written to it.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from trainmark.types import TrainmarkError, UsageError

__all__ = ["FolderSource", "GitSource", "Source", "content_id", "open_source", "round_of"]

_NAME = re.compile(r"[\w.-]+/training_results_v(\d+\.\d+)")


class Source(Protocol):
    """Where results are read from.

    Attributes:
        name: The public repository, for example "mlcommons/training_results_v1.0".
        commit: Its commit, "" for a folder that is no repository.
        paths: Every file, as a path inside the repository.
    """

    name: str
    commit: str
    paths: frozenset[str]

    def read(self, path: str) -> bytes | None:
        """The content; None when the file is listed but absent or cannot be read."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_source(argument: str) -> Source:
    """The repository that a command-line argument names.

    Args:
        argument: ``PATH`` or ``OWNER/training_results_vX.Y=PATH``. PATH is a bare git directory
            or a folder. Without a name, git's remote "origin" has to give it.

    Raises:
        UsageError: No such folder, or its name cannot be found out.
    """
    name, equals, text = argument.partition("=")
    if not equals:
        name, text = "", argument
    path = Path(text)
    if not path.is_dir():
        raise UsageError(
            f"there is no folder {text}", hint="Give a results repository: a folder or bare git."
        )
    is_git = (path / "HEAD").is_file() or (path / ".git").exists()
    if not name:
        match = _NAME.search(_git(path, "config", "--get", "remote.origin.url") if is_git else "")
        name = match.group() if match else ""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"cannot tell which results repository {text} is",
            hint=f"Name it: mlcommons/training_results_v1.0={text}",
        )
    return GitSource(path, name) if is_git else FolderSource(path, name)


def round_of(name: str) -> str:
    """The round, "1.0", of a repository's name."""
    match = _NAME.fullmatch(name)
    assert match, name
    return match.group(1)


class FolderSource:
    """A results repository as plain files.

    Args:
        root: The folder that holds the submitters' folders.
        name: The public repository's name.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.commit = ""
        self._files = _walk(root)
        self.paths = frozenset(self._files)

    def read(self, path: str) -> bytes | None:
        """The content; None when the file is not listed, or has gone or is not readable."""
        file = self._files.get(path)
        try:
            return None if file is None else file.read_bytes()
        except OSError:
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class GitSource:
    """The last commit of a git repository, bare or not; the work tree does not matter.

    Args:
        path: The repository.
        name: The public repository's name.

    Raises:
        TrainmarkError: git is missing or refuses the repository.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.commit = _git(path, "rev-parse", "HEAD", check=True).strip()
        self._objects = dict(_tree(_git(path, "ls-tree", "-r", "-z", "HEAD", check=True)))
        self.paths = frozenset(self._objects)
        self._reader = subprocess.Popen(
            ["git", "-C", str(path), "cat-file", "--batch"],  # noqa: S607 - git from PATH
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def read(self, path: str) -> bytes | None:
        """The content; None when the commit lists the file and the repository lacks it."""
        name = self._objects.get(path)
        if name is None:
            return None
        requests, answers = self._reader.stdin, self._reader.stdout
        assert requests is not None
        assert answers is not None
        requests.write(name.encode() + b"\n")
        requests.flush()
        header = answers.readline().split()
        if len(header) != 3:  # "<object> missing"
            if not header:
                raise TrainmarkError(
                    f"git stopped while reading {self.name}", hint="Run git fsck there."
                )
            return None
        content = answers.read(int(header[2]))
        answers.read(1)
        return content

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._reader.stdin.close()
        self._reader.stdout.close()
        self._reader.wait()


def content_id(data: bytes) -> str:
    """What identifies a content, equal for equal bytes."""
    return hashlib.sha256(data).hexdigest()


def _walk(root: Path) -> dict[str, Path]:
    """Path in the repository (always valid text) to file."""
    found = {}
    for folder, folders, names in os.walk(root, followlinks=False):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            file = Path(folder, name)
            if not file.is_symlink():
                path = os.fsencode(file.relative_to(root)).decode("utf-8", "replace")
                found[path] = file
    return found


def _tree(listing: str) -> Mapping[str, str]:
    """Path to object, regular files only (no links, no submodules)."""
    found = {}
    for record in filter(None, listing.split("\0")):
        head, path = record.split("\t", 1)
        mode, kind, name = head.split(" ")
        if kind == "blob" and mode.startswith("100"):
            found[path] = name
    return found


def _git(path: Path, *arguments: str, check: bool = False) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(path), *arguments],  # noqa: S607 - git from PATH
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise TrainmarkError("git is not installed", hint="Install git, or give a folder.") from (
            error
        )
    if check and done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise TrainmarkError(f"git cannot read {path}: {reason}", hint="Is it a git repository?")
    return done.stdout.decode("utf-8", "replace")
