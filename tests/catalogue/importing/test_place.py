from pathlib import Path

import pytest

from tests.catalogue.repositories import commit_all, git
from trainmark.catalogue.importing.place import find_place, head_of, open_place
from trainmark.catalogue.importing.source import FolderSource, GitSource
from trainmark.types import TrainmarkError, UsageError

V10 = "mlcommons/training_results_v1.0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "acme"
    root.mkdir()
    (root / "x.txt").write_text("x")
    return root


def test_a_name_in_front(folder: Path) -> None:
    place = find_place(f"{V10}={folder}")
    assert (place.name, place.round, place.published) == (V10, "1.0", True)
    assert (place.slug, place.is_git, place.path) == ("training_results_v1.0", False, str(folder))
    assert isinstance(open_place(place), FolderSource)
    assert head_of(place) == ""


def test_the_folders_own_name(tmp_path: Path) -> None:
    for name in ("training_results_v4.1", "mlcommons+training_results_v4.1"):
        (tmp_path / name).mkdir()
        place = find_place(str(tmp_path / name))
        assert (place.name, place.published) == ("mlcommons/training_results_v4.1", True)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/mlcommons/training_results_v1.0.git", V10),
        ("https://github.com/mlcommons/training_results_v1.0", V10),
        ("git@github.com:mlcommons/training_results_v1.0.git", V10),
        ("https://github.com/mlperf/training_results_v1.0/", V10),
    ],
)
def test_gits_remote(folder: Path, tmp_path: Path, url: str, name: str) -> None:
    commit = commit_all(folder)
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(folder), str(bare))
    git(bare, "remote", "set-url", "origin", url)
    place = find_place(str(bare))
    assert (place.name, place.round, place.published, place.is_git) == (name, "1.0", True, True)
    assert head_of(place) == commit
    with open_place(place) as source:
        assert isinstance(source, GitSource)
        assert source.paths == {"x.txt"}


def test_a_copy_of_somebody_else_is_not_published(folder: Path) -> None:
    commit_all(folder)
    git(folder, "remote", "add", "origin", "https://github.com/acme/training_results_v1.0")
    place = find_place(str(folder))
    assert (place.name, place.round, place.published) == (
        "acme/training_results_v1.0",
        "1.0",
        False,
    )
    assert place.slug.startswith("acme-training_results_v1.0-")


def test_a_submitters_folder_with_a_round(folder: Path) -> None:
    place = find_place(str(folder), "v5.1")
    assert (place.name, place.round, place.published) == ("acme", "5.1", False)
    assert place.slug.startswith("acme-")
    other = folder.parent / "other/acme"
    other.mkdir(parents=True)
    assert find_place(str(other), "5.1").slug != place.slug


def test_the_round_of_a_folder_above(tmp_path: Path) -> None:
    for above, found in (("training_results_v5.0", "5.0"), ("v4.1", "4.1"), ("sub_v3.0", "3.0")):
        (tmp_path / above / "acme").mkdir(parents=True)
        place = find_place(str(tmp_path / above / "acme"))
        assert (place.round, place.published) == (found, False)


def test_nothing_tells_the_round(folder: Path) -> None:
    with pytest.raises(UsageError, match="cannot tell which round") as caught:
        find_place(str(folder))
    assert "--round 5.1" in caught.value.hint


def test_a_round_that_contradicts_or_is_none(folder: Path) -> None:
    with pytest.raises(UsageError, match="is the repository of round"):
        find_place(f"{V10}={folder}", "2.0")
    assert find_place(f"{V10}={folder}", "v1.0").round == "1.0"
    with pytest.raises(UsageError, match="there is no round 'latest'"):
        find_place(str(folder), "latest")


@pytest.mark.parametrize("name", ["absent", "a" * 5000, "a\0b"])
def test_a_missing_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        find_place(f"{V10}={tmp_path / name}")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("x")
    with pytest.raises(UsageError, match="log is no folder"):
        find_place(f"{V10}={tmp_path / 'log'}")


def test_an_equals_sign_in_a_folders_name(tmp_path: Path) -> None:
    folder = tmp_path / "a=b"
    folder.mkdir()
    assert find_place(str(folder), "1.0").path == str(folder)


def test_an_url_is_cloned_bare_and_shallow(folder: Path, tmp_path: Path) -> None:
    commit_all(folder)
    (folder / "y.txt").write_text("y")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "more")
    commit = git(folder, "rev-parse", "HEAD")
    place = find_place(f"{V10}=file://{folder}")
    assert (place.url, place.path, place.is_git) == (f"file://{folder}", "", True)
    assert head_of(place) == commit
    clones = tmp_path / "clones"
    clones.mkdir()
    cloned = place.cloned(clones)
    with open_place(cloned) as source:
        assert source.paths == {"x.txt", "y.txt"}
        assert source.read("y.txt") == b"y"
        assert source.commit == commit
    assert git(Path(cloned.path), "rev-list", "--count", "HEAD") == "1"
    assert not list(Path(cloned.path).glob("hooks/*"))


def test_hooks_of_a_clone_never_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_all(folder)
    note = tmp_path / "ran"
    template = tmp_path / "template/hooks"
    template.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (template / name).write_text(f"#!/bin/sh\ntouch {note}\n")
        (template / name).chmod(0o755)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template.parent))
    clones = tmp_path / "clones"
    clones.mkdir()
    find_place(f"{V10}=file://{folder}").cloned(clones)
    assert not note.exists()


def test_an_url_that_leads_nowhere(tmp_path: Path) -> None:
    place = find_place(f"{V10}=file://{tmp_path}/absent")
    with pytest.raises(TrainmarkError, match="git cannot clone file://") as caught:
        head_of(place)
    assert "network" in caught.value.hint
    with pytest.raises(TrainmarkError, match="git cannot clone file://") as caught:
        place.cloned(tmp_path)
    assert "network" in caught.value.hint


def test_a_password_in_an_url_is_neither_shown_nor_kept() -> None:
    place = find_place("https://me:secret@localhost:1/results_v5.1")
    assert (place.name, place.url) == (
        "1/results_v5.1",
        "https://me:secret@localhost:1/results_v5.1",
    )
    with pytest.raises(TrainmarkError, match=r"git cannot clone https://localhost:1/") as caught:
        head_of(place)
    assert "secret" not in caught.value.message
    assert "secret" not in find_place("https://me:secret@host_v5.1").name


@pytest.mark.parametrize("url", ["ext::sh -c touch% /tmp/x", "ext://sh", "ftp://host/x", "fd::3"])
def test_protocols_that_could_run_something_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        find_place(f"{V10}={url}")


def test_an_option_is_no_url(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        find_place(f"{V10}=--upload-pack=touch {tmp_path}/x")
