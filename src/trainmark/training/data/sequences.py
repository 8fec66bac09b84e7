"""Sequences for masked-language-model and next-sentence pre-training, made from documents.

The recipe of BERT (Devlin, Chang, Lee, Toutanova 2018, arXiv:1810.04805, appendix A.2) with the
numbers of the MLPerf reference: two segments of one document, or in half of the cases a second
segment from another document; one sequence in ten is made shorter than it could be; 15 % of the
tokens, at most 76, are to be predicted, of which 80 % are replaced by [MASK], 10 % by a random
token and 10 % are left as they are.

A document is a sequence of sentences, a sentence an array of token ids. No framework is used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from trainmark.training.data.wordpiece import FIRST_WORD, SpecialTokens

__all__ = ["Document", "MaskedSequence", "Recipe", "make_sequences", "masked"]

Tokens = npt.NDArray[np.int32]
Document = Sequence[Tokens]

_SPECIAL = 3  # [CLS] first [SEP] second [SEP]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How sequences are made.

    Attributes:
        length: Most tokens in a sequence, with [CLS] and [SEP].
        vocabulary: Number of token ids.
        special: Ids of the special tokens.
        shorter_share: Share of sequences with a random, smaller goal for their length.
        mask_share: Share of the tokens to predict.
        most_masked: Most tokens to predict in a sequence.
    """

    length: int
    vocabulary: int
    special: SpecialTokens
    shorter_share: float = 0.1
    mask_share: float = 0.15
    most_masked: int = 76


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedSequence:
    """One sample: a pair of segments with some tokens hidden.

    Attributes:
        tokens: Ids as the model sees them, from [CLS] to the last [SEP], no padding.
        first: Tokens of the first segment, with [CLS] and its [SEP].
        positions: Places of the tokens to predict, ascending.
        labels: Their true ids.
        random_next: Whether the second segment comes from elsewhere.
    """

    tokens: Tokens
    first: int
    positions: Tokens
    labels: Tokens
    random_next: bool


def make_sequences(
    documents: Sequence[Document],
    recipe: Recipe,
    random: np.random.Generator,
    mask_shares: Iterator[float] | None = None,
) -> Iterator[MaskedSequence]:
    """One pass over the documents, in random order.

    Args:
        documents: At least one, each with at least one sentence, no sentence empty.
        recipe: Lengths and shares.
        random: Decides everything.
        mask_shares: Without end, the share of the tokens to predict in each sequence in turn;
            that of the recipe without.
    """
    for place in random.permutation(len(documents)):
        for first, second, is_random in _pairs(int(place), documents, recipe, random):
            if mask_shares is not None:
                recipe = replace(recipe, mask_share=next(mask_shares))
            yield masked(first, second, is_random, recipe, random)


def masked(
    first: Tokens, second: Tokens, is_random: bool, recipe: Recipe, random: np.random.Generator
) -> MaskedSequence:
    """Join two segments and hide some of their tokens.

    Args:
        first: The first segment.
        second: The second segment; together at most ``recipe.length`` - 3 tokens.
        is_random: Whether the second comes from elsewhere.
        recipe: Shares and ids.
        random: Chooses the tokens.
    """
    special = recipe.special
    separator = (special.sep,)
    tokens = np.concatenate(((special.cls,), first, separator, second, separator), dtype=np.int32)
    count = len(first) + len(second)
    chosen = min(recipe.most_masked, max(1, round(recipe.mask_share * len(tokens))), count)
    positions = np.sort(random.permutation(count)[:chosen]).astype(np.int32) + 1
    positions[positions > len(first)] += 1  # over the [SEP] between the two
    labels = tokens[positions]
    kind = random.random(chosen)
    tokens[positions[kind < 0.8]] = special.mask
    other = positions[kind >= 0.9]
    tokens[other] = random.integers(FIRST_WORD, recipe.vocabulary, len(other))
    return MaskedSequence(
        tokens=tokens,
        first=len(first) + 2,
        positions=positions,
        labels=labels,
        random_next=is_random,
    )


def _pairs(
    place: int, documents: Sequence[Document], recipe: Recipe, random: np.random.Generator
) -> Iterator[tuple[Tokens, Tokens, bool]]:
    """Cut one document into pairs of segments: first, second, whether that is from elsewhere."""
    document = documents[place]
    start = 0
    while start < len(document):
        goal = _goal(recipe, random)
        end = _end(document, start, goal)
        middle = start + (1 if end - start < 2 else int(random.integers(1, end - start)))
        first = np.concatenate(document[start:middle])
        is_random = end == middle or bool(random.random() < 0.5)
        if is_random:
            other = documents[_other(place, len(documents), random)]
            begin = int(random.integers(len(other)))
            missing = max(1, goal - len(first))
            second = np.concatenate(other[begin : _end(other, begin, missing)])
            start = middle  # what the second segment would have been is used later
        else:
            second = np.concatenate(document[middle:end])
            start = end
        yield *_shortened(first, second, recipe.length - _SPECIAL, random), is_random


def _goal(recipe: Recipe, random: np.random.Generator) -> int:
    """How many tokens the two segments together should have."""
    most = recipe.length - _SPECIAL
    return int(random.integers(2, most + 1)) if random.random() < recipe.shorter_share else most


def _end(document: Document, start: int, tokens: int) -> int:
    """Behind the sentence with which that many tokens are reached."""
    count = 0
    for place in range(start, len(document)):
        count += len(document[place])
        if count >= tokens:
            return place + 1
    return len(document)


def _other(place: int, count: int, random: np.random.Generator) -> int:
    """Any document but that one, if there is another."""
    return place if count == 1 else (place + int(random.integers(1, count))) % count


def _shortened(
    first: Tokens, second: Tokens, most: int, random: np.random.Generator
) -> tuple[Tokens, Tokens]:
    """Cut the longer segment at its ends until both fit together."""
    surplus = len(first) + len(second) - most
    if surplus > 0:
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        cut = min(surplus, len(longer) - len(shorter))
        rest = surplus - cut
        lengths = {True: len(longer) - cut - (rest - rest // 2), False: len(shorter) - rest // 2}
        first_is_longer = longer is first
        first = _window(first, lengths[first_is_longer], random)
        second = _window(second, lengths[not first_is_longer], random)
    return first, second


def _window(tokens: Tokens, length: int, random: np.random.Generator) -> Tokens:
    """That many tokens from a random place."""
    start = int(random.integers(len(tokens) - length + 1))
    return tokens[start : start + length]
