"""What is missing, misplaced, misspelt or there twice in a submission."""

import os
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.rules.submission.test_tree import put, submission
from trainmark.rules import submission as package
from trainmark.rules.explain import explain
from trainmark.rules.rulesets import OWN, Ruleset, known_rulesets, ruleset_named
from trainmark.rules.submission import tree_repository
from trainmark.rules.submission.tree import find_submissions
from trainmark.rules.submission.tree_checks import benchmarks_of, check_tree
from trainmark.types import Finding, Severity

ROUND = "2.0"


def check(root: Path, ruleset: Ruleset | None = None) -> list[Finding]:
    found = find_submissions(root)
    verdicts = check_tree(found, rulesets=[ruleset or ruleset_named(ROUND)] * len(found))
    assert [verdict.path for verdict in verdicts] == [str(one.root) for one in found]
    assert {verdict.kind for verdict in verdicts} == {"submission"}
    return [finding for verdict in verdicts for finding in verdict.findings]


def only(findings: list[Finding], rule: str) -> Finding:
    (finding,) = [one for one in findings if one.rule == rule]
    return finding


def rules(findings: list[Finding]) -> dict[str, Severity]:
    return {one.rule: one.severity for one in findings}


def test_a_good_submission_has_no_findings(tmp_path: Path) -> None:
    submission(tmp_path / "acme", "resnet", "bert")
    put(tmp_path / "acme/results/box/bert/result_1.txt", "another run")
    put(tmp_path / "acme/results/box/bert/scaling.json", "{}")
    put(tmp_path / "acme/results/box/bert/power/result_0/node_0.txt", "power")
    assert check(tmp_path) == []


@pytest.mark.parametrize("part", ["results", "systems", "benchmarks"])
def test_a_missing_part_is_told(tmp_path: Path, part: str) -> None:
    acme = submission(tmp_path / "acme", "resnet")
    (acme / part).rename(tmp_path / "away")
    found = only(check(tmp_path), f"submission.no_{part}")
    assert found.path == str(acme)
    assert found.severity is (Severity.WARNING if part == "benchmarks" else Severity.ERROR)


def test_a_folder_benchmark_is_meant_for_benchmarks(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    (acme / "benchmarks").rename(acme / "benchmark")
    found = only(check(tmp_path), "submission.no_benchmarks")
    assert "there is a folder benchmark" in found.message
    assert found.fix == "Rename benchmark to benchmarks."


def test_results_without_a_description_and_the_other_way_round(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme", system="dgx_h100_n8")
    (acme / "systems/dgx_h100_n8.json").rename(acme / "systems/dgx_h100_n08.json")
    found = check(tmp_path)
    missing = only(found, "submission.no_system")
    assert missing.is_error
    assert "dgx_h100_n08.json looks like it" in missing.message
    assert missing.path == str(acme / "results/dgx_h100_n8")
    unused = only(found, "submission.system_unused")
    assert unused.severity is Severity.WARNING
    assert unused.path == str(acme / "systems/dgx_h100_n08.json")


@pytest.mark.parametrize("name", ["BOX_a100", "box-a100", "box a100"])
def test_another_spelling_of_a_system_is_named(tmp_path: Path, name: str) -> None:
    acme = submission(tmp_path / "acme", system="Box_A100")
    (acme / "systems/Box_A100.json").rename(acme / f"systems/{name}.json")
    found = only(check(tmp_path), "submission.system_case")
    assert found.is_error
    assert f"systems/{name}.json; expected systems/Box_A100.json" in found.message


def test_backups_among_the_descriptions_are_told(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    put(acme / "systems/.box.json.swp")
    put(acme / "systems/README.md")
    found = only(check(tmp_path), "submission.stray_system")
    assert found.message.startswith('1 in systems that no tool reads: ".box.json.swp"')


def test_a_benchmark_that_the_round_has_not(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme", "mask_rcnn")
    found = only(check(tmp_path), "submission.benchmark")
    assert found.is_error
    assert "maskrcnn may be meant" in found.message
    assert found.path == str(acme / "results/box/mask_rcnn")
    assert "submission.benchmark" not in rules(check(tmp_path, ruleset_named("own")))


def test_the_summarizers_alias_of_round_06_passes(tmp_path: Path) -> None:
    submission(tmp_path / "acme", "mask")
    assert check(tmp_path, ruleset_named("0.6")) == []
    assert "submission.benchmark" in rules(check(tmp_path, ruleset_named("5.0")))


def test_without_a_round_every_benchmark_passes(tmp_path: Path) -> None:
    submission(tmp_path / "acme", "whatever")
    (verdict,) = check_tree(find_submissions(tmp_path), rulesets=[None])
    assert verdict.findings == ()


def test_every_round_but_ours_has_benchmarks() -> None:
    counts = {name: len(benchmarks_of(ruleset)) for name, ruleset in known_rulesets().items()}
    assert counts.pop("own") == 0
    assert min(counts.values()) >= 2, counts


def test_our_own_runs_need_no_layout(tmp_path: Path) -> None:
    one = put(tmp_path / "tester/results/box/resnet50_desk/result_0.txt", "same")
    assert check(tmp_path, OWN) == []
    put(one.with_name("result_1.txt"), "same")
    assert rules(check(tmp_path, OWN)) == {"submission.same_log": Severity.ERROR}


def test_a_benchmark_folder_without_logs(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    (acme / "results/box/resnet/result_0.txt").rename(acme / "results/box/resnet/log_0.txt")
    found = check(tmp_path)
    assert only(found, "submission.no_logs").is_error
    assert '"log_0.txt"' in only(found, "submission.stray_file").message


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("result_1.txt", "result_2.txt"), 'numbered 1 to 2: "result_0.txt" missing'),
        (("result_0.txt", "result_01.txt"), 'named "result_01.txt"; expected result_0.txt to'),
        (("result_0.txt", "result_3_raw_1.txt"), 'named "result_3_raw_1.txt"'),
        (("result_0.txt", "result_2.txt"), 'numbered 0 to 2: "result_1.txt" missing'),
        (("result_7.txt",), "expected result_0.txt"),
    ],
)
def test_odd_numbers_are_told_once_a_folder(
    tmp_path: Path, names: tuple[str, ...], said: str
) -> None:
    acme = submission(tmp_path / "acme")
    (acme / "results/box/resnet/result_0.txt").unlink()
    for name in names:
        put(acme / "results/box/resnet" / name, name)
    found = only(check(tmp_path), "submission.numbering")
    assert said in found.message
    assert found.severity is Severity.WARNING


def test_ten_logs_in_any_order_are_numbered_well(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    for number in range(12):
        put(acme / f"results/box/resnet/result_{number}.txt", str(number))
    assert check(tmp_path) == []


@pytest.mark.parametrize("name", [".!65506!result_4.txt", "result_0.txt.swp", "nvlog.json"])
def test_stray_files_are_told(tmp_path: Path, name: str) -> None:
    acme = submission(tmp_path / "acme")
    put(acme / "results/box/resnet" / name)
    found = only(check(tmp_path), "submission.stray_file")
    assert name in found.message
    assert found.path == str(acme / "results/box/resnet" / name)


@pytest.mark.parametrize("place", ["results/box/resnet/bert", "results/box"])
def test_logs_at_another_level_are_told(tmp_path: Path, place: str) -> None:
    acme = submission(tmp_path / "acme")
    put(acme / place / "result_0.txt", "elsewhere")
    found = only(check(tmp_path), "submission.misplaced")
    assert found.path == str(acme / place)
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("place", "text", "severity", "said"),
    [
        ("results/box/resnet", "rcp-bypass", Severity.NOTE, "switches a check"),
        ("results/box", "seed-checker-bypass", Severity.NOTE, "switches a check"),
        ("results/box/resnet", "rcp-bypass\n", Severity.WARNING, "without effect"),
        ("results/box/resnet", "rcp_bypass", Severity.WARNING, 'package checker: "rcp_bypass"'),
        (".", "rcp-bypass", Severity.WARNING, "does not read this file here"),
    ],
)
def test_parameters_that_do_or_do_not_work(
    tmp_path: Path, place: str, text: str, severity: Severity, said: str
) -> None:
    acme = submission(tmp_path / "acme")
    put(acme / place / "package_checker_params", text)
    found = only(check(tmp_path), "submission.params")
    assert found.severity is severity
    assert said in found.message


def test_an_empty_parameter_file_says_nothing(tmp_path: Path) -> None:
    put(submission(tmp_path / "acme") / "results/box/package_checker_params", "\n")
    assert check(tmp_path) == []


def test_copies_in_one_folder_are_errors_elsewhere_warnings(tmp_path: Path) -> None:
    for name in ("acme", "borg"):
        put(submission(tmp_path / name) / "results/box/resnet/result_0.txt", "one run")
    put(tmp_path / "acme/results/box/resnet/result_1.txt", "one run")
    put(tmp_path / "acme/results/box/resnet/result_2.txt", "two run")  # as long, not the same
    found = [one for one in check(tmp_path) if one.rule == "submission.same_log"]
    assert [(Path(one.path).relative_to(tmp_path).as_posix(), one.severity) for one in found] == [
        ("acme/results/box/resnet/result_1.txt", Severity.ERROR),
        ("borg/results/box/resnet/result_0.txt", Severity.WARNING),
    ]
    assert "copy of result_0.txt: one run is counted twice" in found[0].message
    assert "copy of acme/results/box/resnet/result_0.txt" in found[1].message


def test_empty_logs_are_no_copies(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    for number in range(3):
        put(acme / f"results/box/resnet/result_{number}.txt", "")
    assert check(tmp_path) == []


def test_names_that_git_cannot_well_take(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    for name in ("a b.txt", ".gitkeep", "c:d", "tab\t", "end."):
        put(acme / "benchmarks/resnet/implementations/a" / name)
    put(acme / ".git/config")
    put(acme / "benchmarks/.venv/x y")  # not entered
    (acme / os.fsdecode(b"\xff")).mkdir()
    found = [one for one in check(tmp_path) if one.rule == "submission.repo.name"]
    assert len(found) == 7, [one.message for one in found]
    assert {one.severity for one in found} == {Severity.WARNING}
    assert all(one.message.isprintable() for one in found)


def test_many_of_a_kind_are_counted(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme")
    for number in range(130):
        put(acme / f"benchmarks/resnet/implementations/a/x {number}")
    found = [one for one in check(tmp_path) if one.rule == "submission.repo.name"]
    assert len(found) == 101
    assert found[-1].message.startswith("30 more of the kind")


def test_large_files_and_broken_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_repository, "LARGEST_BYTES", 1 << 20)
    acme = submission(tmp_path / "acme")
    code = acme / "benchmarks/resnet/implementations/a"
    put(code / "large.bin", "x" * ((1 << 20) + 1))
    outside = put(tmp_path / "outside.py")
    for name, target in (("in.py", "train.py"), ("out.py", str(outside)), ("gone.py", "gone")):
        (code / name).symlink_to(target)
    (code / "ring").symlink_to("ring")
    found = check(tmp_path)
    assert Path(only(found, "submission.repo.size").path).name == "large.bin"
    links = {Path(one.path).name for one in found if one.rule == "submission.repo.link"}
    assert links == {"out.py", "gone.py", "ring"}


def test_what_sources_lack(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme", "resnet", "bert", "ssd", "dlrm")
    (acme / "benchmarks/resnet/README.md").unlink()
    (acme / "benchmarks/bert/implementations/a/train.py").rename(
        acme / "benchmarks/bert/implementations/a/train.txt"
    )
    (acme / "benchmarks/ssd/implementations").rename(acme / "benchmarks/ssd/code")
    (acme / "benchmarks/dlrm").rename(acme / "benchmarks/dlrm_v2")
    found = check(tmp_path)
    assert rules(found) == {
        "submission.no_readme": Severity.WARNING,
        "submission.no_source_files": Severity.WARNING,
        "submission.no_implementations": Severity.WARNING,
        "submission.no_sources": Severity.WARNING,
        "submission.unused_sources": Severity.NOTE,
    }
    assert "dlrm_v2 looks like it" in only(found, "submission.no_sources").message
    assert Path(only(found, "submission.no_readme").path).name == "resnet"


def test_names_with_control_characters_reach_no_message(tmp_path: Path) -> None:
    evil = "x\x1b[2J\n"
    acme = submission(tmp_path / "acme", evil, system=evil)
    (acme / "systems" / f"{evil}.json").rename(acme / "systems" / f"{evil.upper()}.json")
    put(acme / "results" / evil / evil / f"{evil}.bak")
    (acme / "benchmarks" / evil).rename(acme / "benchmarks" / f"{evil}2")
    found = check(tmp_path)
    assert {"submission.system_case", "submission.benchmark", "submission.stray_file"} <= set(
        rules(found)
    )
    assert [one for one in found if not (one.message + one.fix).isprintable()] == []


def test_errors_come_first(tmp_path: Path) -> None:
    acme = submission(tmp_path / "acme", "resnet", "unknown")
    (acme / "benchmarks").rename(acme / "benchmark")
    severities = [one.severity for one in check(tmp_path)]
    assert severities == sorted(severities, key=list(Severity).index)
    assert Counter(severities)[Severity.ERROR] == 1


def test_every_rule_is_explained_and_documented() -> None:
    assert package.__file__ is not None
    folder = Path(package.__file__).parent
    text = "".join(
        file.read_text(encoding="utf-8")
        for kind in ("tree", "power", "sources")
        for file in folder.glob(f"{kind}*.py")
    )
    root = Path(__file__).resolve().parents[3]
    document = (root / "docs/submission.md").read_text(encoding="utf-8")
    for area in ("submission", "power"):
        source = folder.parent / f"explanations/{area}.yaml"
        entries = yaml.safe_load(source.read_text(encoding="utf-8"))
        assert len(entries) > 20
        for name in entries:
            assert f'"{name}"' in text, name
            assert explain(name).rule == name
        assert [name for name in entries if f"`{name}`" not in document] == []
        named = {part for part in text.split('"') if part.startswith(f"{area}.")}
        assert named - set(entries) == set()
