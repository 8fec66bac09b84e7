"""Questions to the catalogue: published results from the package, own ones from the user's folder.

    query(Filters(benchmark="resnet", rounds=("2.0",)), sort="minutes", limit=10)

Names are found by any part of them, in any case; a benchmark and a round are exact, and a
misspelt one lists the valid ones.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from trainmark.catalogue import names
from trainmark.catalogue.engine import Database
from trainmark.catalogue.own import result_files, run_files
from trainmark.catalogue.schema import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    result_from_row,
    run_from_row,
)
from trainmark.catalogue.store import connect, load, rows
from trainmark.types import Finding, Result, Run, unknown_name

__all__ = [
    "SORTS",
    "Filters",
    "OnFinding",
    "choices",
    "own_results",
    "published",
    "query",
    "runs_of",
]

DATA = Path(__file__).parent / "data"
PUBLISHED_RESULTS = DATA / "published_results.parquet"
PUBLISHED_RUNS = DATA / "published_runs.parquet"

OnFinding = Callable[[Finding], None]

# A missing value sorts last, and the id settles what is equal: the same order every time.
SORTS: dict[str, str] = {
    "minutes": "minutes",
    "round": "TRY_CAST(round AS DOUBLE)",
    "benchmark": "benchmark",
    "submitter": "lower(submitter)",
    "system": "lower(system)",
    "accelerator": "lower(accelerator)",
    "chips": "accelerators",
    "nodes": "nodes",
    "framework": "lower(framework)",
    "batch": "global_batch_size",
    "samples": "samples_to_target",
    "recorded": "recorded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What is asked for; None and () ask for everything.

    Attributes:
        benchmark: The benchmark's name; "resnet50" is "resnet".
        rounds: Rounds, "2.0" or "v2.0".
        submitter: A part of the submitter's name.
        system: A part of the system's name, or of its result's id (which has the folder).
        accelerator: A part of the accelerator's name, as normalised or as written.
        framework: A part of the framework's name.
        division: "closed" or "open".
        chips_min: Least number of accelerators.
        chips_max: Greatest number of accelerators.
        origin: "published" or "own".
        machine: An own machine's fingerprint.
        words: Each is a part of the id, or of the system's, submitter's or accelerator's name.
    """

    benchmark: str | None = None
    rounds: tuple[str, ...] = ()
    submitter: str | None = None
    system: str | None = None
    accelerator: str | None = None
    framework: str | None = None
    division: str | None = None
    chips_min: int | None = None
    chips_max: int | None = None
    origin: str | None = None
    machine: str | None = None
    words: tuple[str, ...] = ()

    def given(self) -> tuple[str, ...]:
        """The names of the filters that ask for something."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) not in (None, ()))

    def without(self, name: str) -> "Filters":
        """The same filters less one."""
        empty: dict[str, Any] = {name: () if name in ("rounds", "words") else None}
        return replace(self, **empty)


def _contains(*columns: str) -> str:
    return "(" + " OR ".join(f"contains(lower({column}), lower(?))" for column in columns) + ")"


# The SQL of each filter, with a mark for each time that its value is used.
_CONDITIONS: dict[str, str] = {
    "benchmark": "lower(benchmark) = lower(?)",
    "rounds": "list_contains(?, round)",
    "submitter": _contains("submitter", "raw->>'submitter'"),
    "system": _contains("system", "id"),
    "accelerator": _contains("accelerator", "raw->>'accelerator'"),
    "framework": _contains("framework"),
    "division": "division = lower(?)",
    "chips_min": "accelerators >= ?",
    "chips_max": "accelerators <= ?",
    "origin": "origin = lower(?)",
    "machine": "machine = ?",
    "words": _contains("id", "system", "submitter", "accelerator", "raw->>'accelerator'"),
}


def query(
    filters: Filters | None = None,
    *,
    sort: str = "minutes",
    descending: bool = False,
    limit: int = 0,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> list[Result]:
    """The results that match, sorted.

    Args:
        filters: What is asked for; everything without it.
        sort: A name in ``SORTS``.
        descending: Whether the greatest comes first.
        limit: At most so many, 0 for all.
        where: The folder of own results instead of the user's.
        on_finding: What to do with a finding about a damaged file; logs a warning without it.

    Raises:
        UsageError: An unknown benchmark, round, division, origin or sort key.
    """
    if sort not in SORTS:
        raise unknown_name("sort key", sort, SORTS)
    filters = filters or Filters()
    with connect() as database:
        _open(database, where, on_finding)
        condition, parameters = _condition(_resolved(filters, database))
        order = f"{SORTS[sort]} {'DESC' if descending else 'ASC'} NULLS LAST, id"
        found = rows(
            database,
            f"FROM results WHERE {condition} ORDER BY {order} LIMIT ?",
            [*parameters, limit or None],
        )
    return [result_from_row(row) for row in found]


def published(*, benchmark: str | None = None, rounds: Sequence[str] = ()) -> list[Result]:
    """Published results, fastest first; those without a score last.

    Args:
        benchmark: The benchmark's official name; all without it.
        rounds: "1.0", ...; all without it.

    Raises:
        UsageError: An unknown benchmark or round.
    """
    return query(Filters(benchmark=benchmark, rounds=tuple(rounds), origin="published"))


def own_results(
    *,
    benchmark: str | None = None,
    machine: str | None = None,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> list[Result]:
    """The user's own results, oldest first; none when nothing was recorded yet.

    Args:
        benchmark: The benchmark's name in its logs; all without it.
        machine: A machine's fingerprint; all without it.
        where: The folder of own results instead of the user's.
        on_finding: As for ``query``.
    """
    asked = Filters(machine=machine, origin="own")
    found = query(asked, sort="recorded", where=where, on_finding=on_finding)
    return [result for result in found if benchmark in (None, result.benchmark)]


def runs_of(
    result: Result, *, where: Path | None = None, on_finding: OnFinding | None = None
) -> list[Run]:
    """The runs of one result, in file order.

    Args:
        result: A result from the catalogue.
        where: The folder of own results instead of the user's.
        on_finding: As for ``query``.
    """
    files = [PUBLISHED_RUNS] if result.origin == "published" else run_files(where)
    with connect() as database:
        findings = load(
            database,
            "runs",
            RUN_COLUMNS,
            files,
            condition="result_id = ?",
            parameters=[result.id],
        )
        found = rows(database, "FROM runs ORDER BY run_index")
    _report(findings, on_finding)
    return [run_from_row(row) for row in found]


def choices(column: str, filters: Filters | None = None, *, where: Path | None = None) -> list[str]:
    """The values of one column among the results that match, in order, for messages.

    Args:
        column: The name of a field of ``Result`` with text or a number in it.
        filters: What is asked for; everything without it.
        where: The folder of own results instead of the user's.
    """
    found = query(filters, where=where, on_finding=lambda _: None)
    return list(map(str, sorted({value for result in found if (value := getattr(result, column))})))


def _open(database: Database, where: Path | None, on_finding: OnFinding | None) -> None:
    files = [PUBLISHED_RESULTS, *result_files(where)]
    _report(load(database, "results", RESULT_COLUMNS, files), on_finding)


def _resolved(filters: Filters, database: Database) -> Filters:
    """The filters with exact names as the catalogue spells them."""
    benchmark = filters.benchmark
    if benchmark is not None:
        known = _distinct(database, "benchmark")
        benchmark = benchmark.lower()
        if benchmark not in known:
            benchmark = names.benchmark(benchmark).name
        if benchmark not in known:
            raise unknown_name("benchmark", filters.benchmark or "", known)
    rounds = tuple(name.lower().removeprefix("v") for name in filters.rounds)
    for given, name in zip(filters.rounds, rounds, strict=True):
        if name not in (known := _distinct(database, "round")):
            raise unknown_name("round", given, known)
    for kind in ("division", "origin"):
        value = getattr(filters, kind)
        if value is not None and value.lower() not in _VALUES[kind]:
            raise unknown_name(kind, value, _VALUES[kind])
    return replace(filters, benchmark=benchmark, rounds=rounds)


_VALUES = {"division": ("closed", "open"), "origin": ("own", "published")}


def _distinct(database: Database, column: str) -> list[str]:
    return [
        row[column]
        for row in rows(database, f"SELECT DISTINCT {column} FROM results")  # noqa: S608 - ours
        if row[column] is not None
    ]


def _condition(filters: Filters) -> tuple[str, list[Any]]:
    """SQL that matches the filters, and the values of its marks."""
    parts = ["true"]
    parameters: list[Any] = []
    for name in filters.given():
        value = getattr(filters, name)
        for one in value if name == "words" else (value,):
            if isinstance(one, str):  # from a command line, which need not be UTF-8
                one = one.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            parts.append(_CONDITIONS[name])
            parameters += [list(one) if name == "rounds" else one] * _CONDITIONS[name].count("?")
    return " AND ".join(parts), parameters


def _report(findings: Sequence[Finding], on_finding: OnFinding | None) -> None:
    for finding in findings:
        (on_finding or _warn)(finding)


def _warn(finding: Finding) -> None:
    logging.getLogger(__name__).warning("%s: %s. %s", finding.path, finding.message, finding.fix)
