"""Rule tables: found among the installed ones, compiled once, kept in a cache after that.

The official tables ship in the package ``mlperf-logging`` (folders ``training_4.0.0``, ...); the
tables of our own benchmarks lie beside this module in ``own/``. A table's name is
``folder/file.yaml``; only names that exist in these two places can be asked for.
"""

import functools
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from trainmark.rules import tablecache
from trainmark.rules.codec import SPOILT, decode_table, encode_table
from trainmark.rules.keyrules import KeyRule, Requirement, Table
from trainmark.types import TrainmarkError

__all__ = [
    "KeyRule",
    "Requirement",
    "Table",
    "known_tables",
    "load_table",
    "package_version",
    "table_folders",
    "wanted_keys",
]

_PACKAGE = "mlperf_logging"
_FOLDER = re.compile(r"(training|hpc)_\d+\.\d+\.\d+")
_SUFFIX = ".yaml"
_CHECKER = "compliance_checker"


@functools.cache
def package_version() -> str:
    """The installed version of mlperf-logging, for example "4.1.68"."""
    import importlib.metadata  # 40 ms that only --json needs

    return importlib.metadata.version("mlperf-logging")


@functools.cache
def table_folders() -> tuple[Path, ...]:
    """Every folder of tables, by name, our own last.

    Raises:
        TrainmarkError: The package mlperf-logging is not installed, or holds no tables.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    folders = [
        Path(place, _CHECKER, name)
        for place in places
        for name in _listed(Path(place, _CHECKER))
        if _FOLDER.fullmatch(name)
    ]
    if not folders:
        raise TrainmarkError(
            "the official rule tables are not there",
            hint="Install them: pip install mlperf-logging",
        )
    return (*folders, Path(__file__).parent / "own")


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 -- names are enough, paths cost more
    except OSError:
        return []


class _Files(Mapping[str, Path]):
    """Files by their tables' names; of three hundred a log needs four."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def __getitem__(self, name: str) -> Path:
        return self._folders[name] / name.rpartition("/")[2]

    def __contains__(self, name: object) -> bool:
        return name in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


@functools.cache
def known_tables() -> Mapping[str, Path]:
    """Every table that can be asked for: its name and its file.

    Raises:
        TrainmarkError: The package mlperf-logging is not installed, or holds no tables.
    """
    return _Files(
        {
            f"{folder.name}/{name}": folder
            for folder in table_folders()
            for name in _listed(folder)
            if name.endswith(_SUFFIX)
        }
    )


@functools.cache
def load_table(name: str) -> Table:
    """A compiled table.

    Args:
        name: One of ``known_tables()``.

    Raises:
        TrainmarkError: The file cannot be read, or a snippet in it is not in the rule language.
    """
    path = known_tables()[name]
    data = _folder(path.parent).get(path.name)
    if data is not None:
        try:
            spoilt = functools.cache(functools.partial(_compile, name, path))
            return decode_table(name, orjson.loads(data), spoilt=spoilt)
        except SPOILT:
            pass
    return _compile(name, path)


@functools.cache
def wanted_keys() -> frozenset[str]:
    """Every key that any known table has a rule for: no other record can break one.

    Raises:
        TrainmarkError: As ``known_tables``.
    """
    sources = [[str(folder), tablecache.stamps(folder, _SUFFIX)] for folder in table_folders()]
    kept = tablecache.load("keys", sources)
    if kept is not None and "keys" in kept:
        return frozenset(orjson.loads(kept["keys"]))
    from trainmark.rules.yamltables import key_names  # YAML is read once, not at every start

    found: set[str] = set()
    for name, path in known_tables().items():
        try:
            found |= key_names(name, path)
        except TrainmarkError:  # load_table says what is wrong with it, to who needs it
            continue
    tablecache.store("keys", sources, {"keys": sorted(found)})
    return frozenset(found)


@functools.cache
def _folder(folder: Path) -> Mapping[str, bytes]:
    """The encoded tables of a folder by file name, as JSON: those that can be compiled."""
    if folder not in table_folders():
        return {}
    files = tablecache.stamps(folder, _SUFFIX)
    sources = [str(folder), files]
    kept = tablecache.load(folder.name, sources)
    if kept is not None:
        return kept
    made = {}
    for name, _, _ in files:
        try:
            made[name] = encode_table(_compile(f"{folder.name}/{name}", folder / name))
        except TrainmarkError:  # load_table raises it again, for who needs that table
            continue
    return tablecache.store(folder.name, sources, made)


def _compile(name: str, path: Path) -> Table:
    from trainmark.rules.yamltables import compile_table  # YAML is read once, not at every start

    return compile_table(name, path)
