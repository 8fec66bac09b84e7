"""The objects of a git repository, read through one ``git cat-file`` that stays open."""

import contextlib
import io
import os
import subprocess
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from trainmark.types import TrainmarkError

__all__ = ["GitObjects", "git", "head", "run_git", "sizes_of"]

_BLOCK = 1 << 20
# Names that are sent ahead stay in the pipe while git writes: they must fit into it.
_MOST_AHEAD = 500


class GitObjects:
    """Contents by object name.

    Args:
        path: The repository.

    Attributes:
        size: Number of bytes of the object that was opened last, 0 of an absent one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        self._ahead: deque[str] = deque()
        self._current: _Content | None = None
        self.size = 0

    def expect(self, names: Iterable[str]) -> None:
        """Ask for objects now; git unpacks them while earlier ones are looked at."""
        for name in names:
            if len(self._ahead) >= _MOST_AHEAD:
                break
            self._ask(name)
        self._flush()

    def open(self, name: str) -> BinaryIO | None:
        """The content of an object, None when the repository lacks it.

        The stream ends with the next call; objects that were expected before it are passed over.
        """
        if name not in self._ahead:
            self._ask(name)
            self._flush()
        while (expected := self._ahead[0]) != name:
            self._next(expected)
        return cast("BinaryIO | None", self._next(name))

    def close(self) -> None:
        """End git."""
        process, self._process = self._process, None
        self._ahead.clear()
        self._current = None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()  # what was expected and never opened is not wanted
        process.wait()

    def _next(self, name: str) -> "_Content | None":
        """The answer to the oldest question."""
        answers = self._running().stdout
        assert answers is not None
        if self._current is not None:
            self._current.drain()
        self._ahead.popleft()
        header = answers.readline().split()
        if not header:
            raise TrainmarkError(
                f"git stopped while reading {self._path}", hint="Run git fsck there."
            )
        known = len(header) == 3  # else "<object> missing"
        self.size = int(header[2]) if known else 0
        self._current = _Content(cast("Any", answers), self.size) if known else None
        return self._current

    def _ask(self, name: str) -> None:
        requests = self._running().stdin
        assert requests is not None
        with contextlib.suppress(BrokenPipeError):  # reading the answer says so
            requests.write(name.encode() + b"\n")
        self._ahead.append(name)

    def _flush(self) -> None:
        requests = self._running().stdin
        assert requests is not None
        with contextlib.suppress(BrokenPipeError):
            requests.flush()

    def _running(self) -> "subprocess.Popen[bytes]":
        """The process; started with the first question."""
        if self._process is None:
            self._process = _start(self._path)
        return self._process


class _Content(io.RawIOBase):
    """The bytes of one object among git's answers."""

    def __init__(self, answers: io.BufferedReader, size: int) -> None:
        super().__init__()
        self._answers = answers
        self._left = size
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: self._left]
        count = self._answers.readinto(view) if len(view) else 0
        self._took(count, ended=bool(view) and not count)
        return count

    def read(self, size: int | None = -1) -> bytes:
        """All of it in one piece, without a copy."""
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        data = self._answers.read(wanted) if wanted else b""
        self._took(len(data), ended=len(data) < wanted)
        return data

    def readall(self) -> bytes:
        return self.read()

    def drain(self) -> None:
        """Pass over what was not read, and the line end behind it."""
        while self._left:
            self.read(_BLOCK)
        if not self._ended:
            self._ended = True
            self._answers.read(1)

    def _took(self, count: int, *, ended: bool) -> None:
        self._left -= count
        if ended:
            self._left = 0
            raise TrainmarkError("git stopped in the middle of a file", hint="Run git fsck there.")


def _start(path: Path) -> "subprocess.Popen[bytes]":
    try:
        process = subprocess.Popen(
            ["git", "-C", str(path), *_SAFE, "cat-file", "--batch"],  # noqa: S607 - git from PATH
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=_BLOCK,
            env=environment(),
        )
    except FileNotFoundError as error:
        raise _no_git() from error
    _widen(process)
    return process


def _widen(process: "subprocess.Popen[bytes]") -> None:
    """Let git run ahead by a megabyte, not by the 64 KiB that a pipe holds by itself."""
    assert process.stdout is not None
    # A system that lacks it or allows less: slower, nothing else.
    with contextlib.suppress(OSError, ImportError, AttributeError):
        import fcntl

        fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, _BLOCK)


# A repository's own settings must not start programs or fetch what is missing.
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


# What a hook or an alias of git sets for its own repository.
_OTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


def environment(protocols: Sequence[str] = ()) -> dict[str, str]:
    """The environment for git: no questions, no fetching of absent objects, plain English.

    Args:
        protocols: By which git may talk to others; none by default.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}
    return kept | {
        "GIT_ALLOW_PROTOCOL": ":".join(protocols) or "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


def git(path: Path, *arguments: str, check: bool = False) -> str:
    """What git prints.

    Args:
        path: The repository.
        arguments: Of git.
        check: Whether a failure is an error; else it prints nothing.

    Raises:
        TrainmarkError: git is missing, or it failed and ``check`` is set.
    """
    return run_git(["-C", str(path), *arguments], path, check=check)


def head(path: Path) -> str:
    """The last commit of a repository.

    Args:
        path: The repository.

    Raises:
        TrainmarkError: git is missing or refuses the repository, or nothing was committed.
    """
    if found := git(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip():
        return found
    git(path, "rev-parse", "--git-dir", check=True)  # says why it is no repository
    raise TrainmarkError(
        f"the git repository {path} has no commit that can be read",
        hint="Commit what is to be imported; git fsck tells what is damaged.",
    )


def run_git(
    arguments: Sequence[str],
    what: object,
    *,
    check: bool = True,
    protocols: Sequence[str] = (),
    given: bytes = b"",
) -> str:
    """What git prints, for a command that names its repository itself.

    Args:
        arguments: Of git.
        what: The repository, for a message.
        check: As for ``git``.
        protocols: As for ``environment``.
        given: Its standard input.

    Raises:
        TrainmarkError: As for ``git``.
    """
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],  # noqa: S607 - git from PATH
            capture_output=True,
            check=False,
            input=given,
            env=environment(protocols),
        )
    except FileNotFoundError as error:
        raise _no_git() from error
    if check and done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise TrainmarkError(f"git cannot read {what}: {reason}", hint="Is it a git repository?")
    return done.stdout.decode("utf-8", "replace")


def sizes_of(path: Path, names: Sequence[str]) -> dict[str, int]:
    """The sizes in bytes of objects; of those that the repository holds.

    Args:
        path: The repository.
        names: The objects' names.

    Raises:
        TrainmarkError: git is missing.
    """
    listed = run_git(
        ["-C", str(path), "cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"],
        path,
        check=False,
        given="\n".join(dict.fromkeys(names)).encode(),
    )
    parts = [line.split(" ") for line in listed.splitlines()]
    return {part[0]: int(part[1]) for part in parts if len(part) == 2 and part[1].isdigit()}


def _no_git() -> TrainmarkError:
    return TrainmarkError("git is not installed", hint="Install git, or give a folder.")
