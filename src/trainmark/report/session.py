"""What a report is about: a folder of runs as data, before anything is drawn or printed."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from trainmark.mllog import keys
from trainmark.report.compare import Comparison
from trainmark.report.published import Kin
from trainmark.rules import Score, Verdict
from trainmark.types import Finding, Result, Run, Target

__all__ = [
    "OFFICIAL_LABEL",
    "OWN_LABEL",
    "Candidate",
    "Entry",
    "SessionInfo",
    "SessionReport",
    "session_to_dict",
]

OFFICIAL_LABEL = "unverified"
OWN_LABEL = "unverified; MLPerf procedure, own target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to run the training step that was timed before the runs.

    Attributes:
        precision: "fp32", "bf16" or "fp16".
        memory_format: "contiguous", "channels_last" or what the probe calls it.
        threads: Threads of the framework, None if the probe does not say.
        samples_per_second: Training throughput of the step alone.
    """

    precision: str
    memory_format: str
    samples_per_second: float
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What ``session.json`` says. "" or None stands for "it does not say".

    Attributes:
        version: Version of trainmark that made the runs.
        command: The command that repeats them.
        started: ISO date and time.
        machine: The machine's fingerprint: own results with the same one are comparable.
        machine_title: The machine in one line.
        workload: The workload's name.
        scale: "desk" or "full".
        benchmark: The name in logs and folders.
        title: The workload's name for people.
        dataset: What it learns from.
        target: The quality at which the clock stops.
        label: What the result may be called.
        candidates: The probe's timings, as it made them.
        matmul_peaks: Measured matrix-multiplication FLOP/s of this machine, by precision.
        unusable: Why a precision was not tried, by precision.
    """

    version: str = ""
    command: str = ""
    started: str = ""
    machine: str = ""
    machine_title: str = ""
    workload: str = ""
    scale: str = ""
    benchmark: str = ""
    title: str = ""
    dataset: str = ""
    target: Target | None = None
    label: str = ""
    candidates: tuple[Candidate, ...] = ()
    matmul_peaks: Mapping[str, float] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One system's runs of one benchmark.

    Attributes:
        submitter: The submitter's folder name.
        system: The system's folder name.
        benchmark: As the logs name it, else the folder's name.
        folder: Where the logs lie.
        runs: One for each log, in the order of their numbers.
        score: The official score, or why there is none.
        verdicts: What the checker says of each log and of the folder.
        unchecked: Why the checker could not check, "" where it could.
        system_description: The system file's JSON object, {} without one.
        info: What session.json says of this benchmark, None without it.
        comparisons: Against earlier results on this machine, oldest first.
        kin: The official benchmark to show beside it, None if none is.
        published: Published results of that benchmark.
    """

    submitter: str
    system: str
    benchmark: str
    folder: str
    runs: tuple[Run, ...]
    score: Score
    verdicts: tuple[Verdict, ...]
    unchecked: str
    system_description: Mapping[str, Any]
    info: SessionInfo | None = None
    comparisons: tuple[Comparison, ...] = ()
    kin: Kin | None = None
    published: tuple[Result, ...] = ()

    @property
    def target(self) -> Target | None:
        """The target as the logs declare it, else as session.json does."""
        declared = next((run.target for run in self.runs if run.target is not None), None)
        return declared if declared or self.info is None else self.info.target

    @property
    def label(self) -> str:
        """What the result may be called."""
        if self.info is not None and self.info.label:
            return self.info.label
        return OFFICIAL_LABEL if self.is_official_benchmark else OWN_LABEL

    @property
    def is_official_benchmark(self) -> bool:
        """Whether the published results beside it are of the very same benchmark."""
        return self.kin is None or self.kin.benchmark == self.benchmark

    @property
    def title(self) -> str:
        """The benchmark's name for people."""
        return self.info.title if self.info is not None and self.info.title else self.benchmark

    @property
    def machine_title(self) -> str:
        """The machine in one line."""
        if self.info is not None and self.info.machine_title:
            return self.info.machine_title
        named = self.system_description.get("system_name")
        return named if isinstance(named, str) and named else self.system

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding about a log or the folder."""
        return tuple(finding for verdict in self.verdicts for finding in verdict.findings)

    @property
    def compliant(self) -> bool | None:
        """Whether the checker passes every log and the folder; None where it could not check."""
        return None if self.unchecked else all(verdict.ok for verdict in self.verdicts)

    def median(self, value_of: Callable[[Run], float | None]) -> float | None:
        """Median over the runs that have that number, None when none has."""
        values = [value for run in self.runs if (value := value_of(run)) is not None]
        return statistics.median(values) if values else None

    @property
    def samples_per_second(self) -> float | None:
        """Median training throughput."""
        return self.median(lambda run: run.samples_per_second)


def efficiency(run: Run, name: str) -> float | None:
    """One number of a run's own efficiency record, None if it has none.

    Args:
        run: The run.
        name: A field of ``mllog.keys.OWN_EFFICIENCY``.
    """
    value = run.efficiency.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """A folder of runs.

    Attributes:
        folder: The folder, as given.
        info: What session.json says, None without one.
        entries: One for each system and benchmark, in the order of their folders.
        findings: What could not be read beside the logs: session.json, system files.
    """

    folder: str
    info: SessionInfo | None
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the checker could check and passes every log and folder."""
        return all(entry.compliant for entry in self.entries)


def session_to_dict(session: SessionReport) -> dict[str, Any]:
    """The whole report as plain data for ``--json``."""
    return {
        "folder": session.folder,
        "ok": session.ok,
        "session": None if session.info is None else _info_to_dict(session.info),
        "findings": [finding.to_dict() for finding in session.findings],
        "entries": [_entry_to_dict(entry) for entry in session.entries],
    }


def _info_to_dict(info: SessionInfo) -> dict[str, Any]:
    target = None if info.target is None else info.target.to_dict()
    return (
        asdict(info)
        | {"target": target, "matmul_peaks": dict(info.matmul_peaks)}
        | {"unusable": dict(info.unusable)}
    )


def _entry_to_dict(entry: Entry) -> dict[str, Any]:
    return {
        "submitter": entry.submitter,
        "system": entry.system,
        "benchmark": entry.benchmark,
        "title": entry.title,
        "folder": entry.folder,
        "label": entry.label,
        "machine": entry.machine_title,
        "target": None if entry.target is None else entry.target.to_dict(),
        "compliant": entry.compliant,
        "unchecked": entry.unchecked,
        "score": entry.score.to_dict(),
        "runs": [run.to_dict() for run in entry.runs],
        "efficiency": {
            name: entry.median(lambda run, name=name: efficiency(run, name))  # type: ignore[misc]
            for name in (
                keys.EFFICIENCY_RATE,
                keys.EFFICIENCY_ACHIEVED,
                keys.EFFICIENCY_PEAK,
                keys.EFFICIENCY_SHARE,
                keys.EFFICIENCY_INPUT_WAIT,
                keys.EFFICIENCY_PADDING,
            )
        },
        "findings": [finding.to_dict() for finding in entry.findings],
        "earlier": [
            {
                "result": comparison.then.to_dict(),
                "change": comparison.change,
                "rate_change": comparison.rate_change,
                "verdict": str(comparison.verdict),
            }
            for comparison in entry.comparisons
        ],
        "published_benchmark": None if entry.kin is None else entry.kin.benchmark,
        "published": [result.to_dict() for result in entry.published],
        "system_description": dict(entry.system_description),
    }
