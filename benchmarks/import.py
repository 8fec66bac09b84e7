"""What an import costs: seconds, MB/s and memory, beside the mere reading of the same bytes.

    python benchmarks/import.py PATH... [--jobs N] [--times 1] [--json]

PATH is what ``trainmark import`` takes, on disk. In one run, one after the other, each as a
process of its own:

    limit     the same logs read and thrown away: git cat-file --batch, or cat for plain files
    cold      trainmark import into an empty catalogue
    second    the same command again: nothing has changed

CPU seconds are of the command and all its children (git is one of them). Memory is the peak of
what all its processes hold together, shared pages divided among them (PSS of /proc), looked at
four times a second. Goals for all thirteen rounds on two cores: cold at most 60 s and 1 GB,
second at most 2 s.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from trainmark.catalogue.importing.entries import find_folders
from trainmark.catalogue.importing.git_objects import sizes_of
from trainmark.catalogue.importing.place import Place, find_place, open_place
from trainmark.catalogue.importing.source import FolderSource, GitSource

_LOOK_S = 0.25  # each look costs a few milliseconds of the cores that are measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one way took.

    Attributes:
        wall_s: Seconds on the clock.
        cpu_s: CPU seconds of all its processes.
        peak_mb: Most memory that all held together, in MB.
        mb_per_s: Megabytes of logs by the clock.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    mb_per_s: float


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--jobs", type=int, help="processes; all cores by default")
    parser.add_argument("--times", type=int, default=1, help="how often; medians are shown")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.paths, options.jobs, options.times)
    print(json.dumps(found, indent=2) if options.json else "\n".join(_lines(found)))


def measure(paths: Sequence[str], jobs: int | None, times: int) -> dict[str, Any]:
    """Costs of the three ways, medians over several times.

    Args:
        paths: The sources.
        jobs: Processes of an import.
        times: How often each is measured, in turn.
    """
    logs = [_logs_of(find_place(path)) for path in paths]
    size = sum(one.bytes for one in logs)
    costs: dict[str, list[Cost]] = {"limit": [], "cold": [], "second": []}
    for _ in range(times):
        costs["limit"].append(_together([_limit(one) for one in logs], size))
        with tempfile.TemporaryDirectory() as where:
            command = [sys.executable, "-m", "trainmark", "import", "--catalogue", where, *paths]
            command += [] if jobs is None else ["--jobs", str(jobs)]
            costs["cold"].append(_cost([command], size))
            costs["second"].append(_cost([command], size))
    return {
        "logs": sum(one.number for one in logs),
        "megabytes": size / 1e6,
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        **{way: asdict(_median(each)) for way, each in costs.items()},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Logs:
    """The logs of one source: git's names of them, or the files."""

    place: Place
    names: tuple[str, ...]
    number: int
    bytes: int


def _logs_of(place: Place) -> _Logs:
    with open_place(place) as source:
        assert isinstance(source, GitSource | FolderSource)
        paths = [log for one in find_folders(source.paths, "").folders for log in one.logs]
        names = tuple(source.location(path) for path in paths)
    if place.is_git:
        known = sizes_of(Path(place.path), names)
        there = tuple(name for name in names if name in known)
        size = sum(known[name] for name in there)
    else:
        there = names
        size = sum(Path(name).stat().st_size for name in there)
    return _Logs(place=place, names=there, number=len(there), bytes=size)


def _limit(logs: _Logs) -> tuple[list[str], bytes]:
    """The command that reads the logs and does nothing with them, and its standard input."""
    listed = "\n".join(logs.names).encode()
    if logs.place.is_git:
        return ["git", "-C", logs.place.path, "cat-file", "--batch"], listed
    return ["xargs", "-d", "\n", "cat"], listed


def _together(commands: Sequence[tuple[list[str], bytes]], size: int) -> Cost:
    return _cost([words for words, _ in commands], size, [given for _, given in commands])


def _cost(
    commands: Sequence[Sequence[str]], size: int, given: Sequence[bytes] | None = None
) -> Cost:
    """Run commands one after the other; what they print goes nowhere."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    peak = 0
    for place, words in enumerate(commands):
        with tempfile.TemporaryFile() as standard_input:
            standard_input.write(b"" if given is None else given[place])
            standard_input.seek(0)
            process = subprocess.Popen(
                words,
                stdin=standard_input,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            watch = _Watch(process)
            watch.start()
            status = process.wait()
            watch.join()
            peak = max(peak, watch.peak)
            if status not in (0, 1):  # 1: damaged files were found
                sys.exit(f"{' '.join(words[:5])} ended with status {status}")
    wall, after = perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(
        wall_s=wall,
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        peak_mb=peak / 1e6,
        mb_per_s=size / 1e6 / wall,
    )


class _Watch(threading.Thread):
    """Looks at the memory of a process and of everything it has started, until it ends."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(daemon=True)
        self._process = process
        self.peak = 0

    def run(self) -> None:
        while self._process.returncode is None:
            held = sum(map(_held, _family(self._process.pid)))
            self.peak = max(self.peak, held)
            threading.Event().wait(_LOOK_S)


def _family(process: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield process
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _family(int(child))


def _held(process: int) -> int:
    """Bytes of memory of a process, its share of what it has in common with others."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:  # it has ended
        pass
    return 0


def _median(costs: Sequence[Cost]) -> Cost:
    middle = [statistics.median(values) for values in zip(*map(_values, costs), strict=True)]
    return Cost(**dict(zip(asdict(costs[0]), middle, strict=True)))


def _values(cost: Cost) -> tuple[float, ...]:
    return tuple(asdict(cost).values())


def _lines(found: dict[str, Any]) -> list[str]:
    """What was measured, for people."""
    lines = [
        f"{found['logs']:,} logs, {found['megabytes']:,.0f} MB; {found['cores']} cores, "
        f"load {found['load']:.1f}",
        f"{'':8}{'wall s':>10}{'CPU s':>10}{'MB/s':>10}{'peak MB':>10}",
    ]
    for way in ("limit", "cold", "second"):
        one = found[way]
        rate = "" if way == "second" else f"{one['mb_per_s']:.0f}"
        lines.append(
            f"{way:8}{one['wall_s']:10.1f}{one['cpu_s']:10.1f}{rate:>10}{one['peak_mb']:10.0f}"
        )
    limit, cold = found["limit"]["cpu_s"], found["cold"]["cpu_s"]
    return [*lines, f"cold over limit, CPU: {cold / limit:.1f}"]


if __name__ == "__main__":
    main()
