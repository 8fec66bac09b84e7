from pathlib import Path

import pytest

from tests.catalogue.repositories import commit_all, git
from trainmark.catalogue.source import FolderSource, GitSource, open_source, round_of
from trainmark.types import TrainmarkError, UsageError

NAME = "mlcommons/training_results_v1.0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "a b").mkdir(parents=True)
    (root / "a b/x.txt").write_bytes(b"one\n\x00two")
    (root / "empty.txt").write_bytes(b"")
    (root / "link.txt").symlink_to("/etc/passwd")
    return root


def _check(source: FolderSource | GitSource) -> None:
    assert source.paths == {"a b/x.txt", "empty.txt"}
    assert source.read("a b/x.txt") == b"one\n\x00two"
    assert source.read("empty.txt") == b""
    assert source.read("link.txt") is None
    assert source.read("../secret") is None


def test_a_plain_folder(folder: Path) -> None:
    with open_source(f"{NAME}={folder}") as source:
        assert isinstance(source, FolderSource)
        assert (source.name, source.commit) == (NAME, "")
        _check(source)


def test_a_work_tree_is_read_at_its_commit(folder: Path) -> None:
    commit = commit_all(folder)
    (folder / "a b/x.txt").write_text("changed since")
    with open_source(f"{NAME}={folder}") as source:
        assert isinstance(source, GitSource)
        assert source.commit == commit
        _check(source)


def test_a_bare_repository_named_by_its_remote(folder: Path, tmp_path: Path) -> None:
    commit_all(folder)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(folder), str(bare))
    git(bare, "remote", "set-url", "origin", f"https://example.org/{NAME}.git")
    with open_source(str(bare)) as source:
        assert isinstance(source, GitSource)
        assert source.name == NAME
        _check(source)


def test_a_listed_but_absent_object_is_none_and_the_next_is_read(folder: Path) -> None:
    commit_all(folder)
    name = git(folder, "rev-parse", "HEAD:a b/x.txt")
    (folder / ".git/objects" / name[:2] / name[2:]).unlink()
    with open_source(f"{NAME}={folder}") as source:
        assert source.read("a b/x.txt") is None
        assert source.read("empty.txt") == b""


def test_a_file_that_vanishes_is_none(folder: Path) -> None:
    with open_source(f"{NAME}={folder}") as source:
        (folder / "a b/x.txt").unlink()
        assert source.read("a b/x.txt") is None


def test_a_folder_without_a_name_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot tell which results repository") as caught:
        open_source(str(folder))
    assert caught.value.hint == f"Name it: mlcommons/training_results_v1.0={folder}"


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        open_source(str(tmp_path / "absent"))


def test_a_repository_without_a_commit_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(TrainmarkError, match="git cannot read"):
        open_source(f"{NAME}={tmp_path}")


def test_the_round_is_in_the_name() -> None:
    assert round_of(NAME) == "1.0"
