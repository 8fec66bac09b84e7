import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.logs import (
    CONVERGED,
    RunShape,
    Text,
    desk_folder,
    write_desk,
    write_folder,
    write_resnet,
)
from trainmark.rules import check_path, score_path
from trainmark.types import Severity, UsageError

THREE = [RunShape(seed=seed, minutes=minutes) for seed, minutes in ((1, 3), (2, 1), (3, 2))]


def found(path: Path, **options: str) -> dict[str, Severity]:
    """The findings about folders below a path, by rule."""
    verdicts = check_path(path, **options)
    return {
        finding.rule: finding.severity
        for verdict in verdicts
        if verdict.kind == "folder"
        for finding in verdict.findings
    }


def resnet_folder(folder: Path, shapes: list[RunShape]) -> Path:
    slow = [replace(shape, qualities=shape.qualities or CONVERGED) for shape in shapes]
    return write_folder(folder, slow, write_resnet)


def test_a_session_folder(tmp_path: Path) -> None:
    write_folder(desk_folder(tmp_path), THREE)
    verdicts = check_path(tmp_path)
    assert [verdict.kind for verdict in verdicts] == ["log"] * 3 + ["folder"]
    assert all(verdict.ok for verdict in verdicts)
    assert verdicts[-1].benchmark == "resnet50_desk"
    (scored,) = score_path(tmp_path)
    assert scored.score.minutes == pytest.approx(2.0)
    assert scored.score.basis == "own benchmark, official formula: 3 runs; the middle value"
    assert (scored.benchmark, scored.division) == ("resnet50_desk", "closed")


def test_a_log_a_folder_and_all_above_it_can_be_named(tmp_path: Path) -> None:
    folder = write_folder(desk_folder(tmp_path), THREE[:1])
    assert len(check_path(folder / "result_0.txt")) == 1
    assert len(check_path(folder)) == len(check_path(tmp_path)) == 2
    (scored,) = score_path(folder / "result_0.txt")
    assert scored.score.runs == 1


def test_runs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", [RunShape(seed=seed) for seed in range(12)])
    names = [Path(verdict.path).name for verdict in check_path(folder)[:-1]]
    assert names == [f"result_{number}.txt" for number in range(12)]


def test_too_few_runs(tmp_path: Path) -> None:
    own = write_folder(desk_folder(tmp_path / "own"), THREE[:2])
    assert found(own) == {"folder.runs": Severity.WARNING}
    official = resnet_folder(tmp_path / "v4.0" / "resnet", THREE)
    assert found(official) == {"folder.runs": Severity.ERROR}
    assert score_path(official)[0].score.basis.startswith("not an official score: 3 of 5")


def test_one_failed_run_is_allowed_and_two_are_not(tmp_path: Path) -> None:
    failed = RunShape(seed=9, status="aborted", minutes=7)
    four = [RunShape(seed=seed, minutes=seed) for seed in range(1, 5)]
    one = resnet_folder(tmp_path / "v4.0" / "one", [*four, failed])
    assert found(one) == {"folder.failed_runs": Severity.NOTE}
    (scored,) = score_path(one)
    assert scored.score.minutes == pytest.approx(3.0)
    assert scored.score.official
    two = resnet_folder(tmp_path / "v4.0" / "two", [*four[:3], failed, replace(failed, minutes=8)])
    assert found(two) == {"folder.failed_runs": Severity.ERROR}
    assert score_path(two)[0].score.minutes is None


@pytest.mark.parametrize("sound", [0, 1])
def test_of_one_or_two_runs_none_may_fail(tmp_path: Path, sound: int) -> None:
    shapes = [RunShape(seed=seed) for seed in range(sound)]
    folder = write_folder(desk_folder(tmp_path), [*shapes, RunShape(seed=9, status="aborted")])
    assert found(folder) == {
        "folder.runs": Severity.WARNING,
        "folder.failed_runs": Severity.ERROR,
    }
    assert score_path(folder)[0].score.minutes is None


def test_a_log_that_breaks_the_rules_does_not_count(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    text = Text.read(folder / "result_1.txt")
    text.drop("seed")
    text.write()
    (scored,) = score_path(folder)
    assert scored.score.failed == 1
    assert scored.score.minutes == pytest.approx(3.0)
    assert not scored.verdicts[1].ok


def test_logs_of_one_folder_must_agree(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", [RunShape(seed=1), RunShape(seed=2, batch=128)])
    text = Text.read(write_desk(folder / "result_2.txt", RunShape(seed=3)))
    text.find("submission_benchmark")["value"] = "other"
    text.write()
    assert found(folder) == {
        "folder.batch_size": Severity.ERROR,
        "folder.benchmark": Severity.ERROR,
    }


def test_seeds_must_differ_where_the_rules_say_so(tmp_path: Path) -> None:
    same = [RunShape(seed=7, minutes=minutes) for minutes in range(1, 6)]
    assert found(write_folder(tmp_path / "own", same[:3])) == {"folder.seeds": Severity.ERROR}
    old = resnet_folder(tmp_path / "v4.0" / "resnet", same)
    assert found(old) == {}


def test_scaling_is_applied(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    (folder / "scaling.json").write_text('{"scaling_factor": 1.5}', encoding="utf-8")
    (scored,) = score_path(folder)
    assert scored.score.minutes == pytest.approx(3.0)
    assert scored.findings == ()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"scaling_factor": "2"}',
        '{"scaling_factor": true}',
        '{"scaling_factor": 0.5}',
        '{"scaling_factor": NaN}',
        '{"scaling_factor": 1e999}',
        '{"scaling_factor": 1e308}',
        '{"scaling_factor": 1001}',
        '{"scaling_factor": 1' + "0" * 400 + "}",
        '{"scaling_factor": 1' + "0" * 5000 + "}",
        "[" * 100_000,
        "\udc80",
    ],
)
def test_a_bad_scaling_file_is_named_and_left_alone(content: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    (folder / "scaling.json").write_text(content, encoding="utf-8", errors="surrogateescape")
    (scored,) = score_path(folder)
    assert scored.score.minutes == pytest.approx(2.0)
    assert [finding.rule for finding in scored.findings] == ["folder.scaling"]
    assert found(folder) == {"folder.scaling": Severity.ERROR}


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    outside = write_folder(tmp_path / "outside", THREE)
    tree = write_folder(tmp_path / "tree" / "x", THREE)
    (tree / "result_9.txt").symlink_to(outside / "result_0.txt")
    (tree / "result_8.txt").symlink_to(tree / "result_0.txt")
    (tree.parent / "more").symlink_to(outside, target_is_directory=True)
    verdicts = check_path(tree.parent)
    assert len(verdicts) == 5
    assert "folder.link" in found(tree.parent)


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    (folder / "again").symlink_to(tmp_path, target_is_directory=True)
    assert len(check_path(tmp_path)) == 4


def test_hidden_folders_are_left_out(tmp_path: Path) -> None:
    write_folder(tmp_path / "x", THREE)
    write_folder(tmp_path / ".git", THREE)
    assert len(check_path(tmp_path)) == 4


def test_a_log_that_does_not_tell_its_round_follows_the_others(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    text = Text.read(folder / "result_2.txt")
    text.records = text.records[:3]
    text.write()
    verdict = check_path(folder)[2]
    assert [finding.rule for finding in verdict.findings] == ["run.no_stop"]
    assert verdict.ruleset is not None
    assert verdict.ruleset.name == "own"


def test_a_folder_without_a_round_asks_for_one(tmp_path: Path) -> None:
    folder = resnet_folder(tmp_path / "resnet", THREE)
    with pytest.raises(UsageError, match="cannot tell which round"):
        check_path(folder)
    assert check_path(folder, ruleset="4.0")[0].ok


def test_an_unreadable_log_is_a_finding_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    (folder / "result_3.txt").mkdir()
    (folder / "result_4.txt").symlink_to(folder / "absent.txt")
    verdicts = check_path(folder)
    assert [verdict.ok for verdict in verdicts[:3]] == [True, True, True]
    assert [finding.rule for finding in verdicts[3].findings] == ["log.unreadable"]
    assert score_path(folder)[0].score.failed == 1


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_no_logs_at_all(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"there (is|are) no"):
        check_path(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    write_folder(tmp_path / "x", THREE)
    (tmp_path / "x").chmod(0)
    with pytest.raises(UsageError, match="cannot list"):
        check_path(tmp_path)


def test_a_score_is_plain_data(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", [*THREE, RunShape(seed=5, status="aborted")])
    data = json.loads(json.dumps(score_path(folder)[0].to_dict()))
    assert data["rules"] == "own"
    assert data["score"]["failed"] == 1
    assert [log["ok"] for log in data["logs"]] == [True, True, True, False]
    assert "aborted" in data["logs"][3]["errors"][0]


@pytest.mark.parametrize("kind", ["pipe", "folder", "ring of links"])
def test_a_scaling_file_that_is_no_file(kind: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    _make(folder / "scaling.json", kind)
    (scored,) = score_path(folder)
    assert scored.score.minutes == pytest.approx(2.0)
    assert [finding.rule for finding in scored.findings] == ["folder.scaling"]


@pytest.mark.parametrize("kind", ["pipe", "ring of links", "link to nothing"])
def test_a_log_that_is_no_file_counts_as_a_failed_run(kind: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    _make(folder / "result_3.txt", kind)
    bad = [verdict for verdict in check_path(folder) if not verdict.ok]
    assert [Path(verdict.path).name for verdict in bad] == ["result_3.txt"]
    assert [finding.rule for finding in bad[0].findings] == ["log.unreadable"]
    (scored,) = score_path(folder)
    assert (scored.score.runs, scored.score.failed) == (4, 1)


def test_a_folder_with_the_name_of_a_log_is_no_log(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE)
    (folder / "result_3.txt").mkdir()
    assert len(check_path(folder)) == 4


def _make(path: Path, kind: str) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "ring of links":
            path.symlink_to(path.name)
        case "link to nothing":
            path.symlink_to("absent")


def test_a_folder_of_links_that_lead_out_is_not_valid(tmp_path: Path) -> None:
    outside = write_folder(tmp_path / "outside", THREE)
    (tmp_path / "x").mkdir()
    for log in outside.iterdir():
        (tmp_path / "x" / log.name).symlink_to(log)
    (verdict,) = check_path(tmp_path / "x")
    assert not verdict.ok
    assert found(tmp_path / "x") == {
        "folder.link": Severity.WARNING,
        "folder.runs": Severity.ERROR,
    }


@pytest.mark.parametrize("verb", [check_path, score_path])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "is empty"),
        ("absent", "there is no absent"),
        ("pipe", "neither a file nor a folder"),
        ("pipe/x", "there is no pipe/x"),
        ("/dev/zero", "neither a file nor a folder"),
        ("ring", "too many levels"),
        ("x" * 300, "too long"),
    ],
)
def test_a_path_that_leads_to_no_log(
    verb: Callable[[str], object],
    path: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("ring").symlink_to("ring")
    with pytest.raises(UsageError, match=re.compile(message, re.IGNORECASE)) as caught:
        verb(path)
    assert caught.value.hint


def test_a_working_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="cannot list"):
        check_path(".")
    log = write_desk(tmp_path / "result_0.txt")
    assert check_path(log)[0].ok


def test_one_run_short_is_said_in_good_english(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", THREE[:2])
    fixes = [finding.fix for finding in check_path(folder)[-1].findings]
    assert fixes == ["Run it once more for a score by the official formula."]


def submission(root: Path, shapes: list[RunShape], **fields: str) -> Path:
    """A benchmark folder in a submission, with a description of its system."""
    folder = resnet_folder(root / "v4.1" / "tester" / "results" / "testbox" / "resnet", shapes)
    systems = root / "v4.1" / "tester" / "systems"
    systems.mkdir()
    content = {"division": "closed", "submitter": "tester", **fields}
    (systems / "testbox.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.mark.parametrize("place", [".", ".."])
def test_checks_that_a_submitter_asks_to_be_let_through(place: str, tmp_path: Path) -> None:
    fast = [RunShape(seed=7, qualities=(0.7, 0.76))] * 5
    folder = submission(tmp_path, fast)
    before = found(folder, ruleset="4.0")
    assert before["rcp.too_fast"] is Severity.ERROR
    (folder / place / "package_checker_params").write_text("rcp-bypass", encoding="utf-8")
    assert found(folder, ruleset="4.0")["rcp.too_fast"] is Severity.WARNING
    (folder / place / "package_checker_params").write_text("rcp-bypass\n", encoding="utf-8")
    assert found(folder, ruleset="4.0")["rcp.too_fast"] is Severity.ERROR


def test_the_division_of_the_description_decides(tmp_path: Path) -> None:
    fast = [RunShape(seed=seed, qualities=(0.7, 0.76)) for seed in range(5)]
    folder = submission(tmp_path, fast, division="open")
    assert "rcp.too_fast" not in found(folder, ruleset="4.0")
    assert found(folder, ruleset="4.0")["system.division_differs"] is Severity.ERROR


def test_a_description_outside_of_the_submission_is_not_read(tmp_path: Path) -> None:
    folder = submission(tmp_path, [RunShape(seed=seed) for seed in range(5)], division="open")
    description = folder.parents[2] / "systems" / "testbox.json"
    description.rename(tmp_path / "elsewhere.json")
    description.symlink_to(tmp_path / "elsewhere.json")
    assert "system.division_differs" not in found(folder, ruleset="4.0")


def test_what_the_logs_say_of_a_system_is_compared_once(tmp_path: Path) -> None:
    folder = submission(tmp_path, [RunShape(seed=seed) for seed in range(5)], division="open")
    verdicts = check_path(folder.parents[2], ruleset="4.0")
    rules = [(one.kind, f.rule) for one in verdicts for f in one.findings]
    assert rules.count(("system", "system.division_differs")) == 1
    assert ("folder", "system.division_differs") not in rules
