from dataclasses import replace
from pathlib import Path

from tests.report.results import result
from tests.report.sessions import ERROR_TARGET, write_session
from trainmark.mllog import keys
from trainmark.report import load, wording
from trainmark.report.compare import compare
from trainmark.types import Finding, Severity


def finding(rule: str, severity: Severity, line_no: int | None = None) -> Finding:
    return Finding(rule=rule, severity=severity, message="m", path="log.txt", line_no=line_no)


def test_findings_with_the_same_words_are_one_group_and_errors_come_first() -> None:
    groups = wording.group(
        [
            finding("b", Severity.NOTE),
            finding("a", Severity.WARNING, 3),
            finding("c", Severity.ERROR, 1),
            finding("a", Severity.WARNING, 9),
        ]
    )
    assert [(one.rule, one.places) for one in groups] == [
        ("c", ("log.txt:1",)),
        ("a", ("log.txt:3", "log.txt:9")),
        ("b", ("log.txt",)),
    ]


def test_facts_give_median_and_range(session_folder: Path) -> None:
    found = {
        one.name: (one.value, one.between) for one in wording.facts(load(session_folder).entries[0])
    }
    assert found == {
        "samples to target": ("44,000", "40,000 to 52,000"),
        "throughput": ("1,002 samples/s", "1,001 to 1,003"),
        "compute achieved": ("50.0 GFLOP/s", ""),
        "share of measured peak": ("12.5 %", ""),
        "measured peak": ("400 GFLOP/s", ""),
        "time waiting for data": ("2.0 %", ""),
        "preparation, not timed": ("0.050 minutes", ""),
    }


def test_padding_and_loss_are_facts_where_the_log_has_them(tmp_path: Path) -> None:
    folder = write_session(tmp_path / "s", statistics={"train_loss": 0.25, "padding_share": 0.04})
    found = {one.name: one.value for one in wording.facts(load(folder).entries[0])}
    assert found["padding in the batches"] == "3.0 %"
    assert found["last training loss"] == "0.25"


def test_a_target_has_its_own_name(tmp_path: Path) -> None:
    (entry,) = load(write_session(tmp_path / "s", target=ERROR_TARGET)).entries
    assert wording.goal(replace(entry, info=None)) == (
        "Time to train to 0.24 eV mean absolute error"
    )
    assert wording.quality_heading(entry) == "Mean absolute error"


def test_headline_and_spread(session_folder: Path, tmp_path: Path) -> None:
    (entry,) = load(session_folder).entries
    assert wording.score_headline(entry) == "1.100 minutes"
    assert wording.spread_sentence(entry) == (
        "3 runs from 1.000 to 1.300 minutes, standard deviation 13.5 % of the mean"
    )
    (failed,) = load(write_session(tmp_path / "failed", status="aborted")).entries
    assert wording.score_headline(failed) == "no score"
    assert wording.spread_sentence(failed) == ""


def test_few_runs_have_the_rule_said_plainly(tmp_path: Path) -> None:
    for epochs, says in (
        ((10,), "its time stands alone"),
        ((10, 11), "their plain mean"),
        ((10, 11, 12), "the one in the middle"),
    ):
        folder = write_session(tmp_path / str(len(epochs)), epochs=epochs)
        assert says in wording.score_rule(load(folder).entries[0])
    (many,) = load(write_session(tmp_path / "many", epochs=(10, 11, 12, 13))).entries
    assert wording.score_rule(many) == ""


def test_goal_says_the_target_and_the_data(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    assert wording.goal(entry) == "Time to train to 97.5 % accuracy on MNIST, 5,000 images"
    assert wording.goal(replace(entry, info=None)) == "Time to train to 97.5 % accuracy"
    bare = tuple(replace(run, target=None) for run in entry.runs)
    assert wording.goal(replace(entry, info=None, runs=bare)) == ""


def verdict(folder: Path) -> str:
    return wording.verdict_sentence(load(folder).entries[0])


def test_verdict_counts_logs_and_errors(session_folder: Path) -> None:
    assert verdict(session_folder) == "Passes: all 3 logs follow trainmark's own rules."
    log = session_folder / "Test House/results/desk/resnet50_desk/result_1.txt"
    log.write_text(log.read_text() + ":::MLLOG {torn\n")
    assert verdict(session_folder) == (
        "Does not pass: 1 of 3 logs breaks trainmark's own rules (1 error)."
    )


def test_verdict_of_a_single_log_of_a_folder_and_of_unknown_rules(session_folder: Path) -> None:
    place = session_folder / "Test House/results/desk/resnet50_desk"
    (place / "result_2.txt").write_bytes((place / "result_1.txt").read_bytes())
    assert verdict(session_folder) == (
        "Does not pass: every log follows trainmark's own rules, the folder does not (1 error)."
    )
    for i in (1, 2):
        (place / f"result_{i}.txt").unlink()
    assert verdict(session_folder) == (
        "Passes: the log follows trainmark's own rules, with 1 warning."
    )
    log = place / "result_0.txt"
    log.write_text(log.read_text().replace("trainmark_ruleset", "other_key"))
    assert verdict(session_folder).startswith("Not checked: cannot tell which round")


def test_a_comparison_says_by_how_much_and_whether_it_is_noise() -> None:
    noise = compare(1.1, (1.0, 1.1, 1.3), 1002.0, result())
    assert wording.comparison_sentence(noise) == (
        "8.3 % less time than 2026-11-01 10:00 UTC (1.200 minutes), within noise: the runs of "
        "both sides lie as far apart as that; training throughput +5.5 %."
    )
    slower = compare(2.4, (2.4, 2.41, 2.39), None, result())
    assert wording.comparison_sentence(slower) == (
        "100.0 % more time than 2026-11-01 10:00 UTC (1.200 minutes), more than the spread of the "
        "runs explains."
    )
    same = compare(1.2, (1.2,), None, result())
    assert wording.comparison_sentence(same).startswith("the same time as 2026-11-01 10:00 UTC")


def test_a_desk_result_stands_apart_and_the_sentence_says_why(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    words = wording.apart(entry)
    assert words.startswith("Not comparable: these systems train ResNet-50 v1.5")
    assert "ResNet-50 (desk), on MNIST, 5,000 images, to 97.5 % accuracy: a much smaller" in words
    official = replace(entry, benchmark="resnet", info=None)
    assert "Not comparable" not in wording.apart(official)
    assert "reviewed by MLCommons" in wording.apart(official)
    assert official.label == "unverified"
    assert wording.apart(replace(entry, kin=None)) == ""


def test_the_sentence_takes_the_name_of_the_data_and_not_how_it_is_split(
    session_folder: Path,
) -> None:
    (entry,) = load(session_folder).entries
    assert entry.info is not None
    info = replace(entry.info, dataset="5,000 digits: 4,000 to train, 1,000 held out")
    assert ", on 5,000 digits, to 97.5 % accuracy" in wording.apart(replace(entry, info=info))


def test_a_range_says_its_unit_once(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    rates = (2.99e10, 3.1e10, 1.1e12)
    for picked, between in ((rates[:2], "29.9 to 31.0 GFLOP/s"), (rates, "29.9 GFLOP/s to 1.10 T")):
        runs = tuple(
            replace(entry.runs[0], efficiency={keys.EFFICIENCY_ACHIEVED: rate}) for rate in picked
        )
        (fact,) = [
            one
            for one in wording.facts(replace(entry, runs=runs))
            if one.name == "compute achieved"
        ]
        assert fact.between.startswith(between)


def test_setup_says_only_what_is_known(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    bare = tuple(
        replace(run, settings={}, environment={}, global_batch_size=None) for run in entry.runs
    )
    assert wording.setup(replace(entry, runs=bare, system_description={})) == (
        "Trained on 2026-11-30 13:00 UTC"
    )
    assert wording.setup(replace(entry, runs=bare, system_description={}, info=None)) == ""


def test_own_rules_are_explained(session_folder: Path) -> None:
    (entry,) = load(session_folder).entries
    assert "MLPerf Training round 4.0" in wording.rules_note(entry)
    assert wording.rules_note(replace(entry, verdicts=())) == ""
