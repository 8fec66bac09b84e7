"""Seeds: every run logs one, and no two runs log the same one at the same place of the code.

Training rules, section "Random numbers" (from round 4.1 on, Closed division).
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark.mllog import keys
from trainmark.rules.subjects import show
from trainmark.types import Finding, RunLog, Severity

__all__ = ["Seed", "check_seeds", "seeds_of", "shared_seeds"]

_MOST_SEEDS = 1000  # of one log; a run needs one
_MOST_FINDINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One seed as logged.

    Attributes:
        value: The seed as a whole number, None if it is none.
        shown: What the log has instead, short; "" for a whole number.
        file: The source file that logged it, "" if the record does not say.
        line: The line in that file, "" if the record does not say.
        line_no: The line of the log.
    """

    value: int | None
    shown: str
    file: str
    line: str
    line_no: int


def seeds_of(log: RunLog) -> tuple[Seed, ...]:
    """The seeds that a log has, at most a thousand."""
    return tuple(
        Seed(
            value=(value := _whole(event.value)),
            shown="" if value is not None else show(event.value),
            file=_place(event.metadata, "file"),
            line=_place(event.metadata, "lineno"),
            line_no=event.line_no,
        )
        for event, _ in zip(log.all(keys.SEED), range(_MOST_SEEDS), strict=False)
    )


def check_seeds(folder: str, runs: Sequence[tuple[str, Sequence[Seed]]]) -> Iterator[Finding]:
    """What is wrong with the seeds of the runs of an official benchmark.

    Args:
        folder: The folder, for findings about several runs.
        runs: For each log its path and its seeds.
    """
    for path, seeds in runs:
        yield from _of_one_run(path, seeds)
    yield from shared_seeds(folder, runs)


def _of_one_run(path: str, seeds: Sequence[Seed]) -> Iterator[Finding]:
    if not seeds:
        yield Finding(
            rule="folder.no_seed",
            severity=Severity.ERROR,
            message="the run logs no seed",
            fix="Log the seed of every run with the key seed.",
            path=path,
        )
    for seed in seeds:
        if seed.value is None:
            yield Finding(
                rule="folder.seed_value",
                severity=Severity.ERROR,
                message=f"the seed is {seed.shown}; expected a whole number",
                fix="Log the number that the generator was seeded with.",
                path=path,
                line_no=seed.line_no,
            )
            break
    if any(not (seed.file and seed.line) for seed in seeds):
        yield Finding(
            rule="folder.seed_place",
            severity=Severity.ERROR,
            message="the record of the seed does not say which line of which source file logged it",
            fix='Log seed with the metadata "file" and "lineno", as mllog does by itself.',
            path=path,
            line_no=seeds[0].line_no,
        )
    if len(seeds) > 1:
        yield Finding(
            rule="folder.several_seeds",
            severity=Severity.WARNING,
            message=f"the run logs {len(seeds)} seeds; one is enough",
            fix="Derive all generators from one logged seed.",
            path=path,
            line_no=seeds[1].line_no,
        )


def shared_seeds(folder: str, runs: Sequence[tuple[str, Sequence[Seed]]]) -> Iterator[Finding]:
    """Seeds that several runs log at the same place of the code.

    Args:
        folder: The folder.
        runs: For each log its path and its seeds.
    """
    users: dict[tuple[str, str, int], dict[str, None]] = {}
    for path, seeds in runs:
        name = Path(path).name  # a log may have hundreds of seeds, one for each process
        for seed in seeds:
            if seed.value is not None:
                users.setdefault((seed.file, seed.line, seed.value), {})[name] = None
    shared = [(seed, names) for (_, _, seed), names in users.items() if len(names) > 1]
    for seed_value, names in shared[:_MOST_FINDINGS]:
        shown = ", ".join(list(names)[:5]) + (", ..." if len(names) > 5 else "")
        yield Finding(
            rule="folder.seeds",
            severity=Severity.ERROR,
            message=f"{len(names)} runs have the seed {show(seed_value)} ({shown}); "
            "every run needs one of its own",
            fix="Run again without a fixed seed, or with a different one for each run.",
            path=folder,
        )
    if len(shared) > _MOST_FINDINGS:
        yield Finding(
            rule="folder.seeds",
            severity=Severity.ERROR,
            message=f"{len(shared) - _MOST_FINDINGS} more seeds are shared by several runs",
            fix="Run again without a fixed seed, or with a different one for each run.",
            path=folder,
        )


def _whole(value: Any) -> int | None:
    """What ``int()`` makes of a seed, None if it makes nothing of it."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _place(metadata: Mapping[str, Any], name: str) -> str:
    value = metadata.get(name, "")
    if isinstance(value, str):
        return value
    return _number(value) if type(value) is int else show(value)


@functools.lru_cache(maxsize=64)
def _number(value: int) -> str:
    """A line of a source file: the same one for the seeds of hundreds of processes."""
    return show(value)
