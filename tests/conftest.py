"""Fixtures that tests of every layer may use."""

from pathlib import Path

import pytest

from tests import toy

_ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_logs() -> Path:
    """Published result logs beside the repository; tests that need them skip without."""
    folder = _ROOT.parent / "shared" / "logs"
    if not folder.is_dir():
        pytest.skip("no sample of published logs beside the repository")
    return folder


@pytest.fixture(autouse=True)
def own_data_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test has folders of its own for results, prices and the cache, never the user's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def toy_plugin(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workload "toy" and the framework "plain", installed for this test."""
    toy.install(tmp_path_factory.mktemp("site"), monkeypatch)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also train for minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="trains for minutes; run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)
