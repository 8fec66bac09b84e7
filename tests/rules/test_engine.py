from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.logs import Text, write_resnet
from trainmark.mllog import read
from trainmark.rules import check_log, engine, tables
from trainmark.rules.constraints import Compare
from trainmark.rules.engine import Outcome, run_tables
from trainmark.rules.vocabulary import Scope
from trainmark.types import Event, RunLog, Severity


def log(*records: tuple[str, Any] | tuple[str, Any, dict[str, Any]]) -> RunLog:
    events = [
        Event(
            key=one[0],
            value=one[1],
            metadata=one[2] if len(one) == 3 else {},
            time_ms=1000.0 * line,
            kind="POINT_IN_TIME",
            line_no=line,
        )
        for line, one in enumerate(records, start=1)
    ]
    return RunLog(events=tuple(events), source="result_0.txt", token_lines=len(events))


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs tables given as texts by name over a log, starting with the first."""

    def go(run_log: RunLog, **texts: str) -> Outcome:
        files = {}
        for name, text in texts.items():
            files[f"t/{name}.yaml"] = tmp_path / f"{name}.yaml"
            files[f"t/{name}.yaml"].write_text(text, encoding="utf-8")
        monkeypatch.setattr(tables, "known_tables", lambda: files)
        monkeypatch.setattr(engine, "known_tables", lambda: files)
        tables.load_table.cache_clear()
        outcome = run_tables(run_log, next(iter(files)))
        tables.load_table.cache_clear()
        return outcome

    return go


def key(name: str, **fields: str) -> str:
    body = "".join(f"\n    {field}: {text!r}" for field, text in fields.items())
    return f"- KEY:\n    NAME: {name}{body}\n"


def rules(outcome: Outcome) -> list[str]:
    missing = [one.finding.rule for one in outcome.missing]
    return [finding.rule for finding in outcome.findings] + missing


def test_a_failing_check_names_line_value_and_expectation(run: Run) -> None:
    outcome = run(log(("a", 1), ("a", "no")), first=key("a", CHECK="v['value'] == 1"))
    (finding,) = outcome.findings
    assert (finding.rule, finding.line_no) == ("rules.a.value", 2)
    assert finding.message == 'a: expected that the value is 1; the value is "no"'
    assert (finding.expected, finding.found) == ("the value is 1", 'the value is "no"')
    assert not outcome.compliant


def test_the_first_of_many_failures_is_shown_with_their_number(run: Run) -> None:
    outcome = run(log(*[("a", n) for n in range(1, 100)]), first=key("a", CHECK="v['value'] == 1"))
    (finding,) = outcome.findings
    assert finding.line_no == 2
    assert finding.message.endswith("(and 97 more)")


def test_words_are_made_once_for_a_check_that_fails_often(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def found(_: Compare, scope: Scope) -> str:
        calls.append(scope.value)
        return "another value"

    monkeypatch.setattr(Compare, "found", found)
    outcome = run(log(*[("a", n) for n in range(1000)]), first=key("a", CHECK="v['value'] < 0"))
    assert outcome.findings[0].message.endswith("another value (and 999 more)")
    assert calls == [0]


def test_the_part_that_fails_is_named(run: Run) -> None:
    table = "- BEGIN: {CODE: \"s.update({'run_started': False})\"}\n" + key(
        "a", CHECK="v['value'] > 0 and s['run_started']"
    )
    records = log(("a", 0), ("a", 1), ("a", 0), ("a", 1))
    outcome = run(records, first=table)
    assert [(one.rule, one.line_no) for one in outcome.findings] == [
        ("rules.a.value", 1),
        ("rules.a.order", 2),
    ]
    assert [one.message.endswith("(and 1 more)") for one in outcome.findings] == [True, True]


def test_a_rule_of_one_key_alone_still_sees_every_record(run: Run) -> None:
    table = "- BEGIN: {CODE: \"s.update({'n': 0})\"}\n"
    table += key("count", POST="s['n'] += 1") + key("alone", CHECK="v['value'] < 3")
    table += key("ordered", CHECK="v['value'] == s['n']")
    records = [("count", 0), ("alone", 1), ("ordered", 1), ("count", 0), ("alone", 5)]
    outcome = run(log(*records, ("ordered", 2), ("ordered", 1)), first=table)
    assert [(one.rule, one.line_no) for one in outcome.findings] == [
        ("rules.ordered.consistent", 7),
        ("rules.alone.value", 5),
    ]


def test_unknown_keys_are_free(run: Run) -> None:
    assert run(log(("b", 1)), first=key("a", CHECK="v['value'] == 1")).compliant


@pytest.mark.parametrize(
    ("need", "values", "found"),
    [
        ("EXACTLY_ONE", [], ["rules.a.missing"]),
        ("EXACTLY_ONE", [1], []),
        ("EXACTLY_ONE", [1, 2], ["rules.a.repeated"]),
        ("AT_LEAST_ONE", [], ["rules.a.missing"]),
        ("AT_LEAST_ONE", [1, 2], []),
        ("AT_LEAST(2)", [1], ["rules.a.missing"]),
        ("AT_LEAST(2)", [1, 1], []),
        ("OPTIONAL", [], []),
    ],
)
def test_how_often_a_key_occurs(run: Run, need: str, values: list[int], found: list[str]) -> None:
    outcome = run(log(*[("a", value) for value in values]), first=key("a", REQ=need))
    assert rules(outcome) == found


def test_equal_values_of_a_key_that_comes_once_are_a_warning(run: Run) -> None:
    outcome = run(log(("a", 1), ("a", 1)), first=key("a", REQ="EXACTLY_ONE"))
    assert [finding.severity for finding in outcome.findings] == [Severity.WARNING]
    assert outcome.compliant


def test_one_of_the_alternatives_is_enough(run: Run) -> None:
    table = key("a", REQ="AT_LEAST_ONE_OR(b)") + key("b", REQ="AT_LEAST_ONE_OR(a)")
    assert run(log(("b", 1)), first=table).compliant
    (missing,) = run(log(("c", 1)), first=table).missing
    assert missing.keys == {"a", "b"}
    assert "at least one a or b" in missing.finding.message


def test_a_later_table_takes_over_a_key(run: Run) -> None:
    first = key("go", POST="enqueue_config('t/second.yaml')") + key("a", CHECK="v['value'] == 1")
    again = key("a", CHECK="v['value'] == 2")
    assert run(log(("go", 0), ("a", 2)), first=first, second=again).compliant
    assert rules(run(log(("go", 0), ("a", 1)), first=first, second=again)) == ["rules.a.value"]
    other = run(log(("go", 0), ("a", 2)), first=first, second=key("b"))
    assert rules(other) == ["rules.a.value"]


def test_a_missed_target_stays_though_a_later_table_has_the_key(run: Run) -> None:
    first = key("go", POST="enqueue_config('t/second.yaml')")
    first += key("a", ATLEAST_ONE_CHECK="v['value'] > 5")
    outcome = run(log(("go", 0), ("a", 2)), first=first, second=key("a", CHECK="v['value'] == 2"))
    assert rules(outcome) == ["rules.a.target"]
    assert outcome.tables == ("t/first.yaml", "t/second.yaml")


def test_a_target_knows_its_line(run: Run) -> None:
    outcome = run(
        log(("a", 1), ("a", 7), ("a", 8)), first=key("a", ATLEAST_ONE_CHECK="v['value'] > 5")
    )
    assert outcome.compliant
    (target,) = outcome.targets
    assert (target.key, target.met_on_line) == ("a", 2)


def test_a_value_that_cannot_be_compared_with_the_target_is_an_error(run: Run) -> None:
    outcome = run(log(("a", 7), ("a", "x")), first=key("a", ATLEAST_ONE_CHECK="v['value'] > 5"))
    assert rules(outcome) == ["rules.a.target"]
    assert "cannot be compared" in outcome.findings[0].message


def test_before_check_after_first(run: Run) -> None:
    table = "- BEGIN: {CODE: \"s.update({'n': 0})\"}\n" + key(
        "a",
        PRE="s['n'] += 1",
        CHECK="s['n'] < 3",
        POST="s['n'] += 1",
        FIRST_CHECK="v['value'] == 1",
    )
    assert run(log(("a", 1)), first=table).compliant
    outcome = run(log(("a", 1), ("a", 1)), first=table)
    assert [finding.line_no for finding in outcome.findings] == [2]
    assert rules(run(log(("a", 2)), first=table)) == ["rules.a.value"]


def test_submission_keys_are_looked_at_once(run: Run) -> None:
    table = key("submission_org", CHECK="v['value'] == 1") + key("other", CHECK="v['value'] == 1")
    assert run(log(("submission_org", 1), ("submission_org", 2)), first=table).compliant
    assert not run(log(("other", 1), ("other", 2)), first=table).compliant


def test_a_table_asked_for_by_a_log_is_only_looked_up(run: Run, tmp_path: Path) -> None:
    evil = tmp_path / "evil.yaml"
    evil.write_text(key("a", CHECK="False"), encoding="utf-8")
    table = key("go", POST="enqueue_config('t/{}.yaml'.format(v['value']))")
    for name in ("unknown", str(evil.with_suffix("")), "../t/first", "first"):
        outcome = run(log(("go", name), ("a", 1)), first=table)
        assert rules(outcome) == ["rules.table"]
        assert "first" in outcome.findings[0].fix


def test_tables_that_ask_for_each_other_end(run: Run) -> None:
    first = key("go", POST="enqueue_config('t/second.yaml')")
    second = key("go", POST="enqueue_config('t/first.yaml')")
    assert rules(run(log(("go", 1), ("go", 1)), first=first, second=second)) == ["rules.table"]


def test_a_log_that_asks_for_tables_a_thousand_times_ends(run: Run) -> None:
    table = key("go", POST="enqueue_config('t/{}.yaml'.format(v['value']))")
    records = [("go", "second" if n % 2 else "third") for n in range(1000)]
    outcome = run(log(*records), first=table, second=key("a"), third=key("b"))
    assert len(outcome.tables) <= 64
    junk = run(log(*[("go", n) for n in range(1000)]), first=table)
    assert rules(junk) == ["rules.table"] * 20


def test_the_end_of_a_table(run: Run) -> None:
    table = (
        "- BEGIN: {CODE: \"s.update({'seen': []})\"}\n"
        + key("a", POST="s['seen'] += [v['value']]")
        + "- END: {PRE: \"s['n'] = len(s['seen'])\", CHECK: \"s['n'] == 2\"}\n"
    )
    assert run(log(("a", 1), ("a", 2)), first=table).compliant
    assert len(run(log(("a", 1)), first=table).findings) == 1


def test_code_that_does_not_fit_the_record_is_a_finding_of_its_key(run: Run) -> None:
    outcome = run(log(("a", 1)), first=key("a", POST="s['x'] = v['metadata']['absent']"))
    (finding,) = outcome.findings
    assert finding.rule == "rules.a.code"
    assert "KeyError" in finding.message


def test_a_table_that_cannot_begin_says_so(run: Run) -> None:
    table = "- BEGIN: {CODE: \"s['x'] = s['absent']\"}\n" + key("a", REQ="EXACTLY_ONE")
    (finding,) = run(log(("b", 1)), first=table).findings
    assert "first.yaml cannot begin" in finding.message


def test_stable_diffusion_evaluations_are_merged() -> None:
    def evaluation(metric: str, value: float, samples: int) -> tuple[str, Any, dict[str, Any]]:
        return ("eval_accuracy", value, {"metric": metric, "samples_count": samples})

    table = "training_4.1.0/closed_stable_diffusion.yaml"
    met = run_tables(
        log(
            evaluation("FID", 80.0, 1),
            evaluation("CLIP", 0.2, 1),
            evaluation("FID", 70.0, 2),
            evaluation("CLIP", 0.2, 2),
        ),
        table,
    )
    assert not [rule for rule in rules(met) if "aggregated_eval_accuracy" in rule]
    apart = run_tables(
        log(
            evaluation("FID", 80.0, 1),
            evaluation("CLIP", 0.1, 1),
            evaluation("FID", 99.0, 2),
            evaluation("CLIP", 0.2, 2),
        ),
        table,
    )
    assert "rules.aggregated_eval_accuracy.target" in rules(apart)
    broken = run_tables(log(("eval_accuracy", 1.0, {"metric": "FID"})), table)
    assert "rules.closed_stable_diffusion.code" in rules(broken)


def test_what_is_repeated_or_too_low_is_told_with_its_line(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.repeat("submission_org")
    text.repeat("submission_org", value="another")  # it comes to stand second of three
    for record in text.all("eval_accuracy"):
        record["value"] = 0.5
    found = {one.rule: one.line_no for one in check_log(read(text.write()), ruleset="4.0").findings}
    assert found["rules.submission_org.repeated"] == text.line_of("submission_org", 1)
    assert found["rules.eval_accuracy.target"] == text.line_of("eval_accuracy", -1)
    text.find("submission_org", 1)["value"] = text.find("submission_org")["value"]
    found = {one.rule: one.line_no for one in check_log(read(text.write()), ruleset="4.0").findings}
    assert found["rules.submission_org.repeated"] == text.line_of("submission_org", 0) + 1
