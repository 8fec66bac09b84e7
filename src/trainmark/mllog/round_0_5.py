"""What the records of round 0.5 mean, in the words of later rounds."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainmark.mllog import keys
from trainmark.types import Event, RunLog

__all__ = ["KEYS", "as_later"]

_TARGET = "eval_target"
# The names that the same facts had.
_RENAMED = {
    "preproc_num_train_examples": keys.TRAIN_SAMPLES,
    "preproc_num_eval_examples": keys.EVAL_SAMPLES,
}
_RANDOM_SEED = "run_set_random_seed"
KEYS = frozenset({*_RENAMED, _TARGET, _RANDOM_SEED})


def as_later(log: RunLog) -> RunLog:
    """A log of round 0.5 with records as round 0.7 has them; any other log as it is.

    - ``eval_accuracy: {"epoch": 3, "value": 0.7}`` has the value 0.7. Its epoch stays in the
      metadata as "epoch": some logs count it from 0, some from 1, so it gives no samples.
    - ``run_stop: {"success": true}`` has the status success, false the status aborted. A run_stop
      without a word has the status success when the last quality before it meets the target that
      the log itself states as ``eval_target``, and none otherwise.
    - A seed counts when the log states one number alone: often every process has its own.

    Args:
        log: The log as read.
    """
    if log.form != "mlp":
        return log
    seeds = {event.value for event in log.all(_RANDOM_SEED) if type(event.value) is int}
    return replace(log, events=tuple(_later(log, seeds)))


def _later(log: RunLog, seeds: set[int]) -> Iterator[Event]:
    quality: Any = None
    for event in log.events:
        if event.key == keys.EVAL_ACCURACY and isinstance(event.value, dict):
            rest = {name: value for name, value in event.value.items() if name != "value"}
            event = event._replace(value=event.value.get("value"), metadata=rest)
            quality = event.value
        elif event.key == keys.RUN_STOP:
            status = _status(event.value, quality, _last_target(log))
            event = event._replace(value=None, metadata=status)
        elif event.key in _RENAMED:
            event = event._replace(key=_RENAMED[event.key])
        elif event.key == _RANDOM_SEED:
            if len(seeds) != 1 or event.value not in seeds:
                continue
            event = event._replace(key=keys.SEED)
        yield event


def _last_target(log: RunLog) -> Any:
    stated = log.last(_TARGET)
    return None if stated is None else stated.value


def _status(said: Any, quality: Any, target: Any) -> dict[str, str]:
    """The metadata of a run_stop."""
    word = said.get(keys.SUCCESS) if isinstance(said, dict) else None
    if word is not None:
        reached = word in (True, "true", "True")
        return {keys.STATUS: keys.SUCCESS if reached else keys.ABORTED}
    numbers = (int, float)
    if type(quality) in numbers and type(target) in numbers and quality >= target:
        return {keys.STATUS: keys.SUCCESS}
    return {}
