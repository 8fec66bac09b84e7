"""The facts of one benchmark folder: its logs, scaling file, system file and power logs.

The folder decides who submitted what; the system file decides division, status and hardware;
the logs decide times and quality. Where they contradict each other, a doubt says so.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, cast

from trainmark.catalogue.importing.entries import Folder
from trainmark.catalogue.importing.power import with_energy
from trainmark.catalogue.importing.run_facts import read_run
from trainmark.catalogue.importing.samples import UNKNOWN
from trainmark.catalogue.importing.scaling_file import read_factor
from trainmark.catalogue.importing.source import Source, Watched
from trainmark.catalogue.importing.system_file import described
from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.describe import Described
from trainmark.catalogue.naming.doubts import Kind
from trainmark.catalogue.targets import target_of
from trainmark.rules import score
from trainmark.rules.submission.systems_claims import LoggedSystem, logged_system_in
from trainmark.types import Doubt, Finding, Result, Run, Severity

__all__ = ["FolderFacts", "Standing", "read_folder", "trimmed_mean"]

VERIFIED = "verified by MLCommons"
UNVERIFIED = "unverified (not published by MLCommons)"
_NO_SAMPLES = {"0.5": "logs of round 0.5 count epochs and do not say how many samples one has"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What all results of one source have in common.

    Attributes:
        name: "mlcommons/training_results_v1.0", or what somebody else's is called.
        commit: Its commit, "" for plain files.
        round: The round, "1.0".
        published: Whether it is a results repository of MLCommons.
        slug: What ids begin with when it is not.
    """

    name: str
    commit: str
    round: str
    published: bool
    slug: str

    @property
    def prefix(self) -> str:
        """What every id begins with."""
        return f"v{self.round}" if self.published else f"imported/{self.slug}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFacts:
    """What was read of one folder.

    Attributes:
        path: The folder.
        result: The result; what only other folders tell (carried over) is not in it yet.
        runs: One for each log, in file order.
        findings: What was damaged.
        bytes: How many bytes of logs were read.
    """

    path: str
    result: Result
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    bytes: int


@dataclass(slots=True)
class _Read:
    """What has been read so far."""

    runs: list[Run] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    counted: list[LoggedSystem] = field(default_factory=list)
    bytes: int = 0

    def doubt(self, kind: str, text: str, *, resolved: bool = True) -> None:
        self.doubts.append(Doubt(kind=kind, text=text, resolved=resolved))


def read_folder(source: Source, folder: Folder, standing: Standing) -> FolderFacts | None:
    """Read one benchmark folder.

    Args:
        source: Where it stands.
        folder: Its files.
        standing: What it is part of.

    Returns:
        None where no log tells what the benchmark is.
    """
    source.expect(folder.logs)
    read = _Read()
    benchmark = folder.benchmark or _told_by_logs(source, folder, standing)
    if not benchmark:
        return None
    for path in folder.logs:
        _read_log(source, path, benchmark, standing.round, read)
    if folder.other_names and not any(run.benchmark or run.minutes for run in read.runs):
        return None  # files that only look like logs
    _note_absent(folder, read)
    return FolderFacts(
        path=folder.path,
        result=_result(source, folder, benchmark, standing, read),
        runs=tuple(read.runs),
        findings=tuple(read.findings),
        bytes=read.bytes,
    )


def _result(
    source: Source, folder: Folder, benchmark: str, standing: Standing, read: _Read
) -> Result:
    scaling, findings = read_factor(source, folder.scaling)
    read.findings += findings
    read.doubts += [Doubt(kind=_BAD_SCALING, text=f.message, resolved=False) for f in findings]
    system = described(
        source,
        folder,
        round_name=standing.round,
        benchmark=benchmark,
        runs=read.runs,
        counted=read.counted,
    )
    read.doubts += system.doubts
    read.findings += _weighed(system)
    energy = None
    if folder.power:
        read.runs, energy, findings = with_energy(
            source,
            folder,
            read.runs,
            benchmark=benchmark,
            scaling=scaling,
            nodes=system.fields["nodes"],
        )
        read.findings += findings
        for finding in findings:
            read.doubt("power logs without energy", finding.message, resolved=False)
    _compare(read, benchmark)
    if system.fields["division"] == "closed":
        _hold_to_target(read, benchmark, standing.round)
    _note_samples(read, benchmark, standing.round)
    minutes, basis = _score(read, benchmark, scaling, published=standing.published)
    batch, runs = _batch(read), read.runs
    return Result(
        id=f"{standing.prefix}/{folder.place}",
        origin="published" if standing.published else "imported",
        round=standing.round,
        benchmark=benchmark,
        task=names.task(benchmark, standing.round),
        run_minutes=tuple(run.minutes for run in runs if run.succeeded and run.minutes is not None),
        minutes=minutes,
        score_basis=basis,
        scaling_factor=scaling,
        global_batch_size=batch,
        samples_to_target=trimmed_mean(
            [s for run in runs if (s := run.samples_to_target) is not None]
        ),
        label=VERIFIED if standing.published else UNVERIFIED,
        repository=standing.name,
        commit=standing.commit,
        path=folder.path,
        samples_per_second=_median([r for run in runs if (r := run.samples_per_second)]),
        energy_joules=energy,
        doubts=tuple(read.doubts),
        **system.fields,
    )


def _weighed(system: Described) -> list[Finding]:
    """Findings about a system file: no errors where every field could be read all the same."""
    if any(not doubt.resolved and doubt.kind in _LOST for doubt in system.doubts):
        return list(system.findings)
    return [
        replace(finding, severity=Severity.WARNING) if finding.is_error else finding
        for finding in system.findings
    ]


_LOST = frozenset({Kind.BAD_FILE, Kind.DAMAGED_FILE})
_BAD_SCALING = "unreadable scaling file"


def _score(
    read: _Read, benchmark: str, scaling: float, *, published: bool
) -> tuple[float | None, str]:
    """The score and how it came about.

    The official summarizer reckons a score from fewer runs than the benchmark asks for too. Where
    MLCommons has published such a result, the score is kept with a doubt; elsewhere there is none.
    """
    absent = sum(not run.available for run in read.runs)
    if absent:  # an absent log is no failed run: the score is not known
        return None, f"no score: {absent} of {len(read.runs)} logs are not available"
    found = score(read.runs, benchmark=benchmark, scaling=scaling)
    if found.minutes is None or found.official:
        return found.minutes, found.basis
    if not published:
        return None, found.basis
    read.doubt("fewer runs than required", found.basis, resolved=False)
    return found.minutes, found.basis


def _told_by_logs(source: Source, folder: Folder, standing: Standing) -> str:
    """The benchmark that the first readable log names, "" if none does."""
    for path in folder.logs:
        stream = source.open(path)
        if stream is not None:
            run, _ = read_run(stream, path, benchmark="", round_name=standing.round)
            named = names.benchmark(run.benchmark or "")
            if named.known:
                return named.name
    return ""


def _read_log(source: Source, path: str, benchmark: str, round_name: str, read: _Read) -> None:
    """Add the run of one log; a run without facts when the log is absent."""
    stream = source.open(path)
    if stream is None:
        read.runs.append(Run(source=path, available=False))
        return
    watched = Watched(stream, source.size, source.object_id(path))
    try:
        run, findings = read_run(
            cast("BinaryIO", watched), path, benchmark=benchmark, round_name=round_name
        )
        content = watched.name()
    except OSError as error:  # a disk that fails half-way
        read.runs.append(Run(source=path, available=False))
        read.findings.append(_unreadable(path, error))
        return
    counted = logged_system_in(watched.start)
    if counted is not None:
        read.counted.append(counted)
    read.bytes += source.size
    read.runs.append(replace(run, content=content))
    read.findings += findings
    if findings:
        text = f"{path}: {len(findings)} unreadable record{'s' if len(findings) > 1 else ''}"
        read.doubt("log with unreadable records", text, resolved=False)


def _unreadable(path: str, error: OSError) -> Finding:
    return Finding(
        rule="import.log",
        severity=Severity.ERROR,
        message=f"the log cannot be read: {error.strerror}",
        fix="Copy it again.",
        path=path,
    )


def _note_absent(folder: Folder, read: _Read) -> None:
    absent = [run.source for run in read.runs if not run.available]
    if not absent:
        return
    text = f"{len(absent)} of {len(read.runs)} logs are missing"
    read.doubt("logs listed but not available", text, resolved=False)
    read.findings.append(
        Finding(
            rule="import.absent",
            severity=Severity.WARNING,
            message=f"{text}: the repository lists them and does not hold them; no score",
            fix="Fetch the whole repository, if they are to be had.",
            path=folder.path,
        )
    )


def _compare(read: _Read, benchmark: str) -> None:
    """Note where the logs contradict the folder."""
    named = {run.benchmark for run in read.runs if run.benchmark}
    if other := sorted(b for b in named if names.benchmark(b).name != benchmark):
        read.doubt("benchmark differs in the logs", f"the logs say {', '.join(other)}")


def _hold_to_target(read: _Read, benchmark: str, round_name: str) -> None:
    """Note the runs that say success below the target of their round; they count as they say."""
    target = target_of(benchmark, round_name)
    for run in read.runs:
        if target is None or not run.succeeded or run.quality is None:
            continue
        if target.reached(run.quality) or math.isclose(run.quality, target.value, rel_tol=1e-6):
            continue
        text = f"{run.source}: success at {run.quality:g}, the target is {target.value:g}"
        read.doubt("success short of the target", text, resolved=False)


def _note_samples(read: _Read, benchmark: str, round_name: str) -> None:
    """Say why no run that succeeded tells its samples."""
    succeeded = [run for run in read.runs if run.succeeded]
    if not succeeded or any(run.samples_to_target is not None for run in succeeded):
        return
    if reason := _NO_SAMPLES.get(round_name) or UNKNOWN.get(benchmark):
        read.doubt("samples not told by the logs", reason, resolved=False)


def _batch(read: _Read) -> float | None:
    """The batch size that all logs agree on; the first, with a doubt, when they do not."""
    found = list(dict.fromkeys(b for run in read.runs if (b := run.global_batch_size) is not None))
    if len(found) > 1:
        sizes = ", ".join(f"{size:g}" for size in found)
        read.doubt("batch size differs", f"the logs' batch sizes: {sizes}; the first is taken")
    return found[0] if found else None


def trimmed_mean(values: Sequence[float]) -> float | None:
    """The mean without the least and the greatest; the plain mean of fewer than three."""
    kept = sorted(values)[1:-1] if len(values) > 2 else list(values)
    return sum(kept) / len(kept) if kept else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
