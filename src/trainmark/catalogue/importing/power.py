"""Measured energy of a folder's runs, from its power logs."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trainmark.catalogue.importing.entries import Folder
from trainmark.catalogue.importing.run_facts import timed_part
from trainmark.catalogue.importing.source import Source
from trainmark.rules.submission.power_energy import PowerRun, RunEnergy, energy_score, run_energy
from trainmark.rules.submission.power_logs import POWER_NAME, power_log_in
from trainmark.rules.submission.power_verdict import measure_folder
from trainmark.types import Finding, Run, Severity

__all__ = ["with_energy"]


def with_energy(
    source: Source,
    folder: Folder,
    runs: Sequence[Run],
    *,
    benchmark: str,
    scaling: float,
    nodes: int | None,
) -> tuple[list[Run], float | None, list[Finding]]:
    """The runs with their energy, and the energy of the score.

    The energy of a score is that of the same runs: its mean without the fastest and the slowest,
    times the scaling, as the power measurement rules have it ("Scoring").

    Args:
        source: Where they stand.
        folder: The folder, with its power logs.
        runs: Its runs.
        benchmark: The benchmark.
        scaling: The factor of scaling.json.
        nodes: Number of nodes, None if unknown.

    Returns:
        The runs, in their order; joules, None if one of the runs that count has none; findings.
    """
    power = _power_of_logs(folder)
    found = [_energy(source, run, power.get(_stem(run.source), ())) for run in runs]
    measured = [
        run if energy is None else replace(run, energy_joules=energy.joules)
        for run, energy in zip(runs, found, strict=True)
    ]
    counted = [energy for run, energy in zip(runs, found, strict=True) if run.succeeded]
    there = [energy for energy in counted if energy is not None]
    total = None
    if len(there) == len(counted):
        score = energy_score(there, benchmark=benchmark, scaling=scaling)
        total = None if score is None else score.joules
    reasons = [] if total is not None else [_none(folder, _why(source, folder, nodes))]
    return measured, total, reasons


def _power_of_logs(folder: Folder) -> dict[str, list[str]]:
    """The power logs by the stem of the log that they belong to."""
    found: dict[str, list[str]] = {}
    for path in folder.power:
        _, *place = _inside(folder, path).parts
        if len(place) == 2 and POWER_NAME.fullmatch(place[1]):
            found.setdefault(place[0], []).append(path)
    return found


def _energy(source: Source, run: Run, power: Sequence[str]) -> RunEnergy | None:
    """What the power logs of a run come to, None without any."""
    if not power:
        return None
    stream = source.open(run.source)
    start = stop = None
    if stream is not None:
        start, stop = timed_part(stream, run.source)
    timed = PowerRun(
        log=Path(run.source),
        start_ms=None if start is None else start.time_ms,
        stop_ms=None if stop is None else stop.time_ms,
    )
    source.expect(power)
    contents = {path: source.read(path) for path in power}
    logs = [
        power_log_in(data, PurePosixPath(path))
        for path, data in contents.items()
        if data is not None
    ]
    return run_energy(timed, logs)


def _why(source: Source, folder: Folder, nodes: int | None) -> str:
    """Why there is no energy: the first fault that a check of the power logs finds."""
    with tempfile.TemporaryDirectory(prefix="trainmark-power-") as place:
        root = Path(place)
        _copy(source, folder, folder.power, root)
        _copy(source, folder, folder.logs, root)
        logs = [root / _inside(folder, path) for path in folder.logs]
        power = measure_folder(root, [log for log in logs if log.is_file()], nodes=nodes)
    if power is None:
        return "there is none beside a log"
    return power.findings[0].message if power.findings else "some runs have none"


def _copy(source: Source, folder: Folder, paths: Iterable[str], root: Path) -> None:
    """Write files where the power rules can read them: they read from disk."""
    for path in paths:
        data = source.read(path)
        if data is not None:
            target = root / _inside(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _inside(folder: Folder, path: str) -> PurePosixPath:
    """The path below the benchmark folder."""
    return PurePosixPath(path).relative_to(folder.path)


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _none(folder: Folder, reason: str) -> Finding:
    return Finding(
        rule="import.power",
        severity=Severity.WARNING,
        message="the power logs do not give the energy of every run that counts: " + reason,
        fix="Check them: trainmark check FOLDER tells what is wrong with power logs.",
        path=f"{folder.path}/power",
    )
