"""What a path is, and how submissions are found."""

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from trainmark.rules.submission.tree import Kind, find_submissions, identify
from trainmark.rules.submission.tree_listing import MAX_DEPTH, list_folder, walk


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def submission(root: Path, *benchmarks: str, system: str = "box") -> Path:
    """A submission with one log for each benchmark, each of another content."""
    put(root / "systems" / f"{system}.json", "{}")
    for name in benchmarks or ("resnet",):
        put(root / "results" / system / name / "result_0.txt", f"{root} {system} {name}")
        put(root / "benchmarks" / name.rpartition("/")[2] / "implementations/a/train.py")
        put(root / "benchmarks" / name.rpartition("/")[2] / "README.md")
    return root


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("acme/results/box/resnet/result_0.txt", Kind.LOG),
        ("acme/systems/box.json", Kind.SYSTEM),
        ("acme/results/box/resnet/scaling.json", Kind.LOG),
        ("acme/results/box/resnet", Kind.BENCHMARK),
        ("acme/results/box/resnet/power", Kind.POWER),
        ("acme/results/box", Kind.SYSTEM_RESULTS),
        ("acme/results", Kind.RESULTS),
        ("acme/systems", Kind.SYSTEMS),
        ("acme", Kind.SUBMISSION),
        (".", Kind.REPOSITORY),
        ("acme/benchmarks", Kind.OTHER),
        ("nowhere", Kind.NOTHING),
        ("acme/results/box/resnet/result_0.txt/x", Kind.NOTHING),
    ],
)
def test_every_level_is_told(tmp_path: Path, place: str, kind: Kind) -> None:
    acme = submission(tmp_path / "acme")
    submission(tmp_path / "other")
    put(acme / "results/box/resnet/power/result_0/node_0.txt")
    put(acme / "results/box/resnet/scaling.json")
    assert identify(tmp_path / place) is kind


def test_hpc_has_a_level_more(tmp_path: Path) -> None:
    submission(tmp_path, "strong/cosmoflow", "weak/cosmoflow")
    (found,) = find_submissions(tmp_path)
    assert list(found.results) == [("box", "strong/cosmoflow"), ("box", "weak/cosmoflow")]
    assert found.result_benchmarks() == ("cosmoflow",)
    assert identify(tmp_path / "results/box") is Kind.SYSTEM_RESULTS


def test_a_name_that_no_system_can_have_is_nothing() -> None:
    assert identify(Path("a\0b")) is Kind.NOTHING


def test_a_pipe_is_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "result_0.txt")
    assert identify(tmp_path / "result_0.txt") is Kind.NOTHING


def test_a_submission_with_a_stray_log_is_still_one(tmp_path: Path) -> None:
    put(submission(tmp_path) / "result_9.txt")
    assert identify(tmp_path) is Kind.SUBMISSION


def test_submissions_are_found_in_natural_order_two_levels_down(tmp_path: Path) -> None:
    for name in ("acme 10", "acme 9"):
        submission(tmp_path / "v2.0" / name, "bert", "resnet")
    submission(tmp_path / "v2.0" / ".hidden")
    found = find_submissions(tmp_path)
    assert [one.submitter for one in found] == ["acme 9", "acme 10"]
    assert list(found[0].results) == [("box", "bert"), ("box", "resnet")]
    assert [file.name for file in found[0].systems] == ["box.json"]
    assert list(found[0].benchmarks) == ["bert", "resnet"]
    assert pickle.loads(pickle.dumps(found)) == found  # it goes to other processes


def test_what_trainmark_run_writes_is_a_submission(tmp_path: Path) -> None:
    put(tmp_path / "tester/results/testbox/resnet50_desk/result_0.txt")
    (found,) = find_submissions(tmp_path)
    assert found.parts == {"results"}
    assert found.result_systems() == ("testbox",)


def test_a_folder_without_submissions_has_none(tmp_path: Path) -> None:
    put(tmp_path / "resnet/result_0.txt")
    assert find_submissions(tmp_path) == ()
    assert find_submissions(tmp_path / "nowhere") == ()


def test_links_are_not_entered(tmp_path: Path) -> None:
    outside = submission(tmp_path / "outside")
    inside = submission(tmp_path / "inside")
    (inside / "results/linked").symlink_to(outside / "results/box")
    (inside / "systems/linked.json").symlink_to(outside / "systems/box.json")
    (found,) = find_submissions(inside)
    assert found.result_systems() == ("box",)
    assert [file.name for file in found.systems] == ["box.json"]


def test_a_closed_folder_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = submission(tmp_path, "bert") / "results/box"
    scandir = os.scandir

    def refuse(path: Path) -> Any:  # root, who may run this, can list every folder
        if path == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (found,) = find_submissions(tmp_path)
    (finding,) = found.findings
    assert finding.rule == "submission.unreadable"
    assert "Permission denied" in finding.message
    assert list(found.benchmarks) == ["bert"]


def test_a_folder_that_has_gone_is_a_finding(tmp_path: Path) -> None:
    (finding,) = list_folder(tmp_path / "gone").findings
    assert finding.rule == "submission.unreadable"
    assert "No such file" in finding.message
    assert finding.path == str(tmp_path / "gone")


def test_a_tree_without_end_ends(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(MAX_DEPTH + 5):
        deep /= "d"
        deep.mkdir()
    listings = list(walk(tmp_path))
    assert len(listings) == MAX_DEPTH + 1
    assert [one.rule for one in listings[-1].findings] == ["submission.too_deep"]


def test_names_of_any_bytes_are_listed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"r\xff \n")).mkdir()
    assert [os.fsencode(one.name) for one in list_folder(tmp_path).folders] == [b"r\xff \n"]
