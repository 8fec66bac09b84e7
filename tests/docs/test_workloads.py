"""docs/workloads/: a page for each workload, and the tables of them all."""

import importlib.util
import re
from types import ModuleType

import pytest

from tests.docs.examples import DOCS
from trainmark.training import plugins

NAMES = plugins.workload_names()


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_workloads", DOCS / "make_workloads.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_what_the_workloads_say(made: ModuleType) -> None:
    page = (DOCS / "workloads" / "README.md").read_text("utf-8")
    assert page == made.render(), "write it anew: make docs"


def test_every_workload_has_a_row_and_a_page(made: ModuleType) -> None:
    assert made.own_workloads() == NAMES
    rows = made.render()
    for name in NAMES:
        assert f"[`{name}`]({name}.md)" in rows
        assert (DOCS / "workloads" / f"{name}.md").is_file(), name


@pytest.mark.parametrize("name", NAMES)
def test_a_page_sets_its_target_beside_the_best_simple_method(made: ModuleType, name: str) -> None:
    assert re.search(r": .*\d", made.baseline(name)), "no row above **target** in its table"


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_the_curves_and_the_targets(made: ModuleType, name: str) -> None:
    page = (DOCS / "workloads" / f"{name}.md").read_text("utf-8")
    assert f"({name}.svg)" in page
    assert (DOCS / "workloads" / f"{name}.svg").is_file()
    facts = made.facts_of(plugins.workload(name))
    for scale in ("desk", "full"):
        assert f"{facts['scales'][scale]['spec']['parameters']:,}" in page, scale
