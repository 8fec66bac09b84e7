"""Fixtures that tests of every layer may use."""

from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_logs() -> Path:
    """Published result logs beside the repository; tests that need them skip without."""
    folder = _ROOT.parent / "shared" / "logs"
    if not folder.is_dir():
        pytest.skip("no sample of published logs beside the repository")
    return folder
