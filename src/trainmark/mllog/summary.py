"""From events to numbers: what one result log says about its run."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trainmark.mllog import keys
from trainmark.mllog.ranks import first_rank
from trainmark.mllog.round_0_5 import as_later
from trainmark.types import Evaluation, Event, Run, RunLog, Target

__all__ = ["Counting", "Scale", "number", "run_interval", "summarize"]

_MINUTE_MS = 60_000.0
# An epoch_num beyond this is a sample count under another name (BERT logs do so).
_LARGEST_EPOCH = 10_000


def summarize(log: RunLog, counting: "Counting | None" = None) -> Run:
    """The numbers of one result log.

    Time to train is the official summarizer's: from the last run_start that precedes the first
    run_stop to that run_stop. Quality is the last evaluation up to that run_stop.

    A log that several ranks wrote counts as that of the rank that came first.

    Args:
        log: The log as read.
        counting: How its benchmark counts and measures; epochs and one number by default.
    """
    log = first_rank(as_later(log))
    start, stop = run_interval(log)
    evaluations = _evaluations(log, start, stop, counting or Counting())
    last = evaluations[-1] if evaluations else None
    status = None if stop is None else stop.metadata.get(keys.STATUS)
    efficiency = _object(log, keys.OWN_EFFICIENCY)
    return Run(
        source=log.source,
        benchmark=_text(log.value(keys.SUBMISSION_BENCHMARK)),
        division=_text(log.value(keys.SUBMISSION_DIVISION)),
        submitter=_text(log.value(keys.SUBMISSION_ORG)),
        platform=_text(log.value(keys.SUBMISSION_PLATFORM)),
        minutes=_minutes_between(start, stop),
        init_minutes=_minutes_between(log.first(keys.INIT_START), log.first(keys.INIT_STOP)),
        status=status if isinstance(status, str) else None,
        quality=None if last is None else last.quality,
        target=Target.from_dict(log.value(keys.OWN_TARGET)),
        samples_to_target=last.samples if last is not None and status == keys.SUCCESS else None,
        global_batch_size=number(log.value(keys.GLOBAL_BATCH_SIZE)),
        seed=_whole(log.value(keys.SEED)),
        train_samples=number(log.value(keys.TRAIN_SAMPLES)),
        eval_samples=number(log.value(keys.EVAL_SAMPLES)),
        evaluations=evaluations,
        samples_per_second=_throughput(log, efficiency),
        efficiency=efficiency,
        settings=_object(log, keys.OWN_SETTINGS),
        environment=_object(log, keys.OWN_ENVIRONMENT),
    )


def run_interval(log: RunLog) -> tuple[Event | None, Event | None]:
    """The run_start and the run_stop that the score counts; None for one that is missing."""
    start: Event | None = None
    for event in log.all(keys.RUN_START, keys.RUN_STOP):
        if event.key == keys.RUN_START:
            start = event
        elif start is not None:
            return start, event
    return start, None


def number(value: Any) -> float | None:
    """A finite number, None for anything else (text, true, NaN, digits beyond any float)."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is not int:  # JSON has no other kinds of numbers
        return None
    try:
        return float(value)
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class Scale:
    """What a log says of its sizes.

    Attributes:
        train_samples: Samples in one epoch, as stated.
        global_batch_size: Samples in one optimizer step, as stated.
    """

    train_samples: float | None
    global_batch_size: float | None


def _count_epochs(metadata: Mapping[str, Any], scale: Scale) -> float | None:
    """Samples trained at an evaluation, from samples_count or from epoch_num."""
    samples = number(metadata.get(keys.SAMPLES_COUNT))
    if samples is not None:
        return samples
    epoch = number(metadata.get(keys.EPOCH_NUM))
    if epoch is None or epoch > _LARGEST_EPOCH:
        return epoch
    return None if scale.train_samples is None else epoch * scale.train_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How the logs of a benchmark count samples and write a quality.

    Attributes:
        samples: From the metadata of an evaluation to the samples trained by then; None where
            it cannot be known.
        quality: From the value of an evaluation to one number; None for what is no quality.
    """

    samples: Callable[[Mapping[str, Any], Scale], float | None] = _count_epochs
    quality: Callable[[Any], float | None] = number


def _evaluations(
    log: RunLog, start: Event | None, stop: Event | None, counting: Counting
) -> tuple[Evaluation, ...]:
    scale = Scale(number(log.value(keys.TRAIN_SAMPLES)), number(log.value(keys.GLOBAL_BATCH_SIZE)))
    # The logs of others hold no training loss of ours, and some of them a record for every step.
    own = (keys.TRACKED_STATS,) if log.value(keys.OWN_TARGET) is not None else ()
    found, loss = [], None
    for event in log.all(keys.EVAL_ACCURACY, keys.EVAL_ERROR, *own):
        if stop is not None and event.line_no > stop.line_no:
            break
        if event.key == keys.TRACKED_STATS:
            loss = _figure(event, keys.TRAIN_LOSS)
            continue
        quality = counting.quality(event.value)
        if quality is None:
            continue
        found.append(
            Evaluation(
                minutes=math.nan if start is None else (event.time_ms - start.time_ms) / _MINUTE_MS,
                samples=counting.samples(event.metadata, scale),
                quality=quality,
                train_loss=loss,
            )
        )
        loss = None
    return tuple(found)


def _throughput(log: RunLog, efficiency: Mapping[str, Any]) -> float | None:
    own = number(efficiency.get(keys.EFFICIENCY_RATE))
    if own is not None:
        return own
    rates = [
        rate
        for event in log.all(keys.TRACKED_STATS)
        if (rate := _figure(event, keys.THROUGHPUT)) is not None
    ]
    return sorted(rates)[len(rates) // 2] if rates else None


def _figure(event: Event, name: str) -> float | None:
    """One number of a record of several."""
    return number(event.value.get(name)) if isinstance(event.value, dict) else None


def _minutes_between(start: Event | None, stop: Event | None) -> float | None:
    if start is None or stop is None:
        return None
    return number((stop.time_ms - start.time_ms) / _MINUTE_MS)


def _object(log: RunLog, key: str) -> Mapping[str, Any]:
    value = log.value(key)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
