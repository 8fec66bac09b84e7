"""Write the packaged catalogue: one file of results, one of runs, and what they must hold.

    published_results.parquet   published_runs.parquet   published.json

``published.json`` has counts and a checksum of the facts by round. The same facts make the same
checksum whatever version of the Parquet writer wrote them.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from trainmark.catalogue.importing import state as states
from trainmark.catalogue.importing.carry import identities, mark, order
from trainmark.catalogue.importing.imports import Imported
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_to_row
from trainmark.catalogue.store import connect, literal, rows, write_table
from trainmark.types import Result, UsageError, atomic_write

__all__ = ["RoundFacts", "facts_by_round", "write_published"]

RESULTS, RUNS, FACTS = "published_results.parquet", "published_runs.parquet", "published.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFacts:
    """What a catalogue holds of one round.

    Attributes:
        results: Number of results.
        runs: Number of logs.
        timed: Number of logs with a time.
        absent: Number of logs that their repository lists and does not hold.
        scored: Number of results with a score.
        open: Number of results of the open division.
        scaled: Number of results with a factor other than 1.
        carried_over: Number of results whose logs were filed before.
        energy: Number of results with measured energy.
        sha256: Checksum of every fact in a canonical text; commits are left out.
    """

    results: int
    runs: int
    timed: int
    absent: int
    scored: int
    open: int
    scaled: int
    carried_over: int
    energy: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


def write_published(imported: Imported, folder: Path) -> dict[str, RoundFacts]:
    """Write the three files from what was imported.

    Args:
        imported: The sources; what else the catalogue's folder holds has no part in it.
        folder: Where to; made when it is missing.

    Returns:
        The facts by round.

    Raises:
        UsageError: A source is not published by MLCommons; the folder cannot be written to.
    """
    unpublished = [one.state.name for one in imported.sources if not one.state.published]
    if unpublished:
        raise UsageError(
            f"{unpublished[0]} is not published by MLCommons",
            hint="--out writes a catalogue of published results only; leave it out.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder {folder}: {error.strerror}",
            hint="Give a folder that you may write to with --out.",
        ) from error
    slugs = [one.state.slug for one in imported.sources]
    files = [states.imported_folder(imported.where) / slug / states.RUNS for slug in slugs]
    marked = mark(imported.results().values(), identities(files))
    in_order = sorted(marked.values(), key=order)
    write_table(folder / RESULTS, RESULT_COLUMNS, map(result_to_row, in_order))
    ids = [result.id for result in in_order]
    write_table(folder / RUNS, RUN_COLUMNS, (), keys=ids, kept=files, kept_keys=ids)
    facts = facts_by_round(in_order, folder / RUNS)
    text = json.dumps({name: one.to_dict() for name, one in facts.items()}, indent=1)
    atomic_write(folder / FACTS, text + "\n")
    return facts


def facts_by_round(results: Iterable[Result], runs: Path) -> dict[str, RoundFacts]:
    """Counts and checksums of a catalogue by round.

    Args:
        results: Every result.
        runs: The file of their runs.
    """
    by_round: dict[str, list[Result]] = {}
    for result in sorted(results, key=order):
        by_round.setdefault(result.round or "", []).append(result)
    return {name: _facts(found, runs) for name, found in by_round.items()}


def _facts(results: Sequence[Result], runs: Path) -> RoundFacts:
    counts = {"runs": 0, "timed": 0, "absent": 0}
    digest = hashlib.sha256()
    found = _runs_of(runs, [result.id for result in results])
    for result in results:
        for line in _canonical(result, found.get(result.id, ())):
            digest.update(line.encode() + b"\n")
        for run in found.get(result.id, ()):
            counts["runs"] += 1
            counts["timed"] += run["minutes"] is not None
            counts["absent"] += not run["available"]
    return RoundFacts(
        results=len(results),
        **counts,
        scored=sum(result.minutes is not None for result in results),
        open=sum(result.division == "open" for result in results),
        scaled=sum(result.scaling_factor != 1 for result in results),
        carried_over=sum(result.carried_over for result in results),
        energy=sum(result.energy_joules is not None for result in results),
        sha256=digest.hexdigest(),
    )


def _runs_of(file: Path, ids: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    with connect() as database:
        sql = (
            "FROM read_parquet(?) WHERE result_id IN (SELECT unnest(?::VARCHAR[])) "
            "ORDER BY result_id, run_index"
        )
        for row in rows(database, sql, [[literal(file)], list(ids)]):
            found.setdefault(row["result_id"], []).append(row)
    return found


def _canonical(result: Result, runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One line for a result, one for each of its runs; the same for the same facts."""
    names = [column.name for column in RESULT_COLUMNS]
    plain = dict(zip(names, result_to_row(replace(result, commit="")), strict=True))
    yield json.dumps(plain, sort_keys=True)
    for run in runs:
        yield json.dumps(run, sort_keys=True)
