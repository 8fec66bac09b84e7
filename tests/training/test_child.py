import os
import signal
import threading
import time
from pathlib import Path

import pytest

from trainmark.training.child import answers
from trainmark.training.messages import Request
from trainmark.types import InterruptedRunError

# Run by the worker's Python before anything of the worker: it is still starting.
STARTING = """\
import pathlib, signal, time
{first}
pathlib.Path({there!r}).touch()
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("first", "signals"),
    [("", 1), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", 2)],
    ids=["while it starts", "twice, for one that does not listen"],
)
def test_a_worker_that_cannot_say_so_is_stopped_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, signals: int
) -> None:
    there = tmp_path / "there"
    (tmp_path / "sitecustomize.py").write_text(STARTING.format(first=first, there=str(there)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def interrupt() -> None:
        while not there.exists():
            time.sleep(0.01)
        for _ in range(signals):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    request = Request(mode="probe", workload="toy", scale="desk", assignments=(), data=None)
    with pytest.raises(InterruptedRunError, match="stopped by SIGINT") as caught:
        list(answers(request))
    pressing.join()
    assert caught.value.exit_code == 130
