"""What counting reaches on BERT's desk task: the same vocabulary, books and blanks.

Each guesses the hidden tokens of the held-out sequences from tables of the whole training text, as
it stands before the evaluation masks: more text than a run to the target sees. The tables know
neighbours: one (bigrams), two in a row (trigrams), the one on each side, two on each side.

One blank in five does not hold [MASK]: half of those hold the true token, half any other. A method
"with what stands there" weighs that by Bayes' rule: a token that stands in the blank and that the
neighbours do not speak against is almost always the true one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainmark.training.data import bibles
from trainmark.training.data.wordpiece import FIRST_WORD, WordPiece
from trainmark.workloads.bert_settings import DeskSettings
from trainmark.workloads.bert_torch import Batch, held_out_batches
from trainmark.workloads.bert_vocabulary import vocabulary_file

Counts = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

SHOWN = ", with what stands there"
# How much the shorter context weighs against counts of the longer: those of 3, 10 and 30 (pairs) or
# 5 and 20 (triples) that do best on the held-out blanks themselves, in favour of counting.
_PAIR_PRIOR, _TRIPLE_PRIOR = 10.0, 20.0
_KEPT = 0.5  # of the blanks that hold no [MASK], the share that holds the true token


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """A token and what stands around it, for many places: two before to two behind."""

    before2: Ids
    before: Ids
    here: Ids
    behind: Ids
    behind2: Ids


def baselines(settings: DeskSettings) -> Mapping[str, float]:
    """Masked-LM accuracy of each method; the vocabulary is prepared."""
    words = WordPiece.read(vocabulary_file(settings))
    text = _training_text(settings, words)
    blanks, labels = _blanks(settings, words)
    found = {}
    for name, chances in _methods(text, blanks, words.size).items():
        found[name] = _share(chances.argmax(1), labels)
        _weigh_what_stands_there(chances, blanks.here, words.special.mask)
        found[name + SHOWN] = _share(chances.argmax(1), labels)
    return found


def _methods(text: _Around, blanks: _Around, size: int) -> Mapping[str, Counts]:
    """How likely each method holds each token in each blank, (blanks, tokens)."""
    alone = np.bincount(text.here, minlength=size).astype(float)
    alone[:FIRST_WORD] = 0
    rare = np.tile(alone / alone.sum(), (len(blanks.here), 1))

    def given(train: Ids, test: Ids, shorter: Counts, prior: float) -> Counts:
        return _given(train, text.here, test, shorter, prior)

    def both(left: Counts, right: Counts) -> Counts:
        return _normal(left * right / (rare + 1e-9))

    before, behind = (
        given(text.before, blanks.before, rare, 1.0),
        given(text.behind, blanks.behind, rare, 1.0),
    )
    before2 = given(
        text.before2 * size + text.before,
        blanks.before2 * size + blanks.before,
        before,
        _TRIPLE_PRIOR,
    )
    behind2 = given(
        text.behind * size + text.behind2,
        blanks.behind * size + blanks.behind2,
        behind,
        _TRIPLE_PRIOR,
    )
    independent = both(before, behind)
    together = given(
        text.before * size + text.behind,
        blanks.before * size + blanks.behind,
        independent,
        _PAIR_PRIOR,
    )
    return {
        "the most frequent token": rare,
        "the token before (bigram)": before,
        "the token behind": behind,
        "the two before (trigram)": before2,
        "the two behind": behind2,
        "both neighbours, as if independent": independent,
        "both neighbours together": together,
        "two on each side, as if independent": both(before2, behind2),
    }


def _given(train: Ids, tokens: Ids, test: Ids, shorter: Counts, prior: float) -> Counts:
    """The share of each token where the context is the same, filled up by a shorter context's."""
    order = np.argsort(train, kind="stable")
    keys, tokens = train[order], tokens[order]
    starts, ends = (np.searchsorted(keys, test, side) for side in ("left", "right"))
    found = np.empty_like(shorter)
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        counts = np.bincount(tokens[start:end], minlength=shorter.shape[1])
        counts[:FIRST_WORD] = 0
        found[place] = (counts + prior * shorter[place]) / (counts.sum() + prior)
    return found


def _weigh_what_stands_there(chances: Counts, here: Ids, mask: int) -> None:
    """Bayes' rule on the blanks that show a token: the true one, or any of all words."""
    shown = np.flatnonzero(here != mask)
    truth = chances[shown, here[shown]].copy()
    chances[shown] *= (1 - _KEPT) / (chances.shape[1] - FIRST_WORD)
    chances[shown, here[shown]] += _KEPT * truth


def _normal(chances: Counts) -> Counts:
    return np.asarray(chances / chances.sum(1, keepdims=True))


def _training_text(settings: DeskSettings, words: WordPiece) -> _Around:
    """All training tokens in a row, a [SEP] before each chapter; verses follow each other."""
    names = settings.translations.split(",")
    gap = np.array([words.special.sep])
    parts = []
    for chapter in bibles.chapters(held_out=False, translations=names):
        parts += [gap, *words.encode(chapter)]
    text = np.concatenate(parts).astype(np.int64)
    return _Around(
        before2=text[:-4], before=text[1:-3], here=text[2:-2], behind=text[3:-1], behind2=text[4:]
    )


def _blanks(settings: DeskSettings, words: WordPiece) -> tuple[_Around, Ids]:
    """What stands around each hidden token, as the evaluation shows it, and the hidden one."""
    parts = [_blanks_of(batch, words) for batch in held_out_batches(settings, words)]
    columns = np.concatenate(parts, axis=1)
    before2, before, here, behind, behind2, labels = columns
    return _Around(
        before2=before2, before=before, here=here, behind=behind, behind2=behind2
    ), labels


def _blanks_of(batch: Batch, words: WordPiece) -> Ids:
    tokens, owners = batch.tokens.flatten().numpy(), batch.owners.flatten().numpy()
    places = batch.masked.numpy()

    def at(distance: int) -> Ids:
        other = np.clip(places + distance, 0, len(tokens) - 1)
        own = owners[other] == owners[places]
        return np.where(own, tokens[other], words.special.sep).astype(np.int64)

    return np.stack([*(at(distance) for distance in range(-2, 3)), batch.labels.numpy()])


def _share(guesses: Ids, labels: Ids) -> float:
    return float((guesses == labels).mean())
