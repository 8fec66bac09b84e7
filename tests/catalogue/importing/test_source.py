import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from tests.catalogue.repositories import commit_all, git
from trainmark.catalogue.importing.git_objects import GitObjects, sizes_of
from trainmark.catalogue.importing.source import FolderSource, GitSource, Watched
from trainmark.types import TrainmarkError

NAME = "mlcommons/training_results_v1.0"
TEXT = b"one\n\x00two"
EMPTY_ID = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "a b").mkdir(parents=True)
    (root / "a b/x.txt").write_bytes(TEXT)
    (root / "empty.txt").write_bytes(b"")
    (root / "link.txt").symlink_to("/etc/passwd")
    return root


def _folder(folder: Path) -> FolderSource:
    return FolderSource(folder, NAME)


def _git(folder: Path) -> GitSource:
    commit_all(folder)
    return GitSource(folder, NAME)


@pytest.mark.parametrize("make", [_folder, _git])
def test_files_and_their_bytes(
    folder: Path, make: Callable[[Path], FolderSource | GitSource]
) -> None:
    with make(folder) as source:
        assert source.paths == {"a b/x.txt", "empty.txt"}
        assert source.read("a b/x.txt") == TEXT
        assert source.read("empty.txt") == b""
        assert source.read("link.txt") is None
        assert source.read("../secret") is None
        stream = source.open("a b/x.txt")
        assert stream is not None
        assert source.size == len(TEXT)
        assert stream.read(3) == b"one"
        assert source.read("empty.txt") == b""  # the next ends the one before
        assert source.size == 0
        assert source.open("absent") is None


@pytest.mark.parametrize("make", [_folder, _git])
def test_a_watched_stream_names_the_content_as_git_does(
    folder: Path, make: Callable[[Path], FolderSource | GitSource]
) -> None:
    with make(folder) as source:
        for path, data in (("a b/x.txt", TEXT), ("empty.txt", b"")):
            stream = source.open(path)
            assert stream is not None
            watched = Watched(stream, source.size, source.object_id(path))
            buffer = bytearray(4)
            assert watched.readinto(buffer) == min(4, len(data))
            name = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            assert watched.name() == name
            assert data.startswith(watched.start)
            assert path != "empty.txt" or name == EMPTY_ID


def test_the_beginning_is_kept_and_no_more() -> None:
    data = bytes(range(256)) * 1000
    watched = Watched(BytesIO(data), len(data), "")
    assert watched.read(100_000) + watched.read() == data
    assert watched.start == data[:65536]
    assert watched.name() == hashlib.sha1(b"blob 256000\0" + data).hexdigest()


def test_a_work_tree_is_read_at_its_commit(folder: Path) -> None:
    commit = commit_all(folder)
    (folder / "a b/x.txt").write_text("changed since")
    with GitSource(folder, NAME) as source:
        assert source.commit == commit
        assert source.read("a b/x.txt") == TEXT


def test_what_is_expected_is_read_in_any_order_and_may_be_left(folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.txt").write_bytes(b"%d" % number * 70_000)
    with _git(folder) as source:
        source.expect([f"{number}.txt" for number in range(9)])
        assert source.read("2.txt") == b"2" * 70_000  # 0 and 1 are passed over
        stream = source.open("3.txt")
        assert stream is not None
        assert stream.read(5) == b"33333"
        assert source.read("5.txt") == b"5" * 70_000
        assert source.read("a b/x.txt") == TEXT  # was not expected: 6, 7 and 8 are passed over
        assert source.read("0.txt") == b"0" * 70_000
        source.expect(["1.txt", "absent"])


def test_a_listed_but_absent_object_is_none_and_the_next_is_read(folder: Path) -> None:
    commit_all(folder)
    name = git(folder, "rev-parse", "HEAD:a b/x.txt")
    (folder / ".git/objects" / name[:2] / name[2:]).unlink()
    with GitSource(folder, NAME) as source:
        assert source.read("a b/x.txt") is None
        assert source.read("empty.txt") == b""
    assert sizes_of(folder, [name, EMPTY_ID]) == {EMPTY_ID: 0}


def test_a_damaged_object_is_absent(folder: Path) -> None:
    commit_all(folder)
    name = git(folder, "rev-parse", "HEAD:a b/x.txt")
    place = folder / ".git/objects" / name[:2] / name[2:]
    place.chmod(0o644)
    place.write_bytes(b"broken")
    with GitSource(folder, NAME) as source:
        assert source.read("a b/x.txt") is None
        assert source.read("empty.txt") == b""


@pytest.mark.parametrize("answer", ["", f"{EMPTY_ID} blob 100\nabc"])
def test_a_git_that_dies_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    script = tmp_path / "bin/git"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    with GitSource(tmp_path, NAME, commit="c", objects={"x": EMPTY_ID}) as source:
        with pytest.raises(TrainmarkError, match="git stopped"):
            source.read("x")
        with pytest.raises(TrainmarkError, match="git stopped"):
            source.read("x")


def test_the_beginning_of_a_file_alone_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"ab" * 2_000_000)
    (tmp_path / "next").write_bytes(b"next")
    commit_all(tmp_path)
    for source in (FolderSource(tmp_path, NAME), GitSource(tmp_path, NAME)):
        with source:
            assert source.read("long", 3) == b"aba"
            assert source.read("next") == b"next"


def test_a_tree_that_somebody_made_up_leads_nowhere(folder: Path) -> None:
    commit_all(folder)
    blob = git(folder, "rev-parse", "HEAD:empty.txt")
    inner = git_with(folder, f"100644 blob {blob}\tpasswd\n", "mktree")
    raw = b"40000 ..\0" + bytes.fromhex(inner) + b"100644 fine\0" + bytes.fromhex(blob)
    (folder / "raw").write_bytes(raw)
    tree = git(folder, "hash-object", "-t", "tree", "-w", "--literally", "raw")
    commit = git(folder, "commit-tree", "-m", "odd", tree)
    git(folder, "update-ref", "HEAD", commit)
    with GitSource(folder, NAME) as source:
        assert source.paths == {"fine"}


def git_with(folder: Path, text: str, *arguments: str) -> str:
    """What git prints for a text on its standard input."""
    (folder / "input").write_text(text)
    return git(folder, *arguments, given=folder / "input")


@pytest.mark.parametrize("what", ["gone", "folder", "pipe"])
def test_a_file_that_is_none_any_more_is_none(folder: Path, what: str) -> None:
    import os

    with FolderSource(folder, NAME) as source:
        file = folder / "a b/x.txt"
        file.unlink()
        if what == "folder":
            file.mkdir()
        elif what == "pipe":
            os.mkfifo(file)
        assert source.read("a b/x.txt") is None


def test_a_repository_without_a_commit_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(TrainmarkError, match="has no commit that can be read"):
        GitSource(tmp_path, NAME)
    (tmp_path / ".git/HEAD").write_text("garbage")
    with pytest.raises(TrainmarkError, match=r"git cannot read .* not a git repository"):
        GitSource(tmp_path, NAME)


def test_without_git_a_text_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(TrainmarkError, match="git is not installed"):
        GitSource(folder, NAME)
    with pytest.raises(TrainmarkError, match="git is not installed"):
        GitObjects(folder).open(EMPTY_ID)
