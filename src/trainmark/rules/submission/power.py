"""Check a power folder: ``power/result_<i>/node_<j>.txt`` and ``sw_<k>.txt`` for every run.

Sources: power measurement rules of MLCommons (sections "Scope of Measurement", "Report 1
Measurement per Second", "Measure max(a run, 60 power samples)", "Scoring") and the official power
checker, which looks at the files' names and numbers only.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainmark.rules.subjects import few
from trainmark.rules.submission.power_energy import PowerRun, RunEnergy, run_energy
from trainmark.rules.submission.power_logs import POWER_NAME, PowerLog, read_power_log
from trainmark.rules.submission.power_samples import check_samples
from trainmark.rules.submission.power_totals import check_total
from trainmark.rules.submission.tree_listing import Listing, is_within, list_folder
from trainmark.types import Finding, Severity, printable

__all__ = ["Power", "PowerRun", "RunEnergy", "check_power", "measure_power"]

_SEVERITIES = tuple(Severity)
_TOTAL = "total_power.txt"
_LAST_NUMBER = re.compile(r"_([0-9]{1,9})(?:\.[^.]*)?\Z")
_FAR = 0.05  # the accuracy that the rules ask of a power meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a power folder holds.

    Attributes:
        folder: The folder.
        findings: Errors first.
        runs: The energy of each run that has power logs, in the order of the runs.
    """

    folder: Path
    findings: tuple[Finding, ...]
    runs: tuple[RunEnergy, ...]


def check_power(
    folder: Path, runs: Sequence[PowerRun], *, nodes: int | None = None
) -> list[Finding]:
    """What is wrong with a power folder: the findings of ``measure_power``."""
    return list(measure_power(folder, runs, nodes=nodes).findings)


def measure_power(folder: Path, runs: Sequence[PowerRun], *, nodes: int | None = None) -> Power:
    """Read a power folder, check it, and reckon the energy of every run.

    Args:
        folder: The folder ``power`` in a benchmark folder. Links that lead out of it are not read.
        runs: Every result log of the benchmark folder with its times.
        nodes: The number of nodes in the system description, None if not known.
    """
    listing = list_folder(folder)
    findings = [_as_power(one) for one in listing.findings]
    if findings:
        return Power(folder=folder, findings=tuple(findings), runs=())
    findings += _folders(listing, runs)
    places = {one.name: one for one in listing.folders}
    energies: list[RunEnergy] = []
    counts: dict[str, tuple[int, int]] = {}
    repeated: list[Finding] = []  # what runs and nodes tend to have in common
    for run in runs:
        place = places.get(run.log.stem)
        if place is None:
            continue
        inner = list_folder(place)
        logs, found = _read_logs(inner, folder)
        energies.append(run_energy(run, logs))
        counts[place.name] = (energies[-1].nodes, energies[-1].switches)
        findings += found
        repeated += [*_files(inner, logs, nodes), *check_total(place / _TOTAL, energies[-1])]
        repeated += [one for log in logs for one in check_samples(log, run)]
    findings += [*_uneven(folder, counts), *_once_each(repeated), *_official(folder, energies)]
    findings.sort(key=lambda finding: _SEVERITIES.index(finding.severity))
    return Power(folder=folder, findings=tuple(findings), runs=tuple(energies))


def _folders(listing: Listing, runs: Sequence[PowerRun]) -> Iterator[Finding]:
    """Runs without power logs, power logs without a run."""
    names = {run.log.stem for run in runs}
    there = {one.name for one in listing.folders}
    for run in runs:
        if run.log.stem not in there:
            yield _found(
                "power.no_run",
                listing.folder,
                f"there is no power log of {printable(run.log.name)}; expected "
                f"{printable(run.log.stem)}/node_0.txt, ...",
                "Measure the power of every run, and put it into a folder named as its log.",
            )
    spare = [one.name for one in listing.folders if one.name not in names]
    if spare:
        yield _found(
            "power.no_log",
            listing.folder,
            f"power logs of runs that are not there: {few(spare)}",
            "Name each folder as the result log of its run, without .txt.",
            severity=Severity.WARNING,
        )


def _read_logs(listing: Listing, root: Path) -> tuple[list[PowerLog], list[Finding]]:
    """The power logs of one run, and what could not be read."""
    inside = root.resolve()
    links = [one for one in listing.links if is_within(one, inside)]
    paths = [one for one in (*listing.files, *links) if POWER_NAME.fullmatch(one.name)]
    logs = [read_power_log(path) for path in paths]
    found = [*(_as_power(one) for one in listing.findings)]
    return logs, [*found, *(finding for log in logs for finding in log.findings)]


def _files(listing: Listing, logs: Sequence[PowerLog], nodes: int | None) -> Iterator[Finding]:
    """The files of one run: how they are named and numbered, and how many there are."""
    if listing.findings:
        return
    measured = [log.number for log in logs if log.is_node]
    if not measured:
        yield _found(
            "power.no_nodes",
            listing.folder,
            "there is no power log of a node; expected node_0.txt, node_1.txt, ...",
            "Measure every node that takes part in the run.",
        )
    elif nodes is not None and len(set(measured)) < nodes:
        yield _found(
            "power.nodes",
            listing.folder,
            f"power logs of {len(set(measured))} of {nodes} nodes (system description)",
            "Measure every node that takes part in the run.",
        )
    yield from _numbering(listing, "node", measured)
    yield from _numbering(listing, "sw", [log.number for log in logs if not log.is_node])
    stray = [
        one.name
        for one in (*listing.files, *listing.links, *listing.folders, *listing.others)
        if not POWER_NAME.fullmatch(one.name) and one.name != _TOTAL
    ]
    if stray:
        yield _found(
            "power.stray_file",
            listing.folder,
            f"{len(stray)} in the folder that no tool reads: {few(stray)}",
            "Name power logs node_<j>.txt and sw_<k>.txt; take others away.",
            severity=Severity.WARNING,
        )


def _numbering(listing: Listing, prefix: str, numbers: Sequence[int]) -> Iterator[Finding]:
    """Logs that are not numbered 0 to n-1: an error where the official power checker says so too.

    It takes every file that starts with "node" or "sw" for a log, and wants their last numbers to
    be below the number of files. With pictures named nodes_1_to_8.png that can come out right.
    """
    if sorted(numbers) == list(range(len(numbers))):
        return
    names = [one.name for one in (*listing.files, *listing.links, *listing.folders)]
    theirs = [_last_number(name) for name in names if name.startswith(prefix)]
    accepted = all(number is not None and number < len(theirs) for number in theirs)
    last = f" to {prefix}_{len(numbers) - 1}.txt" if len(numbers) > 1 else ""
    yield _found(
        "power.numbering",
        listing.folder,
        f"the logs are {few([f'{prefix}_{number}.txt' for number in sorted(numbers)])}; expected "
        f"{prefix}_0.txt{last}, each once",
        "Number them from 0 without gaps.",
        severity=Severity.WARNING if accepted else Severity.ERROR,
    )


def _last_number(name: str) -> int | None:
    match = _LAST_NUMBER.search(name)
    return None if match is None else int(match[1])


def _uneven(folder: Path, counts: dict[str, tuple[int, int]]) -> Iterator[Finding]:
    """Runs with other numbers of logs than most runs have."""
    for place, what in enumerate(("nodes", "switches")):
        numbers = [count[place] for count in counts.values()]
        if len(set(numbers)) > 1:
            usual = Counter(numbers).most_common(1)[0][0]
            odd = {name: count[place] for name, count in counts.items() if count[place] != usual}
            name, number = next(iter(odd.items()))
            more = f" and {len(odd) - 1} more runs differ" if len(odd) > 1 else ""
            yield _found(
                "power.uneven",
                folder / name,
                f"power logs of {number} {what}, in most runs of {usual}{more}",
                "Measure the same nodes and switches in every run.",
            )


def _once_each(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of every rule the first finding, and how many there are: runs of 64 nodes have hundreds."""
    by_rule: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault((finding.rule, finding.severity), []).append(finding)
    for alike in by_rule.values():
        places = len({finding.path for finding in alike})
        more = f" (and {places - 1} more alike in this power folder)" if places > 1 else ""
        yield replace(alike[0], message=alike[0].message + more)


def _official(folder: Path, energies: Sequence[RunEnergy]) -> Iterator[Finding]:
    """How far the official energy is from ours, where it is far."""
    apart = [
        (abs(one.official_joules / one.joules - 1), one)
        for one in energies
        if one.joules and one.official_joules is not None
    ]
    if not apart:
        return
    share, worst = max(apart, key=lambda pair: pair[0])
    if share > _FAR and worst.kwh is not None and worst.official_joules is not None:
        yield _found(
            "power.energy",
            folder,
            f"{printable(worst.log.name)}: {worst.kwh:.3f} kWh between run_start and run_stop, but "
            f"{worst.official_joules / 3.6e6:.3f} kWh the official way",
            "Nothing, if idle time was measured along or switches were measured rather than "
            "estimated: the official way counts the average power of the whole measurement, and "
            "only estimates of switches.",
            severity=Severity.NOTE,
        )


def _as_power(finding: Finding) -> Finding:
    return _found("power.unreadable", Path(finding.path), finding.message, finding.fix)


def _found(
    rule: str, path: Path, message: str, fix: str, *, severity: Severity = Severity.ERROR
) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, fix=fix, path=str(path))
