from pathlib import Path

from trainmark.training.cache import flush_caches


def test_it_says_whether_all_files_were_flushed(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"x" * 4096)
    assert flush_caches([file])
    assert not flush_caches([file, tmp_path / "absent"])
    assert not flush_caches([])
