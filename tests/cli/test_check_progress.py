from pathlib import Path

import pytest

from tests.logs import RunShape, write_folder
from trainmark.cli.check_progress import Progress


class _Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "x", [RunShape(seed=seed) for seed in range(4)])


def _watch(folder: Path, seconds: float, *, shown: bool | None = True) -> Progress:
    """Two of four logs done, each in so many seconds."""
    clock = _Clock()
    progress = Progress([str(folder)], clock, shown=shown)
    for number in range(2):
        clock.now += seconds
        progress.log_done(str(folder / f"result_{number}.txt"))
    return progress


def test_a_long_check_tells_how_far_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    progress = _watch(folder, 30.0)
    out, err = capsys.readouterr()
    assert out == ""
    last = err.split("\r")[-1]
    assert "checked 2 of 4 logs, 0.0 MB/s, about 60 s left" in last
    progress.clear()
    assert capsys.readouterr().err == "\r\x1b[K"
    progress.clear()
    assert capsys.readouterr().err == ""


def test_a_short_check_is_silent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _watch(folder, 0.4).clear()
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_where_nobody_looks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _watch(folder, 30.0, shown=None).clear()
    assert capsys.readouterr() == ("", "")


def test_a_file_that_has_gone_counts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = _Clock()
    progress = Progress([str(tmp_path / "absent")], clock, shown=True)
    clock.now = 200.0
    progress.log_done(str(tmp_path / "absent" / "result_0.txt"))
    assert "checked 1 of 0 logs, 0.0 MB/s" in capsys.readouterr().err
