"""Compile one rule table: YAML read as data, its snippets made typed rules."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from trainmark.rules.actions import Program
from trainmark.rules.keyrules import KeyRule, Requirement, Table
from trainmark.rules.programs import program_of
from trainmark.rules.shapes import constraint_of
from trainmark.rules.subjects import Constraint
from trainmark.types import TrainmarkError

__all__ = ["compile_table", "key_names"]

_ENTRIES = {"BEGIN", "KEY", "END"}
_FIELDS = {"NAME", "REQ", "PRE", "CHECK", "POST", "FIRST_CHECK", "ATLEAST_ONE_CHECK"}
_REQUIREMENT = re.compile(
    r"(EXACTLY_ONE|AT_LEAST_ONE|OPTIONAL|AT_LEAST\((?P<least>\d+)\)"
    r"|AT_LEAST_ONE_OR\((?P<others>[^()]+)\))"
)
# The C parser reads the largest table in 2 ms, the Python one in 40.
_BASE_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def compile_table(name: str, path: Path) -> Table:
    """The typed rules of a table.

    Args:
        name: The table's name, for messages.
        path: Its file.

    Raises:
        TrainmarkError: The file cannot be read, or a snippet in it is not in the rule language.
    """
    entries = _entries(name, path)
    begin, end = _single(name, entries, "BEGIN"), _single(name, entries, "END")
    rules = (_key_rule(entry["KEY"]) for entry in entries if "KEY" in entry)
    return Table(
        name=name,
        begin=program_of(begin["CODE"]) if begin else Program(),
        keys={rule.name: rule for rule in rules},
        before_end=program_of(end["PRE"]) if "PRE" in end else Program(),
        end=_constraints(end.get("CHECK", [])),
    )


def key_names(name: str, path: Path) -> set[str]:
    """The keys that a table has a rule for, nothing compiled.

    Raises:
        TrainmarkError: The file cannot be read, or is no table.
    """
    return {entry["KEY"]["NAME"] for entry in _entries(name, path) if "KEY" in entry}


def _entries(name: str, path: Path) -> list[dict[str, Any]]:
    """The entries of a table, their kinds and fields checked; none for an empty file."""
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=_BASE_LOADER)  # noqa: S506 -- the base loader makes text, lists and dictionaries only
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unreadable(name, str(error)) from error
    if entries is None:
        return []
    _check_shape(name, entries)
    checked: list[dict[str, Any]] = entries
    return checked


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
