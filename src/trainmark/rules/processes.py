"""Spread the reading of many logs over the machine's cores."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from trainmark.rules.options import CheckOptions
from trainmark.types import TrainmarkError

__all__ = ["in_order"]

# Below this a second process costs more to start than it saves.
_WORTH_BYTES = 100 << 20
_MOST_JOBS = 61  # what a pool can hold everywhere
_T = TypeVar("_T")


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
    else:
        yield from _spread(check, files, options, jobs)


def _spread(
    check: Callable[[Path, CheckOptions], _T],
    files: Sequence[Path],
    options: CheckOptions,
    jobs: int,
) -> Iterator[_T]:
    # 20 ms that one process does not need
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # A fresh interpreter: the parent may have threads (a progress bar), which a fork would break.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(check, files, [options] * len(files), chunksize=2)
        except BrokenProcessPool as error:
            raise TrainmarkError(
                "a process that reads logs has ended before its time",
                hint="Perhaps the machine has too little memory: try again with --jobs 1.",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _jobs(files: Sequence[Path], options: CheckOptions) -> int:
    if options.jobs is not None:
        return options.jobs
    if sum(map(_size, files)) < _WORTH_BYTES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # reading it says so
        return 0
