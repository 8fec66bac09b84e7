"""The published records of BERT pre-training: one ``tf.train.Example`` a sequence.

The format of the MLPerf reference (mlcommons/training, retired_benchmarks/bert, "TFRecord
Features" in its README): arrays padded to the longest sequence and to 76 predictions. Here the
padding is taken off again: a ``MaskedSequence`` holds what is real.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trainmark.training.data.sequences import MaskedSequence
from trainmark.training.data.tfrecord import Features, examples
from trainmark.types import UsageError

__all__ = ["FEATURES", "read_sequences"]

FEATURES = (
    "input_ids",
    "input_mask",
    "segment_ids",
    "masked_lm_positions",
    "masked_lm_ids",
    "masked_lm_weights",
    "next_sentence_labels",
)


def read_sequences(file: Path, *, length: int, vocabulary: int) -> Iterator[MaskedSequence]:
    """The sequences of a file in order.

    Args:
        file: A TFRecord file.
        length: Most tokens in a sequence.
        vocabulary: Number of token ids.

    Raises:
        UsageError: The file is damaged, or a record is not such a sequence: names the record.
    """
    for number, features in enumerate(examples(file), start=1):
        if (problem := _problem(features, length, vocabulary)) is not None:
            raise UsageError(
                f"{file}: record {number}: {problem}",
                hint="Each record needs the features of the MLPerf BERT reference: "
                f"{', '.join(FEATURES)}.",
            )
        yield _sequence(features)


def _problem(features: Features, length: int, vocabulary: int) -> str | None:
    """Why that is no sequence, None if it is one."""
    missing = [name for name in FEATURES if name not in features]
    if missing:
        return f"it has no {missing[0]}"
    words = [name for name in FEATURES if features[name].dtype == object]
    if words:
        return f"{words[0]} holds texts, not numbers"
    tokens, mask, segments = (features[name] for name in FEATURES[:3])
    if not len(tokens) == len(mask) == len(segments):
        return "input_ids, input_mask and segment_ids have different lengths"
    positions, labels, weights = (features[name] for name in FEATURES[3:6])
    if not len(positions) == len(labels) == len(weights):
        return "masked_lm_positions, masked_lm_ids and masked_lm_weights have different lengths"
    if len(features["next_sentence_labels"]) != 1:
        return "next_sentence_labels is not one number"
    used = int((mask != 0).sum())
    if not 0 < used <= length:
        return f"it has {used} tokens; 1 to {length} are allowed"
    if not mask[:used].all():
        return "its padding does not stand at the end"
    if not _within(tokens[:used], vocabulary) or not _within(labels, vocabulary):
        return f"it has a token that the vocabulary of {vocabulary} does not have"
    real = weights != 0
    if not real.any() or not _within(positions[real], used):
        return "it has no token to predict, or one beyond its end"
    return None


def _within(values: npt.NDArray[np.int64], limit: int) -> bool:
    return bool(((values >= 0) & (values < limit)).all())


def _sequence(features: Features) -> MaskedSequence:
    used = int((features["input_mask"] != 0).sum())
    real = features["masked_lm_weights"] != 0
    return MaskedSequence(
        tokens=features["input_ids"][:used].astype(np.int32),
        first=used - int((features["segment_ids"][:used] != 0).sum()),
        positions=features["masked_lm_positions"][real].astype(np.int32),
        labels=features["masked_lm_ids"][real].astype(np.int32),
        random_next=bool(features["next_sentence_labels"][0]),
    )
