"""Check the readings of one power log: often enough, without holes, over the whole timed part."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from trainmark.rules.submission.power_energy import PowerRun
from trainmark.rules.submission.power_logs import PowerLog, Sample
from trainmark.types import Finding, Severity

__all__ = ["FEWEST", "LEAST_RATE", "LONGEST_GAP_S", "check_samples"]

FEWEST = 60  # power measurement rules, "Measure max(a run, 60 power samples)"
# The rules ask for one a second. Meters that are asked once a second answer in a little more: the
# published ones reach 0.94 to 0.96, and those that sample every two seconds 0.5.
LEAST_RATE = 0.9
# Times are often cut to whole seconds, so two readings that are a second apart may look like two;
# beyond two seconds at least one reading is missing.
LONGEST_GAP_S = 2.0
# A meter that samples every two seconds is told once, by power.rate, and not at every reading.
_GAP_OF_USUAL = 1.5


def check_samples(log: PowerLog, run: PowerRun) -> Iterator[Finding]:
    """What is wrong with the readings of one power log.

    Args:
        log: The power log.
        run: The run that it belongs to.
    """
    yield from _marks(log)
    if not log.samples:
        yield from _no_samples(log)
        return
    in_order = sorted(log.samples, key=lambda sample: sample.time_ms)
    allowed_s = _allowed_gap_s(in_order)
    yield from _negative(log)
    yield from _order(log)
    yield from _gaps(log, in_order, allowed_s)
    if len(log.samples) < FEWEST:
        yield _found(
            log,
            "power.samples",
            f"{len(log.samples)} readings; expected {FEWEST} or more",
            f"Measure for at least {FEWEST} seconds: train on after the target until then.",
            sample=log.samples[-1],
        )
    if run.start_ms is not None and run.stop_ms is not None and run.duration_ms is not None:
        yield from _window(log, in_order, allowed_s, run.start_ms, run.stop_ms)
        yield from _rate(log, in_order, run.start_ms, run.stop_ms)


def _marks(log: PowerLog) -> Iterator[Finding]:
    """Missing or impossible start and stop records."""
    if not log.is_node:
        if log.samples and log.estimate_watts is None:
            yield _found(
                log,
                "power.switch",
                "the switch is measured (power_reading) and not estimated; the official energy "
                "counts it as 0",
                "Log its maximum power as interconnect_power_est too, if it is to count.",
                severity=Severity.WARNING,
                sample=log.samples[0],
            )
        return
    if log.start is None:
        yield _found(
            log,
            "power.start",
            "there is no power_measurement_start; the official summarizer stops without it",
            "Log power_measurement_start before the first reading.",
        )
    elif log.stop is None:
        yield _found(
            log,
            "power.stop",
            "there is no power_measurement_stop",
            "Log power_measurement_stop after the last reading.",
            severity=Severity.WARNING,
        )
    elif log.stop.time_ms <= log.start.time_ms:
        yield Finding(
            rule="power.stop",
            severity=Severity.ERROR,
            message=f"power_measurement_stop is {(log.stop.time_ms - log.start.time_ms) / 1e3:g} "
            "seconds after power_measurement_start; the official energy divides by that time",
            fix="Log power_measurement_stop with the time of the last reading.",
            path=str(log.path),
            line_no=log.stop.line_no,
            expected="a time after the last reading",
            found=f"{log.stop.time_ms:.0f} ms",
        )


def _no_samples(log: PowerLog) -> Iterator[Finding]:
    if log.is_node or log.estimate_watts is None:
        wanted = "power_reading" if log.is_node else "power_reading or interconnect_power_est"
        yield _found(
            log,
            "power.no_readings",
            f"there is no reading in the log; expected records {wanted}",
            "Log the power in watts once a second.",
        )


def _order(log: PowerLog) -> Iterator[Finding]:
    """Times that run backwards, the farthest jump."""
    jumps = ((before.time_ms - after.time_ms, after) for before, after in pairwise(log.samples))
    back, at = max(jumps, default=(0.0, None), key=_first)
    if back > 0:
        yield _found(
            log,
            "power.order",
            f"the reading is {back / 1e3:g} seconds before the one above it; they were put in "
            "order",
            "Log readings in the order in which they are taken, by one clock.",
            severity=Severity.WARNING,
            sample=at,
        )


def _allowed_gap_s(in_order: Sequence[Sample]) -> float:
    """The longest time that may lie between two readings, or before the first and after the last.

    Two seconds, or half as much again as usually lies between two readings of this log.
    """
    if len(in_order) < 2:
        return LONGEST_GAP_S
    usual_ms = median(after.time_ms - before.time_ms for before, after in pairwise(in_order))
    return max(LONGEST_GAP_S, _GAP_OF_USUAL * usual_ms / 1e3)


def _negative(log: PowerLog) -> Iterator[Finding]:
    """Readings below 0; the energy has them as they are, as the official one does."""
    negative = [sample for sample in log.samples if sample.watts < 0]
    if negative:
        least = min(negative, key=lambda sample: sample.watts)
        count = "1 reading is" if len(negative) == 1 else f"{len(negative)} readings are"
        yield _found(
            log,
            "power.negative",
            f"{count} below 0 watts, the least {least.watts:g}",
            "Look at the meter: power that is drawn is positive.",
            severity=Severity.WARNING,
            sample=least,
        )


def _gaps(log: PowerLog, in_order: Sequence[Sample], allowed_s: float) -> Iterator[Finding]:
    """The longest time without a reading."""
    gaps = [(after.time_ms - before.time_ms, after) for before, after in pairwise(in_order)]
    longest, at = max(gaps, default=(0.0, None), key=_first)
    count = sum(gap > allowed_s * 1e3 for gap, _ in gaps)
    if count:
        times = "once" if count == 1 else f"{count} times"
        yield _found(
            log,
            "power.gap",
            f"{longest / 1e3:.1f} seconds without a reading; more than {allowed_s:.1f} seconds "
            f"{times}",
            "Take a reading every second.",
            severity=Severity.WARNING,
            sample=at,
        )


def _window(
    log: PowerLog, in_order: Sequence[Sample], allowed_s: float, start_ms: float, stop_ms: float
) -> Iterator[Finding]:
    """A part of the run that the readings leave out."""
    first, last = in_order[0], in_order[-1]
    late, early = (first.time_ms - start_ms) / 1e3, (stop_ms - last.time_ms) / 1e3
    seconds = (stop_ms - start_ms) / 1e3
    if late > seconds or early > seconds:
        hours = (late if late > seconds else -early) / 3600
        yield _found(
            log,
            "power.window",
            f"no reading is from the run: they are {abs(hours):.2f} hours "
            f"{'later' if hours > 0 else 'earlier'}",
            "Log both by one clock; whole hours tell of a time zone.",
            sample=first,
        )
    elif late > allowed_s or early > allowed_s:
        missing = max(late, 0) + max(early, 0)
        yield _found(
            log,
            "power.window",
            f"{missing:.1f} of the run's {seconds:.1f} seconds were not measured: the first "
            f"reading is {abs(late):.1f} seconds {'after' if late > 0 else 'before'} run_start, "
            f"the last {abs(early):.1f} seconds {'before' if early > 0 else 'after'} run_stop",
            "Start measuring before run_start and stop after run_stop.",
            sample=first if late >= early else last,
        )


def _rate(
    log: PowerLog, in_order: Sequence[Sample], start_ms: float, stop_ms: float
) -> Iterator[Finding]:
    """Too few readings in the measured part of the run."""
    inside = [one.time_ms for one in in_order if start_ms <= one.time_ms <= stop_ms]
    if len(inside) < 2:
        return  # power.window and power.samples say it
    seconds = (inside[-1] - inside[0]) / 1e3
    rate = (len(inside) - 1) / seconds if seconds > 0 else float("inf")
    if rate < LEAST_RATE:
        yield _found(
            log,
            "power.rate",
            f"{rate:.2f} readings a second during the run; expected at least one a second",
            "Set the meter to one reading a second or more.",
            severity=Severity.WARNING,
        )


def _first(pair: tuple[float, Sample | None]) -> float:
    return pair[0]


def _found(
    log: PowerLog,
    rule: str,
    message: str,
    fix: str,
    *,
    severity: Severity = Severity.ERROR,
    sample: Sample | None = None,
) -> Finding:
    return Finding(
        rule=rule,
        severity=severity,
        message=message,
        fix=fix,
        path=str(log.path),
        line_no=None if sample is None else sample.line_no,
    )
