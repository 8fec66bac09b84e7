import json
import shutil
from pathlib import Path

import pytest

from tests.report.results import result
from tests.report.sessions import TARGET, session_json, write_log, write_session
from trainmark import catalogue
from trainmark.report import load, session_to_dict
from trainmark.types import UsageError


def test_a_session_is_read_whole(session_folder: Path) -> None:
    session = load(session_folder)
    (entry,) = session.entries
    assert (entry.submitter, entry.system, entry.benchmark) == (
        "Test House",
        "desk",
        "resnet50_desk",
    )
    assert entry.title == "ResNet-50 (desk)"
    assert entry.machine_title == "Testbench CPU, 2 cores, 8 GB"
    assert entry.label == "unverified; MLPerf procedure, own target"
    assert entry.target == TARGET
    assert entry.score.run_minutes == pytest.approx((1.0, 1.1, 1.3))
    assert entry.score.minutes == pytest.approx(1.1)  # the fastest and the slowest left out
    assert [run.seed for run in entry.runs] == [1, 2, 3]
    assert entry.system_description["system_name"] == "Testbench"
    assert entry.kin is not None
    assert entry.published
    assert all(one.benchmark == "resnet" for one in entry.published)
    assert entry.info is not None
    assert [(one.precision, one.threads) for one in entry.info.candidates] == [
        ("fp32", None),
        ("bf16", 2),
        ("bf16", 1),
    ]
    assert entry.info.unusable == {"fp16": "no instructions for it"}
    assert entry.info.matmul_peaks == {"fp32": 1.9e11, "bf16": 4.1e11}
    assert session.findings == ()


def test_runs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = write_session(tmp_path / "s", epochs=tuple(range(2, 13)))
    (entry,) = load(folder).entries
    assert [Path(run.source).name for run in entry.runs] == [f"result_{i}.txt" for i in range(11)]


@pytest.mark.parametrize("level", [".", "Test House", "Test House/results/desk/resnet50_desk"])
def test_any_level_of_the_layout_will_do(session_folder: Path, level: str) -> None:
    (entry,) = load(session_folder / level).entries
    assert (entry.submitter, entry.system) == ("Test House", "desk")
    assert entry.system_description["system_name"] == "Testbench"
    assert len(entry.runs) == 3


def test_the_logs_alone_make_a_report(session_folder: Path) -> None:
    (session_folder / "session.json").unlink()
    shutil.rmtree(session_folder / "Test House/systems")
    session = load(session_folder)
    (entry,) = session.entries
    assert session.info is None
    assert session.findings == ()
    assert entry.title == "resnet50_desk"
    assert entry.machine_title == "desk"
    assert entry.label == "unverified; MLPerf procedure, own target"
    assert entry.comparisons == ()


def test_each_benchmark_and_system_is_an_entry_of_its_own(session_folder: Path) -> None:
    write_session(session_folder / "more", epochs=(4, 5, 6), submitter="Other", system="rack")
    assert [(one.submitter, one.system, len(one.runs)) for one in load(session_folder).entries] == [
        ("Test House", "desk", 3),
        ("Other", "rack", 3),
    ]


def test_session_json_of_another_benchmark_does_not_describe_these_runs(tmp_path: Path) -> None:
    folder = write_session(tmp_path / "s", info=session_json(benchmark="bert_desk", title="BERT"))
    (entry,) = load(folder).entries
    assert entry.info is None
    assert entry.title == "resnet50_desk"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"version": "0.1.0"', "is not valid JSON"),
        ("[1, 2]", "must hold one JSON object, it holds a list"),
        ("", "is not valid JSON"),
    ],
)
def test_a_broken_file_beside_the_logs_is_a_finding(
    session_folder: Path, content: str, says: str
) -> None:
    path = session_folder / "session.json"
    path.write_text(content)
    (session_folder / "Test House/systems/desk.json").write_text(content)
    session = load(session_folder)
    assert [one.rule for one in session.findings] == ["session.json", "system.json"]
    assert all(says in one.message for one in session.findings)
    assert session.findings[0].path == str(path)
    assert len(session.entries[0].runs) == 3


def test_fields_of_the_wrong_type_count_as_not_said(tmp_path: Path) -> None:
    odd = session_json(
        title=7,
        machine=None,
        target={"value": "high"},
        probe={"candidates": [3, {"samples_per_second": "fast"}], "matmul_peak_flop_per_s": [1]},
        command=["trainmark", "run", "resnet50", "--out", "a folder"],
    )
    info = load(write_session(tmp_path / "s", info=odd)).info
    assert info is not None
    assert (info.title, info.machine, info.target) == ("", "", None)
    assert (info.candidates, info.matmul_peaks) == ((), {})
    assert info.command == "trainmark run resnet50 --out 'a folder'"


def test_earlier_results_of_the_machine_are_compared(
    session_folder: Path, no_own_results: Path
) -> None:
    for one in (
        result(id="own/1", recorded="2026-11-01T10:00:00+00:00"),
        result(id="own/2", recorded="2026-11-20T10:00:00+00:00", minutes=1.0),
        result(id="own/3", machine="another"),
        result(id="own/4", benchmark="bert_desk"),
        result(id="own/5", path=str(session_folder.resolve())),
    ):
        catalogue.record(one, [])
    (entry,) = load(session_folder).entries
    assert [one.then.id for one in entry.comparisons] == ["own/1", "own/2"]
    assert entry.comparisons[0].change == pytest.approx(1.1 / 1.2 - 1)
    assert entry.comparisons[0].rate_change == pytest.approx(1002 / 950 - 1)


def test_runs_that_did_not_reach_the_target_have_no_score_and_no_comparison(
    tmp_path: Path, no_own_results: Path
) -> None:
    catalogue.record(result(), [])
    (entry,) = load(write_session(tmp_path / "s", status="aborted")).entries
    assert entry.score.minutes is None
    assert entry.score.run_minutes == ()
    assert entry.comparisons == ()
    assert entry.samples_per_second == 1002


def test_a_log_that_breaks_the_rules_does_not_count(session_folder: Path) -> None:
    log = session_folder / "Test House/results/desk/resnet50_desk/result_0.txt"
    log.write_text(log.read_text() + ":::MLLOG {torn\n")
    (entry,) = load(session_folder).entries
    assert entry.compliant is False
    assert entry.score.failed == 1
    assert entry.score.minutes == pytest.approx(1.3)  # it took the slowest place


def test_where_nothing_tells_the_rules_the_runs_are_scored_unchecked(
    session_folder: Path,
) -> None:
    for log in (session_folder / "Test House/results/desk/resnet50_desk").iterdir():
        kept = [line for line in log.read_text().splitlines() if "trainmark_ruleset" not in line]
        log.write_text("\n".join(kept) + "\n")
    session = load(session_folder)
    (entry,) = session.entries
    assert entry.compliant is None
    assert "cannot tell which round" in entry.unchecked
    assert entry.verdicts == ()
    assert entry.score.minutes == pytest.approx(1.1)
    assert not session.ok


def test_logs_in_a_folder_above_others_are_not_mixed_with_them(session_folder: Path) -> None:
    place = session_folder / "Test House/results/desk/resnet50_desk"
    (place / "old").mkdir()
    write_log(place / "old/result_0.txt", seed=9, epochs=3)
    assert [len(entry.runs) for entry in load(session_folder).entries] == [3, 1]


def test_links_out_of_the_folder_are_not_followed(session_folder: Path, tmp_path: Path) -> None:
    place = session_folder / "Test House/results/desk/resnet50_desk"
    outside = tmp_path / "outside.txt"
    write_log(outside, seed=9, epochs=3)
    (place / "result_3.txt").symlink_to(outside)
    assert len(load(session_folder).entries[0].runs) == 3


def test_a_missing_folder_and_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        load(tmp_path / "nowhere")
    (tmp_path / "result_0.txt").write_text("")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        load(tmp_path / "result_0.txt")
    with pytest.raises(UsageError, match="cannot be reached"):
        load(tmp_path / ("long" * 100))


def test_a_folder_without_logs_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("")
    with pytest.raises(UsageError, match="no result log") as caught:
        load(tmp_path)
    assert "result_*.txt" in caught.value.hint


def test_the_report_as_data_is_json_and_whole(session_folder: Path) -> None:
    data = json.loads(json.dumps(session_to_dict(load(session_folder))))
    (entry,) = data["entries"]
    assert entry["score"]["minutes"] == pytest.approx(1.1)
    assert [run["seed"] for run in entry["runs"]] == [1, 2, 3]
    assert entry["efficiency"]["share_of_peak"] == 0.125
    assert entry["target"] == TARGET.to_dict()
    assert data["session"]["command"] == "trainmark run resnet50 --runs 3 --seed 1"
    assert entry["published_benchmark"] == "resnet"
    assert isinstance(data["ok"], bool)


def test_a_folder_of_published_logs_has_the_official_scores(shared_logs: Path) -> None:
    session = load(shared_logs / "v2.0/Graphcore")
    scores = {
        (entry.system, entry.benchmark): entry.score.minutes
        for entry in session.entries
        if entry.benchmark == "resnet"
    }
    # Source: the official results table of round 2.0.
    assert scores["ipu-pod16-TF1-closed", "resnet"] == pytest.approx(19.635, abs=5e-3)
    assert scores["ipu-pod64-TF1-closed", "resnet"] == pytest.approx(6.30, abs=5e-3)
    entry = next(one for one in session.entries if one.system == "ipu-pod16-TF1-closed")
    assert entry.label == "unverified"
    assert entry.submitter == "Graphcore"
    assert entry.system_description["accelerators_per_node"]
    assert session.info is None
