"""``trainmark run`` of several workloads, of a sweep, and in a division: real processes."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.cli.commands import start, trainmark
from trainmark.mllog import read, summarize

pytestmark = pytest.mark.usefixtures("toy_plugin")


def test_a_workload_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    out = tmp_path / "o"
    done = trainmark("run", "broken", "toy", "toy", "--runs", "2", "--out", out)
    assert done.returncode == 1, done.stderr
    assert "workload 'broken' (toy_workload:ABSENT) cannot be imported" in done.stderr
    lines = done.stdout.splitlines()
    (failed,) = [line for line in lines if line.startswith("broken ")]
    (reached,) = [line for line in lines if line.startswith("toy ")]  # asked for twice, run once
    assert "failed: workload 'broken'" in failed
    assert " 2 of 2 " in reached
    assert reached.endswith("passes")
    assert "unverified; MLPerf procedure, own target" in done.stdout
    assert [folder.name for folder in out.iterdir()] == ["toy"]
    assert (out / "toy/report.html").is_file()


def test_several_in_json_have_every_run(tmp_path: Path) -> None:
    done = trainmark("run", "toy", "broken", "--json", "--out", tmp_path / "o")
    assert done.returncode == 1
    first, second = orjson.loads(done.stdout)["sessions"]
    assert (first["workload"], first["error"], len(first["runs"])) == ("toy", None, 1)
    assert first["medians"]["reached"] == 1
    assert second["medians"] is None
    assert "cannot be imported" in second["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toy", "tou"], "there is no workload 'tou'"),
        (["toy", "resnet50", "--set", "width=8"], "toy: there is no setting 'width'"),
        (["toy", "resnet50", "--scale", "full"], "there is no scale of toy 'full'"),
        (["toy", "resnet50", "--data", "."], "names the data of one workload, but 2 are asked"),
        (["toy", "resnet50", "--sweep", "epochs=1,2"], "--sweep is for one workload, but 2"),
        (
            ["toy", "--sweep", "epochs=1,2", "--sweep", "threads=1,2"],
            "--sweep is for one setting, but 2",
        ),
        (["toy", "resnet50", "--runs", "0"], "--runs 0 is not possible"),
        (["toy", "--sweep", "epochs"], "not of the form name=value,value"),
        (["toy", "--sweep", "epochs=1,none"], "'none' is not a whole number"),
        (
            ["toy", "--division", "closed", "--sweep", "target=0.9,0.8"],
            "with target=0.8: toy may not be run like this in the Closed division",
        ),
        (
            ["toy", "--division", "closed", "--set", "target=0.8"],
            "closed.fixed: the Closed division fixes target; it is 0.8, allowed is 0.9",
        ),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_run(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = trainmark("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    runs = tmp_path / "runs"
    assert not runs.exists() or not list(runs.iterdir())


def test_a_sweep_is_a_session_for_each_value_with_table_page_and_data(tmp_path: Path) -> None:
    out = tmp_path / "o"
    done = trainmark(
        "run", "toy", "--sweep", "learning_rate=0,0.5", "--set=epochs=2", "--runs=2", "--out", out
    )
    assert done.returncode == 1, done.stderr  # a learning rate of 0 learns nothing
    lines = done.stdout.splitlines()
    assert any(line.startswith(("0.0 ", "0 ")) for line in lines), done.stdout
    assert any("0 of 2, target not met" in line for line in lines)
    assert any("2 of 2" in line for line in lines)
    found = orjson.loads((out / "sweep.json").read_bytes())
    assert [point["value"] for point in found["values"]] == [0, 0.5]
    assert [point["medians"]["reached"] for point in found["values"]] == [0, 2]
    assert found["values"][0]["medians"]["minutes"] is None
    for point in found["values"]:
        logs = sorted((out / point["folder"]).rglob("result_*.txt"))
        assert [summarize(read(log)).settings["learning_rate"] for log in logs] == [
            point["value"]
        ] * 2
    assert "No run reached the target at learning_rate 0" in (out / "sweep.html").read_text()


def wait_for(found: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def test_an_interrupted_sweep_keeps_what_had_ended(tmp_path: Path) -> None:
    out = tmp_path / "o"
    process = start("run", "toy", "--sweep", "step_seconds=0,0.05", "--out", out)
    wait_for(lambda: list((out / "step_seconds_0.05").rglob("result_0.txt")))
    process.send_signal(signal.SIGINT)
    told, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert "Values that had ended before it: 1" in complaint
    assert " 1 of 1 " in told
    assert "Traceback" not in complaint
    found = orjson.loads((out / "sweep.json").read_bytes())
    assert [point["value"] for point in found["values"]] == [0]


def test_an_interrupt_while_data_is_prepared_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out = tmp_path / "o"
    process = start("run", "toy", "--set", "prepare_seconds=100", "--out", out)
    wait_for(lambda: list((tmp_path / "cache").rglob("half")))
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert "Traceback" not in complaint
    assert not list((tmp_path / "cache").rglob("half"))
    assert not list((tmp_path / "cache" / "trainmark" / "prepared").iterdir())
    assert not out.exists()


def test_a_doomed_run_says_why_and_what_to_do(tmp_path: Path) -> None:
    done = trainmark("run", "toy", "--set", "fail=diverge", "--out", tmp_path / "o")
    assert done.returncode == 1
    assert "aborted (the training loss is not finite: the training has diverged)" in done.stderr
    assert "Lower the learning rate" in done.stderr


def test_a_package_that_the_run_lacks_is_a_wrong_request(tmp_path: Path) -> None:
    done = trainmark("run", "toy", "--set", "fail=package", "--out", tmp_path / "o")
    assert done.returncode == 2
    assert "workload 'toy' needs the package 'a_package_that_nobody_has'" in done.stderr
    assert "Install" in done.stderr
    assert "Traceback" not in done.stderr
