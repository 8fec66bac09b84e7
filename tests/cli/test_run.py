"""``trainmark run`` as a user meets it: real processes, exit statuses, texts."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from tests.cli.commands import start, trainmark, without
from trainmark.mllog import read, summarize

pytestmark = pytest.mark.usefixtures("toy_plugin")


def only_log(out: Path) -> Path:
    (log,) = out.rglob("result_0.txt")
    return log


def test_a_run_trains_proves_and_reports(tmp_path: Path) -> None:
    done = trainmark("run", "toy", "--runs", "3", "--seed", "5", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
    assert "run 3 of 3: success" in done.stderr
    assert "unverified" in done.stdout
    page = (tmp_path / "o/report.html").read_text()
    assert "Two clouds" in page
    assert trainmark("check", tmp_path / "o").returncode == 0
    assert trainmark("score", tmp_path / "o").returncode == 0


def test_a_second_session_is_compared_with_the_first(tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = trainmark("run", "toy", "--runs", "3", "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert "No earlier result" not in done.stdout
    listed = trainmark("results", "--origin", "own", "--json")
    found = orjson.loads(listed.stdout)["results"]
    assert [result["benchmark"] for result in found] == ["toy_desk"] * 2


def test_json_is_one_object_and_nothing_else(tmp_path: Path) -> None:
    done = trainmark("run", "toy", "--json", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
    assert isinstance(orjson.loads(done.stdout), dict)


def test_a_target_that_is_not_met_is_a_finding(tmp_path: Path) -> None:
    done = trainmark(
        "run", "toy", "--set", "learning_rate=0", "--set", "epochs=2", "--out", tmp_path / "o"
    )
    assert done.returncode == 1
    assert "aborted (the target was not met within 800 samples)" in done.stderr
    assert "no score" in done.stdout


def test_a_reader_that_goes_away_loses_no_result(tmp_path: Path) -> None:
    command = f"{sys.executable} -m trainmark run toy --out {tmp_path / 'o'} | head -c 1"
    subprocess.run(command, shell=True, capture_output=True, check=False, timeout=300)
    assert (tmp_path / "o/report.html").is_file()
    listed = orjson.loads(trainmark("results", "--origin", "own", "--json").stdout)
    assert len(listed["results"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["tou"], "there is no workload 'tou'", "Did you mean 'toy'?"),
        (["toy", "--set", "epoch=3"], "there is no setting 'epoch'", "Did you mean 'epochs'?"),
        (["toy", "--set", "epochs=none"], "'none' is not a whole number", "--set"),
        (["toy", "--scale", "tiny"], "there is no scale of toy 'tiny'", "Valid: desk."),
        (["toy", "--runs", "0"], "--runs 0 is not possible", "1 run or more"),
        (["toy", "--out", "/proc/none/here"], "cannot make the folder", "--out"),
        (["resnet50", "--scale", "full"], "trains on ImageNet", "--data DIR"),
        (["resnet50", "--set", "precision=fp8"], "'fp8' is not allowed", "bf16"),
    ],
)
def test_a_mistake_gives_one_clear_text_and_exit_2(
    tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    done = trainmark("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert hint in done.stderr
    assert "Traceback" not in done.stderr


def test_without_torch_it_says_what_to_install(tmp_path: Path) -> None:
    done = trainmark("run", "resnet50", "--out", tmp_path / "o", env=without(tmp_path, "torch"))
    assert done.returncode == 2
    assert "needs the package 'torch', which is not installed" in done.stderr
    assert "pip install 'trainmark[torch]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("results", "--limit", "3"),
        ("system", "describe"),
        ("workloads",),
        ("workloads", "resnet50"),
    ],
)
def test_the_other_verbs_need_no_framework(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = trainmark(*arguments, env=without(tmp_path, "torch", "numpy", "PIL"))
    assert done.returncode == 0, done.stderr


def test_check_score_and_report_need_no_framework(tmp_path: Path) -> None:
    assert trainmark("run", "toy", "--runs", "3", "--out", tmp_path / "o").returncode == 0
    bare = tmp_path / "bare"
    bare.mkdir()
    for verb in ("check", "score", "report"):
        done = trainmark(verb, tmp_path / "o", env=without(bare, "torch", "numpy", "PIL"))
        assert done.returncode == 0, done.stderr


def test_a_full_disk_is_told_and_the_log_stays_readable(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    done = trainmark("run", "toy", "--out", tmp_path / "o", preexec_fn=limit)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert "Free some space" in done.stderr
    assert "Traceback" not in done.stderr
    log = read(only_log(tmp_path / "o"))
    assert len(log.events) > 5


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[[], "tuple[object, Path]"]]:
    """Start a slow run; give the process and its log once the clock runs."""
    started = []

    def begin() -> "tuple[object, Path]":
        process = start("run", "toy", "--set", "step_seconds=0.05", "--out", tmp_path / "o")
        started.append(process)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            logs = list((tmp_path / "o").rglob("result_0.txt"))
            if logs and b'"block_start"' in logs[0].read_bytes():
                return process, logs[0]
            time.sleep(0.05)
        raise AssertionError("the run did not start")

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_log_as_aborted(running, number: int, status: int) -> None:  # type: ignore[no-untyped-def]
    process, path = running()
    process.send_signal(number)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == status, complaint
    assert signal.Signals(number).name in complaint
    assert str(path) in complaint
    assert "No run had ended before it." in complaint
    assert "Traceback" not in complaint
    run = summarize(read(path))
    assert run.status == "aborted"
    done = trainmark("check", path)
    assert done.returncode == 1
    assert "aborted" in done.stdout


def test_a_killed_worker_is_reported_and_check_says_what_is_missing(running) -> None:  # type: ignore[no-untyped-def]
    process, path = running()
    worker = children(process.pid)[0]
    os.kill(worker, signal.SIGKILL)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "killed by SIGKILL" in complaint
    done = trainmark("check", path)
    assert done.returncode == 1
    assert "run_stop" in done.stdout


def test_a_worker_whose_parent_was_killed_ends_its_log(running) -> None:  # type: ignore[no-untyped-def]
    process, path = running()
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and summarize(read(path)).status is None:
        time.sleep(0.1)
    stop = read(path).first("run_stop")
    assert stop is not None
    assert stop.metadata["status"] == "aborted"


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]
