"""How often ``trainmark diff`` errs, on published runs: docs/diff.md has the figures.

    python benchmarks/diff_errors.py [--results 500]

The runs of one submission are shuffled and cut in two: nothing has changed between the halves.
Then the second half is slowed by 5 %, as an update of the software would. Counted is how often the
limit of 3 % is said to be exceeded.
"""

import argparse
import random
from collections import Counter
from dataclasses import replace

from trainmark.analysis.diff import Outcome, diff_sides
from trainmark.analysis.diff_sides import Side
from trainmark.catalogue import Filters, query, runs_of
from trainmark.types import Result, Run

SEED = 1
LEAST_RUNS = 10
SLOWER = 1.05
LIMIT = 0.03
DECIDING = {"time": ("time",), "throughput": ("throughput",), "both": ("time", "throughput")}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--results", type=int, default=500, help="how many submissions")
    wanted = options.parse_args().results
    found = [
        result
        for result in query(Filters(origin="published", division="closed"))
        if not result.carried_over and len(result.run_minutes) >= LEAST_RUNS
    ]
    chance = random.Random(SEED)
    chosen = chance.sample(sorted(found, key=lambda one: one.id), min(wanted, len(found)))
    halves = [pair for result in chosen if (pair := halves_of(result, chance)) is not None]
    print(f"{len(halves)} submissions with samples, cut in two; limit {LIMIT:.0%}")
    for title, factor in (("nothing changed", 1.0), (f"{SLOWER - 1:.0%} more time", SLOWER)):
        for name, by in DECIDING.items():
            outcomes = Counter(
                diff_sides(before, slowed(after, factor), threshold=LIMIT, by=by).outcome
                for before, after in halves
            )
            shares = ", ".join(f"{one} {outcomes[one] / len(halves):.1%}" for one in Outcome)
            print(f"{title}, by {name}: {shares}")


def halves_of(result: Result, chance: random.Random) -> tuple[Side, Side] | None:
    runs = [run for run in runs_of(result) if run.succeeded and run.samples_to_target]
    if len(runs) < LEAST_RUNS - 1:
        return None
    chance.shuffle(runs)
    parts = runs[: len(runs) // 2], runs[len(runs) // 2 :]
    before, after = (Side(label=result.id, result=result, runs=tuple(part)) for part in parts)
    return before, after


def slowed(side: Side, factor: float) -> Side:
    return replace(side, runs=tuple(slowed_run(run, factor) for run in side.runs))


def slowed_run(run: Run, factor: float) -> Run:
    return replace(run, minutes=None if run.minutes is None else run.minutes * factor)


if __name__ == "__main__":
    main()
