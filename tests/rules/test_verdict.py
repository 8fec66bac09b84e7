import json
from pathlib import Path

import pytest

from tests.logs import RunShape, Text, write_desk, write_resnet
from trainmark.mllog import read
from trainmark.rules import check_log, ruleset_named
from trainmark.types import Severity, UsageError


@pytest.fixture
def desk(tmp_path: Path) -> Text:
    return Text.read(write_desk(tmp_path / "result_0.txt"))


@pytest.fixture
def resnet(tmp_path: Path) -> Text:
    return Text.read(write_resnet(tmp_path / "result_0.txt"))


def rules_of(text: Text, **options: str) -> list[str]:
    return [finding.rule for finding in check_log(read(text.write()), **options).findings]


def test_an_own_log_is_held_to_our_rules(desk: Text) -> None:
    verdict = check_log(read(desk.path))
    assert verdict.ok
    assert verdict.ruleset is not None
    assert verdict.ruleset.name == "own"
    assert verdict.official_compliant is None  # the official checker has no rules for it
    assert (verdict.benchmark, verdict.division) == ("resnet50_desk", "closed")
    assert verdict.run is not None
    assert verdict.run.minutes == pytest.approx(12.0)


@pytest.mark.parametrize(
    "key",
    [
        "submission_org",
        "submission_platform",
        "submission_status",
        "cache_clear",
        "init_start",
        "train_samples",
        "eval_samples",
        "gradient_accumulation_steps",
        "global_batch_size",
        "seed",
        "opt_name",
        "trainmark_target",
        "trainmark_settings",
        "trainmark_environment",
        "block_start",
        "eval_start",
        "eval_stop",
    ],
)
def test_what_an_own_log_must_say(key: str, desk: Text) -> None:
    desk.drop(key)
    verdict = check_log(read(desk.write()))
    assert not verdict.ok
    assert any(key in finding.message for finding in verdict.findings if finding.is_error)


def test_an_own_log_has_the_target_of_its_table(desk: Text) -> None:
    desk.find("trainmark_target")["value"]["value"] = 0.5
    assert rules_of(desk) == ["rules.trainmark_target.value"]


def test_initialisation_of_an_own_log_is_bounded(tmp_path: Path) -> None:
    path = write_desk(tmp_path / "result_0.txt", RunShape(init_minutes=30.5))
    (finding,) = check_log(read(path)).findings
    assert finding.rule == "rules.init_stop.time"
    assert "0.50 over the limit of 30" in finding.message


class TestAStrangersBenchmark:
    """A plug-in's workload has no table: the target in its log is what counts."""

    @pytest.fixture
    def log(self, desk: Text) -> Text:
        desk.find("submission_benchmark")["value"] = "tgn_wiki"
        desk.find("trainmark_target")["value"]["value"] = 0.9
        return desk

    def test_passes_when_its_own_target_is_met(self, log: Text) -> None:
        assert rules_of(log) == []

    def test_fails_when_it_is_not(self, log: Text) -> None:
        log.find("trainmark_target")["value"]["value"] = 0.999
        assert rules_of(log) == ["rules.eval_accuracy.target"]

    def test_may_have_a_target_that_improves_downwards(self, log: Text) -> None:
        log.find("trainmark_target")["value"].update(
            metric="eval_error", direction="lower", value=0.2
        )
        for record in log.all("eval_accuracy"):
            record.update(key="eval_error", value=1 - record["value"])
        assert rules_of(log) == []
        log.find("trainmark_target")["value"]["value"] = 0.001
        assert rules_of(log) == ["rules.eval_error.target"]

    def test_must_measure_the_metric_of_its_target(self, log: Text) -> None:
        log.find("trainmark_target")["value"]["metric"] = "eval_error"
        assert "rules.eval_accuracy.consistent" in rules_of(log)

    @pytest.mark.parametrize("value", [None, "high", True, {"metric": "eval_accuracy"}, []])
    def test_must_declare_a_whole_target(self, log: Text, value: object) -> None:
        log.find("trainmark_target")["value"] = value
        assert any(rule.startswith("rules.trainmark_target") for rule in rules_of(log))


def test_options_stand_for_what_the_log_says(resnet: Text) -> None:
    resnet.drop("submission_division")
    assert "rules.submission_division.missing" in rules_of(resnet, ruleset="4.0")
    assert rules_of(resnet, ruleset="4.0", division="closed") == []
    resnet.find("submission_benchmark")["value"] = "my resnet"
    assert rules_of(resnet, ruleset="4.0", division="closed", benchmark="resnet") == []


def test_a_ruleset_may_be_given_as_such(resnet: Text) -> None:
    verdict = check_log(read(resnet.path), ruleset=ruleset_named("4.0"))
    assert (verdict.ok, verdict.chosen) == (True, "as asked for")
    with pytest.raises(UsageError, match=r"9\.9"):
        check_log(read(resnet.path), ruleset="9.9")


def test_where_we_accept_more_the_official_verdict_is_noted(resnet: Text) -> None:
    resnet.move("submission_division", after="init_stop")
    verdict = check_log(read(resnet.write()), ruleset="4.0")
    assert verdict.ok
    assert verdict.official_compliant is False
    (note,) = verdict.findings
    assert (note.rule, note.severity) == ("official.verdict", Severity.NOTE)
    assert "init_stop" in note.message


def test_where_we_are_stricter_the_official_verdict_stands(resnet: Text) -> None:
    resnet.find("run_stop")["metadata"] = {"status": "aborted"}
    verdict = check_log(read(resnet.write()), ruleset="4.0")
    assert not verdict.ok
    assert verdict.official_compliant is True


def test_the_target_of_the_round_counts(tmp_path: Path) -> None:
    shape = RunShape(qualities=(0.5, 0.7589))
    path = write_resnet(tmp_path / "result_0.txt", shape)
    (finding,) = check_log(read(path), ruleset="4.0").findings
    assert finding.message == (
        "the target is not met: expected that in at least one of 2 records eval_accuracy is at "
        "least 0.759 and less than 1; the last is 0.7589"
    )


def test_errors_come_before_warnings_and_runs_before_rules(resnet: Text) -> None:
    resnet.repeat("submission_org")
    resnet.find("global_batch_size")["value"] = 0
    resnet.find("run_stop")["metadata"]["status"] = "fail"
    assert rules_of(resnet, ruleset="4.0") == [
        "run.status",
        "rules.global_batch_size.value",
        "rules.submission_org.repeated",
    ]


def test_an_empty_log_is_not_compliant_and_needs_no_round(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_text("step 1, loss 2.3\n", encoding="utf-8")
    verdict = check_log(read(path))
    (finding,) = verdict.findings
    assert finding.rule == "log.empty"
    assert finding.fix.endswith("if this is it, nothing was logged: run it again.")
    assert "0.6" in finding.fix
    assert (verdict.ok, verdict.official_compliant, verdict.ruleset) == (False, False, None)


def test_a_log_that_ends_before_it_says_what_it_is_of(desk: Text) -> None:
    desk.records = [desk.find("init_start")]
    verdict = check_log(read(desk.write()))
    (finding,) = verdict.findings
    assert finding.rule == "run.no_stop"
    assert "before it names its benchmark" in finding.message
    assert verdict.ruleset is None


def test_a_line_torn_by_the_end_of_the_run_is_part_of_it(desk: Text) -> None:
    desk.records = desk.records[: desk.line_of("eval_stop")]
    path = desk.write()
    path.write_bytes(path.read_bytes() + b':::MLLOG {"namespace": "", "ti')
    (finding,) = check_log(read(path)).findings
    assert "a broken line after it" in finding.message
    whole = path.read_bytes().replace(b":::MLLOG", b":::MLLOG {:::MLLOG", 1)
    path.write_bytes(whole)
    assert {finding.rule for finding in check_log(read(path)).findings} == {
        "run.no_stop",
        "log.torn",
    }


def test_the_verdict_is_plain_data(desk: Text) -> None:
    desk.drop("run_stop")
    data = json.loads(json.dumps(check_log(read(desk.write())).to_dict()))
    assert data["ok"] is False
    assert data["rules"] == "own"
    assert data["rule_tables"].startswith("mlperf-logging ")
    assert data["findings"][0]["rule"] == "run.no_stop"
    assert data["findings"][0]["severity"] == "error"


@pytest.mark.parametrize(
    ("line", "round_name"),
    [
        (':::MLL 1563477912.345 run_start: {"value": null, "metadata": {}}', "4.0"),
        (':::MLLOG {"time_ms": 1, "key": "run_start", "value": null, "metadata": {}}', "0.6"),
    ],
)
def test_records_in_the_form_of_another_round(line: str, round_name: str, tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_text(line + "\n", encoding="utf-8")
    verdict = check_log(read(path), ruleset=round_name)
    (finding,) = [one for one in verdict.findings if one.rule == "log.form"]
    assert finding.line_no == 1
    assert round_name in finding.message
    assert verdict.official_compliant is False
