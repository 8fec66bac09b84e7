"""What the state of the official rule tables stands for, in words.

The tables keep track of a log under names of their own: ``in_epoch`` is set between epoch_start
and epoch_stop, ``last_eval`` is the epoch_num of the last eval_start. People only know the keys
that they log, so findings speak of these.
"""

from collections.abc import Mapping

from trainmark.rules.nodes import Node

__all__ = [
    "FlagWords",
    "collected_key",
    "counted_key",
    "earlier_record",
    "flag_words",
    "state_words",
]


class FlagWords(Node, kw_only=True):
    """What is said of a flag of the tables.

    Attributes:
        expected: What must be so, to follow "expected that".
        found: What is so instead.
        fix: What to log, and when, to be completed with the key of the record at hand.
    """

    expected: str
    found: str
    fix: str


# Set once by a record of that key.
_ONCE: Mapping[str, str] = {
    "init_started": "init_start",
    "init_stopped": "init_stop",
    "run_started": "run_start",
    "run_stopped": "run_stop",
    "staging_started": "staging_start",
    "model_saved": "save_model",
}
# Set between the _start and the _stop of these.
_BETWEEN: Mapping[str, str] = {"in_block": "block", "in_epoch": "epoch", "in_eval": "eval"}
# The entry of the last record of a key: the record's key, the entry.
_LAST: Mapping[str, tuple[str, str]] = {
    "last_epoch": ("epoch_start", "epoch_num"),
    "last_eval": ("eval_start", "epoch_num"),
    "block_first_epoch": ("block_start", "first_epoch_num"),
}
_COLLECTED: Mapping[str, str] = {"initialized_tensors": "weights_initialization"}
# How often a key is logged that goes with a choice of opt_name.
_COUNTED: Mapping[str, str] = {
    "sgd_decay": "opt_learning_rate_decay_boundary_epochs",
    "lars_decay_steps": "lars_opt_learning_rate_decay_steps",
    "lars_decay_power": "lars_opt_learning_rate_decay_poly_power",
    "lars_wd": "lars_opt_weight_decay",
    "lars_eps": "lars_epsilon",
}


def flag_words(name: str, *, expected: bool) -> FlagWords:
    """What to say where a flag is not as expected.

    Args:
        name: The flag's name in the tables.
        expected: Whether it has to be set.
    """
    if name in _BETWEEN:
        start, stop = f"{_BETWEEN[name]}_start", f"{_BETWEEN[name]}_stop"
        if expected:
            return FlagWords(
                expected=f"{start} comes before it, and no {stop} between them",
                found=f"no {start} is open",
                fix=f"Log {start} before {{key}}.",
            )
        return FlagWords(
            expected=f"the {start} before it has its {stop}",
            found=f"that {start} has none",
            fix=f"Log {stop} before {{key}}.",
        )
    if name == "accuracy_printed" and expected:
        return FlagWords(
            expected="eval_accuracy comes between the last eval_start and it",
            found="there is none",
            fix="Log eval_accuracy before {key}.",
        )
    event = _ONCE.get(name)
    if event is None:
        state = "set" if expected else "not set"
        other = "not set" if expected else "set"
        return FlagWords(
            expected=f"{name} is {state}",
            found=f"it is {other}",
            fix=f"See to it that {name} is {state}.",
        )
    return FlagWords(
        expected=f"{event} comes {'before' if expected else 'after'} it",
        found=f"{event} comes {'after it or is missing' if expected else 'before it'}",
        fix=f"Log {{key}} {'after' if expected else 'before'} {event}.",
    )


def state_words(name: str) -> str:
    """What an entry of the state is, with an article."""
    if name in _LAST:
        key, entry = _LAST[name]
        return f"the {entry} of the last {key}"
    return f"the {name} of the log"


def earlier_record(name: str) -> str | None:
    """The key whose last record an entry of the state is taken from; None if that is not known."""
    return _LAST[name][0] if name in _LAST else None


def counted_key(name: str) -> str | None:
    """The key whose records an entry of the state counts; None if that is not known."""
    return _COUNTED.get(name)


def collected_key(name: str) -> str | None:
    """The key whose records a list of the state is collected from; None if that is not known."""
    return _COLLECTED.get(name)
