from pathlib import Path

import pytest

from trainmark.training.prepared import MANIFEST, Tell, place_of, prepared
from trainmark.types import TrainmarkError, UsageError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


class Maker:
    """Writes two files and counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, folder: Path, tell: Tell) -> None:
        self.calls += 1
        (folder / "deep").mkdir()
        (folder / "deep/a.txt").write_text("a")
        tell("half of it", 0.5)
        (folder / "b.txt").write_text("b")


def test_it_is_made_once() -> None:
    make, told = Maker(), []
    first = prepared("things", {"version": 1}, make, lambda *said: told.append(said))
    assert prepared("things", {"version": 1}, make) == first == place_of("things", {"version": 1})
    assert make.calls == 1
    assert told == [("half of it", 0.5)]
    assert (first / "deep/a.txt").read_text() == "a"


def test_other_inputs_have_a_folder_of_their_own() -> None:
    make = Maker()
    assert prepared("things", {"version": 1}, make) != prepared("things", {"version": 2}, make)
    assert make.calls == 2


@pytest.mark.parametrize("damage", ["changed", "missing", "stray", "no manifest"])
def test_damaged_data_is_made_anew(damage: str) -> None:
    make = Maker()
    place = prepared("things", {}, make)
    if damage == "changed":
        (place / "b.txt").write_text("c")
    elif damage == "missing":
        (place / "b.txt").unlink()
    elif damage == "stray":
        (place / "c.txt").write_text("c")
    else:
        (place / MANIFEST).write_text("{")
    assert prepared("things", {}, make) == place
    assert make.calls == 2
    assert (place / "b.txt").read_text() == "b"
    assert not (place / "c.txt").exists()


def test_what_was_interrupted_leaves_nothing(cache: Path) -> None:
    def stopped(folder: Path, tell: Tell) -> None:
        (folder / "half.txt").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared("things", {}, stopped)
    assert not [file for file in cache.rglob("*") if file.is_file()]


def test_making_nothing_is_an_error() -> None:
    with pytest.raises(TrainmarkError, match="preparing things left no file"):
        prepared("things", {}, lambda folder, tell: None)


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot keep the prepared data") as caught:
        prepared("things", {}, Maker())
    assert "XDG_CACHE_HOME" in caught.value.hint
