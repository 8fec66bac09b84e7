import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.sessions import write_session
from trainmark.cli.main import main

Trainmark = Callable[..., tuple[int, str, str]]


@pytest.fixture
def trainmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Trainmark:
    """Runs the command: exit status, standard output, standard error."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["trainmark", *(str(one) for one in arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, captured.out, captured.err

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_session(tmp_path / "session")


def test_the_page_lies_in_the_folder_and_its_place_is_printed(
    trainmark: Trainmark, folder: Path
) -> None:
    assert trainmark("report", folder) == (0, f"report: {folder / 'report.html'}\n", "")
    assert "<h1" in (folder / "report.html").read_text()


def test_out_names_the_page(trainmark: Trainmark, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert trainmark("report", folder, "--out", page)[0] == 0
    assert page.is_file()
    assert not (folder / "report.html").exists()


def test_each_folder_gets_its_page(trainmark: Trainmark, folder: Path, tmp_path: Path) -> None:
    other = write_session(tmp_path / "other")
    status, out, _ = trainmark("report", folder, other)
    assert status == 0
    assert out.splitlines() == [f"report: {one / 'report.html'}" for one in (folder, other)]


def test_json_has_every_report_and_its_page(trainmark: Trainmark, folder: Path) -> None:
    status, out, _ = trainmark("report", folder, "--json")
    (report,) = json.loads(out)["reports"]
    assert status == 0
    assert report["page"] == str(folder / "report.html")
    assert report["entries"][0]["score"]["minutes"] == pytest.approx(1.1)


def test_misuse_is_status_2_with_a_way_out(
    trainmark: Trainmark, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, says in (
        ((), "Missing argument"),
        ((tmp_path / "nowhere",), "does not exist"),
        ((tmp_path / "empty",), "Looked for files named result_*.txt"),
        ((folder, "--out", tmp_path / "no/such/page.html"), "cannot create"),
        ((folder, "--out", tmp_path), "is a folder"),
        ((folder, folder, "--out", tmp_path / "page.html"), "2 folders are given"),
    ):
        status, out, err = trainmark("report", *arguments)
        assert (status, out) == (2, ""), arguments
        assert says in err
        assert "Traceback" not in err


def test_a_folder_name_cannot_reach_the_terminal(trainmark: Trainmark, tmp_path: Path) -> None:
    folder = write_session(tmp_path / "evil\x1b[2J")
    _, out, _ = trainmark("report", folder)
    assert "\x1b" not in out
    assert "evil\ufffd[2J" in out
