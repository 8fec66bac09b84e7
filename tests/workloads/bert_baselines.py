"""What counting neighbours reaches on BERT's desk task: the same vocabulary, books and blanks.

Each guesses the hidden tokens of the held-out sequences from tables of the whole training text, as
it stands before the evaluation masks: more text than a run to the target sees.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from trainmark.training.data import bibles
from trainmark.training.data.wordpiece import FIRST_WORD, WordPiece
from trainmark.workloads.bert_settings import DeskSettings
from trainmark.workloads.bert_torch import Batch, held_out_batches
from trainmark.workloads.bert_vocabulary import vocabulary_file

Counts = npt.NDArray[np.float64]


def baselines(settings: DeskSettings) -> Mapping[str, float]:
    """Masked-LM accuracy of each method; the vocabulary is prepared."""
    words = WordPiece.read(vocabulary_file(settings))
    names = settings.translations.split(",")
    chapters = bibles.chapters(held_out=False, translations=names)
    text = _with_gaps(words, chapters)
    before, after = _pairs(text, words.size, 1), _pairs(text, words.size, 1).T
    blanks = [_blanks(batch) for batch in held_out_batches(settings, words)]
    left, right, labels = (np.concatenate(parts) for parts in zip(*blanks, strict=True))
    alone = np.bincount(text, minlength=words.size).astype(float)
    alone[:FIRST_WORD] = 0
    smooth = alone / alone.sum()
    given_left, given_right = _given(before, smooth), _given(after, smooth)
    both = np.log(given_left[left]) + np.log(given_right[right]) - np.log(smooth + 1e-9)
    return {
        "the most frequent token": _share(np.full(len(labels), alone.argmax()), labels),
        "the token before (bigram)": _share(given_left[left].argmax(1), labels),
        "the token behind": _share(given_right[right].argmax(1), labels),
        "both, as if independent": _share(both.argmax(1), labels),
    }


def _with_gaps(words: WordPiece, chapters: list[list[str]]) -> npt.NDArray[np.int64]:
    """All training tokens in a row, [SEP] between verses is not written: verses follow."""
    parts = [np.concatenate(words.encode(chapter)) for chapter in chapters]
    gap = np.array([words.special.sep])
    return np.concatenate([np.concatenate((gap, part)) for part in parts]).astype(np.int64)


def _pairs(text: npt.NDArray[np.int64], size: int, distance: int) -> Counts:
    found = np.bincount(text[:-distance] * size + text[distance:], minlength=size * size)
    return found.reshape(size, size).astype(float)


def _given(counts: Counts, smooth: Counts) -> Counts:
    """The share of each token beside each; what was never seen counts as the text as a whole."""
    counts = counts.copy()
    counts[:, :FIRST_WORD] = 0
    return np.asarray((counts + smooth) / (counts.sum(1, keepdims=True) + 1) + 1e-12)


def _blanks(batch: Batch) -> tuple[npt.NDArray[np.int64], ...]:
    """Visible tokens to the left and to the right of each hidden one, and the hidden one."""
    flat = batch.tokens.flatten().numpy()
    places = batch.masked.numpy()
    return flat[places - 1], flat[places + 1], batch.labels.numpy()


def _share(guesses: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> float:
    return float((guesses == labels).mean())
