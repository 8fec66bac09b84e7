"""A line that tells how far a long check has come; only where a person sees it."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["Progress"]

_AFTER_S = 1.0
_EVERY_S = 0.2
_CLEAR = "\r\x1b[K"


class Progress:
    """Logs done, MB/s and the time left, on standard error while it is a terminal.

    Args:
        paths: What is checked. How much that is, is found out when the line is first shown.
        clock: Seconds, for tests.
        shown: Whether anybody sees it; by default whether standard error is a terminal.
    """

    def __init__(
        self,
        paths: Iterable[str],
        clock: Callable[[], float] = time.monotonic,
        *,
        shown: bool | None = None,
    ) -> None:
        self._paths = list(paths)
        self._clock = clock
        self._on = sys.stderr.isatty() if shown is None else shown
        self._start = self._last = clock()
        self._logs = self._bytes = 0
        self._all: tuple[int, int] | None = None
        self._shown = False

    def log_done(self, path: str) -> None:
        """A log has been checked."""
        if not self._on:
            return
        self._logs += 1
        self._bytes += _size(Path(path))
        now = self._clock()
        if now - self._start >= _AFTER_S and now - self._last >= _EVERY_S:
            self._last = now
            self._show(now - self._start)

    def clear(self) -> None:
        """Take the line away, before something is printed and at the end."""
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._shown = False

    def _show(self, seconds: float) -> None:
        if self._all is None:
            self._all = _amount(self._paths)
        logs, amount = self._all
        speed = self._bytes / seconds / 1e6
        text = f"checked {self._logs:,} of {logs:,} logs, {speed:,.{speed < 10:d}f} MB/s"
        if self._bytes:
            left = max(0.0, (amount - self._bytes) * seconds / self._bytes)
            text += f", about {_duration(left)} left"
        sys.stderr.write(f"{_CLEAR}{text[: _width() - 1]}")
        sys.stderr.flush()
        self._shown = True


def _amount(paths: Iterable[str]) -> tuple[int, int]:
    """Number of logs and of bytes below the paths."""
    from trainmark.rules.tree import find_groups, is_log
    from trainmark.types import UsageError

    files: list[Path] = []
    for path in paths:
        try:
            if is_log(path):
                files.append(Path(path))
            else:
                files += [file for group in find_groups(Path(path)) for file in group.files]
        except UsageError:  # the check itself says so
            continue
    return len(files), sum(map(_size, files))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
