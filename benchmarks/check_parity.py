"""Whether we agree with the official tools on every published log, folder and score.

    python benchmarks/check_parity.py --rounds DIR --oracle FILE [--folders FILE] [--scores FILE]

DIR holds the public repositories training_results_v1.0, ... (or v1.0, 1.0). An oracle is what the
official tools, run once over them, said: JSON lines (in xz or not) with round, path, ruleset,
compliant (null where the tool crashed), minutes, errors for each log; round, folder, n_files,
score, scaling_applied, published_scaling, rcp_pruned (passed, text, factor), desc_division for
each folder; scores is a table (CSV) of the published scores. Differences are looked up in
docs/parity.md; exit status 1 for one that is not listed there, or a list that counts wrong.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from parity_compare import Task, compare
from parity_oracle import Known, Outcome, by_round, known_differences, read_rows, round_folder

_LIST = Path(__file__).resolve().parents[1] / "docs" / "parity.md"
_MOST_SHOWN = 10


def main() -> int:
    """Compare and report; the exit status."""
    options = _options()
    tasks = list(_tasks(options))
    if not tasks:
        print(f"none of the oracle's rounds lies below {options.rounds}", file=sys.stderr)
        return 2
    start = time.monotonic()
    outcomes = _run(tasks, options.jobs)
    unlisted, miscounted = _judge(outcomes, known_differences(options.known))
    if options.json:
        data = {
            "outcomes": [asdict(one) for one in outcomes if one.state != "agrees"],
            "counts": {what: by_round(outcomes, what) for what in _kinds(outcomes)},
            "unlisted": len(unlisted),
            "miscounted": miscounted,
        }
        print(json.dumps(data, indent=2))
    else:
        _print(outcomes, unlisted, miscounted)
        print(f"{len(tasks)} logs and folders in {time.monotonic() - start:.0f} s")
    return 1 if unlisted or miscounted else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=Path, required=True, metavar="DIR")
    parser.add_argument("--oracle", type=Path, metavar="FILE", help="what was said of each log")
    parser.add_argument("--folders", type=Path, metavar="FILE", help="and of each folder")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="the table of scores")
    parser.add_argument("--rcp", action="store_true", help="reference convergence, with --folders")
    parser.add_argument("--official", action="store_true", help="and by the installed checker")
    parser.add_argument("--round", action="append", metavar="R", help="only this one (repeatable)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--known", type=Path, default=_LIST, metavar="FILE")
    options = parser.parse_args()
    if not (options.oracle or options.folders or options.scores):
        parser.error("give --oracle, --folders or --scores")
    if options.rcp and not options.folders:
        parser.error("--rcp needs --folders")
    return options


def _tasks(options: argparse.Namespace) -> Iterator[Task]:
    """A task for each row whose round is there and wanted."""
    kinds = [("log", options.oracle), ("table", options.scores)]
    kinds.append(("convergence" if options.rcp else "score", options.folders))
    for what, file in kinds:
        for row in read_rows(file) if file else ():
            if options.round and row["round"] not in options.round:
                continue
            if what == "convergence" and row["desc_division"] not in ("closed", "close"):
                continue
            repository = round_folder(options.rounds, row["round"])
            if repository is not None:
                yield Task(what, row, repository, options.official)


def _run(tasks: Sequence[Task], jobs: int) -> list[Outcome]:
    """Every outcome; a bar on a terminal says how far it is."""
    if jobs <= 1:
        return [one for task in tasks for one in compare(task)]
    outcomes: list[Outcome] = []
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for done, found in enumerate(pool.imap(compare, tasks, chunksize=4), start=1):
            outcomes += found
            if sys.stderr.isatty() and (done % 20 == 0 or done == len(tasks)):
                end = "\n" if done == len(tasks) else ""
                print(f"\r{done} of {len(tasks)}", end=end, file=sys.stderr, flush=True)
    return outcomes


def _judge(outcomes: Sequence[Outcome], known: Sequence[Known]) -> tuple[list[Outcome], list[str]]:
    """Differences that no entry is about, and entries that are about another number of them."""
    counts: Counter[Known] = Counter()
    unlisted = []
    for outcome in outcomes:
        if outcome.state in ("differs", "crash"):
            entry = next((one for one in known if one.concerns(outcome)), None)
            if entry is not None:
                counts[entry] += 1
            elif outcome.state == "differs":
                unlisted.append(outcome)
    compared = {(one.what, one.round_name) for one in outcomes}
    miscounted = [
        f"{one.what} {one.round_name} {one.path}: {one.count} listed, {counts[one]} found"
        for one in known
        if (one.what, one.round_name) in compared and counts[one] != one.count
    ]
    return unlisted, miscounted


def _print(
    outcomes: Sequence[Outcome], unlisted: Sequence[Outcome], miscounted: Sequence[str]
) -> None:
    for what in _kinds(one for one in outcomes if one.state != "only ours"):
        print(f"{what:16} {'round':>6} {'agree':>6} {'differ':>6} {'no answer':>9} {'absent':>6}")
        for name, states in by_round(outcomes, what).items():
            agree, differ = states["agrees"], states["differs"]
            crash, absent = states["crash"], states["absent"]
            print(f"{'':16} {name:>6} {agree:6} {differ:6} {crash:9} {absent:6}")
    _print_groups(
        "what differs, listed or not", [one for one in outcomes if one.state == "differs"]
    )
    _print_groups(
        "where the official tool gave no answer", [o for o in outcomes if o.state == "crash"]
    )
    for text in miscounted:
        print(f"the list counts wrong: {text}")
    for outcome in unlisted[:_MOST_SHOWN]:
        print(f"NOT LISTED: {_line(outcome)}")
    print("every difference is listed" if not unlisted else f"{len(unlisted)} are not listed")


def _print_groups(title: str, outcomes: Sequence[Outcome]) -> None:
    """Outcomes with the same reason together, the most frequent first."""
    groups: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.what, outcome.round_name, outcome.reason].append(outcome)
    if groups:
        print(f"\n{title}:")
    for (what, name, reason), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"  {len(members)} x {what} of {name}: {reason or 'no reason given'}")
        for outcome in members[:_MOST_SHOWN]:
            print(f"      {_line(outcome)}")
        if len(members) > _MOST_SHOWN:
            print(f"      and {len(members) - _MOST_SHOWN} more")


def _line(outcome: Outcome) -> str:
    name = f"{outcome.what} {outcome.round_name} {outcome.path}"
    return f"{name!r}: theirs {outcome.theirs!r}, ours {outcome.ours!r}"


def _kinds(outcomes: Iterable[Outcome]) -> list[str]:
    return list(dict.fromkeys(one.what for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
