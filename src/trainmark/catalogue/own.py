"""The user's own results: two small Parquet files for each session, in the user's data folder.

``runs/NAME.parquet`` is written first, ``results/NAME.parquet`` completes the session: runs
without a result are a session that was cut short, and are never read.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_data_path

from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_to_row, run_to_row
from trainmark.catalogue.store import write_table
from trainmark.types import Result, Run, UsageError

__all__ = ["default_folder", "record", "result_files", "run_files"]


def default_folder() -> Path:
    """Where own results are kept unless somebody says otherwise.

    Raises:
        UsageError: The user has no home folder, and no variable names another.
    """
    try:
        return user_data_path("trainmark") / "catalogue"
    except RuntimeError as error:  # a user without a home, as in some containers
        raise UsageError(
            f"cannot tell where own results are kept: {error}",
            hint="Set HOME or XDG_DATA_HOME, or give a folder with --catalogue.",
        ) from error


def record(result: Result, runs: Sequence[Run], where: Path | None = None) -> Path:
    """Add one session of this machine to the catalogue.

    Args:
        result: The result, with origin "own", machine and recorded filled in, and an id that no
            other session has (the runs are found by it).
        runs: Its runs, in file order.
        where: The folder of own results instead of the user's; made when it is missing.

    Returns:
        The file that was written.

    Raises:
        UsageError: The folder cannot be made or written to.
        TrainmarkError: The write failed, for example on a full disk.
    """
    assert result.origin == "own", result.origin
    folder = default_folder() if where is None else where
    name = f"{os.urandom(16).hex()}.parquet"
    for part in ("runs", "results"):
        try:
            (folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot make the catalogue folder {folder / part}: {error.strerror}",
                hint="Give a folder that you may write to with --catalogue.",
            ) from error
    rows = [run_to_row(result.id, index, run) for index, run in enumerate(runs)]
    write_table(folder / "runs" / name, RUN_COLUMNS, rows)
    written = folder / "results" / name
    write_table(written, RESULT_COLUMNS, [result_to_row(result)])
    return written


def result_files(where: Path | None = None) -> list[Path]:
    """The results files of all sessions, in a fixed order."""
    return sorted(((default_folder() if where is None else where) / "results").glob("*.parquet"))


def run_files(where: Path | None = None) -> list[Path]:
    """The runs files of all complete sessions, in the order of ``result_files``."""
    found = [file.parents[1] / "runs" / file.name for file in result_files(where)]
    return [file for file in found if file.is_file()]
