from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizer

from trainmark.training.data.wordpiece import SYNTHETIC, WordPiece, train_vocabulary
from trainmark.types import UsageError

TEXT = [
    "In the beginning God created the heaven and the earth.",
    "And God said, Let there be light: and there was light.",
    "Caf\u00e9s don't count; \u4e2d\u6587 neither!",
] * 3
PIECES = train_vocabulary(TEXT, 90)


def test_the_special_tokens_come_first() -> None:
    assert PIECES[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert len(PIECES) == 90 == len(set(PIECES))
    assert WordPiece(PIECES).special == SYNTHETIC


def test_the_others_stand_by_name_and_frequent_words_are_whole() -> None:
    """The library's own order changes from call to call."""
    assert PIECES[5:] == sorted(PIECES[5:])
    assert {"the", "and", "##e"} <= set(PIECES)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> BertTokenizer:
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(PIECES), encoding="utf-8")
    return BertTokenizer(vocab=str(path), do_lower_case=True)


@given(
    st.text(
        st.sampled_from(
            "abcdeghilnortu AT.,'!\u00e9\u4e2d\n\t\u3000\x00\x0b\x1c\x85\u2028\u200b-[]"
        ),
        max_size=60,
    )
)
def test_it_cuts_as_the_published_tokenizer_does(theirs: BertTokenizer, text: str) -> None:
    (ours,) = WordPiece(PIECES).encode([text])
    assert ours.tolist() == theirs.encode(text, add_special_tokens=False)


def test_known_words_give_the_same_again() -> None:
    words = WordPiece(PIECES)
    once = [tokens.tolist() for tokens in words.encode(TEXT)]
    assert [tokens.tolist() for tokens in words.encode(TEXT)] == once
    assert words.encode([""])[0].tolist() == []


def test_a_vocabulary_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    assert WordPiece.read(path).size == 90


def test_a_piece_may_be_a_character_that_splits_lines_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*PIECES, "\u2028", "\x85", "last"]), encoding="utf-8")
    assert WordPiece.read(path).size == 93


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n", "has no \\[MASK\\]"),
        ("\n".join([*PIECES, "the"]).encode(), "has 'the' twice, first in line"),
        (b"\xff\xfe", "cannot read the vocabulary"),
        (b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", "5 pieces, of which 5 stand for no text"),
    ],
)
def test_what_is_no_vocabulary_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        WordPiece.read(path)


def test_a_missing_file_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the vocabulary"):
        WordPiece.read(tmp_path / "vocab.txt")
