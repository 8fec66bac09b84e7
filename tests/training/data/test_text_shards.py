from pathlib import Path

import pytest

from trainmark.training.data.text_shards import read_documents
from trainmark.types import UsageError


def test_blank_lines_part_documents(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text("\n\nOne.\n Two. \n\n  \nThree.\r\n\nFour.", encoding="utf-8")
    assert list(read_documents(path)) == [["One.", "Two."], ["Three."], ["Four."]]


def test_an_empty_shard_has_none(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text("\n")
    assert list(read_documents(path)) == []


def test_what_is_no_text_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(b"One.\n\xff\n")
    with pytest.raises(UsageError, match="part: line 2 is no UTF-8 text"):
        list(read_documents(path))


def test_a_missing_shard_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        list(read_documents(tmp_path / "none"))
