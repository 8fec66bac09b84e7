"""Text to pieces and back: a unigram SentencePiece vocabulary (Kudo 2018, arXiv:1804.10959).

Made by the package sentencepiece as the MLPerf RNN-T reference makes it: every character covered,
no marks for beginning and end; piece 0 stands for what is unknown.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trainmark.types import TrainmarkError, UsageError

__all__ = ["Pieces", "train_pieces"]


class Pieces:
    """A vocabulary.

    Args:
        file: A SentencePiece model.

    Raises:
        UsageError: It cannot be read or is none.
    """

    def __init__(self, file: Path) -> None:
        import sentencepiece

        self._model = sentencepiece.SentencePieceProcessor()
        try:
            self._model.LoadFromSerializedProto(file.read_bytes())
        except (OSError, RuntimeError) as error:
            raise UsageError(
                f"{file} is no SentencePiece model: {error}",
                hint="Remove it: it is made anew from the transcripts.",
            ) from error

    def __len__(self) -> int:
        return int(self._model.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """The pieces of a text."""
        found: list[int] = self._model.encode(text, out_type=int)
        return found

    def decode(self, pieces: Sequence[int]) -> str:
        """The text of pieces."""
        text: str = self._model.decode(list(pieces))
        return text


def train_pieces(texts: Iterable[str], size: int, file: Path) -> None:
    """Make a vocabulary.

    Args:
        texts: What it is made from.
        size: Its pieces, those for unknown text and for every character included.
        file: Where the model goes.

    Raises:
        UsageError: The texts do not give so many pieces; says how many they give.
        TrainmarkError: ``texts`` raised it.
    """
    import sentencepiece

    errors: list[TrainmarkError] = []

    def whole() -> Iterator[str]:
        try:
            yield from texts
        except TrainmarkError as error:  # the library would make another one of it
            errors.append(error)

    with file.open("wb") as model:
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=whole(),
                model_writer=model,
                vocab_size=size,
                model_type="unigram",
                character_coverage=1.0,
                bos_id=-1,
                eos_id=-1,
                num_threads=1,  # so that the same texts give the same pieces
                minloglevel=2,
            )
        except RuntimeError as error:
            if errors:
                raise errors[0] from error
            reason = str(error).rpartition("] ")[2] or str(error)
            raise UsageError(
                f"the transcripts do not make a vocabulary of {size} pieces: {reason}",
                hint="It takes more text; the benchmark's is all of LibriSpeech's.",
            ) from error
    if errors:
        raise errors[0]
