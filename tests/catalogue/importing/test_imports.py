import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.catalogue.repositories import (
    commit_all,
    git,
    nothing_packaged,
    packaged,
    write_entry,
    write_system,
    write_v05,
    write_v06,
)
from trainmark.catalogue.importing import state as states
from trainmark.catalogue.importing.imports import Imported, Progress, import_places
from trainmark.catalogue.importing.place import find_place
from trainmark.catalogue.schema import RUN_COLUMNS, run_from_row
from trainmark.catalogue.store import connect, load, rows
from trainmark.types import Result, Run, TrainmarkError, UsageError

V10, V11 = "mlcommons/training_results_v1.0", "mlcommons/training_results_v1.1"


@pytest.fixture(autouse=True)
def _nothing_packaged(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_packaged(tmp_path_factory, monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two results of a system."""
    root = tmp_path / "root"
    write_system(root)
    write_entry(root)
    write_entry(root, (3.0, 1.0, 2.0, 5.0, 4.0), place="House/results/box/ssd")
    return root


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "catalogue"


def _import(where: Path, *sources: str, **asked: object) -> Imported:
    return import_places([find_place(one) for one in sources], where=where, **asked)  # type: ignore[arg-type]


def _runs(where: Path, slug: str = "training_results_v1.0") -> dict[str, list[Run]]:
    with connect() as database:
        file = states.imported_folder(where) / slug / states.RUNS
        assert load(database, "runs", RUN_COLUMNS, [file]) == []
        found: dict[str, list[Run]] = {}
        for row in rows(database, "FROM runs ORDER BY result_id, run_index"):
            found.setdefault(row["result_id"], []).append(run_from_row(row))
    return found


RESNET, SSD = "v1.0/House/box/resnet", "v1.0/House/box/ssd"


def test_a_folder(root: Path, where: Path) -> None:
    seen: list[Progress] = []
    imported = _import(where, f"{V10}={root}", on_progress=seen.append)
    (report,) = imported.sources
    assert report.new == [RESNET, SSD]
    assert (report.changed, report.unchanged, report.gone) == ([], 0, [])
    results = imported.results()
    assert results.keys() == {RESNET, SSD}
    assert results[RESNET].minutes == pytest.approx(12)
    runs = _runs(where)
    assert [run.minutes for run in runs[RESNET]] == pytest.approx([12, 10, 11, 14, 13])
    assert all(run.content for run in runs[SSD])
    logs = list(root.glob("House/results/*/*/*.txt"))
    assert seen[-1] == Progress(
        logs=10, all_logs=10, bytes=report.bytes, all_bytes=sum(x.stat().st_size for x in logs)
    )


def _facts(results: dict[str, Result]) -> list[Result]:
    return [replace(one, commit="") for one in results.values()]


def test_git_gives_what_the_folder_gives(root: Path, where: Path, tmp_path: Path) -> None:
    plain = _import(where / "plain", f"{V10}={root}")
    commit = commit_all(root)
    tree = _import(where / "tree", f"{V10}={root}")
    url = _import(where / "url", f"{V10}=file://{root}")
    git(tmp_path, "clone", "-q", "--bare", str(root), str(tmp_path / "bare"))
    bare = _import(where / "bare", f"{V10}={tmp_path / 'bare'}")
    for other, name in ((tree, "tree"), (url, "url"), (bare, "bare")):
        assert _facts(other.results()) == _facts(plain.results())
        assert _runs(where / name) == _runs(where / "plain")
        assert {one.commit for one in other.results().values()} == {commit}


def test_two_processes_give_what_one_gives(root: Path, where: Path) -> None:
    commit_all(root)
    one = _import(where / "one", f"{V10}={root}", jobs=1)
    two = _import(where / "two", f"{V10}={root}", jobs=2)
    assert one.results() == two.results()
    for name in (states.RESULTS, states.RUNS, states.STATE):
        files = [
            states.imported_folder(where / n) / "training_results_v1.0" / name
            for n in ("one", "two")
        ]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_older_rounds(tmp_path: Path, where: Path) -> None:
    write_v05(tmp_path / "a")
    write_v06(tmp_path / "b")
    v05, v06 = (f"mlcommons/training_results_v0.{n}" for n in (5, 6))
    results = _import(where, f"{v05}={tmp_path / 'a'}", f"{v06}={tmp_path / 'b'}").results()
    assert {name: one.minutes for name, one in results.items()} == {
        "v0.5/house/group/box/resnet": pytest.approx(12),
        "v0.6/House/box/resnet": pytest.approx(12),
    }


@pytest.mark.parametrize("is_git", [True, False])
def test_only_what_has_changed_is_read_again(root: Path, where: Path, is_git: bool) -> None:
    def imported() -> Imported:
        if is_git:
            if not (root / ".git").exists():
                commit_all(root)
            git(root, "add", "-A")
            git(root, "commit", "-q", "--allow-empty", "-m", "next")
        return _import(where, f"{V10}={root}")

    imported()
    (again,) = imported().sources
    assert (again.new, again.changed, again.gone, again.unchanged) == ([], [], [], 2)
    assert again.bytes == 0

    log = root / "House/results/box/resnet/result_0.txt"
    log.write_text(log.read_text().replace('"value":4096', '"value":2048'))
    write_entry(root, place="House/results/box/maskrcnn")
    changed = imported()
    (report,) = changed.sources
    maskrcnn = "v1.0/House/box/maskrcnn"
    assert (report.new, report.changed, report.unchanged) == ([maskrcnn], [RESNET], 1)
    assert changed.results()[RESNET].global_batch_size == 2048
    assert {name: len(runs) for name, runs in _runs(where).items()} == {
        RESNET: 5,
        SSD: 5,
        maskrcnn: 5,
    }

    for file in (root / "House/results/box/ssd").iterdir():
        file.unlink()
    (report,) = imported().sources
    assert (report.gone, report.unchanged, report.new) == ([SSD], 2, [])
    assert _runs(where).keys() == {RESNET, maskrcnn}

    fresh = _import(where / "fresh", f"{V10}={root}")
    assert fresh.results() == _import(where, f"{V10}={root}").results()
    assert _runs(where / "fresh") == _runs(where)


@pytest.mark.parametrize(
    "path", ["House/systems/box.json", "House/results/box/resnet/scaling.json"]
)
def test_a_changed_file_beside_the_logs_counts_too(root: Path, where: Path, path: str) -> None:
    _import(where, f"{V10}={root}")
    (root / path).write_text('{"scaling_factor": 1.5, "system_name": "Box Two"}')
    (report,) = _import(where, f"{V10}={root}").sources
    assert RESNET in report.changed
    assert (SSD in report.changed) == ("systems" in path)


def test_everything_again_when_asked(root: Path, where: Path) -> None:
    _import(where, f"{V10}={root}")
    (report,) = _import(where, f"{V10}={root}", again=True).sources
    assert report.bytes > 0
    assert report.unchanged == 0


def test_what_was_absent_and_is_there_now_is_read(root: Path, where: Path) -> None:
    commit_all(root)
    name = git(root, "rev-parse", "HEAD:House/results/box/resnet/result_1.txt")
    blob = root / ".git/objects" / name[:2] / name[2:]
    data = blob.read_bytes()
    blob.unlink()
    first = _import(where, f"{V10}={root}")
    assert first.results()[RESNET].minutes is None
    assert [finding.rule for finding in first.sources[0].findings] == ["import.absent"]
    (still,) = _import(where, f"{V10}={root}").sources
    assert still.bytes == 0
    assert [finding.rule for finding in still.findings] == ["import.absent"]
    blob.write_bytes(data)
    last = _import(where, f"{V10}={root}")
    assert last.results()[RESNET].minutes == pytest.approx(12)
    assert last.sources[0].findings == ()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        (states.RESULTS, "cut"),
        (states.RESULTS, "gone"),
        (states.RUNS, "cut"),
        (states.RUNS, "other"),
        (states.STATE, "cut"),
        (states.STATE, "empty"),
    ],
)
def test_a_damaged_state_is_not_trusted(root: Path, where: Path, name: str, how: str) -> None:
    before = _import(where, f"{V10}={root}").results()
    runs = _runs(where)
    file = states.imported_folder(where) / "training_results_v1.0" / name
    data = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "other": b"[1]"}[how])
    again = _import(where, f"{V10}={root}")
    assert again.sources[0].unchanged == 0
    assert again.results() == before
    assert _runs(where) == runs


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"code": "other"},
        {"folders": []},
        {"folders": {"a": {}}},
        {"slug": "other"},
        {"files": {}},
        {"surprise": 1},
    ],
)
def test_a_state_of_another_kind_is_not_trusted(
    root: Path, where: Path, change: dict[str, object]
) -> None:
    _import(where, f"{V10}={root}")
    file = states.imported_folder(where) / "training_results_v1.0" / states.STATE
    file.write_text(json.dumps(json.loads(file.read_bytes()) | change))
    assert states.load_state(where, "training_results_v1.0") is None


def test_another_version_of_the_code_reads_anew(
    root: Path, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _import(where, f"{V10}={root}")
    monkeypatch.setattr(states, "code_version", lambda: "another")
    assert _import(where, f"{V10}={root}").sources[0].unchanged == 0


def test_filed_before_among_sources_and_packaged_results(root: Path, where: Path) -> None:
    later = root.with_name("later")
    write_system(later)
    write_entry(later)
    write_entry(later, (9.0, 8.0, 7.0, 6.0, 5.5), place="House/results/box/maskrcnn")
    first = _import(where, f"{V11}={later}").results()
    assert not any(one.carried_over for one in first.values())
    _import(where, f"{V10}={root}")
    results = _import(where, f"{V11}={later}").results()
    assert results["v1.1/House/box/resnet"].carried_over
    assert results["v1.1/House/box/resnet"].notes == (f"the same logs as {RESNET}",)
    assert not results["v1.1/House/box/maskrcnn"].carried_over


def test_filed_before_among_packaged_results(
    root: Path, where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _import(where, f"{V11}={root}").results()
    assert not any(one.carried_over for one in first.values())
    runs = {str(i): run for i, run in enumerate(_runs(where, "training_results_v1.1")[_V11])}
    earlier = replace(first[_V11], id="v0.7/House/box/resnet", round="0.7")
    packaged(tmp_path, monkeypatch, earlier, **runs)
    (report,) = _import(where, f"{V11}={root}").sources
    assert report.bytes == 0
    marked = states.load_results(where, "training_results_v1.1")
    assert marked[_V11].notes == ("the same logs as v0.7/House/box/resnet",)
    packaged(tmp_path, monkeypatch, replace(earlier, id="v2.0/x", round="2.0"), **runs)
    _import(where, f"{V11}={root}")
    assert not states.load_results(where, "training_results_v1.1")[_V11].carried_over


_V11 = "v1.1/House/box/resnet"


def test_somebody_elses_submission(root: Path, where: Path) -> None:
    imported = import_places([find_place(str(root / "House"), "5.1")], where=where)
    results = imported.results()
    (slug,) = {name.split("/")[1] for name in results}
    assert results.keys() == {f"imported/{slug}/House/box/{b}" for b in ("resnet", "ssd")}
    assert {one.origin for one in results.values()} == {"imported"}
    assert {one.round for one in results.values()} == {"5.1"}


def test_nothing_to_import(tmp_path: Path, where: Path) -> None:
    (tmp_path / "empty").mkdir()
    imported = _import(where, f"{V10}={tmp_path / 'empty'}")
    assert imported.results() == {}
    assert _import(where, f"{V10}={tmp_path / 'empty'}").results() == {}


def test_a_catalogue_that_cannot_be_made(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot make the catalogue folder"):
        _import(tmp_path / "file", f"{V10}={root}")


def test_a_catalogue_folder_may_have_any_name(root: Path, tmp_path: Path) -> None:
    where = tmp_path / "a[b]*?"
    (tmp_path / "ab").mkdir()
    assert _import(where, f"{V10}={root}").results().keys() == {RESNET, SSD}
    assert _import(where, f"{V10}={root}").sources[0].unchanged == 2
    (root / "House/results/box/ssd/result_0.txt").unlink()
    assert _import(where, f"{V10}={root}").results().keys() == {RESNET, SSD}


def test_a_source_is_written_while_others_are_read(root: Path, where: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_system(other)
    write_entry(other)
    written: list[int] = []

    def stop(_: Progress) -> None:
        written.append(len(states.slugs(where)))
        if len(written) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _import(where, f"{V10}={root}", f"{V11}={other}", on_progress=stop)
    assert written == [0, 0, 1]
    reports = _import(where, f"{V10}={root}", f"{V11}={other}").sources
    assert [report.unchanged for report in reports] == [2, 0]
    assert reports[1].state.marked


def test_two_imports_at_once(root: Path, where: Path) -> None:
    with states.locked(where), pytest.raises(TrainmarkError, match="another import"):
        _import(where, f"{V10}={root}")
    assert _import(where, f"{V10}={root}").results()


def test_a_state_that_was_left_aside_is_put_back(root: Path, where: Path) -> None:
    _import(where, f"{V10}={root}")
    target = states.imported_folder(where) / "training_results_v1.0"
    target.rename(where / "importing/old-training_results_v1.0")
    (where / "importing/new-half").mkdir()
    (report,) = _import(where, f"{V10}={root}").sources
    assert report.unchanged == 2
    assert list((where / "importing").iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_import_leaves_the_old_state(
    root: Path, where: Path, how: signal.Signals
) -> None:
    _import(where, f"{V10}={root}")
    state = (states.imported_folder(where) / "training_results_v1.0" / states.STATE).read_bytes()
    script = (
        "import sys, time\n"
        "from trainmark.catalogue.importing import imports\n"
        "from pathlib import Path\n"
        "from trainmark.catalogue.importing.place import find_place\n"
        "def slow(*_):\n"
        "    print('reading', flush=True)\n"
        "    time.sleep(60)\n"
        "imports.import_places([find_place(sys.argv[1])], where=Path(sys.argv[2]), again=True,\n"
        "    on_progress=slow)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, f"{V10}={root}", str(where)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(how)
    begun = time.monotonic()
    process.wait(timeout=30)
    process.stdout.close()
    assert time.monotonic() - begun < 20
    assert (
        states.imported_folder(where) / "training_results_v1.0" / states.STATE
    ).read_bytes() == state
    assert _import(where, f"{V10}={root}").sources[0].unchanged == 2
