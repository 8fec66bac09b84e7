"""Whether settings keep to the Closed division, found out before anything is trained.

The log that a successful run with these settings would write is written in a temporary folder
and held to the compiled closed rules of the workload's round (``trainmark.rules``), so what is
refused here is what the checker would refuse after the training, by the same rules. Settings
that the Closed division fixes (``setting(..., fixed=True)``) must stand at their default.
"""

import dataclasses
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark import rules
from trainmark.mllog import LogWriter, keys, read
from trainmark.training.log_observer import LogObserver, Submission
from trainmark.training.loop import schedule
from trainmark.training.moments import (
    BlockStarted,
    BlockStopped,
    Built,
    Evaluated,
    EvaluationStarted,
    InitStarted,
    InitStopped,
    Moment,
    Position,
    RunStarted,
    RunStopped,
)
from trainmark.training.settings import Settings
from trainmark.training.task import Task
from trainmark.types import Direction, Finding, UsageError, WorkloadSpec

__all__ = ["CLOSED", "DIVISIONS", "OPEN", "breaches", "require_closed"]

CLOSED, OPEN = "closed", "open"
DIVISIONS = (CLOSED, OPEN)
# An evaluation schedule that breaks a rule breaks it early.
_MOST_EVALUATIONS = 50
_SHORT_OF_THE_TARGET = 1e-3
_STARTED_MS = 1_700_000_000_000
_FIXED = "closed.fixed"
# The written rules bind the Closed division to it; the checker warns of it.
_SCHEDULE = "run.eval_schedule"
# Decided by measuring; no rule is about them.
_MEASURED = frozenset({"precision", "memory_format", "threads", "device", "compile"})
_HINT = (
    "Put the settings back, or leave --division closed away: the Open division allows them, and "
    "the result says so."
)

Make = Callable[[Settings], tuple[WorkloadSpec, Task]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One thing that the Closed division forbids.

    Attributes:
        rule: The rule, as ``trainmark check --explain`` knows it, or "closed.fixed".
        text: Key, value and what is allowed.
        setting: What to change, "" where no changed setting is to blame.
    """

    rule: str
    text: str
    setting: str = ""

    def __str__(self) -> str:
        advice = f"; put back {self.setting}" if self.setting else ""
        return f"{self.rule}: {self.text}{advice}"


def require_closed(settings: Settings, make: Make) -> None:
    """Refuse settings that the closed rules of the workload's round forbid.

    Args:
        settings: The settings, every "auto" decided.
        make: Makes spec and task for settings.

    Raises:
        UsageError: Names each rule, key, value, what is allowed and the setting to put back.
    """
    spec, found = breaches(settings, make)
    if found:
        listed = "\n  ".join(map(str, found))
        title = rules.ruleset_named(spec.ruleset).title
        raise UsageError(
            f"{spec.name} may not be run like this in the Closed division, by {title}:\n  {listed}",
            hint=_HINT,
        )


def breaches(settings: Settings, make: Make) -> tuple[WorkloadSpec, Sequence[Breach]]:
    """Everything that keeps these settings out of the Closed division.

    Args:
        settings: See ``require_closed``.
        make: See ``require_closed``.

    Returns:
        The workload's numbers, and one breach for each setting or rule.
    """
    spec, task = make(settings)
    fixed = [
        Breach(
            rule=_FIXED,
            text=f"the Closed division fixes {field.name}; it is {_value(settings, field)!r}, "
            f"allowed is {field.default!r}",
            setting=f"{field.name}={field.default}",
        )
        for field in _changed(settings)
        if field.metadata["fixed"]
    ]
    found = [
        Breach(rule=one.rule, text=one.message, setting=_culprit(one, settings, make))
        for one in _rehearse(spec, task, settings)
    ]
    # What a fixed setting brings about is told once.
    told = {breach.setting for breach in fixed}
    return spec, [*fixed, *(breach for breach in found if breach.setting not in told)]


def _culprit(finding: Finding, settings: Settings, make: Make) -> str:
    """The changed setting without which the rule would be kept, with its default."""
    for field in _changed(settings):
        default: dict[str, Any] = {field.name: field.default}
        reverted = dataclasses.replace(settings, **default)
        try:
            reverted.validate()
            spec, task = make(reverted)
        except UsageError:  # the default does not go with the other changes
            continue
        if all(one.rule != finding.rule for one in _rehearse(spec, task, reverted)):
            return f"{field.name}={field.default}"
    return ""


def _changed(settings: Settings) -> "Iterator[dataclasses.Field[Any]]":
    """The settings that are not at their default, those that are measured left out."""
    for field in dataclasses.fields(settings):
        if field.name not in _MEASURED and _value(settings, field) != field.default:
            yield field


def _value(settings: Settings, field: "dataclasses.Field[Any]") -> Any:
    return getattr(settings, field.name)


def _rehearse(spec: WorkloadSpec, task: Task, settings: Settings) -> list[Finding]:
    """What the checker would find against the log of a successful closed run."""
    who = Submission(
        org="rehearsal",
        platform="rehearsal",
        division=CLOSED,
        status="research",
        ruleset=spec.ruleset,
        seed=1,
    )
    seconds = itertools.count(_STARTED_MS, 1000)
    with tempfile.TemporaryDirectory(prefix="trainmark-") as folder:
        path = Path(folder) / "result_0.txt"
        with LogWriter(path, now_ms=seconds.__next__) as writer:
            observer = LogObserver(writer, who)
            for moment in _moments(spec, task, settings):
                observer(moment)
        verdict = rules.check_log(read(path), ruleset=rules.ruleset_named(spec.ruleset))
    task.close()
    return [one for one in verdict.findings if one.is_error or one.rule == _SCHEDULE]


def _moments(spec: WorkloadSpec, task: Task, settings: Settings) -> Iterator[Moment]:
    """What a run tells that trains in no time and reaches the target at its last evaluation."""
    yield InitStarted()
    yield Built(
        spec=spec,
        settings=dataclasses.asdict(settings),
        hyperparameters=dict(task.hyperparameters),
        environment={},
        caches_flushed=True,
        initialized_tensors=task.initialized_tensors,
    )
    yield InitStopped()
    yield RunStarted()
    step, before = settings.global_batch_size, _at(spec, 0, settings)
    due = list(
        itertools.islice(schedule(spec.evaluate_every_samples, spec.max_samples), _MOST_EVALUATIONS)
    )
    for until in due:
        if until <= before.samples:
            continue
        at = _at(spec, math.ceil(until / step) * step, settings)
        yield BlockStarted(at=before, samples=until - before.samples)
        yield BlockStopped(
            at=at, samples=at.samples - before.samples, seconds=1.0, input_wait_seconds=0.0
        )
        yield EvaluationStarted(at=at)
        reached = at.samples >= due[-1]
        yield Evaluated(at=at, quality=_quality(spec, reached=reached), reached=reached)
        before = at
    yield RunStopped(at=before, status=keys.SUCCESS)


def _at(spec: WorkloadSpec, samples: int, settings: Settings) -> Position:
    return Position(
        samples=samples,
        train_samples=spec.train_samples,
        step_samples=settings.global_batch_size,
    )


def _quality(spec: WorkloadSpec, *, reached: bool) -> float:
    target = spec.target
    if reached:
        return target.value
    worse = -1 if target.direction is Direction.HIGHER else 1
    return target.value + worse * _SHORT_OF_THE_TARGET * abs(target.value)
