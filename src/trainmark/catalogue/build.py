"""Build the packaged catalogue from published results repositories.

    python -m trainmark.catalogue.build --out DIR REPO...

REPO is a bare git directory or a folder, ``mlcommons/training_results_v1.0=PATH`` when git does
not know the name. Facts only are kept: names, counts, times, provenance. What could not be read
or resolved is counted and printed, by kind, with examples; it also stands in the result's notes.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainmark.catalogue.entries import Entry, find_entries, read_entry
from trainmark.catalogue.names import BENCHMARKS
from trainmark.catalogue.schema import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    result_to_row,
    run_to_row,
)
from trainmark.catalogue.source import open_source
from trainmark.catalogue.store import write_table
from trainmark.types import Doubt, Result, Run, TrainmarkError

__all__ = ["Built", "build", "main"]

_EXAMPLES = 3


@dataclass(slots=True, kw_only=True)
class Built:
    """What a build found.

    Attributes:
        results: Every result, by round and path.
        runs: The runs of each, by the result's id, in file order.
        doubts: What was resolved by a rule or not at all: kind to places.
    """

    results: list[Result] = field(default_factory=list)
    runs: dict[str, tuple[Run, ...]] = field(default_factory=dict)
    doubts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def build(arguments: Sequence[str]) -> Built:
    """Read results repositories.

    Args:
        arguments: Repositories, as ``open_source`` takes them.

    Raises:
        UsageError: A repository is missing or has no name.
        TrainmarkError: git cannot read one.
    """
    built = Built()
    seen: dict[frozenset[str], str] = {}
    for entry in sorted(_entries(arguments, built), key=lambda e: e.result.id):
        _add(entry, built, seen)
    return built


def _entries(arguments: Sequence[str], built: Built) -> Iterator[Entry]:
    for argument in arguments:
        with open_source(argument) as source:
            folders = find_entries(source)
            for path in folders.skipped:
                built.doubts["file left out: no result log by its name"].append(
                    f"{source.name}/{path}"
                )
            for folder, logs in folders.logs.items():
                yield read_entry(source, folder, logs)


def _add(entry: Entry, built: Built, seen: dict[frozenset[str], str]) -> None:
    """Keep one entry; mark it when all its logs were there before, under another id."""
    result = entry.result
    notes = list(entry.notes)
    earlier = seen.setdefault(entry.contents, result.id) if entry.contents else result.id
    carried_over = earlier != result.id
    if carried_over:
        notes.append(("same logs as an earlier result", f"the same logs as {earlier}"))
    for kind, text in notes:
        built.doubts[kind].append(f"{result.id}: {text}")
    built.results.append(
        entry.finished(carried_over, tuple(Doubt(kind=kind, text=text) for kind, text in notes))
    )
    built.runs[result.id] = entry.runs


def write(built: Built, folder: Path) -> None:
    """Write the two files of the packaged catalogue.

    Args:
        built: What was read.
        folder: An existing folder.
    """
    write_table(
        folder / "published_results.parquet",
        RESULT_COLUMNS,
        [result_to_row(result) for result in built.results],
    )
    write_table(
        folder / "published_runs.parquet",
        RUN_COLUMNS,
        [
            run_to_row(result.id, index, run)
            for result in built.results
            for index, run in enumerate(built.runs[result.id])
        ],
    )


def summary(built: Built) -> Iterator[str]:
    """What was found, for people: counts by round and benchmark, then the doubts by kind."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in built.results:
        groups[result.round or "", result.benchmark].append(result)
    for (name, benchmark), results in sorted(groups.items()):
        runs = [run for result in results for run in built.runs[result.id]]
        yield (
            f"{name} {benchmark}: {len(results)} results, "
            f"{sum(r.minutes is not None for r in results)} with a score, "
            f"{sum(r.division == 'open' for r in results)} open, "
            f"{sum(r.carried_over for r in results)} filed before, "
            f"{len(runs)} logs, {sum(run.minutes is not None for run in runs)} timed"
        )
    for kind, places in sorted(built.doubts.items()):
        yield f"{kind}: {len(places)}"
        for place in places[:_EXAMPLES]:
            yield f"    {place}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m trainmark.catalogue.build",
        description=f"Build the packaged catalogue of {len(BENCHMARKS)} benchmarks.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="existing folder")
    parser.add_argument("repositories", nargs="+", metavar="REPO", help="PATH or OWNER/NAME=PATH")
    asked = parser.parse_args(arguments)
    try:
        built = build(asked.repositories)
        write(built, asked.out)
    except TrainmarkError as error:
        print(f"{error.message}\n  {error.hint}", file=sys.stderr)
        return error.exit_code
    for line in summary(built):
        print(line.encode("ascii", "backslashreplace").decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
