"""Rule tables: found among the installed ones, read as data, compiled when first asked for.

The official tables ship in the package ``mlperf-logging`` (folders ``training_4.0.0``, ...); the
tables of our own benchmarks lie beside this module in ``own/``. A table's name is
``folder/file.yaml``; only names that exist in these two places can be asked for.
"""

import functools
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from trainmark.rules.actions import Program, program_of
from trainmark.rules.shapes import constraint_of
from trainmark.rules.subjects import Constraint
from trainmark.types import TrainmarkError

__all__ = ["KeyRule", "Requirement", "Table", "known_tables", "load_table", "package_version"]

_PACKAGE = "mlperf_logging"
_FOLDER = re.compile(r"(training|hpc)_\d+\.\d+\.\d+")
_ENTRIES = {"BEGIN", "KEY", "END"}
_FIELDS = {"NAME", "REQ", "PRE", "CHECK", "POST", "FIRST_CHECK", "ATLEAST_ONE_CHECK"}
_REQUIREMENT = re.compile(
    r"(EXACTLY_ONE|AT_LEAST_ONE|OPTIONAL|AT_LEAST\((?P<least>\d+)\)"
    r"|AT_LEAST_ONE_OR\((?P<others>[^()]+)\))"
)
# The C parser reads the largest table in 2 ms, the Python one in 40.
_BASE_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """How often a key must occur.

    Attributes:
        least: The least number of records.
        once: Whether differing values of several records are an error.
        alternatives: Other keys, one record of any of which is enough.
    """

    least: int
    once: bool = False
    alternatives: tuple[str, ...] = ()

    def sentence(self, key: str) -> str:
        """What is expected, in English."""
        if self.once:
            return f"exactly one {key}"
        if self.alternatives:
            return f"at least one {' or '.join(sorted({key, *self.alternatives}))}"
        return f"at least {self.least} {key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRule:
    """What a table asks of the records of one key.

    Attributes:
        name: The key.
        requirement: How often it must occur, None if that is free.
        before: Run before the checks of each record (PRE).
        checks: Must hold for each record (CHECK).
        after: Run after the checks of each record (POST).
        first: Must hold for the first record only (FIRST_CHECK).
        target: Must hold for at least one record (ATLEAST_ONE_CHECK), None without one.
    """

    name: str
    requirement: Requirement | None = None
    before: Program = field(default_factory=Program)
    checks: tuple[Constraint, ...] = ()
    after: Program = field(default_factory=Program)
    first: tuple[Constraint, ...] = ()
    target: Constraint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One compiled rule table.

    Attributes:
        name: ``folder/file.yaml``.
        begin: Run before the first record.
        keys: The rules by key; of several for one key the last.
        before_end: Run after the last record.
        end: Must hold after that.
    """

    name: str
    begin: Program = field(default_factory=Program)
    keys: Mapping[str, KeyRule] = field(default_factory=dict)
    before_end: Program = field(default_factory=Program)
    end: tuple[Constraint, ...] = ()


def package_version() -> str:
    """The installed version of mlperf-logging, for example "4.1.68"."""
    import importlib.metadata  # 40 ms that only --json needs

    return importlib.metadata.version("mlperf-logging")


@functools.cache
def known_tables() -> Mapping[str, Path]:
    """Every table that can be asked for: its name and its file.

    Raises:
        TrainmarkError: The package mlperf-logging is not installed, or holds no tables.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    official = [Path(place) / "compliance_checker" for place in places]
    folders = [
        folder
        for place in official
        if place.is_dir()
        for folder in sorted(place.iterdir())
        if _FOLDER.fullmatch(folder.name)
    ]
    if not folders:
        raise TrainmarkError(
            "the official rule tables are not there",
            hint="Install them: pip install mlperf-logging",
        )
    folders.append(Path(__file__).parent / "own")
    return {
        f"{folder.name}/{file.name}": file
        for folder in folders
        for file in sorted(folder.glob("*.yaml"))
    }


@functools.cache
def load_table(name: str) -> Table:
    """A compiled table.

    Args:
        name: One of ``known_tables()``.

    Raises:
        TrainmarkError: The file cannot be read, or a snippet in it is not in the rule language.
    """
    path = known_tables()[name]
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=_BASE_LOADER)  # noqa: S506 -- the base loader makes text, lists and dictionaries only
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unreadable(name, str(error)) from error
    if entries is None:
        return Table(name=name)
    _check_shape(name, entries)
    begin, end = _single(name, entries, "BEGIN"), _single(name, entries, "END")
    rules = (_key_rule(entry["KEY"]) for entry in entries if "KEY" in entry)
    return Table(
        name=name,
        begin=program_of(begin["CODE"]) if begin else Program(),
        keys={rule.name: rule for rule in rules},
        before_end=program_of(end["PRE"]) if "PRE" in end else Program(),
        end=_constraints(end.get("CHECK", [])),
    )


def _unreadable(name: str, reason: str) -> TrainmarkError:
    return TrainmarkError(
        f"cannot read the rule table {name}: {reason}",
        hint="Reinstall the packages mlperf-logging and trainmark.",
    )


def _check_shape(name: str, entries: Any) -> None:
    """Refuse a table that is not a list of entries of known kinds and fields."""
    if not isinstance(entries, list):
        raise _unreadable(name, "it is not a list of entries")
    for entry in entries:
        if not isinstance(entry, dict) or len(entry) != 1 or not entry.keys() <= _ENTRIES:
            raise _unreadable(name, f"{entry!r:.80} is not a BEGIN, KEY or END entry")
        for kind, body in entry.items():
            if not isinstance(body, dict):
                raise _unreadable(name, f"the {kind} entry {body!r:.80} has no fields")
            if kind == "KEY" and ("NAME" not in body or not body.keys() <= _FIELDS):
                raise _unreadable(name, f"the KEY entry has the fields {sorted(body)}")


def _single(name: str, entries: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [entry[kind] for entry in entries if kind in entry]
    if len(found) > 1:
        raise _unreadable(name, f"it has more than one {kind} entry")
    return found[0] if found else {}


def _key_rule(body: Mapping[str, Any]) -> KeyRule:
    return KeyRule(
        name=body["NAME"],
        requirement=_requirement(body["REQ"]) if "REQ" in body else None,
        before=program_of(body["PRE"]) if "PRE" in body else Program(),
        checks=_constraints(body.get("CHECK", [])),
        after=program_of(body["POST"]) if "POST" in body else Program(),
        first=_constraints(body.get("FIRST_CHECK", [])),
        target=constraint_of(body["ATLEAST_ONE_CHECK"]) if "ATLEAST_ONE_CHECK" in body else None,
    )


def _constraints(tests: str | list[str]) -> tuple[Constraint, ...]:
    return tuple(constraint_of(test) for test in ([tests] if isinstance(tests, str) else tests))


def _requirement(text: str) -> Requirement | None:
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        raise TrainmarkError(
            f"a rule table asks for {text!r}, which this version does not know",
            hint="Update trainmark: pip install -U trainmark",
        )
    if match["least"]:
        return Requirement(least=int(match["least"]))
    if match["others"]:
        others = tuple(name.strip() for name in match["others"].split(","))
        return Requirement(least=1, alternatives=others)
    kinds = {
        "EXACTLY_ONE": Requirement(least=1, once=True),
        "AT_LEAST_ONE": Requirement(least=1),
        "OPTIONAL": None,
    }
    return kinds[match[0]]
