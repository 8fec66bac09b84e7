"""A cache file for data made from other files, trusted only while those are unchanged.

The files are in the user's cache folder (``$XDG_CACHE_HOME/trainmark``, else
``~/.cache/trainmark``). They hold plain data, never code; a file that is missing, stale, damaged
or no file is made anew, and a folder that cannot be written to is done without.
"""

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from trainmark.types import TrainmarkError

__all__ = ["FileStamp", "load", "stamps", "store"]

FileStamp = tuple[str, int, int]
_MOST_BYTES = 16 << 20
_FORMAT = 1
# What makes the data: a change in one of them makes every cache file stale.
_MAKERS = (
    "actions",
    "codec",
    "constraints",
    "keyrules",
    "language",
    "programs",
    "shapes",
    "subjects",
    "tables",
    "vocabulary",
    "yamltables",
)


def stamps(folder: Path, suffix: str) -> tuple[FileStamp, ...]:
    """Name, size and time of change of each file of a folder, by name.

    Args:
        folder: The folder.
        suffix: How the names end.

    Raises:
        OSError: The folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(suffix)]
    return tuple(sorted((name, info.st_size, info.st_mtime_ns) for name, info in found))


def load(name: str, sources: Sequence[Any]) -> Any:
    """The data stored under a name for exactly these sources, None if there is none.

    Args:
        name: The cache file's name.
        sources: What the data was made from: folders, stamps of files.
    """
    file = _file(name)
    if file is None:
        return None
    try:
        info = file.stat()
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MOST_BYTES:
            return None
        made_for, check, body = file.read_bytes().split(b"\n", 2)
    except (OSError, ValueError):
        return None
    if made_for != _made_for(sources) or check != _checksum(body):
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def store(name: str, sources: Sequence[Any], data: Any) -> None:
    """Keep data under a name; nothing happens where that is impossible.

    Args:
        name: The cache file's name.
        sources: As for ``load``.
        data: Plain data that comes through JSON unchanged; other data is not kept.
    """
    file = _file(name)
    if file is None:
        return
    try:
        body = orjson.dumps(data)
    except (TypeError, ValueError):  # a number beyond 64 bits
        return
    if orjson.loads(body) != data:
        return
    from trainmark.types.files import atomic_write  # not needed where the cache is warm

    content = b"\n".join((_made_for(sources), _checksum(body), body))
    with contextlib.suppress(OSError, TrainmarkError):
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, content)


def _file(name: str) -> Path | None:
    """The cache file of a name; None without a home folder.

    The same folder as platformdirs gives, whose import would cost more than reading the cache.
    """
    folder = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(folder) if Path(folder).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "trainmark" / "rules" / f"{name}.json"


def _made_for(sources: Sequence[Any]) -> bytes:
    """One line that says what the data was made from and by what."""
    here = Path(__file__).parent
    own = {f"{maker}.py" for maker in _MAKERS}
    makers = [stamp for stamp in stamps(here, ".py") if stamp[0] in own]
    return orjson.dumps([_FORMAT, sys.version, str(here), makers, *sources])


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
