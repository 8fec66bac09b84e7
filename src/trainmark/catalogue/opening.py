"""The files that make up the catalogue, opened as one table of results and one of runs.

    published    in the package, two files
    imported     ``imported/NAME/{results,runs}.parquet`` in the catalogue's folder; a result in
                 them takes the place of a packaged one with the same id
    own          ``{results,runs}/NAME.parquet`` in the catalogue's folder

The packaged files are read where they lie, and only what a question needs of them. The others
may have been damaged since, so they are read whole and looked through; one that cannot be read
is left out and is a finding.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainmark.catalogue import engine
from trainmark.catalogue.own import default_folder, result_files, run_files
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, Column
from trainmark.catalogue.store import literal, load
from trainmark.types import Finding, TrainmarkError

__all__ = ["broken", "imported_files", "open_results", "open_runs", "packaged_files"]

_DATA = Path(__file__).parent / "data"
_FILE = (Column("filename", "VARCHAR"),)
_IN_FOLDER = "regexp_replace({}, '[^/\\\\]*$', '')"


def packaged_files() -> tuple[Path, Path]:
    """The packaged results and their runs."""
    return _DATA / "published_results.parquet", _DATA / "published_runs.parquet"


def imported_files(where: Path | None = None) -> list[tuple[Path, Path]]:
    """The results and runs of each finished import, in the order of their names.

    Args:
        where: The catalogue's folder instead of the user's.
    """
    folder = (default_folder() if where is None else where) / "imported"
    found = sorted(folder.glob("*/results.parquet"))
    return [(file, file.with_name("runs.parquet")) for file in found]


def open_results(database: engine.Database, where: Path | None = None) -> list[Finding]:
    """Make the table ``results`` in a database, of every origin.

    Args:
        database: From ``store.connect``.
        where: The catalogue's folder instead of the user's.

    Returns:
        A finding for each file that is damaged and left out.
    """
    packaged, _ = packaged_files()
    imported = [results for results, _ in imported_files(where)]
    files = [*imported, *result_files(where)]
    source = _packaged(packaged, RESULT_COLUMNS)
    if not files:
        database.execute(f"CREATE TEMP VIEW results AS {source}")
        return []
    findings = _told(load(database, "other_results", (*RESULT_COLUMNS, *_FILE), files))
    database.execute(
        f"""CREATE TEMP TABLE chosen AS
        SELECT id, min({_IN_FOLDER.format("filename")}) AS folder FROM other_results
        WHERE origin <> 'own' GROUP BY id"""  # noqa: S608 - our own names
    )
    names = _names(RESULT_COLUMNS)
    database.execute(
        f"""CREATE TEMP VIEW results AS
        {source} WHERE id NOT IN (SELECT id FROM chosen)
        UNION ALL SELECT {names} FROM other_results WHERE origin = 'own'
            OR (id, {_IN_FOLDER.format("filename")}) IN (SELECT (id, folder) FROM chosen)"""  # noqa: S608
    )
    return findings


def open_runs(
    database: engine.Database, where: Path | None = None, *, ids: Sequence[str] | None = None
) -> list[Finding]:
    """Make the table ``runs`` in a database that ``open_results`` made ``results`` in.

    Args:
        database: The same.
        where: The catalogue's folder instead of the user's.
        ids: The ids of the results whose runs are wanted; all without it.

    Returns:
        As for ``open_results``.
    """
    _, packaged = packaged_files()
    imported = [runs for _, runs in imported_files(where)]
    own = run_files(where)
    source = _packaged(packaged, RUN_COLUMNS)
    if not imported and not own:
        database.execute(f"CREATE OR REPLACE TEMP VIEW runs AS {source}")
        return []
    condition, parameters = "true", list[Any]()
    if ids is not None:
        condition, parameters = "list_contains(?, result_id)", [list(ids)]
    findings = _told(
        load(
            database,
            "other_runs",
            (*RUN_COLUMNS, *_FILE),
            [*imported, *own],
            condition=condition,
            parameters=parameters,
        )
    )
    names = _names(RUN_COLUMNS)
    folder = _IN_FOLDER.format("filename")
    has_chosen = "EXISTS (FROM chosen WHERE id = result_id)"
    database.execute(
        f"""CREATE OR REPLACE TEMP VIEW runs AS
        {source} WHERE NOT {has_chosen}
        UNION ALL SELECT {names} FROM other_runs WHERE NOT {has_chosen}
            AND result_id IN (SELECT id FROM other_results WHERE origin = 'own')
        UNION ALL SELECT {names} FROM other_runs
            WHERE (result_id, {folder}) IN (SELECT (id, folder) FROM chosen)"""  # noqa: S608
    )
    return findings


def _told(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with the right thing to do about a damaged import."""
    again = "Import it again: trainmark import"
    return [
        replace(one, fix=again) if Path(one.path or "").parent.parent.name == "imported" else one
        for one in findings
    ]


def _packaged(file: Path, columns: Sequence[Column]) -> str:
    """SQL that reads a packaged file; NULL where it lacks a column."""
    nulls = ", ".join(f'NULL::{column.sql} AS "{column.name}"' for column in columns)
    quoted = literal(file).replace("'", "''")
    return (
        f"SELECT {_names(columns)} FROM (SELECT {nulls} WHERE false UNION ALL BY NAME "  # noqa: S608
        f"SELECT * FROM read_parquet('{quoted}'))"
    )


def _names(columns: Sequence[Column]) -> str:
    return ", ".join(f'"{column.name}"' for column in columns)


def broken(error: engine.Error) -> TrainmarkError:
    """What to tell somebody whose installation is damaged."""
    return TrainmarkError(
        f"the packaged catalogue in {_DATA} cannot be read: {str(error).splitlines()[0]}",
        hint="Install trainmark again: pip install --force-reinstall trainmark",
    )
