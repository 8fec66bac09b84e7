import errno
import os
from pathlib import Path

import pytest

from trainmark.types import TrainmarkError, UsageError, atomic_write


def test_writes_text_and_bytes(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a.txt", "grün\n")
    atomic_write(tmp_path / "b.bin", b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == "grün\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"


def test_replaces_and_keeps_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o600)
    atomic_write(target, "new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_missing_folder_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot create .*absent.*a\.txt: No such file"):
        atomic_write(tmp_path / "absent" / "a.txt", "x")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TrainmarkError, match="No space left") as caught:
        atomic_write(target, "new")
    assert caught.value.exit_code == 1
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(TrainmarkError, match="cannot write"):
        atomic_write(tmp_path / "taken", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_a_path_that_cannot_be_looked_at_is_an_error_with_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TrainmarkError, match="too long"):
        atomic_write(tmp_path / ("x" * 300), "x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(UsageError, match="Permission denied"):
        atomic_write(tmp_path / "a", "x")


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a device"])
def test_what_is_no_file_is_not_replaced(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "a"
    match kind:
        case "folder":
            target.mkdir()
        case "pipe":
            os.mkfifo(target)
        case _:
            target.symlink_to(os.devnull)
    before = target.lstat()
    with pytest.raises(UsageError, match="a folder, a pipe or a device"):
        atomic_write(target, "x")
    assert target.lstat() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
