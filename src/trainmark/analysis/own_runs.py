"""Runs on disk as results, to be compared with those of the catalogue.

The logs are checked and scored as ``trainmark score`` does it; what the machine is, the system
file beside them says (``<submitter>/systems/<system>.json``). Nothing is recorded anywhere.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainmark import mllog, rules
from trainmark.analysis.comparability import RULES
from trainmark.catalogue.importing.run_facts import read_run
from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.describe import describe
from trainmark.rules.places import find_place
from trainmark.types import Result, Run, UsageError

__all__ = ["middle", "results_and_runs_at", "results_at"]

_BREAKS_RULES = "breaks the rules"  # the status of such a run
_LABEL = "unverified"
_OWN_TARGET = "unverified; MLPerf procedure, own target"
_UNCHECKED = "unverified and not checked"


def results_at(path: Path) -> tuple[Result, ...]:
    """One result for each benchmark folder at a path, origin "own".

    Args:
        path: A log, a benchmark folder, or any folder above.

    Raises:
        UsageError: The path is missing, or there are no result logs below it.
    """
    return tuple(result for result, _ in results_and_runs_at(path))


def results_and_runs_at(path: Path) -> tuple[tuple[Result, tuple[Run, ...]], ...]:
    """The same with the runs of each result; one whose log breaks the rules did not succeed.

    Args:
        path: A log, a benchmark folder, or any folder above.

    Raises:
        UsageError: The path is missing, there are no result logs below it, or nothing in them
            is a record of a run.
    """
    found = _read(path)
    if all(_says_nothing(run) for _, runs in found for run in runs):
        raise UsageError(
            f"nothing in {path} is a record of a run",
            hint="A result log has lines with :::MLLOG and a JSON object. Next: trainmark check "
            f"{path}",
        )
    if path.is_file():  # two logs of one folder are two results
        return tuple((replace(result, id=str(path)), runs) for result, runs in found)
    return found


def _says_nothing(run: Run) -> bool:
    """Whether a log has no record at all; that it breaks the rules is our own word."""
    status = None if run.status == _BREAKS_RULES else run.status
    return replace(run, source="", status=status) == Run(source="")


def _read(path: Path) -> tuple[tuple[Result, tuple[Run, ...]], ...]:
    try:
        scores = rules.score_path(path)
    except UsageError:
        groups = find_place(path).groups  # raises again where the path itself is the matter
        if not groups:
            raise
        return tuple(_unchecked(group.folder, group.files) for group in groups)
    return tuple(_checked(one) if _held_to_rules(one) else _unheld(one) for one in scores)


def _held_to_rules(folder: rules.FolderScore) -> bool:
    """Whether some log was held to rules; no where nothing tells the round of any."""
    rules_unknown = {"rules.round", "rules.no_round"}
    return not all(
        verdict.findings and {one.rule for one in verdict.findings} <= rules_unknown
        for verdict in folder.verdicts
    )


def _unheld(folder: rules.FolderScore) -> tuple[Result, tuple[Run, ...]]:
    return _unchecked(Path(folder.path), [Path(verdict.path) for verdict in folder.verdicts])


def _checked(folder: rules.FolderScore) -> tuple[Result, tuple[Run, ...]]:
    benchmark = folder.benchmark or ""
    runs = tuple(
        _with_samples(verdict.run, benchmark)
        if verdict.ok
        else replace(verdict.run, status=_BREAKS_RULES)
        for verdict in folder.verdicts
        if verdict.run is not None
    )
    official = folder.ruleset is None or folder.ruleset.official
    result = _result(
        Path(folder.path),
        runs,
        folder.score,
        benchmark=benchmark,
        round_name=folder.ruleset.name if folder.ruleset and official else "",
        label=_LABEL if official else _OWN_TARGET,
    )
    return result, runs


def _unchecked(folder: Path, logs: Sequence[Path]) -> tuple[Result, tuple[Run, ...]]:
    """The result of a benchmark folder whose logs do not tell which rules they follow."""
    read = [mllog.summarize(mllog.read(log)) for log in logs]
    benchmark = _first(run.benchmark for run in read) or folder.resolve().name
    runs = tuple(_with_samples(run, benchmark) for run in read)
    score = rules.score(runs, benchmark=benchmark)
    return _result(folder, runs, score, benchmark=benchmark, label=_UNCHECKED), runs


def _with_samples(run: Run, benchmark: str) -> Run:
    """The run with its samples counted as the catalogue counts those of published ones."""
    if not names.benchmark(benchmark).known:
        return run
    try:
        with Path(run.source).open("rb") as stream:
            counted, _ = read_run(stream, run.source, benchmark=benchmark, round_name="")
    except OSError:  # gone since it was checked
        return run
    return replace(run, samples_to_target=counted.samples_to_target)


def _result(
    folder: Path,
    runs: Sequence[Run],
    score: rules.Score,
    *,
    benchmark: str,
    label: str,
    round_name: str = "",
) -> Result:
    system = dict(_described(folder.resolve(), runs, benchmark, round_name))
    if round_name:
        system["raw"] = {**system["raw"], RULES: round_name}
    return Result(
        id=str(folder),
        origin="own",
        round=None,
        benchmark=benchmark,
        task=names.task(benchmark, round_name or None),
        run_minutes=score.run_minutes,
        minutes=score.minutes,
        score_basis=score.basis,
        scaling_factor=score.scaling,
        global_batch_size=next((run.global_batch_size for run in runs), None),
        samples_to_target=middle([r.samples_to_target for r in runs if r.succeeded]),
        samples_per_second=_median([run.samples_per_second for run in runs]),
        label=label,
        path=str(folder.resolve()),
        **system,
    )


def _described(
    place: Path, runs: Sequence[Run], benchmark: str, round_name: str
) -> Mapping[str, Any]:
    """The fields of a result that the folders and the system file decide.

    Without the layout of a submission there is no system file, and the logs say what little
    they know. What is wrong with the file is for `trainmark check` to tell.
    """
    system = place.parent
    in_layout = system.parent.name == "results"
    submitter = system.parent.parent.name if in_layout else ""
    file = system.parent.parent / "systems" / f"{system.name}.json"
    fields = describe(
        _bytes(file) if in_layout else None,
        path=str(file),
        round_name=round_name,
        submitter=submitter or _first(run.submitter for run in runs),
        system=system.name if in_layout else place.name,
        benchmark=benchmark,
        runs=runs,
    ).fields
    said = _first(run.division for run in runs)
    return {**fields, "division": fields["division"] or names.division(said).name or "closed"}


def _bytes(file: Path) -> bytes | None:
    try:
        return file.read_bytes() if file.is_file() else None  # reading a pipe would wait for ever
    except OSError:
        return None


def _first(values: Iterable[str | None]) -> str:
    return next((value for value in values if value), "")


def middle(values: Iterable[float | None]) -> float | None:
    """The mean without the least and the greatest, as the catalogue has it; of two, of both.

    Args:
        values: One for each run; None where it is not known.

    Returns:
        None when none is known.
    """
    known = sorted(value for value in values if value is not None)
    if len(known) > 2:
        known = known[1:-1]
    return statistics.fmean(known) if known else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
