from pathlib import Path

import pytest

from tests.catalogue.repositories import commit_all, write_bert, write_entry, write_system
from trainmark.catalogue import build as builder
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_from_row
from trainmark.catalogue.search import PUBLISHED_RESULTS, PUBLISHED_RUNS
from trainmark.catalogue.store import connect, load, rows

V10, V11 = "mlcommons/training_results_v1.0", "mlcommons/training_results_v1.1"


@pytest.fixture
def repositories(tmp_path: Path) -> list[str]:
    """Round 1.0 in git with BERT filed twice; round 1.1 as a folder with one stray file."""
    first, second = tmp_path / "first", tmp_path / "second"
    write_system(first)
    for place in ("House/results/box/bert", "House/results/box/resnet/bert"):
        (first / place).mkdir(parents=True)
        for number in range(10):
            log = first / place / f"result_{number}.txt"
            write_bert(log, [1] * (3 + number % 3), 1000 + number)
    commit_all(first)
    write_system(second, accelerator_model_name="Wonder Chip")
    (write_entry(second) / "notes.md").write_text("x")
    return [f"{V10}={first}", f"{V11}={second}"]


def test_results_runs_and_doubts(repositories: list[str]) -> None:
    built = builder.build(repositories)
    assert [r.id for r in built.results] == [
        "v1.0/House/box/bert",
        "v1.0/House/box/resnet/bert",
        "v1.1/House/box/resnet",
    ]
    bert, again, resnet = built.results
    assert len(built.runs[bert.id]) == 10
    assert bert.samples_to_target == pytest.approx(1004.5)
    assert (bert.carried_over, again.carried_over, resnet.carried_over) == (False, True, False)
    assert again.notes == ("the same logs as v1.0/House/box/bert",)
    assert len(bert.commit) == 40
    assert resnet.commit == ""
    assert resnet.accelerator == "Wonder Chip"
    assert dict(built.doubts) == {
        "file left out: no result log by its name": [f"{V11}/House/results/box/resnet/notes.md"],
        "same logs as an earlier result": [
            "v1.0/House/box/resnet/bert: the same logs as v1.0/House/box/bert"
        ],
        "unknown accelerator": ["v1.1/House/box/resnet: accelerator 'Wonder Chip' is as written"],
    }


def test_the_command_writes_both_files_and_prints_what_it_found(
    repositories: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert builder.main(["--out", str(out), *repositories]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == (
        "1.0 bert: 2 results, 2 with a score, 0 open, 1 filed before, 20 logs, 20 timed"
    )
    assert "unknown accelerator: 1" in printed
    with connect() as database:
        assert load(database, "results", RESULT_COLUMNS, [out / PUBLISHED_RESULTS.name]) == []
        assert load(database, "runs", RUN_COLUMNS, [out / PUBLISHED_RUNS.name]) == []
        assert rows(database, "SELECT count(*) AS n FROM runs") == [{"n": 25}]
        found = [result_from_row(row) for row in rows(database, "FROM results ORDER BY id")]
    assert found == builder.build(repositories).results


def test_the_same_repositories_make_the_same_bytes(repositories: list[str], tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        builder.main(["--out", str(tmp_path / name), *repositories])
    for name in (PUBLISHED_RESULTS.name, PUBLISHED_RUNS.name):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_wrong_request_has_a_text_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert builder.main(["--out", str(tmp_path), str(tmp_path / "absent")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_hostile_name_reaches_the_terminal_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_system(tmp_path / "r", accelerator_model_name="\x1b[31mred")
    write_entry(tmp_path / "r")
    builder.main(["--out", str(tmp_path), f"{V10}={tmp_path / 'r'}"])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "x1b[31mred" in printed
