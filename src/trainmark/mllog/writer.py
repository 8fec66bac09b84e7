"""Write a result log: one record a line, on disk as soon as it is written.

The official ``mlperf_logging.mllog`` writes through Python's logging, which swallows a full disk
and buffers nothing but order; a benchmark's only proof must not be lost silently, so this writer
owns its file: created new (a log is never overwritten), flushed after every record, and a
failing write is an error with a clear text.
"""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from trainmark.mllog.reader import TOKEN
from trainmark.types import TrainmarkError, UsageError

__all__ = ["LogWriter", "steady_time_ms"]


def _steady_clock() -> Callable[[], int]:
    """Wall-clock milliseconds that a clock adjustment during the run cannot move."""
    origin_ns = time.time_ns() - time.monotonic_ns()
    return lambda: (origin_ns + time.monotonic_ns()) // 1_000_000


steady_time_ms = _steady_clock()


class LogWriter:
    """Writes the records of one run to one new file.

    Args:
        path: The file to create; its folder must exist.
        now_ms: The clock, wall-clock milliseconds since 1970.

    Raises:
        UsageError: The file exists already or cannot be created.
    """

    def __init__(self, path: Path, *, now_ms: Callable[[], int] = steady_time_ms) -> None:
        self.path = path
        self.records = 0
        self._now_ms = now_ms
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError as error:
            raise UsageError(
                f"{path} exists already; a result log is never overwritten",
                hint="Give another --out folder, or move the old results away.",
            ) from error
        except OSError as error:
            raise UsageError(
                f"cannot create {path}: {error.strerror}",
                hint="Give an --out folder that you may write to.",
            ) from error

    def point(self, key: str, value: Any = None, /, **metadata: Any) -> None:
        """Write a point in time."""
        self._write("POINT_IN_TIME", key, value, metadata)

    def start(self, key: str, value: Any = None, /, **metadata: Any) -> None:
        """Write the start of an interval."""
        self._write("INTERVAL_START", key, value, metadata)

    def stop(self, key: str, value: Any = None, /, **metadata: Any) -> None:
        """Write the end of an interval."""
        self._write("INTERVAL_END", key, value, metadata)

    def _write(self, kind: str, key: str, value: Any, metadata: Mapping[str, Any]) -> None:
        record = {
            "namespace": "",
            "time_ms": self._now_ms(),
            "event_type": kind,
            "key": key,
            "value": value,
            "metadata": dict(metadata),
        }
        line = TOKEN + b" " + orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        try:
            written = os.write(self._file, line)
            while written < len(line):  # the rest of a short write; raises when the disk is full
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise self._failed(error) from error
        self.records += 1

    def close(self) -> None:
        """Make the log durable and close it.

        Raises:
            TrainmarkError: The system could not make it durable.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._failed(error) from error
        finally:
            os.close(self._file)

    def _failed(self, error: OSError) -> TrainmarkError:
        return TrainmarkError(
            f"cannot write {self.path} after {self.records} records: {error.strerror}",
            hint="Free some space or give another --out folder, then run again; the records "
            "written so far are readable.",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except TrainmarkError as second:
            if error is None:
                raise
            error.add_note(str(second))  # the first error says what went wrong
