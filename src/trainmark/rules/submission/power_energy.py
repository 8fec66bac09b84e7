"""Energy from power readings: over the timed part of a run, and the way the official tool does it.

Ours integrates the readings between run_start and run_stop by the trapezoid rule. The written rule
(power measurement rules, section "Scoring") asks for the same integral with steps instead of
trapezoids. The official summarizer takes the average power of the whole measurement times the
run's duration, which counts the idle time before and after a run as if it were the run.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from trainmark.rules.scoring import may_fail
from trainmark.rules.submission.power_logs import PowerLog, Sample

__all__ = [
    "EnergyScore",
    "PowerRun",
    "RunEnergy",
    "energy_score",
    "joules_of",
    "official_joules_of",
    "run_energy",
]

_JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRun:
    """One run whose power is to be there.

    Attributes:
        log: Its result log.
        start_ms: run_start in milliseconds since 1970, None if the log has none.
        stop_ms: run_stop, likewise.
    """

    log: Path
    start_ms: float | None
    stop_ms: float | None

    @property
    def duration_ms(self) -> float | None:
        """The timed part, None if there is none."""
        if self.start_ms is None or self.stop_ms is None or self.stop_ms <= self.start_ms:
            return None
        return self.stop_ms - self.start_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnergy:
    """The energy of one run.

    Attributes:
        log: Its result log.
        nodes: Number of node logs.
        switches: Number of switch logs.
        node_joules: Energy of the nodes in the timed part; None if one of them cannot be told.
        switch_joules: Likewise of the switches; 0 without switches.
        official_joules: What the official summarizer reckons; None where it fails.
        seconds: Duration of the timed part, None without one.
    """

    log: Path
    nodes: int
    switches: int
    node_joules: float | None
    switch_joules: float | None
    official_joules: float | None
    seconds: float | None

    @property
    def joules(self) -> float | None:
        """Nodes and switches together."""
        if self.node_joules is None or self.switch_joules is None:
            return None
        return self.node_joules + self.switch_joules

    @property
    def kwh(self) -> float | None:
        """The same in kilowatt-hours."""
        return None if self.joules is None else self.joules / _JOULES_PER_KWH

    @property
    def watts(self) -> float | None:
        """The average power in the timed part."""
        return None if self.joules is None or not self.seconds else self.joules / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyScore:
    """The energy of a benchmark folder: over the same runs as the score in minutes.

    Attributes:
        joules: From the readings of the timed parts, None if one of the runs has no energy.
        official_joules: The official way, likewise.
        runs_counted: Number of runs that the means are over.
    """

    joules: float | None
    official_joules: float | None
    runs_counted: int


def energy_score(
    runs: Sequence[RunEnergy], *, benchmark: str, scaling: float = 1.0
) -> EnergyScore | None:
    """The mean energy of the runs without the fastest and the slowest, times the scaling.

    Source: power measurement rules, section "Scoring"; the scaling is the official summarizer's.

    Args:
        runs: The runs that succeeded.
        benchmark: The benchmark, for the number of runs that are left out.
        scaling: The factor from ``scaling.json``.

    Returns:
        None if no run with a duration is left.
    """
    timed = [(run.seconds, place, run) for place, run in enumerate(runs) if run.seconds is not None]
    left_out = may_fail(len(timed), benchmark)
    counted = [run for _, _, run in sorted(timed)[left_out : len(timed) - left_out]]
    if not counted:
        return None
    return EnergyScore(
        joules=_mean([run.joules for run in counted], scaling),
        official_joules=_mean([run.official_joules for run in counted], scaling),
        runs_counted=len(counted),
    )


def run_energy(run: PowerRun, logs: Sequence[PowerLog]) -> RunEnergy:
    """The energy of a run from its power logs.

    Args:
        run: The run.
        logs: Every power log of its folder.
    """
    nodes = [log for log in logs if log.is_node]
    switches = [log for log in logs if not log.is_node]
    duration = run.duration_ms
    return RunEnergy(
        log=run.log,
        nodes=len(nodes),
        switches=len(switches),
        node_joules=_total([joules_of(log, run) for log in nodes]) if nodes else None,
        switch_joules=_total([joules_of(log, run) for log in switches]),
        official_joules=None
        if duration is None or not nodes
        else _total([official_joules_of(log, duration) for log in logs]),
        seconds=None if duration is None else duration / 1e3,
    )


def joules_of(log: PowerLog, run: PowerRun) -> float | None:
    """The energy of one node or switch in the timed part of a run, in joules.

    A part that the readings do not cover counts with the nearest reading (``power.window`` says
    how long it is). A switch without readings counts with its estimate.

    Args:
        log: Its power log.
        run: The run.

    Returns:
        None if the run has no duration, or no reading touches it.
    """
    if run.start_ms is None or run.stop_ms is None or run.duration_ms is None:
        return None
    if not log.samples:
        watts = None if log.is_node else log.estimate_watts
        return None if watts is None else log.efficiency * watts * run.duration_ms / 1e3
    times, watts_at = _in_order(log.samples)
    if times[-1] < run.start_ms or times[0] > run.stop_ms:
        return None
    return log.efficiency * _integral(times, watts_at, run.start_ms, run.stop_ms) / 1e3


def official_joules_of(log: PowerLog, duration_ms: float) -> float | None:
    """What the official summarizer reckons for one node or switch, in joules.

    For a node the sum of every reading times the time since the one before, from the start record
    to the stop record (or the last reading), divided by that time, times the run's duration; for a
    switch the first estimate times the duration, 0 without one.

    Args:
        log: Its power log.
        duration_ms: From run_start to run_stop.

    Returns:
        None where it raises: no start record, or no time between start and stop.
    """
    if not log.is_node:
        return log.efficiency * (log.estimate_watts or 0.0) * duration_ms / 1e3
    if log.start is None:
        return None
    begin = (log.start.time_ms, log.start.line_no)
    end = (math.inf, 0) if log.stop is None else (log.stop.time_ms, log.stop.line_no)
    before, last, total = begin[0], 0.0, 0.0
    for time, line_no, watts in sorted((s.time_ms, s.line_no, s.watts) for s in log.samples):
        if begin < (time, line_no) < end:
            total += watts * (time - before)
            before = last = time
    window = (last if log.stop is None else end[0]) - begin[0]
    return None if window == 0 else log.efficiency * total * duration_ms / window / 1e3 + 0.0


def _total(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _mean(parts: Sequence[float | None], scaling: float) -> float | None:
    total = _total(parts)
    return None if total is None else total / len(parts) * scaling


def _in_order(samples: Sequence[Sample]) -> tuple[list[float], list[float]]:
    """Times and watts by time."""
    in_order = sorted(samples, key=lambda sample: sample.time_ms)
    return [sample.time_ms for sample in in_order], [sample.watts for sample in in_order]


def _integral(times: list[float], watts: list[float], start: float, stop: float) -> float:
    """Watts times milliseconds between two times, by the trapezoid rule."""
    first, end = bisect_right(times, start), bisect_left(times, stop)
    corners = [
        (start, _at(times, watts, start)),
        *zip(times[first:end], watts[first:end], strict=True),
        (stop, _at(times, watts, stop)),
    ]
    return sum(
        (after - before) * (low + high) / 2 for (before, low), (after, high) in pairwise(corners)
    )


def _at(times: list[float], watts: list[float], time: float) -> float:
    """The power at a time: between two readings on the line through them, outside the nearest."""
    place = bisect_left(times, time)
    if place == len(times):
        return watts[-1]
    if place == 0 or times[place] == time:
        return watts[place]
    before, after = times[place - 1], times[place]
    part = (time - before) / (after - before)
    return watts[place - 1] + part * (watts[place] - watts[place - 1])
