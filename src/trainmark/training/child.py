"""A worker process seen from its parent: started, listened to, stopped, and its end explained."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

from trainmark.training.messages import Request
from trainmark.types import InterruptedRunError, TrainmarkError, UsageError, printable

__all__ = ["answers"]

# OMP_WAIT_POLICY: threads that wait asleep do not collapse when another process takes a core.
# MALLOC_*: large tensors are reused instead of handed back to the kernel after every step.
# Measured in benchmarks/step_resnet50.py; a variable that the user has set stays as it is.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
}
_SHOWN_LINES = 12


def answers(request: Request) -> Iterator[Mapping[str, Any]]:
    """Start a worker and yield its messages until it ends.

    SIGINT and SIGTERM are handed on to the worker, which ends its log; a second one kills it.

    Args:
        request: What the worker shall do.

    Raises:
        TrainmarkError: The worker says what went wrong, or ended without a word.
        InterruptedRunError: The worker was stopped by a signal.
    """
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "trainmark.training.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**ENVIRONMENT, **os.environ},
            start_new_session=True,  # the terminal's Ctrl-C reaches this process alone
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process, _handing_on(process) as handed:
            # A worker that died at once cannot take its request: its end is explained below.
            with suppress(BrokenPipeError):
                process.stdin.write(request.encode())
            with suppress(BrokenPipeError):
                process.stdin.close()
            problem: Mapping[str, Any] | None = None
            for line in process.stdout:
                message = orjson.loads(line)
                if message["kind"] == "error":
                    problem = message
                else:
                    yield message
            process.wait()
        told = None if problem is None else _told(problem)
        if handed and not isinstance(told, InterruptedRunError):
            raise _stopped(handed[0], request.log)  # whatever became of it meanwhile
        if told is not None:
            raise told
        if process.returncode:
            complaints.seek(0)
            raise _unexplained(process.returncode, complaints.read(), request.log)


@contextmanager
def _handing_on(process: "subprocess.Popen[bytes]") -> Iterator[list[int]]:
    """Hand signals on to the worker while it runs, and list them; never leave it running alone."""
    handed: list[int] = []

    def hand_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(signal.SIGKILL if handed else number)
        handed.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, hand_on) for number in numbers}
    try:
        yield handed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if process.poll() is None:
            process.terminate()


def _told(message: Mapping[str, Any]) -> TrainmarkError:
    """The worker's own error, again as an exception."""
    text, hint, code = message["message"], message["hint"], message["exit_code"]
    if code > 128:
        return InterruptedRunError(text, signal_number=code - 128, hint=hint)
    return (UsageError if message["usage"] else TrainmarkError)(text, hint=hint)


def _stopped(number: int, log: Path | None) -> InterruptedRunError:
    """A worker that was told to stop and died before it could say so: at its start, or at once."""
    message = f"stopped by {signal.Signals(number).name}"
    return InterruptedRunError(message, signal_number=number, hint=_left(log))


def _left(log: Path | None) -> str:
    """What is there of the log of a worker that did not end it."""
    if log is None or not log.exists():
        return ""
    return f"{log} is readable up to its last line; trainmark check says what is missing."


def _unexplained(returncode: int, complaints: bytes, log: Path | None) -> TrainmarkError:
    """A worker that died without a message: killed, or a fault of the workload's code."""
    hint = _left(log)
    if returncode < 0:
        name = signal.Signals(-returncode).name
        return TrainmarkError(f"the worker process was killed by {name}", hint=hint)
    text = complaints.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:]
    shown = "\n    ".join(printable(line) for line in text)
    return TrainmarkError(
        f"the worker process failed with exit status {returncode}:\n    {shown}", hint=hint
    )
