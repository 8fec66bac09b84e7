import json
from pathlib import Path

import pytest

from tests.catalogue.repositories import commit_all, nothing_packaged, write_entry, write_system
from tests.cli.calls import Call, calls
from trainmark.catalogue.importing.imports import Progress
from trainmark.catalogue.search import Filters, query
from trainmark.cli.import_progress import ImportProgress

V10 = "mlcommons/training_results_v1.0"


@pytest.fixture(autouse=True)
def _nothing_packaged(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_packaged(tmp_path_factory, monkeypatch)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs ``trainmark import``: exit status, standard output, standard error."""
    return calls("import", monkeypatch, capsys)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    write_system(root)
    write_entry(root)
    return root


def test_a_table_by_round_and_what_was_new(call: Call, root: Path, tmp_path: Path) -> None:
    where = tmp_path / "catalogue"
    status, out, err = call("--catalogue", where, f"{V10}={root}")
    assert (status, err) == (0, "")
    head, row, _, last = out.splitlines()
    cells = dict(zip(_columns(head), row.split(), strict=True))
    assert cells["round"] == "1.0"
    assert (cells["results"], cells["with score"], cells["logs"], cells["new"]) == (
        "1",
        "1",
        "5",
        "1",
    )
    assert last.endswith(f"the catalogue is {where}")
    assert last.startswith("Read 0.0 MB of logs in ")
    _, out, _ = call("--catalogue", where, f"{V10}={root}")
    cells = dict(zip(_columns(head), out.splitlines()[1].split(), strict=True))
    assert (cells["new"], cells["unchanged"]) == ("0", "1")


def _columns(head: str) -> list[str]:
    return [title for title in head.split("  ") if title]


def test_results_are_found_afterwards(call: Call, root: Path, tmp_path: Path) -> None:
    where = tmp_path / "catalogue"
    call("--catalogue", where, "--round", "5.1", root / "House")
    (result,) = query(Filters(origin="imported"), where=where)
    assert result.submitter == "House"
    assert result.minutes == pytest.approx(12)
    assert result.label.startswith("unverified")


def test_json(call: Call, root: Path, tmp_path: Path) -> None:
    commit = commit_all(root)
    status, out, _ = call(
        "--catalogue", tmp_path / "c", "--out", tmp_path / "out", "--json", f"{V10}={root}"
    )
    assert status == 0
    said = json.loads(out)
    (source,) = said["sources"]
    assert (source["name"], source["commit"], source["published"]) == (V10, commit, True)
    assert source["ids"] == {"new": ["v1.0/House/box/resnet"], "changed": [], "gone": []}
    assert said["findings"] == []
    assert said["published"]["1.0"]["scored"] == 1
    written = json.loads((tmp_path / "out/published.json").read_text())
    assert written == said["published"]


def test_damage_is_grouped_and_is_status_1(call: Call, root: Path, tmp_path: Path) -> None:
    folder = root / "House/results/box/resnet"
    (folder / "scaling.json").write_text("{")
    status, out, _ = call("--catalogue", tmp_path / "c", f"{V10}={root}")
    assert status == 1
    assert "error: 1 of [import.scaling]" in out
    assert "House/results/box/resnet/scaling.json: " in out
    status, out, _ = call("--catalogue", tmp_path / "c", "--json", f"{V10}={root}")
    assert status == 1
    (finding,) = json.loads(out)["findings"]
    assert (finding["rule"], finding["severity"]) == ("import.scaling", "error")


def test_a_source_without_results_is_an_error(call: Call, root: Path, tmp_path: Path) -> None:
    inside = root / "House/results"  # a step too deep
    status, out, _ = call("--catalogue", tmp_path / "c", "--round", "5.1", inside)
    assert status == 1
    assert "error: 1 of [import.empty]" in out
    assert "SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt" in out


def test_two_sources_of_one_name_are_told_apart(call: Call, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other/House"
    write_system(other.parent)
    write_entry(other.parent, place="House/results/box/bert")
    status, out, _ = call(
        "--catalogue", tmp_path / "c", "--json", "--round", "5.1", root / "House", other
    )
    assert status == 0
    new = [source["ids"]["new"] for source in json.loads(out)["sources"]]
    assert [name.rpartition("/")[2] for (name,) in new] == ["resnet", "bert"]


def test_absent_logs_are_told_and_no_error(call: Call, root: Path, tmp_path: Path) -> None:
    commit_all(root)
    for blob in (root / ".git/objects").glob("??/*"):
        if blob.stat().st_size > 900:  # the logs are the largest
            blob.unlink()
    status, out, _ = call("--catalogue", tmp_path / "c", f"{V10}={root}")
    assert status == 0
    assert "warning: 1 of [import.absent]" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no PATH_OR_URL is given"),
        (("absent",), "there is no folder absent"),
        (("ROOT",), "cannot tell which round"),
        (("--round", "x", "ROOT"), "there is no round"),
        ((f"{V10}=ROOT", f"{V10}=ROOT"), "are the same repository"),
        (("--out", "OUT", "--round", "5.1", "ROOT"), "is not published by MLCommons"),
        (("ftp://host/x",), "the protocol ftp is not allowed"),
    ],
)
def test_a_wrong_request_is_status_2(
    call: Call, root: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    given = [
        one.replace("ROOT", str(root)).replace("OUT", str(tmp_path / "o")) for one in arguments
    ]
    status, out, err = call("--catalogue", tmp_path / "c", *given)
    assert (status, out) == (2, "")
    assert message in err


def test_a_hostile_name_reaches_the_terminal_escaped(call: Call, tmp_path: Path) -> None:
    root = tmp_path / "r"
    write_system(root)
    folder = write_entry(root, place="\x1b[31mHouse/results/box/resnet")
    (folder / "scaling.json").write_text("{")
    status, out, _ = call("--catalogue", tmp_path / "c", f"{V10}={root}")
    assert status == 1
    assert "\x1b" not in out
    assert "[31mHouse" in out


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _progress(logs: int, size: int) -> Progress:
    return Progress(logs=logs, all_logs=10, bytes=size, all_bytes=1_000_000_000)


def test_progress_tells_logs_speed_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = _Clock()
    progress = ImportProgress(clock, shown=True)
    progress.step("reading logs")
    progress.update(_progress(1, 100_000_000))
    clock.now = 1.0
    progress.update(_progress(4, 250_000_000))
    shown = capsys.readouterr().err
    assert "reading logs" in shown
    assert "read 4 of 10 logs, 250 MB/s, about 3 s left" in shown
    progress.clear()
    assert capsys.readouterr().err == "\r\x1b[K"


def test_progress_is_silent_where_nobody_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ImportProgress(_Clock(), shown=False)
    progress.step("reading logs")
    progress.update(_progress(1, 1))
    progress.clear()
    assert capsys.readouterr().err == ""
