"""The benchmark folders of a results repository, by the layouts of all rounds.

    <submitter>/results/<system>/<benchmark>/result_0.txt ...            from 0.6 on
    <submitter>/results/<system>/<benchmark>/scaling.json                from 2.0 on
    <submitter>/results/<system>/<benchmark>/power/result_0/node_0.txt   from 4.0 on, some
    <submitter>/systems/<system>.json                                    from 0.6 on
    v0.5.0/<submitter>/<...>/results/<system>/<benchmark>/result_0.txt   0.5
    v0.5.0/<submitter>/<...>/results/<system>/entry.json                 0.5, and one of 0.6
    <submitter>/results/<system>/result_1.txt                            0.7, one submitter

Above the submitter there may be any folders; a submitter's own folder may be the top. The
benchmark's folder stands at any depth below the system's: BERT was once filed under resnet/bert.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.code import implementations_in, other_system_file

__all__ = ["Folder", "Folders", "find_folders"]

_LOG = re.compile(r"result_[^/]*\.txt")
# What is read where a benchmark's folder has no log by the official name.
_OTHER_LOG = re.compile(r"[^./][^/]*\.log")
_V05 = re.compile(r"v0\.5\.\d+")
# Below these stands code, with "results" folders of its own.
_CODE = frozenset({"benchmarks", "code", "implementations"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One benchmark folder.

    Attributes:
        path: Its path in the repository.
        place: The submitter and the path below "results": what the result's id ends with.
        submitter: The submitter's folder.
        system: The system's folder.
        benchmark: The benchmark's official name; "" where only the logs tell it.
        logs: Its logs, in the order of their numbers.
        systems: Where its system file may stand, the likeliest first; those that exist.
        expected_system: Where it should stand.
        scaling: scaling.json, "" without one.
        power: Every file of its power folder.
        implementations: What the submitter's implementations of the benchmark are called.
        other_names: Whether the logs are files by other names than result logs have.
    """

    path: str
    place: str
    submitter: str
    system: str
    benchmark: str
    logs: tuple[str, ...]
    systems: tuple[str, ...] = ()
    expected_system: str = ""
    scaling: str = ""
    power: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()
    other_names: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """Everything that its facts come from."""
        return (*self.logs, *self.systems, *filter(None, (self.scaling, *self.power)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """What a repository holds.

    Attributes:
        folders: Every folder with logs, by path.
        skipped: Files in such folders that are neither log, scaling file nor power log.
    """

    folders: tuple[Folder, ...]
    skipped: tuple[str, ...]


@dataclass(slots=True)
class _Files:
    """The files of one folder."""

    logs: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    power: list[str] = field(default_factory=list)


def find_folders(paths: Iterable[str], top: str) -> Folders:
    """The benchmark folders among the files of a repository.

    Args:
        paths: Every file.
        top: What the top folder is called: the submitter, where "results" stands in it.
    """
    everything = frozenset(paths)
    found: dict[tuple[str, int], _Files] = defaultdict(_Files)
    for path in sorted(everything):
        parts = path.split("/")
        depth = _results_at(parts)
        if depth is not None:
            _sort_in(path, parts, depth, found)
    folders, skipped = [], []
    code = implementations_in(everything)
    for (folder, depth), files in sorted(found.items()):
        other_logs = [p for p in files.others if _OTHER_LOG.fullmatch(_name(p))]
        logs = files.logs or other_logs
        if logs:
            one = _folder(folder, depth, logs, files.power, everything, top)
            names_of = code.get((one.submitter, one.benchmark), ())
            folders.append(replace(one, implementations=names_of, other_names=not files.logs))
            scaling = f"{folder}/scaling.json"
            skipped += [p for p in files.others if p not in logs and p != scaling]
    return Folders(folders=tuple(folders), skipped=tuple(skipped))


def _results_at(parts: Sequence[str]) -> int | None:
    """Where "results" stands in a path that may be a log's, None if nowhere."""
    if "results" not in parts:
        return None
    depth = parts.index("results")
    if len(parts) < depth + 3 or _CODE.intersection(parts[:depth]):
        return None
    return depth


def _sort_in(
    path: str, parts: Sequence[str], depth: int, found: dict[tuple[str, int], _Files]
) -> None:
    """Put a file to its folder: a benchmark's, or a system's that has logs itself."""
    name, inner = parts[-1], parts[depth + 2 : -1]  # the folders below the system's
    if not inner:
        if _LOG.fullmatch(name):
            found["/".join(parts[:-1]), depth].logs.append(path)
        return
    if "power" in inner:
        cut = depth + 2 + inner.index("power")
        if names.benchmark(parts[cut - 1]).known:
            found["/".join(parts[:cut]), depth].power.append(path)
        return
    if not names.benchmark(inner[-1]).known:
        return
    files = found["/".join(parts[:-1]), depth]
    (files.logs if _LOG.fullmatch(name) else files.others).append(path)


def _folder(
    path: str,
    depth: int,
    logs: Sequence[str],
    power: Sequence[str],
    everything: frozenset[str],
    top: str,
) -> Folder:
    parts = path.split("/")
    above, system, inner = parts[:depth], parts[depth + 1], parts[depth + 2 :]
    own = above[1:] if above and _V05.fullmatch(above[0]) else above[-1:]
    root = "".join(f"{part}/" for part in above)
    submitter = own[0] if own else top
    candidates = (
        f"{root}systems/{system}.json",
        f"{root}results/{system}/entry.json",
        f"{root}results/{system}/{system}.json",
        f"{root}systems/{other_system_file(submitter, system)}.json",
    )
    scaling = f"{path}/scaling.json"
    return Folder(
        path=path,
        place="/".join([*(own or [top]), system, *inner]),
        submitter=submitter,
        system=system,
        benchmark=names.benchmark(inner[-1]).name if inner else "",
        logs=tuple(sorted(logs, key=_natural)),
        systems=tuple(one for one in candidates if one in everything),
        expected_system=candidates[0],
        scaling=scaling if scaling in everything else "",
        power=tuple(sorted(power, key=_natural)),
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _natural(path: str) -> tuple[tuple[int, int, str], ...]:
    """result_2 before result_10."""
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.findall(r"[0-9]+|[^0-9]+", path)
    )
