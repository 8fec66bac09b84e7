"""``scaling.json`` of a folder: the factor of its score."""

import json
import math

from trainmark.catalogue.importing.source import Source
from trainmark.types import Finding, Severity

__all__ = ["read_factor"]

_LARGEST = 1000  # far beyond any score that reference convergence has corrected
_MOST_BYTES = 1 << 16


def read_factor(source: Source, path: str) -> tuple[float, list[Finding]]:
    """The published factor, 1 without a file or with one that cannot be used.

    Args:
        source: Where it stands.
        path: The file, "" without one.
    """
    if not path:
        return 1.0, []
    data = source.read(path, _MOST_BYTES + 1)
    if data is None:
        return 1.0, [_bad(path, "it is listed but not available")]
    if len(data) > _MOST_BYTES:
        return 1.0, [_bad(path, f"it is longer than {_MOST_BYTES >> 10} KiB")]
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return 1.0, [_bad(path, "it is not JSON")]
    factor = content.get("scaling_factor") if isinstance(content, dict) else None
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        return 1.0, [_bad(path, "it has no number scaling_factor")]
    if not 1 <= factor <= _LARGEST or not math.isfinite(factor):
        return 1.0, [_bad(path, f"scaling_factor is {factor!s:.40}, expected 1 to {_LARGEST:,}")]
    return float(factor), []


def _bad(path: str, problem: str) -> Finding:
    return Finding(
        rule="import.scaling",
        severity=Severity.ERROR,
        message=f"the file holds no factor: {problem}; the score is reckoned without it",
        fix='Write {"scaling_factor": 1.02}, or take the file away.',
        path=path,
    )
