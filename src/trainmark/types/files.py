"""Files that are either whole or not there."""

import contextlib
import os
import stat
from pathlib import Path

from trainmark.types.errors import TrainmarkError, UsageError

__all__ = ["atomic_write"]


def atomic_write(path: str | Path, data: bytes | str) -> None:
    """Write a file so that a reader sees the old content or the new one, never half of it.

    A temporary file in the same folder is written, made durable and renamed; a failure leaves
    the old file as it was and no temporary file behind.

    Args:
        path: The file to make or to replace; its folder must exist.
        data: The content; text is written as UTF-8.

    Raises:
        UsageError: The folder is missing, is no folder, or may not be written to; the path is
            something other than a file.
        TrainmarkError: The write failed half-way, for example on a full disk.
    """
    import tempfile  # a tenth of the start of a command, and most write nothing

    path = Path(path)
    content = data.encode() if isinstance(data, str) else data
    if _is_special(path):  # root would rename the file over /dev/null
        raise UsageError(
            f"cannot write {path}: it is a folder, a pipe or a device",
            hint="Give the path of a file.",
        )
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as error:
        raise UsageError(
            f"cannot create {path}: {error.strerror}",
            hint="Give a path in a folder that exists and that you may write to.",
        ) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), _mode(path))
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise TrainmarkError(
            f"cannot write {path}: {error.strerror}",
            hint="Free some space or give another path; what was there before is unchanged.",
        ) from error
    finally:
        with contextlib.suppress(FileNotFoundError):  # renamed: the normal case
            temporary.unlink()


def _is_special(path: Path) -> bool:
    """Whether there is something other than a file; what cannot be seen, the write will say."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, else those of any new file (umask)."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
