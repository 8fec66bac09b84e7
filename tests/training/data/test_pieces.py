from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmark.training.data.pieces import Pieces, train_pieces
from trainmark.types import UsageError

TEXTS = ["the cat sat on the mat", "the dog sat on the cat", "a mat for the dog"] * 5


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "pieces.model"
    train_pieces(TEXTS, 19, file)
    return file


def test_texts_come_back(model: Path) -> None:
    pieces = Pieces(model)
    assert len(pieces) == 19
    for text in TEXTS[:3]:
        encoded = pieces.encode(text)
        assert 0 not in encoded
        assert len(encoded) < len(text)
        assert pieces.decode(encoded) == text


def test_the_same_texts_give_the_same_pieces(model: Path, tmp_path: Path) -> None:
    train_pieces(TEXTS, 19, tmp_path / "again.model")
    first, again = Pieces(model), Pieces(tmp_path / "again.model")
    assert [first.encode(text) for text in TEXTS] == [again.encode(text) for text in TEXTS]


def test_too_little_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="do not make a vocabulary of 1023 pieces"):
        train_pieces(TEXTS, 1023, tmp_path / "pieces.model")


@pytest.mark.parametrize("content", [b"", b"no model", b"\x00" * 100])
def test_a_file_that_is_no_model_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.model").write_bytes(content)
    with pytest.raises(UsageError, match=r"bad.model is no SentencePiece model"):
        Pieces(tmp_path / "bad.model")


@pytest.mark.parametrize("before", [0, 200])
def test_an_error_of_the_texts_is_told_as_it_is(tmp_path: Path, before: int) -> None:
    """However many texts came before it."""

    def texts() -> Iterator[str]:
        yield from ["the cat sat", "a dog ran far"] * before
        raise UsageError("cannot read the archive", hint="Fetch it.")

    with pytest.raises(UsageError) as caught:
        train_pieces(texts(), 20, tmp_path / "pieces.model")
    assert (caught.value.message, caught.value.hint) == ("cannot read the archive", "Fetch it.")
