"""One entry of a results repository: a submitter's system on a benchmark, with its logs.

    <submitter>/results/<system>/<benchmark>/result_0.txt ...
    <submitter>/results/<system>/<benchmark>/scaling.json      (later rounds)
    <submitter>/systems/<system>.json

The folder decides who submitted what; the system file decides division, status and hardware;
the logs decide times and quality. Where they contradict each other, a note says so.
"""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from trainmark.catalogue import names
from trainmark.catalogue.samples import correct_samples
from trainmark.catalogue.source import Source, content_id, round_of
from trainmark.mllog import iter_log, summarize
from trainmark.rules import score
from trainmark.types import Doubt, Event, Finding, Result, Run, RunLog

__all__ = ["Entry", "Folders", "Note", "find_entries", "parse_object", "read_entry"]

# What kind of doubt, and the sentence about this entry.
Note = tuple[str, str]

_LOG = re.compile(r"result_[^/]*\.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The benchmark folders of a repository.

    Attributes:
        logs: Folder to its logs, in the order of their numbers.
        skipped: Files in such folders whose names are not a log's, hidden ones and others.
    """

    logs: Mapping[str, tuple[str, ...]]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was read.

    Attributes:
        result: The result, without its notes.
        runs: One for each log, in file order.
        contents: What identifies the logs' contents; empty when one is missing.
        notes: What was resolved by a rule, or could not be.
    """

    result: Result
    runs: tuple[Run, ...]
    contents: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = field(default=())

    def finished(self, carried_over: bool, doubts: tuple[Doubt, ...]) -> Result:
        """The result with what only the whole catalogue can tell."""
        return replace(self.result, carried_over=carried_over, doubts=doubts)


def find_entries(source: Source) -> Folders:
    """The folders of known benchmarks that hold result logs.

    A benchmark's folder stands at any depth under results/<system>: BERT was once filed again
    under resnet/bert. Folders of other benchmarks are passed over.
    """
    logs: dict[str, list[str]] = defaultdict(list)
    skipped = []
    for path in sorted(source.paths):
        parts = path.split("/")
        if len(parts) < 5 or parts[1] != "results" or not names.benchmark(parts[-2]).known:
            continue
        if _LOG.fullmatch(parts[-1]):
            logs["/".join(parts[:-1])].append(path)
        elif parts[-1] != "scaling.json":
            skipped.append(path)
    return Folders(
        logs={folder: tuple(sorted(found, key=_natural)) for folder, found in logs.items()},
        skipped=tuple(skipped),
    )


def read_entry(source: Source, folder: str, logs: Sequence[str]) -> Entry:
    """Read one benchmark folder and the system file that belongs to it.

    Args:
        source: The repository.
        folder: The benchmark folder.
        logs: Its logs, in file order.
    """
    parts = folder.split("/")
    benchmark = names.benchmark(parts[-1]).name
    notes: list[Note] = []
    system = _system(source, f"{parts[0]}/systems/{parts[2]}.json", notes)
    read = [_read_log(source, path, benchmark, notes) for path in logs]
    absent = sum(not content for _, content in read)
    if absent:
        notes.append(("logs listed but not available", f"{absent} of {len(logs)} logs are missing"))
    runs = tuple(run for run, _ in read)
    contents = frozenset(content for _, content in read if content)
    scaling = _scaling(source, f"{folder}/scaling.json", notes)
    described = _described(system, parts[0], parts[2], notes)
    _compare(runs, described["division"], benchmark, notes)
    minutes, basis = _score(runs, benchmark, scaling, absent)
    result = Result(
        id=f"v{round_of(source.name)}/{parts[0]}/{'/'.join(parts[2:])}",
        origin="published",
        round=round_of(source.name),
        benchmark=benchmark,
        run_minutes=tuple(run.minutes for run in runs if run.succeeded and run.minutes is not None),
        minutes=minutes,
        score_basis=basis,
        scaling_factor=scaling,
        global_batch_size=_one([run.global_batch_size for run in runs], "batch size", notes),
        samples_to_target=trimmed_mean(
            [s for run in runs if (s := run.samples_to_target) is not None]
        ),
        label="verified by MLCommons",
        repository=source.name,
        commit=source.commit,
        path=folder,
        samples_per_second=_median([r for run in runs if (r := run.samples_per_second)]),
        **described,
    )
    return Entry(
        result=result,
        runs=runs,
        contents=frozenset() if absent else contents,
        notes=tuple(notes),
    )


def _score(
    runs: Sequence[Run], benchmark: str, scaling: float, absent: int
) -> tuple[float | None, str]:
    """The official score and how it came about; a published result has no other."""
    if absent:  # an absent log is no failed run: the score is not known
        return None, f"no score: {absent} of {len(runs)} logs are not available"
    found = score(runs, benchmark=benchmark, scaling=scaling)
    return (found.minutes if found.official else None), found.basis


def _read_log(source: Source, path: str, benchmark: str, notes: list[Note]) -> tuple[Run, str]:
    """The run of one log and its content's id; a run without facts when the log is missing."""
    data = source.read(path)
    if data is None:
        return Run(source=path), ""
    events, findings = [], 0
    for item in iter_log(BytesIO(data), path):
        if isinstance(item, Event):
            events.append(item)
        else:
            findings += isinstance(item, Finding)
    log = RunLog(events=tuple(events), source=path)
    if findings:
        notes.append(("log with unreadable records", f"{path}: {findings} unreadable records"))
    return correct_samples(log, summarize(log), benchmark), content_id(data)


def _system(source: Source, path: str, notes: list[Note]) -> Mapping[str, Any]:
    data = source.read(path)
    if data is None:
        notes.append(("no system file", f"{path} is missing"))
        return {}
    system, repaired = parse_object(data)
    if system is None:
        notes.append(("unreadable system file", f"{path} is not valid JSON"))
        return {}
    if repaired:
        notes.append(("system file with trailing commas", f"{path} has trailing commas"))
    return system


def parse_object(data: bytes) -> tuple[Mapping[str, Any] | None, bool]:
    """A JSON object, trailing commas forgiven.

    Returns:
        The object, None when there is none; and whether commas had to be left out.
    """
    text = data.decode("utf-8-sig", "replace")
    for repaired in (False, True):
        if repaired:  # a text, or a comma before a closing bracket
            text = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda m: m[1] or "", text)
        try:
            found = json.loads(text)
        except ValueError:
            continue
        return (found if isinstance(found, dict) else None), repaired
    return None, False


def _scaling(source: Source, path: str, notes: list[Note]) -> float:
    """The published factor, 1 without a file."""
    if path not in source.paths:
        return 1.0
    found, _ = parse_object(source.read(path) or b"")
    factor = (found or {}).get("scaling_factor")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not factor >= 1:
        notes.append(("unreadable scaling file", f"{path} holds no factor"))
        return 1.0
    return float(factor)


def _described(
    system: Mapping[str, Any], submitter_folder: str, system_folder: str, notes: list[Note]
) -> dict[str, Any]:
    """The fields of a result that the system file decides, normalised, with the raw ones."""
    raw = {
        name: str(system.get(key, "")).strip()
        for name, key in {
            "accelerator": "accelerator_model_name",
            "accelerators_per_node": "accelerators_per_node",
            "division": "division",
            "nodes": "number_of_nodes",
            "status": "status",
            "submitter": "submitter",
            "system": "system_name",
        }.items()
    }
    nodes = names.count(raw["nodes"])
    per_node = names.count(raw["accelerators_per_node"])
    normalised = {
        "accelerator": names.accelerator(raw["accelerator"], f"{raw['system']} {system_folder}"),
        "division": names.division(raw["division"]),
        "category": names.category(raw["status"]),
    }
    for name, value in normalised.items():
        if not value.known:
            notes.append((f"unknown {name}", f"{name} {value.name!r} is as written"))
    for name, number in (("nodes", nodes), ("accelerators_per_node", per_node)):
        if number is None:
            notes.append((f"unknown {name}", f"{name} {raw[name]!r} is not a number"))
    return {
        **{name: value.name for name, value in normalised.items()},
        "submitter": names.submitter(raw["submitter"] or submitter_folder).name,
        "system": raw["system"] or system_folder,
        "framework": str(system.get("framework", "")).strip(),
        "nodes": nodes,
        "accelerators": None if nodes is None or per_node is None else nodes * per_node,
        "raw": {name: text for name, text in raw.items() if text},
    }


def _compare(runs: Sequence[Run], division: str, benchmark: str, notes: list[Note]) -> None:
    """Note where the logs contradict the folder or the system file; these two decide."""
    said = {run.division for run in runs if run.division}
    if other := sorted(d for d in said if names.division(d).name != division):
        notes.append(("division differs in the logs", f"the logs say {', '.join(other)}"))
    named = {run.benchmark for run in runs if run.benchmark}
    if other := sorted(b for b in named if names.benchmark(b).name != benchmark):
        notes.append(("benchmark differs in the logs", f"the logs say {', '.join(other)}"))


def _one(values: Sequence[float | None], what: str, notes: list[Note]) -> float | None:
    """The value that all agree on; the first, with a note, when they do not."""
    found = list(dict.fromkeys(value for value in values if value is not None))
    if len(found) > 1:
        notes.append((f"{what} differs", f"the logs' {what}: {', '.join(map(str, found))}"))
    return found[0] if found else None


def trimmed_mean(values: Sequence[float]) -> float | None:
    """The mean without the least and the greatest; the plain mean of fewer than three."""
    kept = sorted(values)[1:-1] if len(values) > 2 else list(values)
    return sum(kept) / len(kept) if kept else None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _natural(path: str) -> tuple[tuple[int, int, str], ...]:
    """result_2 before result_10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.findall(r"[0-9]+|[^0-9]+", path)
    )
