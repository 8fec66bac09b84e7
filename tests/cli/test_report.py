import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.results import result
from tests.report.sessions import write_session
from trainmark import catalogue
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
        ((folder, "--benchmark", "bert"), "filters and prices are for the page of all results"),
        (("--benchmark", "nonsense"), "benchmark"),
        (("--out", tmp_path), "is a folder"),
        (("--prices", tmp_path / "no.toml"), "no.toml"),
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


def test_without_a_path_every_result_is_in_one_page(
    trainmark: Trainmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    catalogue.record(result(), [])
    status, out, err = trainmark("report", "--json")
    (report,) = json.loads(out)["reports"]
    assert (status, err) == (0, "")
    assert report["page"] == "trainmark-results.html"
    assert report["bytes"] == (tmp_path / "trainmark-results.html").stat().st_size < 6_000_000
    assert report["published"] == len(catalogue.published())
    assert report["own"] == 1
    assert report["results"] == report["published"] + 1


def test_filters_choose_what_is_in_the_page(trainmark: Trainmark, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("--benchmark", "resnet", "--round", "2.0", "--accelerator", "bow")
    status, out, _ = trainmark("report", *asked, "--out", page)
    expected = catalogue.query(
        catalogue.Filters(benchmark="resnet", rounds=("2.0",), accelerator="bow")
    )
    assert status == 0
    assert out.startswith(f"report: {page} ({len(expected)} results, ")
    assert len(expected) > 0
    assert "Asked for: --benchmark resnet, --round 2.0, --accelerator bow." in page.read_text()


def test_no_result_is_status_1_and_no_page(trainmark: Trainmark, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    status, out, err = trainmark("report", "--submitter", "nobody at all", "--out", page)
    assert (status, out) == (1, "")
    assert "no result matches --submitter nobody at all" in err
    assert "--submitter could be " in err
    assert not page.exists()


def test_runs_stand_among_all_results_once(
    trainmark: Trainmark, folder: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    asked = ("--round", "2.0", "--out", page, "--json")
    status, out, _ = trainmark("report", folder, "--published", *asked)
    (report,) = json.loads(out)["reports"]
    assert status == 0
    assert report["own"] == 1
    assert report["published"] > 0
    assert not (folder / "report.html").exists()
    # The same session recorded: its runs are not there twice, and the round asked for stays.
    catalogue.record(result(benchmark="resnet50_desk", path=str(folder.resolve())), [])
    out = trainmark("report", folder, "--beside", "--out", page, "--json")[1]
    assert json.loads(out)["reports"][0]["own"] == 1


def test_a_folder_name_cannot_reach_the_terminal(trainmark: Trainmark, tmp_path: Path) -> None:
    folder = write_session(tmp_path / "evil\x1b[2J")
    _, out, _ = trainmark("report", folder)
    assert "\x1b" not in out
    assert "evil\ufffd[2J" in out


def test_a_folder_name_of_any_bytes_is_told_as_json(trainmark: Trainmark, tmp_path: Path) -> None:
    folder = write_session(tmp_path / os.fsdecode(b"runs\xff"))
    status, out, _ = trainmark("report", folder, "--json")
    assert status == 0
    assert json.loads(out)["reports"][0]["page"].endswith("runs\ufffd/report.html")
    asked = ("--beside", "--round", "2.0", "--out", tmp_path / "page.html", "--json")
    status, out, _ = trainmark("report", folder, *asked)
    assert (status, json.loads(out)["reports"][0]["own"]) == (0, 1)


def test_curves_become_a_picture_and_no_page(
    trainmark: Trainmark, folder: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "curves.svg"
    asked = ("report", folder, "--curves", picture, "--baseline", "a=b=0.9")
    assert trainmark(*asked) == (0, f"curves: {picture}\n", "")
    assert "<!-- a=b 90 % -->" in picture.read_text()
    assert not (folder / "report.html").exists()
    status, out, _ = trainmark(*asked, "--json")
    assert (status, json.loads(out)["reports"]) == (0, [{"picture": str(picture), "runs": 3}])


def test_curves_of_several_benchmarks_are_refused(trainmark: Trainmark, tmp_path: Path) -> None:
    write_session(tmp_path / "all" / "one", system="one")
    write_session(tmp_path / "all" / "two", system="two")
    status, _, err = trainmark("report", tmp_path / "all", "--curves", tmp_path / "x.svg")
    assert status == 2
    assert "holds 2 benchmarks or systems" in err
    assert str(tmp_path / "all" / "one" / "Test House" / "results") in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--curves", "x.svg", "--out", "page.html"), "runs of one PATH, and nothing else"),
        (("--curves", "x.svg", "--published"), "runs of one PATH, and nothing else"),
        (("--baseline", "a=0.5"), "--curves, which is not asked for"),
        (("--curves", "x.svg", "--baseline", "a"), "not of the form NAME=QUALITY"),
        (("--curves", "x.svg", "--baseline", "a=nan"), "not of the form NAME=QUALITY"),
        (("--curves", "x.gif"), "neither .svg nor .png"),
    ],
)
def test_wrong_requests_for_curves(
    trainmark: Trainmark, folder: Path, options: tuple[str, ...], says: str
) -> None:
    status, _, err = trainmark("report", folder, *options)
    assert status == 2
    assert says in err


def test_without_matplotlib_the_extra_is_named(
    trainmark: Trainmark, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = trainmark("report", folder, "--curves", tmp_path / "x.svg")
    assert status == 2
    assert "pip install 'trainmark[pictures]'" in err
