"""A good log of a language model's fine-tuning, round 5.1: a table that checks few values."""

from pathlib import Path
from typing import Any

from tests.logs import RunShape, Text, write_resnet

BATCH = 8
_FIRST, _EVERY = 1_536, 384  # samples: three evaluations are skipped at this batch size
_LOSSES = (0.94, 0.935, 0.93, 0.92)
_SETTINGS = {
    "opt_base_learning_rate": 0.0004,
    "opt_learning_rate_training_steps": 1024,
    "opt_gradient_clip_norm": 0.3,
    "opt_adamw_weight_decay": 0.0001,
    "lora_alpha": 32,
    "lora_rank": 16,
}


def lora_log(path: Path) -> Text:
    """The log as records; it passes the official checker of round 5.1."""
    text = Text.read(write_resnet(path, RunShape(qualities=_LOSSES)))
    text.find("submission_benchmark")["value"] = "llama2_70b_lora"
    text.find("global_batch_size")["value"] = BATCH
    text.find("train_samples")["value"], text.find("eval_samples")["value"] = 3901, 173
    settings = text.find("opt_name")
    place = text.records.index(settings)
    text.records[place:place] = [settings | {"key": k, "value": v} for k, v in _SETTINGS.items()]
    for number in range(len(_LOSSES)):
        samples = _FIRST + number * _EVERY
        for key in ("block_stop", "eval_start", "eval_accuracy", "eval_stop"):
            record = text.find(key, number)
            record["metadata"] = record["metadata"] | {"samples_count": samples}
    return text


def spoilt(path: Path, key: str, value: Any) -> Text:
    """The same with another value of one key."""
    text = lora_log(path)
    text.find(key)["value"] = value
    return text
