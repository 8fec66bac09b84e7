"""No test of the catalogue sees the own results of whoever runs it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_own_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
