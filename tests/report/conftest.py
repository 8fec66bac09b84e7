"""Sessions on disk, and no sight of the catalogue of whoever runs the tests."""

from pathlib import Path

import pytest

from tests.report import synthetic
from tests.report.sessions import write_session
from trainmark.report.subjects import Subject, subjects_of


@pytest.fixture(autouse=True)
def no_own_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The user's catalogue folder is an empty one."""
    folder = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder / "trainmark" / "catalogue"


@pytest.fixture
def session_folder(tmp_path: Path) -> Path:
    """Three good runs of 1.0, 1.1 and 1.3 minutes."""
    return write_session(tmp_path / "session")


@pytest.fixture(scope="session")
def whole() -> tuple[Subject, ...]:
    """A catalogue as large as the published one, as the page has it."""
    return subjects_of(synthetic.catalogue())
