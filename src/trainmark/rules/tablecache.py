"""A cache file for data made from other files, trusted only while those are unchanged.

The files are in the user's cache folder (``$XDG_CACHE_HOME/trainmark``, else
``~/.cache/trainmark``). They hold plain data, never code; a file that is missing, stale, damaged,
no file or another user's is made anew, and a folder that cannot be written to is done without.
The checksum is against damage: who may write as this user may change what is stored here, as
they may change the program.
"""

import contextlib
import functools
import os
import stat
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from trainmark.types import TrainmarkError

__all__ = ["FileStamp", "load", "stamps", "store"]

FileStamp = tuple[str, int, int]
_MOST_BYTES = 16 << 20
_FORMAT = 1
_NOT_JSON = (TypeError, ValueError)  # a path may hold bytes that are no UTF-8
# What makes the data: a change in one of them makes every cache file stale.
_MAKERS = (
    "actions",
    "codec",
    "combinations",
    "conditions",
    "conditions_state",
    "constraints",
    "keyrules",
    "language",
    "nodes",
    "programs",
    "shapes",
    "subjects",
    "tables",
    "vocabulary",
    "yamltables",
)


def stamps(folder: Path, suffix: str) -> tuple[FileStamp, ...]:
    """Name, size and time of change of each file of a folder, by name; -1 for a dead link.

    Args:
        folder: The folder.
        suffix: How the names end.

    Raises:
        OSError: The folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        return tuple(sorted(_stamp(entry) for entry in entries if entry.name.endswith(suffix)))


def _stamp(entry: os.DirEntry[str]) -> FileStamp:
    try:
        info = entry.stat()
    except OSError:
        return entry.name, -1, -1
    return entry.name, info.st_size, info.st_mtime_ns


def load(name: str, sources: Sequence[Any]) -> Mapping[str, bytes] | None:
    """The entries stored under a name for exactly these sources, each as JSON.

    Args:
        name: The cache file's name.
        sources: What the data was made from: folders, stamps of files.

    Returns:
        The JSON of each entry, to be parsed when it is needed; None if nothing is stored.
    """
    file = _file(name)
    if file is None:
        return None
    try:
        info = file.stat()
        if not _is_ours(info) or info.st_size > _MOST_BYTES:
            return None
        made_for, check, body = file.read_bytes().split(b"\n", 2)
        if made_for != _made_for(sources) or check != _checksum(body):
            return None
        entries = (line.split(b"\t", 1) for line in body.split(b"\n"))
        return {entry.decode(): data for entry, data in entries}
    except (OSError, *_NOT_JSON):
        return None


def _is_ours(info: os.stat_result) -> bool:
    """Whether it is a file that nobody but this user, or root, can have written."""
    mine = not hasattr(os, "geteuid") or info.st_uid in (os.geteuid(), 0)
    return stat.S_ISREG(info.st_mode) and mine and not info.st_mode & stat.S_IWOTH


def store(name: str, sources: Sequence[Any], entries: Mapping[str, Any]) -> Mapping[str, bytes]:
    """Keep entries under a name, where that is possible.

    Args:
        name: The cache file's name.
        sources: As for ``load``.
        entries: Plain data by name. What JSON cannot hold unchanged is left out.

    Returns:
        What ``load`` will give.
    """
    lines = {entry: line for entry, data in entries.items() if (line := _json(entry, data))}
    file = _file(name)
    if file is None:
        return lines
    body = b"\n".join(entry.encode() + b"\t" + line for entry, line in lines.items())
    from trainmark.types.files import atomic_write  # not needed where the cache is warm

    with contextlib.suppress(OSError, TrainmarkError, *_NOT_JSON):
        content = b"\n".join((_made_for(sources), _checksum(body), body))
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, content)
    return lines


def _json(entry: str, data: Any) -> bytes:
    """An entry as JSON, empty where it would not come back the same."""
    try:
        body = orjson.dumps(data)
    except _NOT_JSON:  # a number beyond 64 bits
        return b""
    return body if entry.isprintable() and orjson.loads(body) == data else b""


def _file(name: str) -> Path | None:
    """The cache file of a name; None without a home folder, which is not for us to make.

    The same folder as platformdirs gives, whose import would cost more than reading the cache.
    """
    folder = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(folder)
    if not base.is_absolute():
        try:
            home = Path.home()
        except RuntimeError:
            return None
        if not os.environ.get("HOME", "/").startswith("/") or not home.is_dir():
            return None
        base = home / ".cache"
    return base / "trainmark" / "rules" / f"{name}.json"


def _made_for(sources: Sequence[Any]) -> bytes:
    """One line that says what the data was made from and by what."""
    return orjson.dumps([*_makers(), *sources])


@functools.cache
def _makers() -> tuple[Any, ...]:
    """What identifies the code that makes the data."""
    here = Path(__file__).parent
    own = {f"{maker}.py" for maker in _MAKERS}
    files = [stamp for stamp in stamps(here, ".py") if stamp[0] in own]
    return (_FORMAT, sys.version, str(here), files)


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
