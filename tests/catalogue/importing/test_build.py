import json
from pathlib import Path

import pytest

from tests.catalogue.repositories import (
    commit_all,
    nothing_packaged,
    write_bert,
    write_entry,
    write_system,
)
from trainmark.catalogue.importing import build as builder
from trainmark.catalogue.importing.imports import import_places
from trainmark.catalogue.importing.place import find_place
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_from_row
from trainmark.catalogue.store import connect, load, rows
from trainmark.types import UsageError

V10, V11 = "mlcommons/training_results_v1.0", "mlcommons/training_results_v1.1"
FILES = (builder.RESULTS, builder.RUNS, builder.FACTS)


@pytest.fixture(autouse=True)
def _nothing_packaged(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_packaged(tmp_path_factory, monkeypatch)


@pytest.fixture
def repositories(tmp_path: Path) -> list[str]:
    """Round 1.0 in git with BERT filed twice; round 1.1 as a folder, with a resnet of 1.0 again."""
    first, second = tmp_path / "first", tmp_path / "second"
    write_system(first)
    write_entry(first)
    for place in ("House/results/box/bert", "House/results/box/resnet/bert"):
        (first / place).mkdir(parents=True)
        for number in range(10):
            log = first / place / f"result_{number}.txt"
            write_bert(log, [1] * (3 + number % 3), 1000 + number)
    commit_all(first)
    write_system(second)
    write_entry(second)
    return [f"{V11}={second}", f"{V10}={first}"]


def _build(repositories: list[str], tmp_path: Path, out: str = "out") -> Path:
    imported = import_places([find_place(one) for one in repositories], where=tmp_path / "where")
    builder.write_published(imported, tmp_path / out)
    return tmp_path / out


def test_results_runs_and_facts(repositories: list[str], tmp_path: Path) -> None:
    out = _build(repositories, tmp_path)
    with connect() as database:
        assert load(database, "results", RESULT_COLUMNS, [out / builder.RESULTS]) == []
        assert load(database, "runs", RUN_COLUMNS, [out / builder.RUNS]) == []
        found = [result_from_row(row) for row in rows(database, "FROM results")]
        order = [row["result_id"] for row in rows(database, "SELECT result_id FROM runs")]
    assert [(one.id, one.carried_over) for one in found] == [
        ("v1.0/House/box/bert", False),
        ("v1.0/House/box/resnet", False),
        ("v1.0/House/box/resnet/bert", True),
        ("v1.1/House/box/resnet", True),
    ]
    assert list(dict.fromkeys(order)) == [one.id for one in found]
    facts = json.loads((out / builder.FACTS).read_text())
    assert facts["1.0"] | {"sha256": ""} == {
        "results": 3,
        "runs": 25,
        "timed": 25,
        "absent": 0,
        "scored": 3,
        "open": 0,
        "scaled": 0,
        "carried_over": 1,
        "energy": 0,
        "sha256": "",
    }
    assert facts["1.1"]["carried_over"] == 1


def test_the_same_facts_make_the_same_bytes(repositories: list[str], tmp_path: Path) -> None:
    one = _build(repositories, tmp_path)
    two = _build(repositories[::-1], tmp_path, "two")
    for name in FILES:
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_other_imports_of_the_folder_have_no_part(repositories: list[str], tmp_path: Path) -> None:
    _build(repositories, tmp_path)
    out = _build(repositories[:1], tmp_path, "one")
    facts = json.loads((out / builder.FACTS).read_text())
    assert facts.keys() == {"1.1"}
    assert facts["1.1"]["carried_over"] == 0


def test_a_fact_that_changes_changes_the_checksum(repositories: list[str], tmp_path: Path) -> None:
    before = json.loads((_build(repositories, tmp_path) / builder.FACTS).read_text())
    log = tmp_path / "second/House/results/box/resnet/result_0.txt"
    log.write_text(log.read_text().replace('"value":4096', '"value":2048'))
    after = json.loads((_build(repositories, tmp_path) / builder.FACTS).read_text())
    assert before["1.0"] == after["1.0"]
    assert before["1.1"]["sha256"] != after["1.1"]["sha256"]


def test_only_published_results_are_packaged(repositories: list[str], tmp_path: Path) -> None:
    place = find_place(str(tmp_path / "second"), "1.1")
    imported = import_places([place], where=tmp_path / "where")
    with pytest.raises(UsageError, match="second is not published by MLCommons"):
        builder.write_published(imported, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made(repositories: list[str], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="cannot make the folder"):
        _build(repositories, tmp_path)
