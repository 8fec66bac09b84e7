"""Two ways of doing the same, side by side: alternating pairs in one run, compared as ratios."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Paired", "paired", "run_apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Rates of both ways, pair by pair; higher is faster."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours over theirs, for each pair."""
        return tuple(a / b for a, b in zip(self.ours, self.theirs, strict=True))

    def describe(self, unit: str) -> str:
        """Median rates and the ratio with its range, in one line."""
        ratios = self.ratios
        return (
            f"ours {statistics.median(self.ours):.4g} {unit}, "
            f"theirs {statistics.median(self.theirs):.4g} {unit}, "
            f"ratio {statistics.median(ratios):.3f} "
            f"(from {min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} pairs)"
        )


def paired(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> Paired:
    """Measure both in turn; who begins changes from pair to pair."""
    rates: tuple[list[float], list[float]] = ([], [])
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            rates[which].append((ours, theirs)[which]())
        print(f"  pair {pair + 1}: ours {rates[0][-1]:.4g}, theirs {rates[1][-1]:.4g}", flush=True)
    return Paired(ours=tuple(rates[0]), theirs=tuple(rates[1]))


def run_apart(script: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Any:
    """Run a script in a fresh process; the JSON of its last line.

    Args:
        script: The script.
        arguments: Its arguments.
        environment: Variables added to those of this process.
    """
    done = subprocess.run(
        [sys.executable, script, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
