"""One log or folder, checked by us and compared with what the official tools said of it."""

import contextlib
import io
import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parity_oracle import Outcome

from trainmark import mllog
from trainmark.rules import FolderScore, check_log, ruleset_named, score, score_path
from trainmark.types import TrainmarkError, UsageError

__all__ = ["Task", "compare"]

_MINUTES_APART = 1e-9
# Times of round 0.6 are in seconds; the official tool takes them for milliseconds, so that its
# minutes are too few by this factor and rounded to a 64-bit float of seconds since 1970.
_SECONDS_AS_MS = {"0.6": 1000.0}
_ROUNDED_APART = 1e-8


@dataclass(frozen=True, slots=True)
class Task:
    """What to compare: a row of an oracle.

    Attributes:
        what: "log", "score", "table" (a row of the scores table) or "convergence".
        row: The row.
        repository: Where its round lies.
        official: For convergence: ask the official checker too, in this process.
    """

    what: str
    row: dict[str, Any]
    repository: Path
    official: bool = False


def compare(task: Task) -> list[Outcome]:
    """Compare one row."""
    return {
        "log": _compare_log,
        "score": _compare_score,
        "table": _compare_table,
        "convergence": _compare_convergence,
    }[task.what](task)


def _compare_log(task: Task) -> list[Outcome]:
    row, path = task.row, task.repository / task.row["path"]
    if not path.is_file():
        return [_outcome("verdict", row, row["path"], "absent")]
    try:
        verdict = check_log(mllog.read(path), ruleset=ruleset_named(row["ruleset"]))
    except (UsageError, TrainmarkError) as error:
        return [_outcome("verdict", row, row["path"], "differs", reason=str(error))]
    rules = sorted({one.rule for one in verdict.findings if one.is_error})
    minutes = None if verdict.run is None else verdict.run.minutes
    if row["compliant"] is None:
        said = "valid" if verdict.ok else "not valid"
        reason = f"{said}: {', '.join(rules)}" if rules else said
        return [
            _outcome("verdict", row, row["path"], "crash", row["crash"], verdict.ok, reason),
            _same_number("minutes", row, row["path"], row["minutes"], minutes),
        ]
    same = verdict.official_compliant == row["compliant"]
    named = f"we name {', '.join(rules) or 'nothing'}; they name {_keys(row['errors'])}"
    only_ours = row["compliant"] and not verdict.ok
    return [
        *(
            [_outcome("ours", row, row["path"], "only ours", True, False, ", ".join(rules))]
            if only_ours
            else []
        ),
        _outcome(
            "verdict",
            row,
            row["path"],
            "agrees" if same else "differs",
            row["compliant"],
            verdict.official_compliant,
            "" if same else named,
        ),
        _same_number("minutes", row, row["path"], row["minutes"], minutes),
    ]


def _compare_score(task: Task) -> list[Outcome]:
    """Our score of a folder against the official summarizer's, scaling.json applied."""
    row, folder = task.row, task.repository / task.row["folder"]
    found = _scored(row, folder, row["folder"], "score", row["n_files"])
    if isinstance(found, Outcome):
        return [found]
    theirs = row["score"]
    # The official factor was written by the tool; without the file there is none to apply.
    factor = row["scaling_applied"] / (row["published_scaling"] or 1.0)
    minutes = None if found.score.minutes is None else found.score.minutes * factor
    return [_same_number("score", row, row["folder"], theirs, minutes, found.score.basis)]


def _compare_table(task: Task) -> list[Outcome]:
    """Our score of a folder, its factor and number of good runs against the table of scores.

    The table counts every run that says success, whether or not the checker accepts its log.
    """
    row, folder = task.row, task.repository / task.row["dir"]
    found = _scored(row, folder, row["dir"], "table score", int(row["n_files"]))
    if isinstance(found, Outcome):
        return [found]
    runs = [one.run for one in found.verdicts if one.run is not None]
    ours = score(runs, benchmark=found.benchmark or "", scaling=found.score.scaling)
    theirs = float(row["score"]) if row["score"] else None
    good = sum(run.succeeded and run.minutes is not None for run in runs)
    factor = float(row["scaling_factor"])
    return [
        _same_number("table score", row, row["dir"], theirs, ours.minutes, ours.basis),
        _same_number("scaling.json", row, row["dir"], factor, ours.scaling),
        _outcome(
            "good runs",
            row,
            row["dir"],
            "agrees" if good == int(row["n_ok"]) else "differs",
            int(row["n_ok"]),
            good,
        ),
    ]


def _scored(
    row: dict[str, Any], folder: Path, path: str, what: str, files: int
) -> FolderScore | Outcome:
    """Our score of a folder, or the outcome where there is nothing to compare."""
    if not folder.is_dir() or len(list(folder.glob("result_*.txt"))) != files:
        return _outcome(what, row, path, "absent")
    try:
        return score_path(folder, ruleset=ruleset_named(row["round"]))[0]
    except (UsageError, TrainmarkError) as error:
        return _outcome(what, row, path, "differs", row["score"], None, str(error))


def _compare_convergence(task: Task) -> list[Outcome]:
    """Our reference convergence of a closed folder against the official one."""
    from trainmark.rules.convergence import check_convergence, measure

    row, folder = task.row, task.repository / task.row["folder"]
    ruleset = ruleset_named(row["round"])
    if not folder.is_dir() or len(list(folder.glob("result_*.txt"))) != row["n_files"]:
        return [_outcome("convergence", row, row["folder"], "absent")]
    logs = [mllog.read(path) for path in sorted(folder.glob("result_*.txt"))]
    benchmark = next((str(b) for log in logs if (b := log.value("submission_benchmark"))), "")
    measured = [
        one
        for log in logs
        if (one := measure(log, benchmark=benchmark, ruleset=ruleset)) is not None
    ]
    ours = check_convergence(
        str(folder), measured, ruleset=ruleset, benchmark=benchmark, division="closed"
    )
    passed = not any(one.is_error for one in ours.findings)
    reason = "; ".join(one.message for one in ours.findings)
    outcomes = []
    answers = [("convergence", "factor", row["rcp_pruned"])]
    if task.official:
        told = _official_now(folder, row["round"], benchmark, (passed, ours.factor))
        answers.append(("convergence now", "factor now", told))
    for what, factor, (they, text, theirs) in answers:
        if "Error" in str(text):
            outcomes.append(_outcome(what, row, row["folder"], "crash", text, passed, reason))
            continue
        state = "agrees" if they == passed else "differs"
        outcomes.append(_outcome(what, row, row["folder"], state, [they, text], passed, reason))
        if they and passed:
            outcomes.append(_same_number(factor, row, row["folder"], theirs, ours.factor, reason))
    return outcomes


def _official_now(
    folder: Path, round_name: str, benchmark: str, ours: tuple[bool, float | None]
) -> list[Any]:
    """The installed checker's answer; for BERT with its flag or without, whichever suits the logs.

    Its flag counts samples by train_samples, which some logs have as the total of the run and
    others as a limit; without it epoch_num is taken, which some have as 1. No setting suits a
    whole round, so that ours has to be one of the two answers.
    """
    told = _official(folder, round_name, in_train_samples=benchmark == "bert")
    passed, factor = ours
    same = told[0] == passed and (
        not passed or math.isclose(told[2], factor or math.nan, rel_tol=_MINUTES_APART)
    )
    if benchmark == "bert" and not same:
        return _official(folder, round_name, in_train_samples=False)
    return told


def _official(folder: Path, round_name: str, *, in_train_samples: bool) -> list[Any]:
    """The official checker of reference convergence: passed, a text, the factor."""
    from mlperf_logging.rcp_checker import rcp_checker

    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return list(
                rcp_checker.check_directory(
                    str(folder),
                    "training",
                    f"{round_name}.0",
                    False,
                    in_train_samples,
                    rcp_pass="pruned_rcps",  # noqa: S106 -- no password: which references
                )
            )
        except Exception as error:  # noqa: BLE001 -- it has no exceptions of its own
            return [None, f"{type(error).__name__} Error: {error}", None]


def _same_number(
    what: str, row: dict[str, Any], path: str, theirs: Any, ours: Any, reason: str = ""
) -> Outcome:
    """Whether two numbers agree, which may both be missing."""
    missing = theirs is None or math.isnan(theirs)
    same = missing if ours is None or math.isnan(ours) else not missing
    if same and not missing:
        apart = _MINUTES_APART
        if what == "minutes" and row["round"] in _SECONDS_AS_MS:
            theirs, apart = theirs * _SECONDS_AS_MS[row["round"]], _ROUNDED_APART
        same = math.isclose(theirs, ours, rel_tol=_MINUTES_APART, abs_tol=apart)
    return _outcome(what, row, path, "agrees" if same else "differs", theirs, ours, reason)


def _outcome(
    what: str,
    row: dict[str, Any],
    path: str,
    state: str,
    theirs: Any = None,
    ours: Any = None,
    reason: str = "",
) -> Outcome:
    return Outcome(
        what=what,
        round_name=row["round"],
        path=path,
        state=state,
        theirs=theirs,
        ours=ours,
        reason=reason,
    )


def _keys(errors: list[str | None]) -> str:
    """The keys of the official errors; None stands for the end of a table."""
    return ", ".join(dict.fromkeys(key or "the end" for key in errors)) or "nothing"
