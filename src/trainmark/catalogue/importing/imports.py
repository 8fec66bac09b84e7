"""Import results repositories into the catalogue's folder; only what is new or changed is read."""

import hashlib
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainmark.catalogue.importing import state as states
from trainmark.catalogue.importing.carry import identities, mark
from trainmark.catalogue.importing.entries import Folder, find_folders
from trainmark.catalogue.importing.facts import Standing
from trainmark.catalogue.importing.git_objects import sizes_of
from trainmark.catalogue.importing.place import Place, head_of, open_place, without_secret
from trainmark.catalogue.importing.source import FolderSource, GitSource, Source
from trainmark.catalogue.importing.state import FolderState, State
from trainmark.catalogue.importing.work import Outcome, Task, close_sources, read_task
from trainmark.catalogue.search import PUBLISHED_RESULTS, PUBLISHED_RUNS
from trainmark.catalogue.store import connect, literal, rows
from trainmark.rules.processes import cores, spread
from trainmark.types import Finding, Result

__all__ = ["Imported", "Progress", "SourceReport", "import_places"]

_WORTH_BYTES = 100 << 20  # below this a second process costs more to start than it saves


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import has come.

    Attributes:
        logs: Logs read.
        all_logs: Logs to read.
        bytes: Bytes of them.
        all_bytes: Bytes of all of them.
    """

    logs: int
    all_logs: int
    bytes: int
    all_bytes: int


OnProgress = Callable[[Progress], None]
OnStep = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class SourceReport:
    """What an import did with one source.

    Attributes:
        state: What is in the catalogue now.
        new: Ids of results that were not there before.
        changed: Ids of those that were read again.
        unchanged: Number of folders that were taken over.
        gone: Ids of those that are no longer in the source.
        bytes: Bytes of logs that were read.
    """

    state: State
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    gone: list[str] = field(default_factory=list)
    bytes: int = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was damaged, in folders taken over too."""
        return tuple(f for one in self.state.folders.values() for f in one.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did.

    Attributes:
        where: The catalogue's folder.
        sources: One report for each source, in the order of the request.
    """

    where: Path
    sources: tuple[SourceReport, ...]

    def results(self) -> dict[str, Result]:
        """The results of these sources, as they stand in the catalogue."""
        return states.load_results(self.where, *(report.state.slug for report in self.sources))


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What is to be done with one source."""

    place: Place
    old: State | None
    state: State
    tasks: list[Task] = field(default_factory=list)
    kept: dict[str, FolderState] = field(default_factory=dict)
    prints: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """Whether nothing has changed at all."""
        return (
            self.old is not None
            and not self.tasks
            and self.kept.keys() == self.old.folders.keys()
            and self.state.commit == self.old.commit
        )


def import_places(
    places: Sequence[Place],
    *,
    where: Path,
    jobs: int | None = None,
    again: bool = False,
    on_progress: OnProgress | None = None,
    on_step: OnStep | None = None,
) -> Imported:
    """Read sources into the catalogue's folder.

    Args:
        places: The sources, each once.
        where: The catalogue's folder; made when it is missing.
        jobs: How many processes may be used; by default all cores where there is much to read.
        again: Read everything, whatever has been read before.
        on_progress: Told after each folder.
        on_step: Told what is done before and after reading.

    Raises:
        UsageError: The catalogue's folder cannot be used.
        TrainmarkError: git refuses a source; another import is under way; the disk is full.
    """
    step = on_step or (lambda _: None)
    with states.locked(where), ExitStack() as clones:
        plans = [_plan(place, where, clones, again=again, step=step) for place in places]
        step("reading logs")
        # Each is written while the next are read: no core idles, and what is there stays there.
        done = {plan.place.slug: _finish(plan, where) for plan in _read(plans, jobs, on_progress)}
        step("writing the catalogue")
        reports = [done[plan.place.slug] for plan in plans]
        _mark_all(reports, where)
    return Imported(where=where, sources=tuple(reports))


def _plan(place: Place, where: Path, clones: ExitStack, *, again: bool, step: OnStep) -> _Plan:
    step(f"looking at {place.name}")
    old = None if again else states.load_state(where, place.slug)
    state = State(
        slug=place.slug,
        name=place.name,
        round=place.round,
        published=place.published,
        commit=head_of(place),
    )
    plan = _Plan(place=place, old=old, state=state)
    if old is not None and _is_untouched(old, state, place):
        plan.state, plan.kept = old, dict(old.folders)
        return plan
    if place.url:
        step(f"cloning {without_secret(place.url)}")
        folder = clones.enter_context(tempfile.TemporaryDirectory(prefix="trainmark-import-"))
        plan.place = place = place.cloned(Path(folder))
    with open_place(place) as source:
        _compare(plan, source)
    return plan


def _is_untouched(old: State, state: State, place: Place) -> bool:
    """Whether it is the commit that was read, and what was absent still is."""
    if not state.commit or (old.commit, old.round) != (state.commit, state.round):
        return False
    absent = [name for one in old.folders.values() for name in one.absent]
    return not absent or bool(place.url) or not sizes_of(Path(place.path), absent)


def _compare(plan: _Plan, source: Source) -> None:
    """Find the folders, and which of them have changed."""
    assert isinstance(source, GitSource | FolderSource)
    plan.state = replace(plan.state, commit=source.commit)
    found = find_folders(source.paths, plan.place.name.rpartition("/")[2])
    plan.state = replace(plan.state, skipped=len(found.skipped))
    standing = Standing(
        name=plan.place.name,
        commit=source.commit,
        round=plan.place.round,
        published=plan.place.published,
        slug=plan.place.slug,
    )
    old = {} if plan.old is None else plan.old.folders
    sizes = _Sizes(source, plan.place)
    changed = []
    for folder in found.folders:
        mark_of = sizes.fingerprint(folder, standing)
        before = old.get(folder.path)
        if before is not None and before.fingerprint == mark_of:
            plan.kept[folder.path] = before
        else:
            plan.prints[folder.path] = mark_of
            changed.append(folder)
    again = sizes.now_there(plan.kept)
    for folder in found.folders:
        if folder.path in again:
            plan.prints[folder.path] = plan.kept.pop(folder.path).fingerprint
            changed.append(folder)
    lengths = sizes.of(changed)
    for folder in changed:
        plan.tasks.append(
            Task(
                place=plan.place.path,
                is_git=plan.place.is_git,
                standing=standing,
                folder=folder,
                objects={path: source.location(path) for path in folder.files},
                size=sum(lengths.get(path, 0) for path in folder.logs),
            )
        )
    plan.tasks.sort(key=lambda task: -task.size)


class _Sizes:
    """What tells whether a folder's files have changed, and how long they are."""

    def __init__(self, source: GitSource | FolderSource, place: Place) -> None:
        self._source = source
        self._place = place

    def fingerprint(self, folder: Folder, standing: Standing) -> str:
        """What changes with any file of a folder, and with what it is part of."""
        said = "\0".join((standing.prefix, standing.round, *folder.implementations))
        digest = hashlib.sha256(said.encode("utf-8", "surrogateescape"))
        for path in sorted(folder.files):
            digest.update(f"{path}\0{self._mark(path)}\0".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:32]

    def _mark(self, path: str) -> str:
        location = self._source.location(path)
        if isinstance(self._source, GitSource):
            return location
        try:
            status = Path(location).stat()
        except OSError:
            return "?"
        return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"

    def now_there(self, kept: Mapping[str, FolderState]) -> set[str]:
        """Folders with logs that were absent and are not any more."""
        absent = {name: path for path, one in kept.items() for name in one.absent}
        if not absent or not isinstance(self._source, GitSource):
            return set()
        return {absent[name] for name in sizes_of(Path(self._place.path), list(absent))}

    def of(self, folders: Iterable[Folder]) -> dict[str, int]:
        """Bytes of the logs by path, as far as they are there."""
        paths = [path for folder in folders for path in folder.logs]
        if isinstance(self._source, GitSource):
            names = {path: self._source.location(path) for path in paths}
            known = sizes_of(Path(self._place.path), list(names.values()))
            return {path: known[name] for path, name in names.items() if name in known}
        found = {}
        for path in paths:
            try:
                found[path] = Path(self._source.location(path)).stat().st_size
            except OSError:
                continue
        return found


def _read(
    plans: Sequence[_Plan], jobs: int | None, on_progress: OnProgress | None
) -> Iterator[_Plan]:
    """Read every task, the longest of each source first; each source as it is complete."""
    by_slug = {plan.place.slug: plan for plan in plans}
    largest_first = sorted(plans, key=lambda plan: -sum(task.size for task in plan.tasks))
    tasks = [task for plan in largest_first for task in plan.tasks]
    all_bytes = sum(task.size for task in tasks)
    all_logs = sum(len(task.folder.logs) for task in tasks)
    if jobs is None:
        jobs = cores() if all_bytes >= _WORTH_BYTES else 1
    logs = size = 0
    yield from (plan for plan in plans if not plan.tasks)
    try:
        for outcome in spread(read_task, tasks, jobs):
            plan = by_slug[outcome.slug]
            plan.outcomes.append(outcome)
            logs += len(outcome.contents)
            size += outcome.size
            if on_progress is not None:
                on_progress(Progress(logs=logs, all_logs=all_logs, bytes=size, all_bytes=all_bytes))
            if len(plan.outcomes) == len(plan.tasks):
                yield plan
                plan.outcomes.clear()
    finally:
        close_sources()


def _finish(plan: _Plan, where: Path) -> SourceReport:
    """Write what was read of one source beside what was taken over."""
    if plan.is_same:
        assert plan.old is not None
        return SourceReport(state=plan.old, unchanged=len(plan.kept))
    old = {} if plan.old is None else plan.old.folders
    known = {one.id for one in old.values() if one.id}
    objects = {task.folder.path: task for task in plan.tasks}
    read = {one.path: _folder_state(one, plan, objects[one.path]) for one in plan.outcomes}
    results = {}
    kept = [one.id for one in plan.kept.values() if one.id]
    if kept:
        before = states.load_results(where, plan.state.slug)
        results = {name: replace(before[name], commit=plan.state.commit) for name in kept}
    runs = []
    for outcome in plan.outcomes:
        if outcome.result is not None:
            results[outcome.result.id] = outcome.result
            runs += outcome.rows()
    folders = dict(sorted((plan.kept | read).items()))
    state = replace(plan.state, folders=folders, marked="")
    state = states.save(where, state, results, runs, kept)
    fresh = [one.result.id for one in plan.outcomes if one.result is not None]
    return SourceReport(
        state=state,
        new=sorted(set(fresh) - known),
        changed=sorted(set(fresh) & known),
        unchanged=len(plan.kept),
        gone=sorted(known - results.keys()),
        bytes=sum(outcome.bytes for outcome in plan.outcomes),
    )


def _folder_state(outcome: Outcome, plan: _Plan, task: Task) -> FolderState:
    contents = outcome.contents
    absent = [task.objects[p] for p, c in zip(task.folder.logs, contents, strict=False) if not c]
    return FolderState(
        fingerprint=plan.prints[outcome.path],
        id="" if outcome.result is None else outcome.result.id,
        runs=len(contents),
        there=sum(map(bool, contents)),
        timed=outcome.timed,
        absent=tuple(absent) if task.is_git else (),
        findings=outcome.findings,
    )


def _mark_all(reports: Sequence[SourceReport], where: Path) -> None:
    """Mark what was filed before, among all that is imported and packaged."""
    own = {report.state.slug: report for report in reports}
    found = {slug: states.load_state(where, slug) for slug in states.slugs(where)}
    known = {slug: state for slug, state in found.items() if state is not None}
    beside = _beside(known)
    if all(state.marked == beside for state in known.values()):
        return
    results = {slug: states.load_results(where, slug) for slug in known}
    everything = {name: one for group in results.values() for name, one in group.items()}
    folder = states.imported_folder(where)
    own_runs = identities([folder / slug / states.RUNS for slug in known])
    among = {run for one in own_runs.values() for run in one.runs}
    packaged = {
        name: one
        for name, one in identities([PUBLISHED_RUNS], among).items()
        if name not in everything
    }
    marked = mark(everything.values(), packaged | own_runs, _rounds_of(packaged))
    for slug, state in known.items():
        again = {name: marked[name] for name in results[slug]}
        changed = None if again == results[slug] else again
        saved = states.save_marks(where, replace(state, marked=beside), changed)
        if slug in own:
            own[slug].state = saved


def _beside(known: Mapping[str, State]) -> str:
    """What changes with any result beside which marks are made."""
    digest = hashlib.sha256()
    for slug, state in sorted(known.items()):
        digest.update(f"{slug}\0{state.files[states.RUNS]}\0".encode())
    status = PUBLISHED_RUNS.stat()
    digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def _rounds_of(ids: Collection[str]) -> dict[str, str]:
    """The rounds of packaged results."""
    if not ids:
        return {}
    sql = "SELECT id, round FROM read_parquet(?) WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    with connect() as database:
        found = rows(database, sql, [[literal(PUBLISHED_RESULTS)], list(ids)])
    return {row["id"]: row["round"] for row in found}
