"""What an import leaves in the catalogue's folder, so that the next one reads only what is new.

    imported/<source>/results.parquet    as the catalogue reads them
    imported/<source>/runs.parquet
    imported/<source>/state.json         what they were made of, and what they must be
    importing/                           half-made ones; never read

A source's three files are made in ``importing`` and take the place of the old ones together. What
does not fit together (a file that was changed or cut, another version of the reading code) is not
trusted: the source is read anew.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_from_row, result_to_row
from trainmark.catalogue.store import connect, literal, rows, write_table
from trainmark.types import Finding, Result, Severity, TrainmarkError, UsageError

__all__ = [
    "FolderState",
    "State",
    "code_version",
    "imported_folder",
    "load_results",
    "load_state",
    "locked",
    "save",
    "save_marks",
    "slugs",
]

_FORMAT = 1
RESULTS, RUNS, STATE = "results.parquet", "runs.parquet", "state.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderState:
    """One folder that was read.

    Attributes:
        fingerprint: What its files were.
        id: Its result's id, "" where it held no logs after all.
        runs: Number of logs.
        there: Number of logs that could be read.
        timed: Number of logs with a time.
        absent: Objects of its logs that the repository listed and did not hold.
        findings: What was damaged.
    """

    fingerprint: str
    id: str
    runs: int
    there: int
    timed: int
    absent: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One source that was imported.

    Attributes:
        slug: Its folder's name.
        name: What it is called.
        round: Its round.
        published: Whether it is a results repository of MLCommons.
        commit: The commit that was read, "" for plain files.
        folders: The folders by path.
        skipped: Number of files that are no logs by their names.
        marked: Beside which other results its results are marked as filed before; see ``carry``.
        files: SHA-256 of the Parquet files by name.
    """

    slug: str
    name: str
    round: str
    published: bool
    commit: str
    folders: Mapping[str, FolderState] = field(default_factory=dict)
    skipped: int = 0
    marked: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def imported_folder(where: Path) -> Path:
    """The folder of everything imported in a catalogue's folder."""
    return where / "imported"


def slugs(where: Path) -> list[str]:
    """Every source that was imported."""
    return sorted(file.parent.name for file in imported_folder(where).glob(f"*/{STATE}"))


def load_state(where: Path, slug: str) -> State | None:
    """The state of a source; None when there is none, or none that can be trusted."""
    folder = imported_folder(where) / slug
    try:
        data = json.loads((folder / STATE).read_bytes())
        if data.pop("format") != _FORMAT or data.pop("code") != code_version():
            return None
        state = _state(data)
        for name in (RESULTS, RUNS):
            if _sha256(folder / name) != state.files[name]:
                return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return state if state.slug == slug else None


def load_results(where: Path, *slugs: str) -> dict[str, Result]:
    """The results of some sources by id.

    Raises:
        duckdb.Error: A file is damaged; that of a state that was loaded is not.
    """
    files = [literal(imported_folder(where) / slug / RESULTS) for slug in slugs]
    with connect() as database:
        found = rows(database, "FROM read_parquet(?)", [files])
    return {row["id"]: result_from_row(row) for row in found}


def save(
    where: Path,
    state: State,
    results: Mapping[str, Result],
    runs: Sequence[tuple[Any, ...]],
    kept: Sequence[str],
) -> State:
    """Write a source's three files in the place of the old ones.

    Args:
        where: The catalogue's folder.
        state: What they are made of.
        results: Every result, by id.
        runs: Rows of runs that were read now.
        kept: Ids of the results whose runs stay as they are in the old file.

    Returns:
        The state with the files' checksums.

    Raises:
        UsageError: The folder may not be written to.
        TrainmarkError: The write failed.
    """
    target = imported_folder(where) / state.slug
    with _half_made(where) as folder:
        _write_results(folder, results)
        write_table(
            folder / RUNS,
            RUN_COLUMNS,
            runs,
            keys=sorted(results),
            kept=[target / RUNS] if kept else (),
            kept_keys=kept,
        )
        state = _write_state(folder, state)
        _replace(folder, target, where)
    return state


def save_marks(where: Path, state: State, results: Mapping[str, Result] | None) -> State:
    """Write a source's state again, and its results where marks have changed; its runs stay.

    Args:
        where: The catalogue's folder.
        state: The state, with what the results are marked beside.
        results: Every result, by id; None where they stay too.
    """
    target = imported_folder(where) / state.slug
    with _half_made(where) as folder:
        _keep(target / RUNS, folder)
        if results is None:
            _keep(target / RESULTS, folder)
        else:
            _write_results(folder, results)
        state = _write_state(folder, state)
        _replace(folder, target, where)
    return state


@contextmanager
def locked(where: Path) -> Iterator[None]:
    """Keep other imports out of the catalogue's folder, which is made when it is missing.

    Raises:
        UsageError: The folder cannot be made.
        TrainmarkError: Another import is under way.
    """
    try:
        imported_folder(where).mkdir(parents=True, exist_ok=True)
        handle = os.open(where / "import.lock", os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise UsageError(
            f"cannot make the catalogue folder {where}: {error.strerror}",
            hint="Give a folder that you may write to with --catalogue.",
        ) from error
    try:
        _lock(handle, where)
        _mend(where)
        yield
    finally:
        os.close(handle)


@cache
def code_version() -> str:
    """What changes whenever the code or the tables that facts come from change."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for pattern in _READING:
        for file in sorted(package.glob(pattern)):
            digest.update(file.relative_to(package).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


# Everything that decides what is read of a log or a system file.
_READING = (
    "mllog/*.py",
    "types/*.py",
    "catalogue/importing/*.py",
    "catalogue/naming/*.py",
    "catalogue/schema.py",
    "catalogue/targets.py",
    "catalogue/tables/names/*",
    "rules/scor*.py",
    "rules/submission/power*.py",
)


def _state(data: dict[str, Any]) -> State:
    folders = {
        path: FolderState(
            **{
                **one,
                "absent": tuple(one["absent"]),
                "findings": tuple(
                    Finding(**{**found, "severity": Severity(found["severity"])})
                    for found in one["findings"]
                ),
            }
        )
        for path, one in data.pop("folders").items()
    }
    return State(**data, folders=folders)


def _keep(file: Path, folder: Path) -> None:
    """Have a file in another folder too."""
    try:
        os.link(file, folder / file.name)
    except OSError:  # a file system without links
        shutil.copyfile(file, folder / file.name)


def _write_results(folder: Path, results: Mapping[str, Result]) -> None:
    in_order = [result_to_row(result) for _, result in sorted(results.items())]
    write_table(folder / RESULTS, RESULT_COLUMNS, in_order)


def _write_state(folder: Path, state: State) -> State:
    state = replace(state, files={name: _sha256(folder / name) for name in (RESULTS, RUNS)})
    data = {"format": _FORMAT, "code": code_version(), **asdict(state)}
    text = json.dumps(data, indent=0, sort_keys=True, default=str)
    (folder / STATE).write_text(text, encoding="utf-8", errors="surrogatepass")
    return state


@contextmanager
def _half_made(where: Path) -> Iterator[Path]:
    """A folder for what is not complete yet."""
    place = where / "importing"
    try:
        place.mkdir(exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="new-", dir=place))
    except OSError as error:
        raise UsageError(
            f"cannot write to the catalogue folder {where}: {error.strerror}",
            hint="Give a folder that you may write to with --catalogue.",
        ) from error
    try:
        yield folder
    except OSError as error:
        raise TrainmarkError(
            f"cannot write the imported results: {error.strerror}",
            hint="Free some space, or give another folder with --catalogue. The old ones are kept.",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace(folder: Path, target: Path, where: Path) -> None:
    """Let a complete folder take the place of the old one."""
    old = where / "importing" / f"old-{target.name}"
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    try:
        folder.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _mend(where: Path) -> None:
    """Put back what an import that was killed between two renames has left aside."""
    place = where / "importing"
    for old in sorted(place.glob("old-*")):
        target = imported_folder(where) / old.name.removeprefix("old-")
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)
    for half in place.glob("new-*"):
        shutil.rmtree(half, ignore_errors=True)


def _lock(handle: int, where: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise TrainmarkError(
            f"another import into {where} is under way",
            hint="Wait for it, or give another folder with --catalogue.",
        ) from error
    except OSError:  # a file system without locks
        return


def _sha256(file: Path) -> str:
    with file.open("rb") as stream, contextlib.closing(stream):
        return hashlib.file_digest(stream, "sha256").hexdigest()
