"""Samples to target, where a benchmark's logs count in units of their own.

``mllog.summarize`` reads samples_count, or epoch_num as epochs, or an epoch_num that is plainly
a number of samples. A benchmark whose logs mean something else has a row in ``CORRECTIONS``.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from trainmark.mllog import run_interval
from trainmark.mllog.keys import EPOCH_NUM, EVAL_ACCURACY, SAMPLES_COUNT, TRAIN_SAMPLES
from trainmark.mllog.summary import number
from trainmark.types import Run, RunLog

__all__ = ["CORRECTIONS", "correct_samples"]


def correct_samples(log: RunLog, run: Run, benchmark: str) -> Run:
    """The run with samples counted as this benchmark's logs mean them.

    Args:
        log: The log.
        run: What ``mllog.summarize`` made of it.
        benchmark: The benchmark's official name.
    """
    correction = CORRECTIONS.get(benchmark)
    return run if correction is None else correction(log, run)


def _bert(log: RunLog, run: Run) -> Run:
    """BERT counts samples, never epochs: epoch_num is either their number or always 1.

    In the second case the only count is the last train_samples, written at the end: it is the
    total, and the earlier evaluations have no count.
    """
    _, stop = run_interval(log)
    evaluations = [
        event for event in log.all(EVAL_ACCURACY) if stop is None or event.line_no <= stop.line_no
    ]
    counted = [
        number(event.metadata.get(SAMPLES_COUNT, event.metadata.get(EPOCH_NUM)))
        for event in evaluations
    ]
    if any(count is not None and count > 1 for count in counted):
        return run
    last = log.last(TRAIN_SAMPLES)
    total = None if last is None else number(last.value)
    return replace(
        run,
        samples_to_target=total if run.succeeded else None,
        evaluations=tuple(replace(e, samples=None) for e in run.evaluations[:-1])
        + tuple(replace(e, samples=total) for e in run.evaluations[-1:]),
    )


CORRECTIONS: Mapping[str, Callable[[RunLog, Run], Run]] = {"bert": _bert}
