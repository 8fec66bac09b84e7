"""What is asked of the catalogue: filters, and the SQL that each of them is.

A text filter finds any part of a name, in any case. A benchmark, a task, a round, a division, a
category and an origin are exact, and a misspelt one lists the valid ones. Where a filter takes
several values, any of them will do; several filters must all hold.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from trainmark.catalogue.engine import Database
from trainmark.types import UsageError, unknown_name

__all__ = ["Filters", "Span", "TextFilter", "condition", "resolved"]

# Least and greatest number, each included; None where there is no end.
Span = tuple[int | None, int | None]
TextFilter = str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What is asked for; None, () and False ask for everything.

    Attributes:
        benchmark: The benchmark's name; "resnet50" is "resnet". One or several.
        task: What is trained, whatever its benchmark was called: "retinanet". One or several.
        rounds: Rounds, "2.0" or "v2.0", and ranges of them, "1.0-2.1", "4.0-", "-1.1".
        submitter: A part of the submitter's name; one or several.
        system: A part of the system's name, or of its result's id (which has the folder).
        accelerator: A part of the accelerator's name, as normalised or as written.
        framework: A part of the framework's name and version, as normalised or as written.
        division: "closed" or "open".
        category: "available", "preview", "research", or what else the catalogue has.
        chips_min: Least number of accelerators.
        chips_max: Greatest number of accelerators.
        chips: Numbers of accelerators: within any of these spans.
        hosts: Numbers of host servers: within any of these spans.
        origin: "published", "imported" or "own".
        machine: An own machine's fingerprint.
        words: Each is a part of the id, or of the system's, submitter's or accelerator's name.
        text: Each is found anywhere in what a result says in words: names, software, processors,
            links, values as written, doubts.
        ids: Exact ids of results.
        scored: Only results with a score.
        energy: Only results with measured energy.
        not_carried_over: Leave out results whose logs were published before under another id.
    """

    benchmark: TextFilter = None
    task: TextFilter = None
    rounds: tuple[str, ...] = ()
    submitter: TextFilter = None
    system: TextFilter = None
    accelerator: TextFilter = None
    framework: TextFilter = None
    division: str | None = None
    category: TextFilter = None
    chips_min: int | None = None
    chips_max: int | None = None
    chips: tuple[Span, ...] = ()
    hosts: tuple[Span, ...] = ()
    origin: str | None = None
    machine: str | None = None
    words: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    scored: bool = False
    energy: bool = False
    not_carried_over: bool = False

    def given(self) -> tuple[str, ...]:
        """The names of the filters that ask for something."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    def without(self, name: str) -> "Filters":
        """The same filters less one."""
        default = next(f.default for f in fields(self) if f.name == name)
        changes: dict[str, Any] = {name: default}
        return replace(self, **changes)


# SQL with a mark for each value, and the values.
Condition = tuple[str, list[Any]]

_TASK = "coalesce(nullif(task, ''), benchmark)"
_EVERYTHING = (
    "concat_ws(chr(10), id, submitter, system, benchmark, task, accelerator, division, category, "
    "framework, framework_name, framework_version, software, host_processor, interconnect, "
    "score_basis, label, repository, path, machine, raw, doubts::VARCHAR)"
)


def _values(value: Any) -> list[str]:
    """One or several texts; a command line's need not be UTF-8."""
    several = (value,) if isinstance(value, str) else value
    return [text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for text in several]


def _any(sql: str, values: Sequence[Any]) -> Condition:
    """That the condition holds for one of the values."""
    marks = sql.count("?")
    return f"({' OR '.join([sql] * len(values))})", [v for v in values for _ in range(marks)]


def _all(sql: str, values: Sequence[Any]) -> Condition:
    marks = sql.count("?")
    return f"({' AND '.join([sql] * len(values))})", [v for v in values for _ in range(marks)]


def _part_of(*columns: str) -> str:
    return "(" + " OR ".join(f"contains(lower({column}), lower(?))" for column in columns) + ")"


def _contains(*columns: str) -> Callable[[Any], Condition]:
    return lambda value: _any(_part_of(*columns), _values(value))


def _is(column: str) -> Callable[[Any], Condition]:
    return lambda value: _any(f"lower({column}) = lower(?)", _values(value))


def _within(column: str) -> Callable[[Any], Condition]:
    def make(spans: Sequence[Span]) -> Condition:
        parts: list[str] = []
        for least, greatest in spans:
            low = f"{column} >= {least:d}" if least is not None else f"{column} IS NOT NULL"
            high = f" AND {column} <= {greatest:d}" if greatest is not None else ""
            parts.append(f"({low}{high})")
        return f"({' OR '.join(parts)})", []

    return make


def _only(sql: str) -> Callable[[Any], Condition]:
    return lambda _: (sql, [])


_CONDITIONS: dict[str, Callable[[Any], Condition]] = {
    "benchmark": _is("benchmark"),
    "task": _is(_TASK),
    "rounds": lambda value: _any("round = ?", value),
    "submitter": _contains("submitter", "raw->>'submitter'"),
    "system": _contains("system", "id"),
    "accelerator": _contains("accelerator", "raw->>'accelerator'"),
    "framework": _contains("framework", "concat_ws(' ', framework_name, framework_version)"),
    "division": _is("division"),
    "category": _is("category"),
    "chips_min": lambda value: ("accelerators >= ?", [value]),
    "chips_max": lambda value: ("accelerators <= ?", [value]),
    "chips": _within("accelerators"),
    "hosts": _within("coalesce(hosts, nodes)"),
    "origin": _is("origin"),
    "machine": lambda value: ("machine = ?", _values(value)),
    "words": lambda value: _all(
        _part_of("id", "system", "submitter", "accelerator", "raw->>'accelerator'"), _values(value)
    ),
    "text": lambda value: _all(_part_of(_EVERYTHING), _values(value)),
    "ids": lambda value: _any("id = ?", _values(value)),
    "scored": _only("minutes IS NOT NULL"),
    "energy": _only("energy_joules IS NOT NULL"),
    "not_carried_over": _only("NOT coalesce(carried_over, false)"),
}

_KINDS = {"division": ("closed", "open"), "origin": ("imported", "own", "published")}


def condition(filters: Filters) -> Condition:
    """SQL over the columns of results that matches the filters, and the values of its marks.

    Args:
        filters: With names as the catalogue spells them, see ``resolved``.
    """
    parts = ["true"]
    parameters: list[Any] = []
    for name in filters.given():
        sql, values = _CONDITIONS[name](getattr(filters, name))
        parts.append(sql)
        parameters += values
    return " AND ".join(parts), parameters


def resolved(filters: Filters, database: Database) -> Filters:
    """The filters with exact names as the catalogue spells them, and ranges of rounds unfolded.

    Args:
        filters: As given.
        database: With the table ``results``.

    Raises:
        UsageError: An unknown benchmark, task, round, category, division or origin.
    """
    for kind, known in _KINDS.items():
        value = getattr(filters, kind)
        if value is not None and value.lower() not in known:
            raise unknown_name(kind, value, known)
    changes: dict[str, Any] = {}
    if filters.benchmark is not None:
        changes["benchmark"] = _known("benchmark", filters.benchmark, database, _official)
    if filters.task is not None:
        changes["task"] = _known("task", filters.task, database, str)
    if filters.category is not None:
        changes["category"] = _known("category", filters.category, database, str)
    if filters.rounds:
        changes["rounds"] = _rounds(filters.rounds, _distinct(database, "round"))
    return replace(filters, **changes)


def _official(benchmark: str) -> str:
    from trainmark.catalogue.naming import names

    return names.benchmark(benchmark).name


def _known(
    kind: str, asked: TextFilter, database: Database, meant: Callable[[str], str]
) -> tuple[str, ...]:
    """The names as the catalogue has them."""
    known = _distinct(database, _TASK if kind == "task" else kind)
    spelt = {name.lower(): name for name in known}
    found = []
    for name in (asked,) if isinstance(asked, str) else asked or ():
        lower = name.lower() if name.lower() in spelt else meant(name).lower()
        if lower not in spelt:
            raise unknown_name(kind, name, known)
        found.append(spelt[lower])
    return tuple(found)


_RANGE = re.compile(r"([0-9.]*)-([0-9.]*)", re.ASCII)


def _rounds(asked: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for given in asked:
        name = given.lower().replace("v", "")
        match = _RANGE.fullmatch(name)
        if match is None or name == "-":
            if name not in known:
                raise unknown_name("round", given, known)
            found.append(name)
            continue
        first, last = (_number(part, given) for part in match.groups())
        within = [
            one
            for one in known
            if (first is None or (_number(one, one) or ()) >= first)
            and (last is None or (_number(one, one) or ()) <= last)
        ]
        if not within:
            raise UsageError(
                f"there is no round within {given!r}",
                hint=f"Rounds: {', '.join(sorted(known, key=lambda r: _number(r, r) or ()))}.",
            )
        found += within
    return tuple(dict.fromkeys(found))


def _number(name: str, given: str) -> tuple[int, ...] | None:
    """A round as numbers that sort in time; None for an open end."""
    if not name:
        return None
    parts = name.split(".")
    if not all(part.isdecimal() and len(part) < 9 for part in parts):
        raise UsageError(
            f"{given!r} is neither a round nor a range of rounds",
            hint="Write a round as 2.0, a range as 1.0-2.1, 4.0- or -1.1.",
        )
    return tuple(map(int, parts))


def _distinct(database: Database, column: str) -> list[str]:
    statement = f"SELECT DISTINCT {column} FROM results"  # noqa: S608 - one of our own columns
    return [name for (name,) in database.execute(statement).fetchall() if name is not None]
