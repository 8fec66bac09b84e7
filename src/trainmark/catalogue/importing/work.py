"""One folder as a task for a process of its own: what it needs, and what it gives back."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark.catalogue.importing.entries import Folder
from trainmark.catalogue.importing.facts import Standing, read_folder
from trainmark.catalogue.importing.source import FolderSource, GitSource, Source
from trainmark.catalogue.schema import run_to_row
from trainmark.types import Finding, Result

__all__ = ["Outcome", "Task", "close_sources", "read_task"]

_MOST_FINDINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One folder to read.

    Attributes:
        place: The repository's or folder's path.
        is_git: Whether it is read through git.
        standing: What its result is part of.
        folder: The folder.
        objects: Where the contents are: path to git's object name, or to the file on disk.
        size: Bytes of its logs, as far as they are known.
    """

    place: str
    is_git: bool
    standing: Standing
    folder: Folder
    objects: Mapping[str, str]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a task.

    Attributes:
        slug: The source that the folder belongs to.
        path: The folder.
        result: The result, None where the folder holds no logs after all.
        runs: The rows of its runs, pickled: they pass through to a file and are many.
        contents: What identifies each log's content, "" of an absent one.
        timed: Number of runs with a time.
        findings: What was damaged, the first of each log.
        size: As in the task.
        bytes: Bytes of logs that were read.
    """

    slug: str
    path: str
    result: Result | None
    runs: bytes
    contents: tuple[str, ...]
    timed: int
    findings: tuple[Finding, ...]
    size: int
    bytes: int

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of its runs."""
        rows: list[tuple[Any, ...]] = pickle.loads(self.runs)  # noqa: S301 - by our own process
        return rows


# The source that this process read from last: the next task is likely to be of the same.
_last: dict[str, Source] = {}


def read_task(task: Task) -> Outcome:
    """Read one folder.

    Raises:
        TrainmarkError: git fails.
    """
    facts = read_folder(_source(task), task.folder, task.standing)
    if facts is None:
        return _outcome(task, None)
    rows = [run_to_row(facts.result.id, index, run) for index, run in enumerate(facts.runs)]
    return Outcome(
        slug=task.standing.slug,
        path=task.folder.path,
        result=facts.result,
        runs=pickle.dumps(rows, pickle.HIGHEST_PROTOCOL),
        contents=tuple(run.content for run in facts.runs),
        timed=sum(run.minutes is not None for run in facts.runs),
        findings=_first_of_each(facts.findings),
        size=task.size,
        bytes=facts.bytes,
    )


def close_sources() -> None:
    """End what this process has read from; a process that ends does so by itself."""
    for source in _last.values():
        source.__exit__(None, None, None)
    _last.clear()


def _outcome(task: Task, result: None) -> Outcome:
    return Outcome(
        slug=task.standing.slug,
        path=task.folder.path,
        result=result,
        runs=pickle.dumps([]),
        contents=(),
        timed=0,
        findings=(),
        size=task.size,
        bytes=0,
    )


def _source(task: Task) -> Source:
    """The repository with this folder's files."""
    known = _last.get(task.place)
    if known is None:
        close_sources()
        path, name = Path(task.place), task.standing.name
        if task.is_git:
            known = GitSource(path, name, commit=task.standing.commit, objects={})
        else:
            known = FolderSource(path, name, files={})
        _last[task.place] = known
    assert isinstance(known, GitSource | FolderSource)
    known.list_only(task.objects)
    return known


def _first_of_each(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first finding of each file and rule: a broken log has one for every line."""
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.path, finding.rule), finding)
    return tuple(first.values())[:_MOST_FINDINGS]
