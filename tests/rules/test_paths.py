"""Checking what a path holds, in one process or several."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, Text, desk_folder, write_desk, write_folder, write_resnet
from trainmark.rules import CheckOptions, check_path, check_paths, ruleset_named, score_path
from trainmark.types import Severity, UsageError


def placed(path: Path) -> Path:
    """The path of a log whose folder is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


SHAPES = [RunShape(seed=seed) for seed in range(1, 6)]


def test_several_processes_say_the_same_as_one(tmp_path: Path) -> None:
    write_folder(tmp_path / "v4.0" / "good", SHAPES, write_resnet)
    bad = write_folder(tmp_path / "v4.0" / "bad", SHAPES, write_resnet)
    text = Text.read(bad / "result_2.txt")
    text.drop("run_stop")
    text.write()
    (bad / "result_3.txt").write_bytes(b"\xff\xfe:\0:\0")
    write_desk(placed(desk_folder(tmp_path) / "result_0.txt"))
    alone = list(check_paths([tmp_path], CheckOptions(jobs=1)))
    spread = list(check_paths([tmp_path], CheckOptions(jobs=2)))
    assert [verdict.to_dict() for verdict in alone] == [verdict.to_dict() for verdict in spread]
    assert [verdict.kind for verdict in alone].count("folder") == 3


def test_verdicts_come_while_the_work_goes_on(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", SHAPES[:3])
    later = write_folder(tmp_path / "b", SHAPES[:3])
    verdicts = check_paths([tmp_path])
    assert next(verdicts).ok
    (later / "result_1.txt").unlink()
    rest = list(verdicts)
    assert [one.findings[0].rule for one in rest if one.kind == "log" and not one.ok] == [
        "log.unreadable"
    ]
    assert rest[-1].kind == "folder"


def test_strict_makes_warnings_errors(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", SHAPES[:2])  # too few runs: a warning for our own
    assert all(verdict.ok for verdict in check_paths([folder]))
    *_, verdict = check_paths([folder], CheckOptions(strict=True))
    assert not verdict.ok
    assert {finding.severity for finding in verdict.findings} == {Severity.ERROR}


def test_a_log_without_a_round_among_others_is_a_finding(tmp_path: Path) -> None:
    write_folder(tmp_path / "x", SHAPES[:3])
    write_resnet(placed(tmp_path / "y" / "result_0.txt"))  # fits several rounds
    verdicts = {
        Path(one.path).parent.name: one for one in check_path(tmp_path) if one.kind == "log"
    }
    assert verdicts["x"].ok
    assert [finding.rule for finding in verdicts["y"].findings] == ["rules.round"]
    assert "--round" in verdicts["y"].findings[0].fix
    with pytest.raises(UsageError, match="fit about equally well"):
        check_path(tmp_path / "y")


@pytest.mark.parametrize("folder", ["training_results_v0.5", "training_results_v9.9"])
def test_a_round_without_rules_is_said(folder: str, tmp_path: Path) -> None:
    log = write_resnet(placed(tmp_path / folder / "result_0.txt"))
    (verdict,) = check_path(log)
    (finding,) = verdict.findings
    assert finding.rule == "rules.no_round"
    assert folder.removeprefix("training_results_v") in finding.message
    (held,) = check_paths([log], CheckOptions(ruleset=ruleset_named("4.0")))
    assert held.ok


def test_a_bare_version_among_the_folders_is_no_round(tmp_path: Path) -> None:
    log = write_desk(placed(tmp_path / "v9.9" / "result_0.txt"))
    assert check_path(log)[0].ok


@pytest.mark.parametrize("given", [".", "results", "results/box", "results/box/desk"])
@pytest.mark.parametrize("in_submission", [True, False])
def test_a_log_under_two_names_is_told_once_wherever_one_looks(
    tmp_path: Path, given: str, in_submission: bool
) -> None:
    root = tmp_path / ("us" if in_submission else "results")
    folder = write_folder(tmp_path / "us/results/box/desk", SHAPES[:2])
    if not in_submission:  # the benchmark folder alone
        folder = folder.rename(tmp_path / "alone")
        root = folder if given == "results/box/desk" else tmp_path
        given = "."
    (folder / "result_2.txt").write_bytes((folder / "result_0.txt").read_bytes())
    found = [
        (Path(finding.path).name, finding.severity)
        for verdict in check_path(root / given)
        for finding in verdict.findings
        if finding.rule == "submission.same_log"
    ]
    assert found == [("result_2.txt", Severity.ERROR)]


def test_one_result_in_two_folders_is_a_warning_outside_of_submissions_too(tmp_path: Path) -> None:
    one = write_folder(tmp_path / "box/desk", SHAPES[:3])
    other = write_folder(tmp_path / "box/other", SHAPES[1:4])
    verdicts = {Path(verdict.path): verdict for verdict in check_path(tmp_path / "box")}
    assert "submission.same_log" not in {finding.rule for finding in verdicts[one].findings}
    copies = [one for one in verdicts[other].findings if one.rule == "submission.same_log"]
    assert [(Path(copy.path).name, copy.severity) for copy in copies] == [
        ("result_0.txt", Severity.WARNING),
        ("result_1.txt", Severity.WARNING),
    ]


def test_findings_name_the_description_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "us/results/box/desk", SHAPES[:3])
    file = placed(tmp_path / "us/systems/box.json")
    file.write_text('{"submitter": "Another", "division": "open"}', encoding="utf-8")
    for given in ("us", Path("us/results/box"), tmp_path / "us"):
        findings = [one for verdict in check_path(given) for one in verdict.findings]
        (differs,) = [one for one in findings if one.rule == "system.submitter_differs"]
        base = tmp_path if Path(given).is_absolute() else Path()
        assert differs.path == str(base / "us/systems/box.json")
        (division,) = [one for one in findings if one.rule == "system.division_differs"]
        assert Path(division.path).is_absolute() == Path(given).is_absolute()


def test_each_submission_is_held_to_the_round_of_its_own_logs(tmp_path: Path) -> None:
    write_folder(tmp_path / "training_results_v4.0/us/results/box/resnet", SHAPES, write_resnet)
    write_folder(tmp_path / "training_results_v5.0/us/results/box/bert", SHAPES[:1], write_resnet)
    for number in ("4.0", "5.0"):
        placed(tmp_path / f"training_results_v{number}/us/systems/box.json").write_text("{}")
    (tmp_path / "training_results_v3.0/them/results").mkdir(parents=True)
    found = [
        (one.kind, one.ruleset and one.ruleset.name, Path(one.path).relative_to(tmp_path).parts[0])
        for one in check_path(tmp_path)
        if one.kind in ("system", "submission")
    ]
    assert [(name, f"training_results_v{name}") for _, name, _ in found] == [
        (name, folder) for _, name, folder in found
    ]
    assert [kind for kind, _, _ in found] == ["system"] * 2 + ["submission"] * 3


@pytest.mark.parametrize(
    ("folders", "rules"),
    [
        (["results"], {"submission.no_systems"}),
        (["results/box"], {"submission.no_systems"}),
        (["results/box/bert", "systems"], {"submission.no_logs", "submission.no_system"}),
        (["systems", "benchmarks"], {"submission.no_results"}),
    ],
)
def test_a_submission_without_a_log_is_checked(
    tmp_path: Path, folders: list[str], rules: set[str]
) -> None:
    for folder in folders:
        (tmp_path / "us" / folder).mkdir(parents=True)
    for given in (tmp_path, tmp_path / "us"):
        errors = {one.rule for v in check_path(given) for one in v.findings if one.is_error}
        assert errors == rules
        with pytest.raises(UsageError, match="no result logs"):
            score_path(given)


def test_a_systems_folder_without_a_description_that_is_read_is_checked(tmp_path: Path) -> None:
    placed(tmp_path / "systems/box.json").symlink_to("/etc/hostname")
    placed(tmp_path / "systems/README.md").write_text("text", encoding="utf-8")
    (verdict,) = check_path(tmp_path / "systems")
    assert {one.rule for one in verdict.findings} == {"system.link", "system.other_file"}
    with pytest.raises(UsageError, match="no result logs"):
        score_path(tmp_path / "systems")


@pytest.mark.parametrize("given", ["power", "power/result_0", "power/result_0/node_0.txt"])
def test_power_logs_alone_are_sent_to_their_folder(tmp_path: Path, given: str) -> None:
    folder = write_folder(tmp_path / "us/results/box/desk", SHAPES[:3])
    placed(folder / "power/result_0/node_0.txt").write_text(":::MLLOG {}", encoding="utf-8")
    with pytest.raises(UsageError, match="holds power logs") as caught:
        check_path(folder / given)
    assert str(folder) in caught.value.hint
    assert "power" in {verdict.kind for verdict in check_path(folder)}


def test_a_log_may_be_named_as_a_power_log_elsewhere(tmp_path: Path) -> None:
    (verdict,) = check_path(write_desk(placed(tmp_path / "power" / "node_0.txt")))
    assert verdict.ok


def test_logs_among_the_sources_are_no_results(tmp_path: Path) -> None:
    write_folder(tmp_path / "us/results/box/resnet", SHAPES, write_resnet)
    example = write_folder(tmp_path / "us/benchmarks/resnet/implementations/x/logs", SHAPES[:1])
    options = CheckOptions(ruleset=ruleset_named("4.0"))
    verdicts = list(check_paths([tmp_path], options))
    assert [one.kind for one in verdicts].count("log") == len(SHAPES)
    (found,) = [f for one in verdicts for f in one.findings if f.rule == "submission.misplaced"]
    assert (found.path, found.severity) == (str(example), Severity.WARNING)
    assert len(score_path(tmp_path, ruleset="4.0")) == 1
    assert len(check_path(tmp_path / "us/benchmarks")) == 2


@pytest.mark.parametrize("given", ["us", "us/results/box/resnet"])
def test_a_placeholder_is_told_once(tmp_path: Path, given: str) -> None:
    folder = write_folder(tmp_path / "us/results/box/resnet", SHAPES, write_resnet)
    placed(tmp_path / "us/systems/box.json").write_text('{"submitter": "Us"}', encoding="utf-8")
    for log in folder.iterdir():
        text = Text.read(log)
        text.find("submission_org")["value"] = "SUBMISSION_ORG_PLACEHOLDER"
        text.find("submission_platform")["value"] = "1xSUBMISSION_PLATFORM_PLACEHOLDER"
        text.write()
    verdicts = check_paths([tmp_path / given], CheckOptions(ruleset=ruleset_named("4.0")))
    found = [one for verdict in verdicts for one in verdict.findings if "laceholder" in one.rule]
    assert {one.rule for one in found} == {"run.placeholder"}
    assert len({one.path for one in found}) == len(found) == len(SHAPES)


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a folder one that may be neither listed nor searched, for root too."""

    def denying(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            given = Path(path if isinstance(path, str | os.PathLike) else "/").absolute()
            if folder in (given.parents if name != "scandir" else (given, *given.parents)):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *args, **kwargs)

        return call

    for name in ("scandir", "stat", "lstat"):
        monkeypatch.setattr(os, name, denying(name))


@pytest.mark.parametrize(
    ("folder", "rule"),
    [
        ("results/box/bert", "folder.unreadable"),
        ("results/box/resnet/power", "power.unreadable"),
        ("systems", "folder.unreadable"),
        ("benchmarks/resnet", "submission.unreadable"),
        ("benchmarks", "submission.unreadable"),
    ],
)
def test_a_folder_that_may_not_be_read_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, rule: str
) -> None:
    write_folder(tmp_path / "us/results/box/resnet", SHAPES, write_resnet)
    write_folder(tmp_path / "us/results/box/bert", SHAPES[:1], write_resnet)
    power = placed(tmp_path / "us/results/box/resnet/power/result_0/node_0.txt")
    power.write_text("", encoding="utf-8")
    placed(tmp_path / "us/systems/box.json").write_text("{}", encoding="utf-8")
    for name in ("resnet", "bert"):
        placed(tmp_path / f"us/benchmarks/{name}/implementations/x/run.sh").write_text("")
        placed(tmp_path / f"us/benchmarks/{name}/README.md").write_text("")
    options = CheckOptions(ruleset=ruleset_named("4.0"))
    before = {one.rule for v in check_paths([tmp_path], options) for one in v.findings}
    deny(monkeypatch, tmp_path / "us" / folder)
    found = [one for v in check_paths([tmp_path], options) for one in v.findings]
    told = [one for one in found if one.rule.endswith(".unreadable")]
    assert [(one.rule, one.path) for one in told] == [(rule, str(tmp_path / "us" / folder))]
    assert {one.rule for one in found} - before == {rule}
    scores = {Path(one.path).name: one for one in score_path(tmp_path, ruleset="4.0")}
    assert scores["resnet"].score.minutes is not None
    assert {len(one.findings) for one in scores.values()} <= {0, 1}


def test_a_pipe_among_the_logs_holds_nothing_up(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "us/results/box/desk", SHAPES[:3])
    placed(folder / "power/result_0/node_0.txt").write_text("", encoding="utf-8")
    os.mkfifo(folder / "result_3.txt")
    os.mkfifo(folder / "scaling.json")
    os.mkfifo(folder / "package_checker_params")
    os.mkfifo(folder / "power/result_0/node_1.txt")
    os.mkfifo(placed(tmp_path / "us/systems/box.json"))
    found = {one.rule for verdict in check_path(tmp_path) for one in verdict.findings}
    assert {"log.unreadable", "folder.scaling", "power.no_run"} <= found
    assert len(score_path(folder)[0].verdicts) == 4


@pytest.mark.parametrize("place", ["", "results", "results/box", "results/box/resnet/old"])
def test_logs_where_no_tool_looks_are_told(tmp_path: Path, place: str) -> None:
    write_folder(tmp_path / "us/results/box/resnet", SHAPES, write_resnet)
    write_resnet(placed(tmp_path / "us" / place / "result_9.txt"), RunShape(seed=9))
    verdicts = check_paths([tmp_path / "us"], CheckOptions(ruleset=ruleset_named("4.0")))
    (found,) = [one for v in verdicts for one in v.findings if one.rule == "submission.misplaced"]
    assert found.path == str(tmp_path / "us" / place)


def test_runs_that_were_taken_out_are_not_checked(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "us/results/box/resnet", SHAPES, write_resnet)
    write_resnet(placed(folder / "pruned_results/result_9.txt"), RunShape(seed=9))
    options = CheckOptions(ruleset=ruleset_named("4.0"))
    for given in (tmp_path, folder):
        kinds = [one.kind for one in check_paths([given], options)]
        assert (kinds.count("log"), kinds.count("folder")) == (len(SHAPES), 1)
