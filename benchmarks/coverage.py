"""How often the intervals of ``trainmark compare`` hold the true value: a simulation.

    python benchmarks/coverage.py [--trials 1000]

Runs are drawn from distributions whose true score is known, with a spread that published results
have (coefficient of variation 4 % in the median, 12 % at the 90th percentile), for the numbers of
runs that benchmarks ask for. Printed is the share of trials in which the 95 % interval of one
score, and of the ratio of two, holds the true one.
"""

import argparse
import math
import random
from collections.abc import Callable

from trainmark.analysis.statistics import Sample, estimate, ratio

# One run's minutes around 20, by generator and coefficient of variation.
SHAPES: dict[str, Callable[[random.Random, float], float]] = {
    "normal": lambda draw, cv: draw.gauss(20, 20 * cv),
    # the end of a run falls on an evaluation: a few distinct times
    "steps": lambda draw, cv: 20 + 20 * cv * round(draw.gauss(0, 1)),
    # a tail of slow runs
    "skewed": lambda draw, cv: 20 + 20 * cv * (draw.gammavariate(2, 1) - 2) / math.sqrt(2),
}
_TRUTH = 20_000  # folders of runs whose mean score is taken for the true one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=500)
    asked = parser.parse_args()
    print("runs  spread  shape    score  ratio")
    for runs in (3, 4, 5, 10):
        for cv in (0.04, 0.12):
            for name in SHAPES:
                score, both = coverage(runs, cv, name, asked.trials, asked.resamples)
                print(f"{runs:4}  {cv:6.0%}  {name:7}  {score:5.1%}  {both:5.1%}", flush=True)


def coverage(runs: int, cv: float, shape: str, trials: int, resamples: int) -> tuple[float, float]:
    """Shares of trials in which the interval of a score, and of a ratio, holds the true one."""
    draw = random.Random(f"{runs} {cv} {shape}")

    def sample() -> Sample:
        minutes = tuple(SHAPES[shape](draw, cv) for _ in range(runs))
        return Sample(minutes=minutes, benchmark="bert")

    truth = sum(sample().score or 0.0 for _ in range(_TRUTH)) / _TRUTH
    scores = ratios = 0
    for trial in range(trials):
        a, b = sample(), sample()
        alone = estimate(a, resamples=resamples, seed=trial)
        both = ratio(a, b, resamples=resamples, seed=trial)
        assert alone is not None
        assert alone.low is not None
        assert alone.high is not None
        assert both.low is not None
        assert both.high is not None
        scores += alone.low <= truth <= alone.high
        ratios += both.low <= 1 <= both.high
    return scores / trials, ratios / trials


if __name__ == "__main__":
    main()
