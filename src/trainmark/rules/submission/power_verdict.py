"""The verdict on the power logs of a benchmark folder."""

from collections.abc import Sequence
from pathlib import Path

from trainmark import mllog
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.submission.power import Power, measure_power
from trainmark.rules.submission.power_energy import PowerRun
from trainmark.rules.submission.tree_listing import list_folder
from trainmark.rules.tables import wanted_keys
from trainmark.rules.tree import status_of
from trainmark.rules.verdict import Verdict
from trainmark.types import UsageError

__all__ = ["measure_folder", "power_verdict"]

_LARGE_BYTES = 64 << 20  # beyond it records that no rule asks for are not kept


def power_verdict(
    folder: Path, logs: Sequence[Path], *, ruleset: Ruleset | None, nodes: int | None = None
) -> Verdict | None:
    """Check the power logs of a benchmark folder.

    Args:
        folder: The benchmark folder.
        logs: Its result logs, which are read again for their times; a log that cannot be read has
            none.
        ruleset: The round's rules, for the verdict.
        nodes: The number of nodes in the system description, None if not known.

    Returns:
        A verdict of kind "power", None if the folder has no folder ``power``.
    """
    power = measure_folder(folder, logs, nodes=nodes)
    if power is None:
        return None
    return Verdict(
        path=str(power.folder),
        kind="power",
        ruleset=ruleset,
        chosen="",
        benchmark=None,
        division=None,
        findings=power.findings,
    )


def measure_folder(folder: Path, logs: Sequence[Path], *, nodes: int | None = None) -> Power | None:
    """Check the power logs of a benchmark folder, and reckon the energy of every run.

    Args:
        folder: As for ``power_verdict``.
        logs: Likewise.
        nodes: Likewise.
    """
    place = folder / "power"
    if place not in list_folder(folder).folders:
        return None
    return measure_power(place, [_timed(log) for log in logs], nodes=nodes)


def _timed(log: Path) -> PowerRun:
    """A result log with the times of run_start and run_stop."""
    try:
        large = status_of(log).st_size > _LARGE_BYTES  # says no to a pipe, which would never end
        read = mllog.read(log, wanted_keys() if large else None)
        start, stop = mllog.run_interval(mllog.first_rank(read))
    except UsageError:  # checking the log says it
        return PowerRun(log=log, start_ms=None, stop_ms=None)
    return PowerRun(
        log=log,
        start_ms=None if start is None else start.time_ms,
        stop_ms=None if stop is None else stop.time_ms,
    )
