"""Measured energy of a folder's runs, from its power logs."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trainmark.catalogue.importing.entries import Folder
from trainmark.catalogue.importing.source import Source
from trainmark.rules.submission.power_energy import energy_score
from trainmark.rules.submission.power_verdict import measure_folder
from trainmark.types import Finding, Run, Severity

__all__ = ["with_energy"]

# Some power logs have a text where an object is due, on every line. No reading depends on it, and
# finding fault with a million lines takes four times as long as reading them.
_EMPTY = (b'"metadata": ""', b'"metadata": {}')


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
    with tempfile.TemporaryDirectory(prefix="trainmark-power-") as place:
        root = Path(place)
        _copy(source, folder, folder.power, root)
        _copy(source, folder, folder.logs, root)
        logs = [root / _inside(folder, path) for path in folder.logs]
        power = measure_folder(root, [log for log in logs if log.is_file()], nodes=nodes)
    if power is None:
        return list(runs), None, [_none(folder, "there is none beside a log")]
    energies = {one.log.name: one for one in power.runs}
    by_name = [PurePosixPath(run.source).name for run in runs]
    measured = [
        replace(run, energy_joules=energies[name].joules) if name in energies else run
        for name, run in zip(by_name, runs, strict=True)
    ]
    counted = [
        energies[name]
        for name, run in zip(by_name, runs, strict=True)
        if run.succeeded and name in energies
    ]
    total = None
    if len(counted) == sum(run.succeeded for run in runs):
        found = energy_score(counted, benchmark=benchmark, scaling=scaling)
        total = None if found is None else found.joules
    reason = power.findings[0].message if power.findings else "some runs have none"
    return measured, total, [] if total is not None else [_none(folder, reason)]


def _copy(source: Source, folder: Folder, paths: Iterable[str], root: Path) -> None:
    """Write files where the power rules can read them: they read from disk."""
    for path in paths:
        data = source.read(path)
        if data is not None:
            target = root / _inside(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.replace(*_EMPTY))


def _inside(folder: Folder, path: str) -> PurePosixPath:
    """The path below the benchmark folder."""
    return PurePosixPath(path).relative_to(folder.path)


def _none(folder: Folder, reason: str) -> Finding:
    return Finding(
        rule="import.power",
        severity=Severity.WARNING,
        message="the power logs do not give the energy of every run that counts: " + reason,
        fix="Check them: trainmark check FOLDER tells what is wrong with power logs.",
        path=f"{folder.path}/power",
    )
