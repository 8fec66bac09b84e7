"""The two sides of a ``diff``: runs before and after, and how they were set up."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark.analysis.comparability import refusal
from trainmark.analysis.own_runs import results_and_runs_at
from trainmark.mllog import keys, read
from trainmark.types import Result, Run, Target, UsageError

__all__ = ["Side", "load_sides", "setup_differences", "unlike"]

_LONGEST = 60
# What a log says before the clock starts that is no setting of the run.
_NO_SETTINGS = frozenset(
    {
        keys.SEED,
        keys.CACHE_CLEAR,
        keys.SUBMISSION_BENCHMARK,
        keys.WEIGHTS_INITIALIZATION,
        keys.OWN_TARGET,
        keys.OWN_SETTINGS,
        keys.OWN_ENVIRONMENT,
        keys.OWN_RULESET,
        keys.TRACKED_STATS,
    }
)
_OWN_NO_SETTINGS = frozenset({"seed", "init_checkpoint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The runs of one benchmark on one machine.

    Attributes:
        label: What the user gave.
        result: The runs as one result.
        runs: The runs; one that did not succeed, or breaks the rules, has another status than
            success.
    """

    label: str
    result: Result
    runs: tuple[Run, ...]

    @property
    def good(self) -> tuple[Run, ...]:
        """The runs that succeeded and have a time."""
        return tuple(run for run in self.runs if run.succeeded and run.minutes is not None)

    @property
    def target(self) -> Target | None:
        """The target that the logs state, None if they do not."""
        return next((run.target for run in self.runs if run.target is not None), None)


def load_sides(before: str, after: str, where: Path | None = None) -> list[tuple[Side, Side]]:
    """The sides of each benchmark that is to be compared.

    Args:
        before: A folder of result logs, a log, or what names results of the catalogue.
        after: The same.
        where: The folder of own results instead of the user's.

    Raises:
        UsageError: A side has no runs, or it is not clear which runs belong together.
    """
    sides = [_load(text, where) for text in (before, after)]
    if [len(side) for side in sides] == [1, 1]:
        return [(sides[0][0], sides[1][0])]
    by_name = [_by_benchmark(text, side) for text, side in zip((before, after), sides, strict=True)]
    missing = set(by_name[0]) ^ set(by_name[1])
    if missing:
        raise UsageError(
            f"only one side has runs of {', '.join(sorted(missing))}",
            hint="Give two folders with the same benchmarks, or one benchmark's folder on each "
            "side.",
        )
    return [(by_name[0][name], by_name[1][name]) for name in sorted(by_name[0])]


def unlike(before: Side, after: Side) -> tuple[str, ...]:
    """In what two sides differ that makes their difference no answer; () where they are alike."""
    one, other = before.result, after.result
    found = list(refusal([one, other]))
    for name, values in {
        "division": (one.division, other.division),
        "global batch size": (one.global_batch_size, other.global_batch_size),
        "number of accelerators": (one.accelerators, other.accelerators),
        "accelerator": (one.accelerator or None, other.accelerator or None),
    }.items():
        if None not in values and values[0] != values[1]:
            found.append(f"{name}: {_shown(values[0])} before, {_shown(values[1])} after")
    targets = before.target, after.target
    if targets[0] is not None and targets[1] is not None and targets[0] != targets[1]:
        found.append(f"target: {targets[0].value:g} before, {targets[1].value:g} after")
    return tuple(found)


def setup_differences(before: Side, after: Side) -> tuple[tuple[str, str, str], ...]:
    """What is set up otherwise: (name, before, after), "" where a side does not say.

    Software and device as the runs state them, the framework of the system file, and every
    setting that the first log has before its clock starts, seeds left out.
    """
    sides = _setup(before), _setup(after)
    names = sorted(set(sides[0]) | set(sides[1]))
    if not sides[0] or not sides[1]:  # one of them says nothing: no difference can be told
        return ()
    return tuple(
        (name, sides[0].get(name, ""), sides[1].get(name, ""))
        for name in names
        if sides[0].get(name) != sides[1].get(name)
    )


def _load(text: str, where: Path | None) -> list[Side]:
    if _is_path(text):
        pairs = results_and_runs_at(Path(text).expanduser())
    else:  # the catalogue's database takes time to load
        from trainmark.analysis.selection import candidates
        from trainmark.catalogue import runs_of

        found = candidates(text, where=where).results
        pairs = tuple((result, tuple(runs_of(result, where=where))) for result in found)
    return [Side(label=text, result=result, runs=runs) for result, runs in pairs]


def _is_path(text: str) -> bool:
    """Whether a file or folder is meant, as ``analysis.selection`` has it."""
    if not text.strip():
        return False  # Path("") is the working folder
    if text.startswith(("/", "./", "../", "~/")):
        return True
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def _by_benchmark(text: str, sides: list[Side]) -> Mapping[str, Side]:
    found: dict[str, Side] = {}
    for side in sides:
        if side.result.benchmark in found:
            raise UsageError(
                f"{text} means several results of {side.result.benchmark}: "
                f"{found[side.result.benchmark].result.id} and {side.result.id}",
                hint="Give one of them.",
            )
        found[side.result.benchmark] = side
    return found


def _setup(side: Side) -> dict[str, str]:
    """Settings by name, as text."""
    found: dict[str, str] = {}
    if side.result.framework:
        found["framework"] = side.result.framework
    run = next(iter(side.good or side.runs), None)
    if run is None:
        return found
    found |= {name: _shown(value) for name, value in _flat("", run.environment)}
    settings = dict(_flat("", run.settings))
    if not settings and side.result.origin == "own":  # a published log is not on this disk
        settings = dict(_logged(run))
    return found | {
        name: _shown(value) for name, value in settings.items() if name not in _OWN_NO_SETTINGS
    }


def _logged(run: Run) -> Iterator[tuple[str, Any]]:
    """What a log states before its clock starts; nothing when it is not there any more."""
    try:
        log = read(Path(run.source))
    except UsageError:
        return
    seen: set[str] = set()
    for event in log.events:
        if event.key == keys.RUN_START:
            return
        is_setting = event.kind not in ("INTERVAL_START", "INTERVAL_END")
        if is_setting and event.key not in _NO_SETTINGS and event.key not in seen:
            seen.add(event.key)
            yield event.key, event.value


def _flat(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    """A value on one short line."""
    if isinstance(value, float):
        text = f"{value:.10g}"
    else:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
