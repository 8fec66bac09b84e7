import json
from pathlib import Path

import pytest

from tests.catalogue.repositories import write_entry, write_system
from trainmark.catalogue.entries import (
    Entry,
    find_entries,
    parse_object,
    read_entry,
    trimmed_mean,
)
from trainmark.catalogue.source import FolderSource

NAME = "mlcommons/training_results_v1.1"


def _read(root: Path) -> Entry:
    source = FolderSource(root, NAME)
    ((folder, logs),) = find_entries(source).logs.items()
    return read_entry(source, folder, logs)


def _kinds(entry: Entry) -> list[str]:
    return [kind for kind, _ in entry.notes]


def test_an_entry_is_a_result_with_provenance(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, qualities=(0.7591,))  # met after four epochs
    entry = _read(tmp_path)
    result = entry.result
    assert result.id == "v1.1/House/box/resnet"
    assert (result.round, result.origin, result.label) == ("1.1", "published", _LABEL)
    assert (result.repository, result.path) == (NAME, "House/results/box/resnet")
    assert (result.submitter, result.system, result.framework) == (
        "House",
        "Box One",
        "MXNet 21.05",
    )
    assert (result.accelerator, result.accelerators, result.nodes) == ("A100-SXM-80GB", 16, 2)
    assert result.raw["accelerator"] == "NVIDIA A100-SXM4-80GB (400W)"
    assert (result.category, result.raw["status"]) == ("available", "onprem")
    assert result.run_minutes == pytest.approx((12, 10, 11, 14, 13))
    assert result.minutes == pytest.approx(12)
    assert result.global_batch_size == 4096
    assert result.samples_to_target == 4 * 1_281_167
    assert entry.notes == ()


_LABEL = "verified by MLCommons"


def test_a_failed_run_takes_the_slowest_place(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, (12.0, 10.0, 11.0, 14.0, 1.0), failed=1)
    result = _read(tmp_path).result
    assert result.minutes == pytest.approx((11 + 12 + 14) / 3)
    assert len(result.run_minutes) == 4
    assert "1 of them failed" in result.score_basis


def test_two_failed_runs_leave_no_score_and_a_reason(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, failed=2)
    result = _read(tmp_path).result
    assert result.minutes is None
    assert "2 of 5 runs did not succeed" in result.score_basis


def test_too_few_runs_are_no_official_score(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, (12.0, 10.0, 11.0, 14.0))
    result = _read(tmp_path).result
    assert result.minutes is None
    assert result.score_basis.startswith("not an official score: 4 of 5 required runs")


def test_the_scaling_file_is_authoritative(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    (folder / "scaling.json").write_text('{"scaling_factor": 1.25}')
    result = _read(tmp_path).result
    assert result.minutes == pytest.approx(15)
    assert result.scaling_factor == 1.25


def test_an_unreadable_scaling_file_is_noted(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    (folder / "scaling.json").write_text('{"scaling_factor": "large"}')
    entry = _read(tmp_path)
    assert entry.result.scaling_factor == 1
    assert _kinds(entry) == ["unreadable scaling file"]


def test_the_benchmark_folder_may_stand_deeper(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, place="House/results/box/bert/resnet")
    assert _read(tmp_path).result.id == "v1.1/House/box/bert/resnet"


def test_stray_files_are_no_logs(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    for name in (".!65506!result_4.txt", "rcp_checker.log", ".result_1.txt.swp"):
        (folder / name).write_text("x")
    (tmp_path / "House/results/box/unknown_benchmark").mkdir()
    (tmp_path / "House/results/box/unknown_benchmark/result_0.txt").write_text("x")
    found = find_entries(FolderSource(tmp_path, NAME))
    assert [len(logs) for logs in found.logs.values()] == [5]
    assert {path.split("/")[-1] for path in found.skipped} == {
        ".!65506!result_4.txt",
        "rcp_checker.log",
        ".result_1.txt.swp",
    }


def test_logs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    write_entry(tmp_path, tuple(float(n + 10) for n in range(11)))
    ((_, logs),) = find_entries(FolderSource(tmp_path, NAME)).logs.items()
    assert [Path(log).name for log in logs] == [f"result_{n}.txt" for n in range(11)]


def test_names_with_spaces(tmp_path: Path) -> None:
    write_system(tmp_path, system="X640 G40 box")
    write_entry(tmp_path, place="House/results/X640 G40 box/resnet")
    assert _read(tmp_path).result.system == "Box One"


def test_a_missing_system_file_is_noted_and_nothing_is_guessed(tmp_path: Path) -> None:
    write_entry(tmp_path)
    entry = _read(tmp_path)
    result = entry.result
    assert (result.submitter, result.system) == ("House", "box")
    assert (result.accelerators, result.nodes, result.division) == (None, None, "")
    assert "no system file" in _kinds(entry)
    assert "unknown division" in _kinds(entry)
    assert "unknown nodes" in _kinds(entry)


def test_trailing_commas_in_a_system_file_are_forgiven_and_noted(tmp_path: Path) -> None:
    path = write_system(tmp_path)
    path.write_text(path.read_text().replace("}", ",\n}"))
    write_entry(tmp_path)
    entry = _read(tmp_path)
    assert entry.result.nodes == 2
    assert _kinds(entry) == ["system file with trailing commas"]


def test_a_broken_system_file_is_noted(tmp_path: Path) -> None:
    write_system(tmp_path).write_text("{broken")
    write_entry(tmp_path)
    assert "unreadable system file" in _kinds(_read(tmp_path))


def test_the_system_file_decides_the_division_and_a_contradiction_is_noted(tmp_path: Path) -> None:
    write_system(tmp_path, division="open")
    write_entry(tmp_path, division="closed")
    entry = _read(tmp_path)
    assert entry.result.division == "open"
    assert entry.notes == (("division differs in the logs", "the logs say closed"),)


def test_another_spelling_of_the_division_is_no_contradiction(tmp_path: Path) -> None:
    write_system(tmp_path, division="close")
    write_entry(tmp_path, division="Closed")
    entry = _read(tmp_path)
    assert (entry.result.division, entry.notes) == ("closed", ())


def test_another_benchmark_in_the_logs_is_noted(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, place="House/results/box/bert")
    assert "benchmark differs in the logs" in _kinds(_read(tmp_path))


def test_an_absent_log_leaves_the_score_unknown(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    source = FolderSource(tmp_path, NAME)
    (folder / "result_3.txt").unlink()
    ((place, logs),) = find_entries(source).logs.items()
    entry = read_entry(source, place, logs)
    assert entry.result.minutes is None
    assert entry.result.score_basis == "no score: 1 of 5 logs are not available"
    assert len(entry.runs) == 5
    assert entry.contents == frozenset()


def test_batch_sizes_that_differ_are_noted(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    log = folder / "result_2.txt"
    log.write_text(log.read_text().replace('"value":4096', '"value":2048'))
    entry = _read(tmp_path)
    assert _kinds(entry) == ["batch size differs"]
    assert entry.result.global_batch_size == 4096


def test_a_log_that_is_a_sentence_counts_as_failed(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    (folder / "result_4.txt").write_text("We could not upload this one.\n")
    entry = _read(tmp_path)
    assert len(entry.result.run_minutes) == 4
    assert entry.result.minutes == pytest.approx((11 + 12 + 14) / 3)


def test_unreadable_records_are_counted(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    with (folder / "result_0.txt").open("a") as log:
        log.write(':::MLLOG {"broken\n')
    assert _kinds(_read(tmp_path)) == ["log with unreadable records"]


def test_parse_object_keeps_commas_inside_texts() -> None:
    assert parse_object(b'{"a": "1,}", "b": [1, 2,],}') == ({"a": "1,}", "b": [1, 2]}, True)
    assert parse_object(json.dumps({"a": 1}).encode()) == ({"a": 1}, False)
    assert parse_object(b"[1]") == (None, False)
    assert parse_object(b"\xff\xfe") == (None, False)


def test_trimmed_mean() -> None:
    assert trimmed_mean([5, 1, 3]) == 3
    assert trimmed_mean([4, 2]) == 3
    assert trimmed_mean([]) is None
