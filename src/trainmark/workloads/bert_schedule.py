"""BERT's schedules and log keys; no framework is needed for them."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from trainmark.mllog import keys
from trainmark.workloads.bert_settings import BertSettings, DeskSettings

__all__ = ["evaluation_interval", "hyperparameters", "learning_rate", "mask_shares"]


def evaluation_interval(batch: int) -> int:
    """Samples between two evaluations by the rules of the benchmark.

    Args:
        batch: Samples in one optimizer step.
    """
    return int(0.05 * (230.23 * batch + 3_000_000) // 25_000) * 25_000


def learning_rate(settings: BertSettings, step: int) -> float:
    """The rate of a step by the rule of the MLPerf reference.

    A straight line from the base at step 0 to nothing at the end; within the warm-up, which may
    have begun before step 0, a straight line up instead.

    Args:
        settings: Rate and steps.
        step: Steps taken before this one.
    """
    warmed = step - settings.start_warmup_step
    if warmed < settings.warmup_steps:
        return settings.learning_rate * warmed / settings.warmup_steps
    return settings.learning_rate * max(0.0, 1 - step / settings.training_steps)


def mask_shares(settings: DeskSettings) -> Iterator[float]:
    """The share of its tokens that each training sequence in turn hides, without end.

    The first share through half of the run, then a straight line to the last one. Many hidden
    tokens teach more a sequence; few leave each the context that the evaluation leaves it.

    Args:
        settings: Both shares, and how long the run is.
    """
    half = settings.training_steps * settings.global_batch_size / 2
    for made in count():
        fallen = min(1.0, max(0.0, made / half - 1))
        yield settings.mask_share + fallen * (settings.last_mask_share - settings.mask_share)


def hyperparameters(settings: BertSettings) -> dict[str, Any]:
    """The log keys that the closed rules of "bert" ask for, with their values."""
    found: dict[str, Any] = {
        keys.GLOBAL_BATCH_SIZE: settings.global_batch_size,
        keys.GRADIENT_ACCUMULATION_STEPS: settings.gradient_accumulation_steps,
        "opt_name": settings.optimizer,
        "opt_base_learning_rate": settings.learning_rate,
        "opt_learning_rate_training_steps": settings.training_steps,
        "opt_learning_rate_warmup_steps": settings.warmup_steps,
        "num_warmup_steps": settings.warmup_steps,
        "start_warmup_step": settings.start_warmup_step,
        "max_sequence_length": settings.sequence_length,
    }
    if settings.optimizer == "lamb":
        return found | {
            "opt_epsilon": settings.epsilon,  # its name until round 1.0
            "opt_lamb_epsilon": settings.epsilon,
            "opt_lamb_beta_1": settings.beta1,
            "opt_lamb_beta_2": settings.beta2,
            "opt_lamb_weight_decay_rate": settings.weight_decay,
        }
    return found | {
        "opt_adam_epsilon": settings.epsilon,
        "opt_adam_beta_1": settings.beta1,
        "opt_adam_beta_2": settings.beta2,
        "opt_weight_decay": settings.weight_decay,
    }
