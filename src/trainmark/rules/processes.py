"""Spread work over the machine's cores: the reading of many logs, of many folders."""

import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar, cast

from trainmark.rules.options import CheckOptions
from trainmark.types import TrainmarkError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

__all__ = ["cores", "in_order", "spread"]

# Below this a second process costs more to start than it saves.
_WORTH_BYTES = 100 << 20
_MOST_JOBS = 61  # what can be waited for at once everywhere
_AHEAD = 2  # tasks that a worker has been given, so that it need not wait for the next
_T = TypeVar("_T")
_Task = TypeVar("_Task")


def in_order(
    check: Callable[[Path, CheckOptions], _T], files: Sequence[Path], options: CheckOptions
) -> Iterator[_T]:
    """What ``check`` gives for each file, in the order of the files.

    Args:
        check: A function of a module (it is called in other processes).
        files: The files.
        options: How to check; ``options.jobs`` says how many processes may be used.

    Raises:
        TrainmarkError: A process ended before its time, for example for want of memory.
    """
    jobs = min(_jobs(files, options), len(files), _MOST_JOBS)
    if jobs <= 1:
        yield from (check(file, options) for file in files)
        return
    done: dict[int, _T | Exception] = {}
    with closing(_outcomes(partial(_with_options, check, options), files, jobs)) as outcomes:
        for index in range(len(files)):
            while index not in done:
                number, outcome = next(outcomes)
                done[number] = outcome
            yield _value(done.pop(index))


def spread(work: Callable[[_Task], _T], tasks: Sequence[_Task], jobs: int) -> Iterator[_T]:
    """What ``work`` gives for each task, as they are done.

    Args:
        work: A function of a module (it is called in other processes).
        tasks: The tasks, the longest first: then no process idles at the end.
        jobs: How many processes may be used; one is this one.

    Raises:
        TrainmarkError: A process ended before its time, for example for want of memory.
    """
    jobs = min(jobs, len(tasks), _MOST_JOBS)
    if jobs <= 1:
        yield from map(work, tasks)
        return
    with closing(_outcomes(work, tasks, jobs)) as outcomes:
        for _, outcome in outcomes:
            yield _value(outcome)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _value(outcome: _T | Exception) -> _T:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _with_options(
    check: Callable[[Path, CheckOptions], _T], options: CheckOptions, file: Path
) -> _T:
    return check(file, options)


def _outcomes(
    work: Callable[[_Task], _T], tasks: Sequence[_Task], jobs: int
) -> Generator[tuple[int, _T | Exception], None, None]:
    """The place of each task and what came of it, as they are done."""
    from multiprocessing.connection import wait

    workers = _start(work, jobs)
    pipes = [pipe for _, pipe in workers]
    waiting = enumerate(tasks)
    finished = False
    try:
        for pipe in pipes * _AHEAD:
            _give(pipe, waiting)
        left = len(tasks)
        while left:
            for ready in wait(pipes):
                pipe = cast("Connection", ready)
                number, value, failed = pipe.recv()
                _give(pipe, waiting)
                left -= 1
                yield number, value if failed is None else failed
        finished = True
    except (EOFError, ConnectionError) as error:
        raise TrainmarkError(
            "a process that reads logs has ended before its time",
            hint="Perhaps the machine has too little memory: try again with --jobs 1.",
        ) from error
    finally:
        for process, pipe in workers:
            pipe.close()
            if not finished:  # interrupted, or nobody wants the rest: a log may take minutes
                process.terminate()
        for process, _ in workers:
            process.join()


def _start(work: Callable[[_Task], object], jobs: int) -> "list[tuple[BaseProcess, Connection]]":
    """Start the workers. They know no interrupt from the keyboard: it is for this process."""
    from multiprocessing import get_context

    # A fresh interpreter: this one may have threads (a progress bar), which a fork would break.
    context = get_context("spawn")
    is_main = current_thread() is main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    workers: list[tuple[BaseProcess, Connection]] = []
    try:
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, work), daemon=True)
            process.start()
            theirs.close()
            workers.append((process, ours))
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)
    return workers


def _give(pipe: "Connection", waiting: Iterator[tuple[int, object]]) -> None:
    """Send a worker its next task, if there is one."""
    task = next(waiting, None)
    if task is not None:
        pipe.send(task)


def _work(pipe: "Connection", work: Callable[[_Task], object]) -> None:
    """What a worker does until the pipe is closed, by the parent or with its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            number, task = pipe.recv()
            value, failed = None, None
            try:
                value = work(task)
            except Exception as error:  # noqa: BLE001 - raised again by the parent
                failed = error
            pipe.send((number, value, failed))
    except (EOFError, ConnectionError):
        return


def _jobs(files: Sequence[Path], options: CheckOptions) -> int:
    if options.jobs is not None:
        return options.jobs
    if sum(map(_size, files)) < _WORTH_BYTES:
        return 1
    return cores()


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # reading it says so
        return 0
