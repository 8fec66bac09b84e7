"""Which results repository an argument names: where it is, what it is called, which round."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trainmark.catalogue.importing.git_objects import git, head, run_git
from trainmark.catalogue.importing.source import FolderSource, GitSource, Source
from trainmark.types import TrainmarkError, UsageError

__all__ = ["Place", "find_place", "head_of", "open_place", "without_secret"]

_OWNER_AND_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# "mlperf" is what the organisation was called when the first rounds were published.
_PUBLISHED = re.compile(r"(?:mlcommons|mlperf)/training_results_v(\d+\.\d+)", re.IGNORECASE)
_FOLDER = re.compile(r"(?:(?:mlcommons|mlperf)[+_-])?training_results_v(\d+\.\d+)(?:\.git)?")
_ROUND = re.compile(r"v?(\d{1,3}\.\d{1,3})")
_ROUND_IN_NAME = re.compile(r"(?:.*[^0-9a-z])?v(\d{1,3}\.\d{1,3})(?:[^0-9.].*)?", re.IGNORECASE)
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://.+|(?:[\w.-]+@)[\w.-]+:.+", re.IGNORECASE)
_PROTOCOLS = ("https", "http", "ssh", "git", "file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A source of results before it is read.

    Attributes:
        path: The folder or git directory; of an URL the clone, "" before it is made.
        url: The URL, "" for what is on disk.
        is_git: Whether it is read through git.
        name: "mlcommons/training_results_v1.0", or what somebody else's is called.
        round: The round, "1.0".
        published: Whether it is a results repository of MLCommons.
        slug: Its folder in the catalogue.
    """

    path: str
    url: str
    is_git: bool
    name: str
    round: str
    published: bool
    slug: str

    def cloned(self, folder: Path) -> "Place":
        """The same with its clone made in an empty folder.

        Raises:
            TrainmarkError: git cannot clone it.
        """
        target = folder / "clone.git"
        _ask(
            self.url,
            *("-c", "transfer.fsckObjects=false", "clone", "--quiet", "--bare", "--depth", "1"),
            *("--no-tags", "--template=", "--", self.url, str(target)),
        )
        return replace(self, path=str(target))


def find_place(argument: str, round_name: str | None = None) -> Place:
    """The place that a command-line argument names; nothing is read or cloned yet.

    Args:
        argument: A folder, a git directory, an URL, or ``OWNER/REPO=`` one of them.
        round_name: The round, for what does not tell it.

    Raises:
        UsageError: No such folder, a protocol that is not allowed, or nothing tells the round.
    """
    given, text = _named(argument)
    if round_name is not None and not _ROUND.fullmatch(round_name):
        raise UsageError(f"there is no round {round_name!r}", hint="Rounds are like 5.1.")
    if _URL.fullmatch(text) and not _is(Path.exists, Path(text)):
        _check_protocol(text)
        return _place(given or _name_of_url(text), text, round_name, url=text)
    path = Path(text)
    if not _is(Path.is_dir, path):
        raise UsageError(
            f"{text} is no folder" if _is(Path.exists, path) else f"there is no folder {text}",
            hint="Give a results repository (a folder, a bare git directory or a URL), or one "
            "submitter's folder.",
        )
    is_git = _is(Path.is_file, path / "HEAD") or _is(Path.exists, path / ".git")
    name = given or (_name_of_git(path) if is_git else "") or _name_of_folder(path)
    return _place(name, text, round_name, path=path, is_git=is_git)


def open_place(place: Place) -> Source:
    """The place as a source.

    Raises:
        TrainmarkError: git or the system refuses it.
    """
    path = Path(place.path)
    return GitSource(path, place.name) if place.is_git else FolderSource(path, place.name)


def head_of(place: Place) -> str:
    """The commit at a place, "" for plain files; of an URL without cloning it.

    Raises:
        TrainmarkError: git refuses it.
    """
    if not place.is_git:
        return ""
    if not place.url:
        return head(Path(place.path))
    listed = _ask(place.url, "ls-remote", "--quiet", "--", place.url, "HEAD")
    return listed.split("\t")[0].strip()


def without_secret(url: str) -> str:
    """A URL without the name and password in it: what may be shown and kept."""
    return re.sub(r"(?<=://)[^/]*@", "", url)


def _ask(url: str, *arguments: str) -> str:
    """What git prints that talks to others."""
    try:
        return run_git(["-c", "core.askPass=", *arguments], "it", protocols=_PROTOCOLS)
    except TrainmarkError as error:
        if not error.message.startswith("git cannot read"):  # there is no git
            raise
        reason = error.message.partition(": ")[2].replace(url, without_secret(url))
        raise TrainmarkError(
            f"git cannot clone {without_secret(url)}: {reason}",
            hint="Is the URL right, and is there a network? A folder or a bare git directory "
            "on this machine can be imported as well.",
        ) from error


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """Whether it is; no where the name is too long for any file, or nobody may look."""
    try:
        return kind(path)
    except OSError:
        return False


def _named(argument: str) -> tuple[str, str]:
    """OWNER/REPO and the rest; a folder may have an "=" in its name too."""
    name, equals, text = argument.partition("=")
    if equals and _OWNER_AND_NAME.fullmatch(name) and not _is(Path.exists, Path(argument)):
        return name, text
    return "", argument


def _place(
    name: str,
    text: str,
    round_name: str | None,
    *,
    path: Path | None = None,
    url: str = "",
    is_git: bool = True,
) -> Place:
    match = _PUBLISHED.fullmatch(name)
    found = match.group(1) if match else _round_in(name, path)
    if round_name is not None:
        asked = round_name.lower().removeprefix("v")
        if match and asked != found:
            raise UsageError(
                f"{text} is the repository of round {found}, not of {asked}",
                hint="Leave out --round.",
            )
        found = asked
    if not found:
        raise UsageError(
            f"cannot tell which round {text} belongs to",
            hint=f"Say it: --round 5.1, or name the repository: "
            f"mlcommons/training_results_v5.1={text}",
        )
    official = f"training_results_v{found}"
    where = url or str(path.resolve() if path is not None else "")
    return Place(
        path="" if path is None else str(path),
        url=url,
        is_git=is_git,
        name=f"mlcommons/{official}" if match else name,
        round=found,
        published=match is not None,
        slug=official if match else _slug(name, where),
    )


def _check_protocol(url: str) -> None:
    match = _URL.fullmatch(url)
    assert match
    protocol = (match.group(1) or "ssh").lower()
    if protocol not in _PROTOCOLS:
        raise UsageError(
            f"cannot clone {without_secret(url)}: the protocol {protocol} is not allowed",
            hint=f"Allowed: {', '.join(_PROTOCOLS)}.",
        )


def _name_of_url(url: str) -> str:
    bare = without_secret(url).rstrip("/")
    parts = [part for part in re.split(r"[/:]+", bare.removesuffix(".git")) if part]
    return "/".join(parts[-2:])


def _name_of_git(path: Path) -> str:
    """From the remote "origin", "" without one."""
    url = git(path, "config", "--get", "remote.origin.url").strip()
    return _name_of_url(url) if _URL.fullmatch(url) else ""


def _name_of_folder(path: Path) -> str:
    name = path.resolve().name
    match = _FOLDER.fullmatch(name)
    return f"mlcommons/training_results_v{match.group(1)}" if match else name or "root"


def _round_in(name: str, path: Path | None) -> str:
    """The round in a name, or in that of a folder above: v5.1, training_results_v5.1."""
    above = [] if path is None else [*path.resolve().parts[::-1]]
    for part in (name.rpartition("/")[2], *above):
        if match := _ROUND_IN_NAME.fullmatch(part):
            return match.group(1)
    return ""


def _slug(name: str, where: str) -> str:
    """A folder name for what somebody called so, at that place."""
    safe = re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.")[:60] or "results"
    mark = hashlib.sha256(os.fsencode(where)).hexdigest()[:8]
    return f"{safe}-{mark}"
