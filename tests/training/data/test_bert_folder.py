import shutil
from pathlib import Path

import pytest

from tests.training.data.bert_data import write_folder
from trainmark.training.data import bert_folder
from trainmark.training.data.bert_folder import scan
from trainmark.types import UsageError


def test_records_are_found_and_counted(tmp_path: Path) -> None:
    folder = scan(write_folder(tmp_path))
    assert folder.records
    assert [file.name for file in folder.train] == ["part-00000-of-00002", "part-00001-of-00002"]
    assert (folder.train_samples(), folder.eval_samples()) == (12, 5)
    assert folder.checkpoint is None


def test_a_large_folder_is_reckoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert_folder, "_COUNTED_BYTES", 0)
    monkeypatch.setattr(bert_folder, "_RECKONED_RECORDS", 4)
    assert scan(write_folder(tmp_path)).train_samples() == pytest.approx(12, abs=1)


def test_plain_text_is_taken_where_there_are_no_records(tmp_path: Path) -> None:
    folder = scan(write_folder(tmp_path, records=False))
    assert not folder.records
    assert folder.train_samples() >= 1


def test_other_places_of_the_same_files(tmp_path: Path) -> None:
    root = write_folder(tmp_path)
    (root / "eval_10k").rename(root / "tfrecord/eval_10k")
    (root / "tf1_ckpt").mkdir()
    folder = scan(root)
    assert folder.held_out.name == "eval_10k"
    assert folder.held_out not in folder.train
    assert folder.checkpoint == root / "tf1_ckpt"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tfrecord", "neither tfrecord/part-\\* nor results4/part-\\*"),
        ("eval_10k", "no eval_10k"),
        ("vocab.txt", "no vocab.txt"),
    ],
)
def test_what_is_missing_is_told_with_the_layout(tmp_path: Path, name: str, why: str) -> None:
    path = write_folder(tmp_path) / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(UsageError, match=why) as caught:
        scan(tmp_path)
    assert "DIR/vocab.txt" in caught.value.hint


def test_empty_files_are_told(tmp_path: Path) -> None:
    root = write_folder(tmp_path)
    (root / "eval_10k").write_bytes(b"")
    with pytest.raises(UsageError, match="eval_10k holds no record"):
        scan(root).eval_samples()
    (root / "tfrecord/part-00001-of-00002").write_bytes(b"")
    with pytest.raises(UsageError, match="part-00001-of-00002 is empty"):
        scan(root)
