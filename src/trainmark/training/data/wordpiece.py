"""WordPiece: words to token ids, by the library ``tokenizers``, each distinct word only once.

BERT's tokenisation (Devlin et al. 2018, arXiv:1810.04805) lower-cases, strips accents, splits at
white space and punctuation, and cuts each word into the longest known pieces. No step looks across
white space, so what a word becomes is kept: text repeats its words, and a dictionary is some ten
times faster than the library.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainmark.types import UsageError

__all__ = ["FIRST_WORD", "SYNTHETIC", "SpecialTokens", "WordPiece", "train_vocabulary"]

FIRST_WORD = 5  # a random token in place of a hidden one is none of the five special ones of ours
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_KEPT_WORDS = 1_000_000
# Control characters at which Python would split, and which BERT takes out of a word.
_REMOVED = dict.fromkeys((0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x1F, 0x85))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialTokens:
    """Ids of the tokens that stand for no text."""

    cls: int
    sep: int
    mask: int


SYNTHETIC = SpecialTokens(cls=2, sep=3, mask=4)
"""Their ids in a vocabulary of ours, for batches of noise."""


class WordPiece:
    """A vocabulary in use.

    Args:
        pieces: The vocabulary, one piece for each id.
        origin: Where it comes from, for error texts.

    Raises:
        UsageError: A special token is missing or a piece stands there twice.
    """

    def __init__(self, pieces: Sequence[str], origin: str = "the vocabulary") -> None:
        numbers = {piece: number for number, piece in enumerate(pieces)}
        missing = [token for token in _SPECIAL if token not in numbers]
        if missing:
            raise UsageError(
                f"{origin} has no {missing[0]}",
                hint="A WordPiece vocabulary is a text file of one piece a line, with "
                f"{', '.join(_SPECIAL)} among them.",
            )
        if len(numbers) != len(pieces):
            again = next(piece for n, piece in enumerate(pieces) if numbers[piece] != n)
            raise UsageError(
                f"{origin} has {again!r} twice, first in line {pieces.index(again) + 1}",
                hint="Each piece may stand there once.",
            )
        if len(pieces) <= FIRST_WORD:
            raise UsageError(
                f"{origin} has {len(pieces)} pieces, of which {len(_SPECIAL)} stand for no text",
                hint="BERT's own has 30,522.",
            )
        self.size = len(pieces)
        self.special = SpecialTokens(
            cls=numbers["[CLS]"], sep=numbers["[SEP]"], mask=numbers["[MASK]"]
        )
        self._tokenizer = _tokenizer(numbers)
        self._known: dict[str, list[int]] = {}

    @classmethod
    def read(cls, file: Path) -> "WordPiece":
        """A vocabulary file: one piece a line.

        Raises:
            UsageError: The file cannot be read or is no vocabulary.
        """
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"cannot read the vocabulary {file}: {error}",
                hint="It is a UTF-8 text of one piece a line, as published with BERT.",
            ) from error
        # Only a line feed ends a piece: other characters that split lines may be pieces themselves.
        return cls(text.removesuffix("\n").split("\n"), str(file))

    def encode(self, sentences: Iterable[str]) -> list[npt.NDArray[np.int32]]:
        """The token ids of each sentence."""
        words = [_words(sentence) for sentence in sentences]
        if len(self._known) > _KEPT_WORDS:
            self._known.clear()
        known = self._known
        new = list({word: None for word in chain.from_iterable(words) if word not in known})
        if new:
            found = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            known.update((word, one.ids) for word, one in zip(new, found, strict=True))
        return [
            np.array(list(chain.from_iterable(map(known.__getitem__, sentence))), np.int32)
            for sentence in words
        ]


def _words(sentence: str) -> list[str]:
    # Nearly all sentences are printable, which is found out faster.
    return (sentence if sentence.isprintable() else sentence.translate(_REMOVED)).split()


def train_vocabulary(sentences: Iterable[str], size: int) -> list[str]:
    """Learn a vocabulary.

    Args:
        sentences: The text.
        size: Most pieces, the five special ones included.

    Returns:
        The pieces in the order of their ids: the special ones, then the others by name, as the
        library's own order changes from call to call.
    """
    from tokenizers.trainers import WordPieceTrainer

    trainer: Any = WordPieceTrainer(
        vocab_size=size, special_tokens=list(_SPECIAL), show_progress=False
    )
    tokenizer = _tokenizer({token: number for number, token in enumerate(_SPECIAL)})
    tokenizer.train_from_iterator(sentences, trainer)
    return [*_SPECIAL, *sorted(set(tokenizer.get_vocab()) - set(_SPECIAL))]


def _tokenizer(numbers: dict[str, int]) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer: Any = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
