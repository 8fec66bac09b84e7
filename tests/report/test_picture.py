import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.sessions import ERROR_TARGET, write_session
from trainmark.report import load
from trainmark.report.picture import write_curves
from trainmark.report.session import Entry
from trainmark.types import TrainmarkError, UsageError

pytest.importorskip("matplotlib")


@pytest.fixture
def entry(session_folder: Path) -> Entry:
    return load(session_folder).entries[0]


def test_the_same_runs_give_the_same_picture(entry: Entry, tmp_path: Path) -> None:
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    write_curves(entry, one)
    write_curves(entry, two)
    assert one.read_bytes() == two.read_bytes()
    assert b"<dc:date>" not in one.read_bytes()
    assert ET.parse(one).getroot().tag.endswith("svg")


def test_every_run_and_every_level_is_drawn(entry: Entry, tmp_path: Path) -> None:
    """Letters are outlines, but matplotlib names each of its texts in a comment."""
    path = tmp_path / "curves.svg"
    write_curves(entry, path, {"1-NN": 0.937})
    drawn = path.read_text()
    for words in ("target 97.5 %", "1-NN 93.7 %", "accuracy (%)", "samples trained"):
        assert f"<!-- {words} -->" in drawn
    assert "unverified; MLPerf procedure, own target" in drawn
    lines = drawn.count('<g id="line2d_')
    write_curves(replace(entry, runs=entry.runs[:2]), path, {"1-NN": 0.937})
    assert lines - path.read_text().count('<g id="line2d_') >= 4  # a curve and its end, twice


def test_an_error_in_a_unit_of_its_own(tmp_path: Path) -> None:
    (entry,) = load(write_session(tmp_path / "s", target=ERROR_TARGET)).entries
    path = tmp_path / "curves.svg"
    write_curves(entry, path, {"linear fit": 0.826})
    for words in ("target 0.24 eV", "linear fit 0.826 eV", "mean absolute error (eV)"):
        assert f"<!-- {words} -->" in path.read_text()


def test_png(entry: Entry, tmp_path: Path) -> None:
    path = tmp_path / "curves.png"
    write_curves(entry, path)
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert struct.unpack(">II", head[16:]) == (1350, 570)


def test_a_long_title_is_broken_into_lines_that_fit(entry: Entry, tmp_path: Path) -> None:
    from matplotlib.image import imread

    assert entry.info is not None
    path = tmp_path / "curves.png"
    for title in ("a long title of many words " * 12, "WIDE WORDS, MOMENTOUS " * 10):
        write_curves(replace(entry, info=replace(entry.info, title=title)), path)
        dark = imread(path)[..., :3].min(axis=2) < 0.5
        assert dark[:40].any(), "the title"
        assert not dark[:, -4:].any(), "cut off at the right"


def test_a_title_with_dollars_is_no_mathematics(entry: Entry, tmp_path: Path) -> None:
    assert entry.info is not None
    path = tmp_path / "curves.svg"
    write_curves(replace(entry, info=replace(entry.info, title=r"$\frac{1$ and $")), path)
    assert r"<!-- $\frac{1$ and $: 3 runs" in path.read_text()


def test_another_ending_is_refused(entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither \.svg nor \.png") as caught:
        write_curves(entry, tmp_path / "curves.jpg")
    assert "curves.svg" in caught.value.hint


def test_runs_without_an_evaluation_have_no_curve(entry: Entry, tmp_path: Path) -> None:
    bare = tuple(replace(run, evaluations=()) for run in entry.runs)
    with pytest.raises(TrainmarkError, match=r"no run in .* was evaluated"):
        write_curves(replace(entry, runs=bare), tmp_path / "curves.svg")
