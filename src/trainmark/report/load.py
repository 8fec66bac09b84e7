"""From a folder on disk to a SessionReport.

The layout is a submission's: ``<submitter>/results/<system>/<benchmark>/result_0.txt`` and
``<submitter>/systems/<system>.json``, with ``session.json`` of ``trainmark run`` at the top where
it made the runs. The folder may be any level of it. What is missing is not shown; what is broken
becomes a finding; only a folder without a single log is an error.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from trainmark import catalogue, mllog, rules
from trainmark.report.compare import Comparison, compare, earlier_results
from trainmark.report.published import comparable, kin_of
from trainmark.report.session import Candidate, Entry, SessionInfo, SessionReport
from trainmark.types import Finding, Run, Severity, Target, UsageError

__all__ = ["SESSION_FILE", "load"]

SESSION_FILE = "session.json"


def load(folder: str | Path, *, own_results: Path | None = None) -> SessionReport:
    """Read a folder of runs.

    Args:
        folder: A session folder of ``trainmark run``, a submission, or any folder inside one
            that holds ``result_*.txt``.
        own_results: The catalogue folder of own results instead of the user's.

    Raises:
        UsageError: The folder is missing or holds no result log.
    """
    folder = Path(folder)
    if trouble := _no_folder(folder):
        raise UsageError(
            f"{folder} {trouble}",
            hint="Give the folder that `trainmark run --out FOLDER` made, or any folder that "
            "holds result_0.txt.",
        )
    groups = _logs_by_folder(folder)
    if not groups:
        raise UsageError(
            f"there is no result log in {folder}",
            hint="Looked for files named result_*.txt in it and in every folder below, "
            "for example <submitter>/results/<system>/<benchmark>/result_0.txt. "
            "`trainmark run resnet50 --out FOLDER` makes such a folder.",
        )
    findings: list[Finding] = []
    info = _read_info(folder / SESSION_FILE, findings)
    entries = []
    for place, paths in groups.items():
        entry = _entry(place, paths, info, findings)
        earlier = _earlier(entry, folder, own_results, findings)
        entries.append(replace(entry, comparisons=earlier))
    return SessionReport(
        folder=str(folder), info=info, entries=tuple(entries), findings=tuple(findings)
    )


def _no_folder(path: Path) -> str:
    """Why a path is no folder that can be read, "" when it is one."""
    try:
        if path.is_dir():
            return ""
        return "is a file, not a folder" if path.exists() else "does not exist"
    except OSError as error:  # a name longer than any
        return f"cannot be reached: {error.strerror}"


def _logs_by_folder(root: Path) -> dict[Path, list[Path]]:
    """The result logs by the folder they lie in, runs in the order of their numbers."""
    groups: dict[Path, list[Path]] = {}
    for path in sorted(root.rglob("result_*.txt"), key=_natural):
        # A link could lead out of the folder that the user named.
        if path.is_file() and not path.is_symlink():
            groups.setdefault(path.parent, []).append(path)
    return groups


def _natural(path: Path) -> tuple[str, list[tuple[int, str]]]:
    """Folder by folder; in each, result_10 after result_9."""
    parts = re.split(r"([0-9]{1,18})", path.name)
    return str(path.parent), [(int(one), "") if one.isdecimal() else (-1, one) for one in parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A folder's runs, their score, and what the checker says."""

    runs: tuple[Run, ...]
    score: rules.Score
    verdicts: tuple[rules.Verdict, ...]
    unchecked: str = ""


def _judge(place: Path, paths: list[Path]) -> _Judged:
    """Check and score one folder; where nothing tells the rules, score it unchecked."""
    try:
        verdicts = [one for one in rules.check_path(place) if _lies_in(place, one)]
        scores = [one for one in rules.score_path(place) if Path(one.path) == place]
    except UsageError as error:
        runs = tuple(mllog.summarize(mllog.read(path)) for path in paths)
        return _Judged(
            runs=runs,
            score=rules.score(runs, benchmark=_benchmark(runs, place)),
            verdicts=(),
            unchecked=error.message,
        )
    return _Judged(
        runs=tuple(one.run or Run(source=one.path) for one in verdicts if one.kind == "log"),
        score=scores[0].score,
        verdicts=tuple(verdicts),
    )


def _lies_in(place: Path, verdict: rules.Verdict) -> bool:
    """Whether a verdict is about this folder or a log in it, not about a folder below."""
    path = Path(verdict.path)
    return path == place or path.parent == place


def _benchmark(runs: Sequence[Run], place: Path) -> str:
    """As the logs name it, else the folder's name."""
    return next((run.benchmark for run in runs if run.benchmark), place.resolve().name)


def _entry(
    place: Path, paths: list[Path], info: SessionInfo | None, findings: list[Finding]
) -> Entry:
    """One benchmark folder, not yet compared with anything."""
    judged = _judge(place, paths)
    absolute = place.resolve()
    submitter, system = _names(absolute)
    benchmark = _benchmark(judged.runs, place)
    kin = kin_of(benchmark)
    return Entry(
        submitter=submitter,
        system=system,
        benchmark=benchmark,
        folder=str(place),
        runs=judged.runs,
        score=judged.score,
        verdicts=judged.verdicts,
        unchecked=judged.unchecked,
        system_description=_system_description(absolute, findings),
        info=info if info is not None and info.benchmark in ("", benchmark) else None,
        kin=kin,
        published=() if kin is None else comparable(catalogue.published(benchmark=kin.benchmark)),
    )


def _earlier(
    entry: Entry, root: Path, own_results: Path | None, findings: list[Finding]
) -> tuple[Comparison, ...]:
    """This entry against earlier results on the machine that session.json names."""
    info, minutes = entry.info, entry.score.minutes
    if info is None or not info.machine or minutes is None:
        return ()
    results = catalogue.own_results(
        benchmark=entry.benchmark,
        machine=info.machine,
        where=own_results,
        on_finding=findings.append,
    )
    earlier = earlier_results(results, folder=str(root.resolve()), before=info.started)
    rate = entry.samples_per_second
    return tuple(compare(minutes, entry.score.run_minutes, rate, one) for one in earlier)


def _names(place: Path) -> tuple[str, str]:
    """Submitter and system of a benchmark folder; "" where the layout is not a submission's."""
    system = place.parent
    if system.parent.name != "results":
        return "", system.name
    return system.parent.parent.name, system.name


def _system_description(place: Path, findings: list[Finding]) -> Mapping[str, Any]:
    """The system file of a benchmark folder, {} if there is none."""
    system = place.parent
    if system.parent.name != "results":
        return {}
    path = system.parent.parent / "systems" / f"{system.name}.json"
    return _read_object(path, "system.json", findings) or {}


def _read_object(path: Path, rule: str, findings: list[Finding]) -> dict[str, Any] | None:
    """A JSON object from a file; None if there is no such file or it holds something else."""
    if path.is_symlink() or not path.is_file():
        return None
    problem = ""
    try:
        data = orjson.loads(path.read_bytes())
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except orjson.JSONDecodeError as error:
        problem = f"is not valid JSON: {error.msg}, line {error.lineno}"
    else:
        if isinstance(data, dict):
            return data
        problem = f"must hold one JSON object, it holds a {type(data).__name__}"
    known = {finding.path for finding in findings}
    if str(path) not in known:  # two benchmarks of one system share the file
        findings.append(
            Finding(
                rule=rule,
                severity=Severity.WARNING,
                message=f"{path.name} {problem}; the report goes without it",
                fix="Repair the file, or make it anew.",
                path=str(path),
            )
        )
    return None


def _read_info(path: Path, findings: list[Finding]) -> SessionInfo | None:
    """session.json, field by field: what has the wrong type counts as not said."""
    data = _read_object(path, "session.json", findings)
    if data is None:
        return None
    probe = data.get("probe")
    probe = probe if isinstance(probe, dict) else {}
    peaks = probe.get("matmul_peak_flop_per_s")
    unusable = probe.get("unusable")
    words = {name: value for name in _WORDS if isinstance(value := data.get(name), str)}
    command = data.get("command")
    if isinstance(command, list):
        words["command"] = shlex.join(str(word) for word in command)
    return SessionInfo(
        **words,
        target=Target.from_dict(data.get("target")),
        candidates=tuple(_candidates(probe.get("candidates"))),
        matmul_peaks={
            name: peak
            for name, value in (peaks if isinstance(peaks, dict) else {}).items()
            if (peak := _number(value)) is not None
        },
        unusable={
            name: why
            for name, why in (unusable if isinstance(unusable, dict) else {}).items()
            if isinstance(why, str)
        },
    )


_WORDS = (
    "version",
    "command",
    "started",
    "machine",
    "machine_title",
    "workload",
    "scale",
    "benchmark",
    "title",
    "dataset",
    "label",
)


def _candidates(data: Any) -> Iterator[Candidate]:
    for one in data if isinstance(data, list) else ():
        if not isinstance(one, dict):
            continue
        rate, threads = _number(one.get("samples_per_second")), _number(one.get("threads"))
        if rate is not None:
            yield Candidate(
                precision=str(one.get("precision", "")),
                memory_format=str(one.get("memory_format", "")),
                samples_per_second=rate,
                threads=None if threads is None else int(threads),
            )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
