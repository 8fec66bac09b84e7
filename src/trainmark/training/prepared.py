"""Data that is made once on this machine and kept: synthesised speech, computed energies.

A preparation is named by what it is made from, so another version or another setting gets a
folder of its own. It is made in a temporary folder beside its place and renamed when it is whole:
an interrupted one leaves nothing that could be taken for data. A manifest with the SHA-256 of
every file is checked each time.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from platformdirs import user_cache_path

from trainmark.types import TrainmarkError, UsageError

__all__ = ["MANIFEST", "Tell", "place_of", "prepared", "quiet"]

Tell = Callable[[str, float], None]
"""Told what is being done, and the share of it that is done, 0 to 1."""

MANIFEST = "manifest.json"


def quiet(text: str, share: float) -> None:
    """A ``Tell`` that shows nothing."""


def place_of(name: str, inputs: Mapping[str, Any]) -> Path:
    """Where a preparation lies, or would lie: nothing is looked at.

    Args:
        name: What it is, as a folder name.
        inputs: Everything that it depends on: versions, settings, seeds; plain data.
    """
    text = orjson.dumps(dict(inputs), option=orjson.OPT_SORT_KEYS)
    return user_cache_path("trainmark") / "prepared" / f"{name}-{_sha256(text)[:16]}"


def prepared(
    name: str,
    inputs: Mapping[str, Any],
    make: Callable[[Path, Tell], None],
    tell: Tell = quiet,
) -> Path:
    """The folder of a preparation, made if it is not there or damaged.

    Args:
        name: See ``place_of``.
        inputs: See ``place_of``.
        make: Writes its files into an empty folder; subfolders are allowed.
        tell: Told how far it is.

    Raises:
        UsageError: The user's cache folder cannot be written.
        TrainmarkError: ``make`` left nothing.
    """
    place = place_of(name, inputs)
    if _is_whole(place):
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as temporary:
            folder = Path(temporary) / name
            folder.mkdir()
            make(folder, tell)
            digests = {path: _sha256(file.read_bytes()) for path, file in _files(folder)}
            if not digests:
                raise TrainmarkError(f"preparing {name} left no file")
            manifest = {"inputs": dict(inputs), "files": digests}
            (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
            _put(folder, place)
    except OSError as error:
        raise UsageError(
            f"cannot keep the prepared data in {place}: {error.strerror or error}",
            hint="Make room there, or set XDG_CACHE_HOME to another folder.",
        ) from error
    return place


def _put(folder: Path, place: Path) -> None:
    """Move a whole preparation to its place; another process may have been quicker."""
    if place.exists():
        if _is_whole(place):
            return
        shutil.rmtree(place)
    folder.rename(place)


def _is_whole(place: Path) -> bool:
    """Whether every file of the manifest is there unchanged."""
    try:
        files = orjson.loads((place / MANIFEST).read_bytes())["files"]
        return dict(files) == {path: _sha256(file.read_bytes()) for path, file in _files(place)}
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return False


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        if file.is_file() and path != MANIFEST:
            yield path, file


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
