"""A line that tells how far an import has come; only where a person sees it."""

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from trainmark.types import printable

if TYPE_CHECKING:
    from trainmark.catalogue.importing.imports import Progress

__all__ = ["ImportProgress"]

_EVERY_S = 0.2
_CLEAR = "\r\x1b[K"


class ImportProgress:
    """Logs read, MB/s and the time left, on standard error while it is a terminal.

    Args:
        clock: Seconds, for tests.
        shown: Whether anybody sees it; by default whether standard error is a terminal.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, shown: bool | None = None
    ) -> None:
        self._clock = clock
        self._on = sys.stderr.isatty() if shown is None else shown
        self._begun = clock()
        self._reading: float | None = None
        self._last = float("-inf")
        self._shown = False

    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    def step(self, text: str) -> None:
        """Something else than reading logs begins."""
        self._reading = None
        self._write(text)

    def update(self, progress: "Progress") -> None:
        """Some logs have been read."""
        now = self._clock()
        if self._reading is None:
            self._reading = now
        if now - self._last < _EVERY_S:
            return
        self._last = now
        seconds = now - self._reading
        text = f"read {progress.logs:,} of {progress.all_logs:,} logs"
        if progress.bytes and seconds > 0:
            left = max(0.0, (progress.all_bytes - progress.bytes) * seconds / progress.bytes)
            text += f", {progress.bytes / seconds / 1e6:,.0f} MB/s, about {_duration(left)} left"
        self._write(text)

    def clear(self) -> None:
        """Take the line away, before something is printed and at the end."""
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._shown = False

    def _write(self, text: str) -> None:
        if self._on:
            sys.stderr.write(f"{_CLEAR}{printable(text)[: _width() - 1]}")
            sys.stderr.flush()
            self._shown = True


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
