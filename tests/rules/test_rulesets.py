from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.calls import calls
from tests.logs import RunShape, Text, write_desk, write_resnet
from trainmark.mllog import read
from trainmark.rules import Ruleset, check_log, find_ruleset, known_rulesets, ruleset_named
from trainmark.rules.rulesets import OWN, round_of_folder
from trainmark.types import RunLog, UsageError


def resnet_in(folder: Path, round_name: str = "4.0") -> RunLog:
    folder.mkdir(parents=True, exist_ok=True)
    return read(write_resnet(folder / "result_0.txt", round_name=round_name))


def test_the_rounds_come_in_order_and_our_own_last() -> None:
    names = list(known_rulesets())
    assert names[0] == "0.6"
    assert names.index("1.1") < names.index("2.0") < names.index("5.1") < names.index("hpc-1.0")
    assert names[-1] == "own"
    assert known_rulesets()["4.1"].round == (4, 1)
    assert OWN.round == ()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("4.0", "4.0"),
        ("v4.0", "4.0"),
        ("4.0.0", "4.0"),
        (" V2.1 ", "2.1"),
        ("own", "own"),
        ("hpc-3.0", "hpc-3.0"),
        ("HPC 3.0", "hpc-3.0"),
    ],
)
def test_a_round_by_name(given: str, name: str) -> None:
    assert ruleset_named(given).name == name


@pytest.mark.parametrize("given", ["9.9", "", "../../x", "4", "hpc"])
def test_an_unknown_round_is_told_the_known_ones(given: str) -> None:
    with pytest.raises(UsageError, match="no rules for round") as caught:
        ruleset_named(given)
    assert "4.0, 4.1" in caught.value.hint


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("v2.0/Org/results/box/resnet", "2.0"),
        ("training_results_v3.1/Org/results/box/resnet", "3.1"),
        ("submission_4.0/results/box/resnet", "4.0"),
        ("training_1.1.0/x", "1.1"),
        ("round-4.1/x", "4.1"),
        ("hpc_results_v3.0/x", "hpc-3.0"),
        ("v1.0/again/v2.0/x", "2.0"),
        ("v2.0/XMan4.0_1_node/ngc24.04/24.09", "2.0"),
    ],
)
def test_the_folder_tells_the_round(folder: str, name: str, tmp_path: Path) -> None:
    ruleset, why = find_ruleset(resnet_in(tmp_path / folder))
    assert ruleset.name == name
    assert why.startswith("by the folder")


def test_a_link_to_a_round_tells_it_too(tmp_path: Path) -> None:
    resnet_in(tmp_path / "training_results_v3.1/Org/results/box/resnet")
    (tmp_path / "mine").symlink_to(tmp_path / "training_results_v3.1/Org")
    (tmp_path / "v2.0").symlink_to(tmp_path / "training_results_v3.1/Org")
    for link, name in (("mine", "3.1"), ("v2.0", "2.0")):
        log = read(tmp_path / link / "results/box/resnet/result_0.txt")
        assert find_ruleset(log)[0].name == name
        assert round_of_folder(tmp_path / link / "results") == ruleset_named(name)


def test_what_is_asked_for_comes_before_the_log_and_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "v2.0"
    folder.mkdir()
    log = read(write_desk(folder / "result_0.txt"))
    assert find_ruleset(log)[0] == OWN
    assert find_ruleset(log, name="1.0")[0].name == "1.0"


def test_a_full_scale_log_of_ours_names_its_round(tmp_path: Path) -> None:
    shape = RunShape(more={"trainmark_ruleset": "4.0"})
    log = read(write_resnet(tmp_path / "result_0.txt", shape))
    ruleset, why = find_ruleset(log)
    assert (ruleset.name, why) == ("4.0", "by the log's record trainmark_ruleset")


def test_when_nothing_tells_the_round_the_error_lists_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fit about equally well") as caught:
        find_ruleset(resnet_in(tmp_path))
    assert "--round" in caught.value.hint
    assert "4.0" in caught.value.hint
    text = Text.read(tmp_path / "result_0.txt")
    text.find("submission_benchmark")["value"] = "unheard_of"
    with pytest.raises(UsageError, match="no round has its benchmark"):
        find_ruleset(read(text.write()))


def test_a_benchmark_of_one_round_tells_it(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.find("submission_benchmark")["value"] = "dlrmv4"  # only round 6.1 has it
    ruleset, why = find_ruleset(read(text.write()))
    assert (ruleset.name, why) == ("6.1", "by the keys in the log")


def test_own_benchmarks_without_a_table_use_the_generic_one() -> None:
    assert OWN.resolve("own/resnet50_desk.yaml") == "own/resnet50_desk.yaml"
    assert OWN.resolve("own/my_plugin.yaml") == "own/generic.yaml"
    assert OWN.resolve("own/../../etc/passwd.yaml") == "own/generic.yaml"
    assert OWN.resolve("/etc/passwd") is None
    official = Ruleset(name="4.0", first_table="training_4.0.0/common.yaml")
    assert official.resolve("training_4.0.0/closed_x.yaml") is None


def test_titles() -> None:
    assert known_rulesets()["4.0"].title == "the rules of MLPerf Training round 4.0"
    assert known_rulesets()["hpc-3.0"].title == "the rules of MLPerf HPC round 3.0"
    assert OWN.title == "trainmark's own rules"


def test_the_form_of_the_records_tells_round_0_6(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_text(
        ':::MLL 1563477912.345 submission_benchmark: {"value": "resnet", "metadata": {}}\n',
        encoding="utf-8",
    )
    ruleset, why = find_ruleset(read(path))
    assert (ruleset.name, why) == ("0.6", "by the form of its records")


def _told(text: Text, **options: str) -> bool:
    findings = check_log(read(text.write()), **options).findings
    return any(one.rule == "rules.other_round" and one.is_error for one in findings)


@pytest.mark.parametrize(("asked", "told"), [("own", True), ("3.0", True), ("4.0", False)])
def test_a_log_cannot_choose_other_rules_than_its_folder(
    asked: str, told: bool, tmp_path: Path
) -> None:
    log = resnet_in(tmp_path / "training_results_v4.0" / "results")
    text = Text.read(Path(log.source))
    text.records.insert(0, text.records[0] | {"key": "trainmark_ruleset", "value": asked})
    assert _told(text) is told
    assert not _told(text, ruleset="4.0")
    text.path = tmp_path / "result_0.txt"
    assert not _told(text)


def test_a_benchmark_of_ours_may_lie_in_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results_v4.0"
    folder.mkdir()
    assert not _told(Text.read(write_desk(folder / "result_0.txt")))


def test_records_of_round_0_6_in_the_folder_of_another_round(tmp_path: Path) -> None:
    folder = tmp_path / "training_results_v4.0"
    folder.mkdir()
    path = folder / "result_0.txt"
    path.write_text(':::MLL 1563477912.5 submission_benchmark: {"value": "mask", "metadata": {}}\n')
    rules = [one.rule for one in check_log(read(path)).findings]
    assert "rules.other_round" in rules


def test_a_log_that_lacks_a_key_is_not_taken_for_one_of_another_round(tmp_path: Path) -> None:
    for round_name in ("1.0", "4.0"):
        log = resnet_in(tmp_path / round_name.replace(".", "_"), round_name)
        for lost in log.keys():  # noqa: SIM118 -- no dictionary
            left = replace(log, events=tuple(one for one in log.events if one.key != lost))
            with pytest.raises(UsageError, match=r"fit about equally well|its benchmark"):
                find_ruleset(left)


def test_a_round_without_a_table_for_the_benchmark_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="fit about equally well") as caught:
        find_ruleset(resnet_in(tmp_path))
    assert "3.1, 4.0 fit" in caught.value.message  # 4.1 lists resnet and has no table for it


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [
        ("--division", "Closed", "Valid: closed, open."),
        ("--benchmark", "../x", "gpt3"),
        ("--benchmark", "", "gpt3"),
    ],
)
def test_what_is_asked_for_must_be_known(
    option: str,
    value: str,
    valid: str,
    jobs: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("a", "b"):
        resnet_in(tmp_path / "v4.0" / name)
    check = calls("check", monkeypatch, capsys)
    code, _, err = check(tmp_path, option, value, "--jobs", jobs)
    assert code == 2
    assert f"round 4.0 know no {option.removeprefix('--')} {value!r}" in err
    assert valid in err


def test_division_and_benchmark_take_the_place_of_those_in_the_log(tmp_path: Path) -> None:
    log = resnet_in(tmp_path)
    assert check_log(log, ruleset="4.0", division="open", benchmark="resnet").division == "open"
    bare = replace(log, events=tuple(e for e in log.events if "submission_d" not in e.key))
    assert not check_log(bare, ruleset="4.0").ok
    assert check_log(bare, ruleset="4.0", division="closed").ok
    assert check_log(bare, ruleset="own", division="closed", benchmark="mine").benchmark == "mine"
