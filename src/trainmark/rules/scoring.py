"""The score of several runs: the mean without the fastest and the slowest."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainmark.types import Run

__all__ = ["Score", "failures_allowed", "may_fail", "required_runs", "score"]

_OWN_RUNS = 3
# How many runs are left out at each end, and so how many may fail; 1 where a benchmark is not
# named (the official summarizer has it the same way).
_LEFT_OUT: Mapping[str, int] = {"unet3d": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A score, and how it came about.

    Attributes:
        minutes: The score, None when there is none.
        basis: How it was reckoned, or why there is none, in one sentence.
        official: Whether this is the official formula over the official number of runs of an
            official benchmark. It says nothing about review: own results stay unverified.
        run_minutes: Minutes of the runs that succeeded, ascending.
        fastest: The runs left out at the fast end, in minutes.
        slowest: The successful runs left out at the slow end, in minutes; failed runs take
            places here first.
        runs_counted: Number of runs that the mean is over.
        runs: Number of runs given.
        failed: Number of runs that did not succeed.
        required_runs: Number of runs that the benchmark asks for.
        scaling: The factor from scaling.json, already in ``minutes``.
    """

    minutes: float | None
    basis: str
    official: bool
    run_minutes: tuple[float, ...]
    fastest: tuple[float, ...] = ()
    slowest: tuple[float, ...] = ()
    runs_counted: int = 0
    runs: int
    failed: int
    required_runs: int
    scaling: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """The score as plain data for ``--json``."""
        return asdict(self)


def required_runs(benchmark: str) -> int:
    """How many runs a benchmark's score is made of: the official number, 3 for an own one.

    The numbers are those of the installed package mlperf-logging.
    """
    return _official_runs().get(benchmark, _OWN_RUNS)


def failures_allowed(benchmark: str) -> int:
    """How many runs of a benchmark's folder may fail."""
    return _LEFT_OUT.get(benchmark, 1)


def score(runs: Sequence[Run], *, benchmark: str, scaling: float = 1.0) -> Score:
    """The score of the runs of one benchmark on one system.

    A run counts when it succeeded and has a time; one that does not takes the slowest place. With
    fewer than three runs the score is their plain mean.

    Args:
        runs: The runs of one folder.
        benchmark: The benchmark's name, for the number of runs it asks for.
        scaling: The factor from ``scaling.json`` (reference convergence), 1 without one.
    """
    times = sorted(
        run.minutes
        for run in runs
        if run.succeeded and run.minutes is not None and math.isfinite(run.minutes)
    )
    failed, required = len(runs) - len(times), required_runs(benchmark)
    enough = len(runs) >= required
    left_out = may_fail(len(runs), benchmark)
    common = _Common(tuple(times), len(runs), failed, required, scaling)
    if failed > left_out or not times:
        return common.none(_why_none(len(runs), failed, left_out))
    counted = times[left_out : len(times) - (left_out - failed)]
    if not counted:
        return common.none(f"no score: no run is left of {_runs(len(runs))}, {failed} failed")
    basis = _basis(common, benchmark, len(counted), left_out)
    return Score(
        minutes=sum(counted) / len(counted) * scaling,
        basis=basis,
        official=enough and benchmark in _official_runs(),
        run_minutes=common.run_minutes,
        fastest=tuple(times[:left_out]),
        slowest=tuple(times[left_out + len(counted) :]),
        runs_counted=len(counted),
        runs=len(runs),
        failed=failed,
        required_runs=required,
        scaling=scaling,
    )


@dataclass(frozen=True, slots=True)
class _Common:
    """What a score has whether it comes about or not."""

    run_minutes: tuple[float, ...]
    runs: int
    failed: int
    required: int
    scaling: float

    def none(self, reason: str) -> Score:
        """No score, and why."""
        return Score(
            minutes=None,
            basis=reason,
            official=False,
            run_minutes=self.run_minutes,
            runs=self.runs,
            failed=self.failed,
            required_runs=self.required,
            scaling=self.scaling,
        )


@functools.cache
def _official_runs() -> Mapping[str, int]:
    """Runs required, by benchmark, as the installed official tools have them."""
    from mlperf_logging.benchmark_meta import get_result_file_counts

    return {**get_result_file_counts("hpc"), **get_result_file_counts("training")}


def may_fail(runs: int, benchmark: str) -> int:
    """How many of that many runs may fail, as many as are left out at each end: none of one or two.

    Args:
        runs: The runs of a folder.
        benchmark: The benchmark's name.
    """
    if runs < _OWN_RUNS:
        return 0
    most = failures_allowed(benchmark)
    return most if runs > 2 * most else 1


def _why_none(runs: int, failed: int, allowed: int) -> str:
    if not runs:
        return "no score: there are no runs"
    if not allowed:
        return f"no score: {failed} of {_runs(runs)} did not succeed"
    return f"no score: {failed} of {_runs(runs)} did not succeed, at most {allowed} may fail"


def _basis(common: _Common, benchmark: str, counted: int, left_out: int) -> str:
    """How a score came about, in one sentence."""
    official = benchmark in _official_runs()
    mean = _mean(common.runs, counted, left_out)
    failed = f", {common.failed} of them failed" if common.failed else ""
    scaled = f", times {common.scaling:g} (reference convergence)" if common.scaling != 1 else ""
    if common.runs < common.required:
        of = f"{common.runs} of {common.required} required runs{failed}"
        return f"not an official score: {of}; {mean}{scaled}"
    kind = "official formula" if official else "own benchmark, official formula"
    return f"{kind}: {_runs(common.runs)}{failed}; {mean}{scaled}"


def _mean(runs: int, counted: int, left_out: int) -> str:
    if not left_out:
        return "plain mean" if runs > 1 else "the one time"
    if counted == 1:
        return "the middle value"
    ends = "the fastest and the slowest"
    return f"mean of {counted} without {ends if left_out == 1 else f'{ends} {left_out} each'}"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
