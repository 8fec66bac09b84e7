import json
from pathlib import Path

import pytest

from tests.catalogue.repositories import (
    write_bert,
    write_entry,
    write_power,
    write_system,
    write_v05,
    write_v06,
)
from trainmark.catalogue.importing.entries import find_folders
from trainmark.catalogue.importing.facts import FolderFacts, Standing, read_folder, trimmed_mean
from trainmark.catalogue.importing.source import FolderSource

NAME = "mlcommons/training_results_v1.1"


def _read(root: Path, round_name: str = "1.1", *, published: bool = True) -> FolderFacts:
    found = _try(root, round_name, published=published)
    assert found is not None
    return found


def _try(root: Path, round_name: str = "1.1", *, published: bool = True) -> FolderFacts | None:
    standing = Standing(
        name=NAME, commit="c0ffee", round=round_name, published=published, slug="house-1"
    )
    with FolderSource(root, NAME) as source:
        (folder,) = find_folders(source.paths, "top").folders
        return read_folder(source, folder, standing)


def _kinds(facts: FolderFacts) -> list[str]:
    return [doubt.kind for doubt in facts.result.doubts]


def test_a_folder_is_a_result_with_provenance(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, qualities=(0.7591,))  # met after four epochs
    facts = _read(tmp_path)
    result = facts.result
    assert (result.id, result.origin) == ("v1.1/House/box/resnet", "published")
    assert (result.round, result.label) == ("1.1", "verified by MLCommons")
    assert (result.repository, result.path) == (NAME, "House/results/box/resnet")
    assert (result.commit, result.task) == ("c0ffee", "resnet")
    assert (result.submitter, result.system) == ("House", "Box One")
    assert (result.framework_name, result.framework_version) == ("MXNet", "NGC 21.05")
    assert (result.accelerator, result.accelerators, result.nodes) == ("A100-SXM-80GB", 16, 2)
    assert result.raw["accelerator"] == "NVIDIA A100-SXM4-80GB (400W)"
    assert (result.category, result.raw["status"]) == ("available", "onprem")
    assert result.run_minutes == pytest.approx((12, 10, 11, 14, 13))
    assert result.minutes == pytest.approx(12)
    assert result.global_batch_size == 4096
    assert result.samples_to_target == 4 * 1_281_167
    assert facts.findings == ()
    assert all(len(run.content) == 40 and run.available for run in facts.runs)
    assert facts.bytes == sum(
        log.stat().st_size for log in tmp_path.glob("House/results/*/*/*.txt")
    )


def test_what_mlcommons_has_not_published_says_so(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path)
    result = _read(tmp_path, published=False).result
    assert (result.id, result.origin) == ("imported/house-1/House/box/resnet", "imported")
    assert result.label == "unverified (not published by MLCommons)"
    assert result.minutes == pytest.approx(12)


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


@pytest.mark.parametrize("published", [True, False])
def test_too_few_runs_are_a_score_only_where_it_was_published(
    tmp_path: Path, published: bool
) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, (12.0, 10.0, 11.0, 14.0))
    facts = _read(tmp_path, published=published)
    assert facts.result.score_basis.startswith("not an official score: 4 of 5 required runs")
    assert facts.result.minutes == (pytest.approx(11.5) if published else None)
    assert _kinds(facts) == (["fewer runs than required"] if published else [])


def test_the_scaling_file_is_authoritative(tmp_path: Path) -> None:
    write_system(tmp_path)
    (write_entry(tmp_path) / "scaling.json").write_text('{"scaling_factor": 1.25}')
    result = _read(tmp_path).result
    assert result.minutes == pytest.approx(15)
    assert result.scaling_factor == 1.25


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"scaling_factor": "large"}', "it has no number scaling_factor"),
        ('{"scaling_factor": true}', "it has no number scaling_factor"),
        ('{"scaling_factor": NaN}', "scaling_factor is nan"),
        ('{"scaling_factor": 0.5}', "scaling_factor is 0.5"),
        ("[1.25]", "it has no number scaling_factor"),
        ("{", "it is not JSON"),
        ("[" * 60_000, "it is not JSON"),
        ('{"scaling_factor": 2}' + " " * 65_536, "it is longer than 64 KiB"),
    ],
)
def test_an_unreadable_scaling_file_is_told(tmp_path: Path, content: str, reason: str) -> None:
    write_system(tmp_path)
    (write_entry(tmp_path) / "scaling.json").write_text(content)
    facts = _read(tmp_path)
    assert facts.result.scaling_factor == 1
    assert facts.result.minutes == pytest.approx(12)
    assert _kinds(facts) == ["unreadable scaling file"]
    (finding,) = facts.findings
    assert reason in finding.message
    assert finding.is_error


def test_round_0_5(tmp_path: Path) -> None:
    write_v05(tmp_path, failed=1)
    result = _read(tmp_path, "0.5").result
    assert result.id == "v0.5/house/group/box/resnet"
    assert result.minutes == pytest.approx((11 + 12 + 14) / 3)
    assert (result.system, result.accelerators, result.nodes) == ("Old Box", 16, 2)
    assert (result.division, result.framework_name) == ("closed", "MXNet")


@pytest.mark.parametrize("lines", [True, False])
def test_round_0_6(tmp_path: Path, lines: bool) -> None:
    write_v06(tmp_path, lines=lines)
    result = _read(tmp_path, "0.6").result
    assert result.minutes == pytest.approx(12)
    assert (result.system, result.accelerators) == ("Old Box", 16)
    assert result.global_batch_size == 1664
    assert (result.division, result.category) == ("closed", "available")


def test_logs_in_the_system_folder_tell_the_benchmark(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, place="House/results/box")
    result = _read(tmp_path, "0.7").result
    assert (result.id, result.benchmark) == ("v0.7/House/box", "resnet")
    assert result.minutes == pytest.approx(12)


def test_logs_in_the_system_folder_that_tell_nothing_are_no_result(tmp_path: Path) -> None:
    folder = tmp_path / "House/results/box"
    folder.mkdir(parents=True)
    (folder / "result_0.txt").write_text("nothing")
    assert _try(tmp_path) is None


def test_files_by_other_names_are_a_result_if_they_are_logs(tmp_path: Path) -> None:
    folder = write_entry(tmp_path)
    for log in folder.glob("result_*.txt"):
        log.rename(log.with_name(f"{log.stem[-1]}.log"))
    assert _read(tmp_path).result.minutes == pytest.approx(12)
    for log in folder.glob("*.log"):
        log.write_text("warning: nothing to do\n")
    assert _try(tmp_path) is None


def test_measured_energy(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path, (3.0, 1.0, 2.0, 5.0, 4.0))
    write_power(folder, watts=500, nodes=2)
    facts = _read(tmp_path)
    assert facts.result.energy_joules == pytest.approx(2 * 500 * 60 * 3)  # of 2, 3 and 4 minutes
    assert facts.runs[0].energy_joules == pytest.approx(2 * 500 * 60 * 3)
    assert facts.findings == ()


def test_power_logs_of_some_runs_only_are_told(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path, (3.0, 1.0, 2.0, 5.0, 4.0))
    write_power(folder)
    (folder / "power/result_2/node_0.txt").write_text("not a power log")
    facts = _read(tmp_path)
    assert facts.result.energy_joules is None
    assert facts.runs[2].energy_joules is None
    assert facts.runs[3].energy_joules == pytest.approx(2 * 500 * 300)
    assert [finding.rule for finding in facts.findings] == ["import.power"]
    assert facts.result.minutes == pytest.approx(3)


def test_names_with_spaces(tmp_path: Path) -> None:
    write_system(tmp_path, system="X640 G40 box")
    write_entry(tmp_path, place="House/results/X640 G40 box/resnet")
    assert _read(tmp_path).result.system == "Box One"


def test_without_a_system_file_the_result_stays(tmp_path: Path) -> None:
    write_entry(tmp_path)
    result = _read(tmp_path).result
    assert (result.system, result.submitter, result.accelerators) == ("box", "House", None)
    assert result.minutes == pytest.approx(12)


@pytest.mark.parametrize("content", ["", "{", "[1]", '"text"', "\ufeff\x00", "[" * 100_000])
def test_a_damaged_system_file_ends_nothing(tmp_path: Path, content: str) -> None:
    write_system(tmp_path).write_text(content, encoding="utf-8")
    write_entry(tmp_path)
    facts = _read(tmp_path)
    assert facts.result.minutes == pytest.approx(12)
    assert facts.findings
    assert facts.result.doubts


def test_bert_says_its_samples(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = tmp_path / "House/results/box/bert"
    folder.mkdir(parents=True)
    for number in range(10):
        write_bert(folder / f"result_{number}.txt", [1] * 3, 1000 + number)
    assert _read(tmp_path).result.samples_to_target == pytest.approx(1004.5)


def test_a_benchmark_that_the_logs_call_otherwise_is_noted(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, place="House/results/box/bert")
    facts = _read(tmp_path)
    assert "benchmark differs in the logs" in _kinds(facts)
    assert facts.result.benchmark == "bert"


def test_a_success_short_of_the_target_is_told_and_counts(tmp_path: Path) -> None:
    write_system(tmp_path)
    write_entry(tmp_path, qualities=(0.7585,))
    facts = _read(tmp_path)
    short = [doubt for doubt in facts.result.doubts if "target" in doubt.kind]
    assert len(short) == len(facts.runs) == 5
    assert short[0].text.endswith("result_0.txt: success at 0.7585, the target is 0.759")
    assert not short[0].resolved
    assert facts.result.minutes == pytest.approx(12)


@pytest.mark.parametrize(("quality", "division"), [(0.759, "closed"), (0.7585, "open")])
def test_a_success_at_the_target_or_in_open_is_no_doubt(
    tmp_path: Path, quality: float, division: str
) -> None:
    write_system(tmp_path, division=division)
    write_entry(tmp_path, qualities=(quality,))
    assert not [doubt for doubt in _read(tmp_path).result.doubts if "target" in doubt.kind]


def test_batch_sizes_that_differ_are_noted(tmp_path: Path) -> None:
    write_system(tmp_path)
    log = write_entry(tmp_path) / "result_2.txt"
    log.write_text(log.read_text().replace('"value":4096', '"value":2048'))
    facts = _read(tmp_path)
    assert _kinds(facts) == ["batch size differs"]
    assert facts.result.global_batch_size == 4096


def test_a_log_that_is_a_sentence_counts_as_failed(tmp_path: Path) -> None:
    write_system(tmp_path)
    (write_entry(tmp_path) / "result_4.txt").write_text("We could not upload this one.\n")
    facts = _read(tmp_path)
    assert len(facts.result.run_minutes) == 4
    assert facts.result.minutes == pytest.approx((11 + 12 + 14) / 3)
    assert facts.runs[4].available


@pytest.mark.parametrize("data", [b"", b"\x00" * 100, b"\xff\xfe" * 50, b":::MLLOG " * 1000])
def test_a_log_of_any_bytes_counts_as_failed(tmp_path: Path, data: bytes) -> None:
    write_system(tmp_path)
    (write_entry(tmp_path) / "result_0.txt").write_bytes(data)
    assert _read(tmp_path).result.minutes == pytest.approx((11 + 13 + 14) / 3)


def test_a_log_that_has_gone_leaves_no_score(tmp_path: Path) -> None:
    write_system(tmp_path)
    folder = write_entry(tmp_path)
    standing = Standing(name=NAME, commit="", round="1.1", published=True, slug="s")
    with FolderSource(tmp_path, NAME) as source:
        (found,) = find_folders(source.paths, "top").folders
        (folder / "result_3.txt").unlink()
        facts = read_folder(source, found, standing)
    assert facts is not None
    assert facts.result.minutes is None
    assert facts.result.score_basis == "no score: 1 of 5 logs are not available"
    assert [run.available for run in facts.runs] == [True, True, True, False, True]
    assert [finding.rule for finding in facts.findings] == ["import.absent"]


def test_a_damaged_record_that_matters_is_told(tmp_path: Path) -> None:
    write_system(tmp_path)
    log = write_entry(tmp_path) / "result_0.txt"
    stop = json.dumps({"key": "run_stop"})
    log.write_text(log.read_text().replace('"key":"run_stop"', f'{stop[1:-1]},"value":{{'))
    facts = _read(tmp_path)
    (doubt,) = (d for d in facts.result.doubts if d.kind == "log with unreadable records")
    assert doubt.text.endswith("result_0.txt: 1 unreadable record")
    assert not doubt.resolved
    assert facts.findings[0].path.endswith("result_0.txt")
    assert facts.result.minutes == pytest.approx((11 + 13 + 14) / 3)


def test_trimmed_mean() -> None:
    assert trimmed_mean([5, 1, 3]) == 3
    assert trimmed_mean([4, 2]) == 3
    assert trimmed_mean([]) is None
