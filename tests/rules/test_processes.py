"""Spreading work over processes: order, faults, and that none of them stays behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path

import pytest

from trainmark.rules import CheckOptions
from trainmark.rules.processes import in_order
from trainmark.types import TrainmarkError, UsageError

TWO = CheckOptions(jobs=2)
FILES = [Path(f"file_{number}") for number in range(20)]


def name_of(path: Path, _: CheckOptions) -> str:
    time.sleep(0.02 if path.name.endswith("0") else 0)
    return path.name


def fail(path: Path, _: CheckOptions) -> str:
    raise UsageError(f"cannot read {path}", hint="Give another.")


def die(path: Path, _: CheckOptions) -> str:
    if path.name == "file_7":
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name


def take_long(path: Path, _: CheckOptions) -> str:
    time.sleep(60 if path.name == "file_1" else 0)
    return path.name


def test_results_come_in_the_order_of_the_files() -> None:
    assert list(in_order(name_of, FILES, TWO)) == [file.name for file in FILES]
    assert not active_children()


def test_an_error_is_that_of_the_worker() -> None:
    with pytest.raises(UsageError, match="cannot read file_0") as caught:
        list(in_order(fail, FILES, TWO))
    assert caught.value.hint == "Give another."
    assert not active_children()


def test_a_worker_that_is_killed_is_told() -> None:
    with pytest.raises(TrainmarkError, match="ended before its time") as caught:
        list(in_order(die, FILES, TWO))
    assert "--jobs 1" in caught.value.hint
    assert not active_children()


def test_who_wants_no_more_need_not_wait() -> None:
    stream = in_order(take_long, FILES, TWO)
    assert next(stream) == "file_0"
    begun = time.monotonic()
    stream.close()  # type: ignore[attr-defined]
    assert time.monotonic() - begun < 30
    assert not active_children()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    note = tmp_path / "workers"
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, time\n"
        "from multiprocessing import active_children\n"
        "from pathlib import Path\n"
        "from tests.rules.test_processes import FILES, TWO, name_of\n"
        "from trainmark.rules.processes import in_order\n"
        "if __name__ == '__main__':\n"
        "    stream = in_order(name_of, FILES * 9, TWO)\n"
        "    next(stream)\n"
        "    pids = ' '.join(str(child.pid) for child in active_children())\n"
        "    Path(sys.argv[1]).write_text(pids + '\\n')\n"
        "    time.sleep(60)\n",
        encoding="utf-8",
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, script, note], env=environment, stderr=subprocess.DEVNULL
    )
    assert wait_for(lambda: note.exists() and note.read_text(encoding="utf-8").endswith("\n"))
    workers = [int(pid) for pid in note.read_text(encoding="utf-8").split()]
    assert len(workers) == 2
    parent.send_signal(how)
    parent.wait(timeout=30)
    assert wait_for(lambda: not any(map(is_running, workers)))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
