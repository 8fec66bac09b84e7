"""``scaling.json``: the factor that the score of a folder is multiplied by."""

import json
import stat
from pathlib import Path

from trainmark.types import Finding, Severity

__all__ = ["NAME", "read_scaling"]

NAME = "scaling.json"
_LARGEST = 1000  # far beyond any score that reference convergence has corrected
_MOST_BYTES = 1 << 16


def read_scaling(folder: Path) -> tuple[float | None, list[Finding]]:
    """The factor in a folder's ``scaling.json``, and what is wrong with the file.

    Args:
        folder: The benchmark folder.

    Returns:
        The factor, None without a (sound) file; findings about the file.
    """
    file = folder / NAME
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return None, [_bad(file, "it is no file")]
        if not file.resolve().is_relative_to(folder.resolve()):
            return None, [_bad(file, "it is a link that leads out of the folder")]
        with file.open("rb") as stream:
            text = stream.read(_MOST_BYTES + 1).decode("utf-8-sig")
    except FileNotFoundError:
        return None, []
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return None, [_bad(file, f"it cannot be read: {reason}")]
    if len(text) > _MOST_BYTES:
        return None, [_bad(file, f"it is longer than {_MOST_BYTES >> 10} KiB")]
    return _factor(file, text)


def _factor(file: Path, text: str) -> tuple[float | None, list[Finding]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        return None, [_bad(file, f"it is not JSON: {error}")]
    factor = content.get("scaling_factor") if isinstance(content, dict) else None
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        return None, [_bad(file, "it has no number scaling_factor")]
    if not 1 <= factor <= _LARGEST:  # false of NaN too
        return None, [_bad(file, f"scaling_factor is {factor!s:.60}, expected 1 to {_LARGEST:,}")]
    return float(factor), []


def _bad(file: Path, problem: str) -> Finding:
    return Finding(
        rule="folder.scaling",
        severity=Severity.ERROR,
        message=f"{problem}; the score is reckoned without it",
        fix='Write {"scaling_factor": 1.02}, or take the file away.',
        path=str(file),
    )
