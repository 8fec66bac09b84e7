import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.findings import FINDINGS, NAMES, block, finding, printed, verdict
from trainmark.cli.check_output import (
    Block,
    Tally,
    bounded,
    escaped,
    grouped,
    kind_of,
    relative,
    summary,
)
from trainmark.cli.check_text import TextOutput
from trainmark.rules import known_rulesets
from trainmark.types import Finding, Severity

Capture = pytest.CaptureFixture[str]


def _missing(key: str) -> Finding:
    return finding(
        f"rules.{key}.missing",
        f"expected exactly one {key}, found none",
        fix=f"Log {key}.",
        expected=f"exactly one {key}",
        found="0",
    )


def _text(capsys: Capture, *blocks: Block) -> str:
    output, tally = TextOutput(), Tally()
    output.begin()
    for one in blocks:
        tally.add(one)
        output.add(one)
    output.end(tally)
    return capsys.readouterr().out


def test_ten_logs_that_fail_alike_read_as_one_thing(capsys: Capture) -> None:
    one = finding("rules.seed.missing", "expected exactly one seed, found none", fix="Log seed.")
    assert _text(capsys, block("v4.0/bert", [[one]] * 10)).splitlines()[:4] == [
        "v4.0/bert  (10 logs; the rules of MLPerf Training round 4.0, by the folder v4.0)",
        "  error in 10 of 10 logs: expected exactly one seed, found none",
        "      [rules.seed.missing] Log seed.",
        "      All that is asked for: trainmark rules show 4.0 bert",
    ]


def test_where_some_logs_fail_they_are_named(capsys: Capture) -> None:
    one = finding(line_no=7)
    out = _text(capsys, block("bert", [[one]] * 8 + [[], []]))
    assert "  error in 8 of 10 logs: the run did not succeed" in out
    assert "      at result_0.txt:7, result_1.txt:7, result_2.txt:7, result_3.txt:7, " in out
    assert "result_5.txt:7 and 2 more" in out


def test_a_log_of_several_is_named(capsys: Capture) -> None:
    out = _text(capsys, block("bert", [[], [finding(line_no=7, line=":::MLLOG {...}")]]))
    assert "  error in result_1.txt line 7: the run did not succeed\n      :::MLLOG {...}\n" in out


def test_messages_that_differ_are_shown_three_times(capsys: Capture) -> None:
    logs = [[finding(message=f"the quality is 0.{number}", line_no=9)] for number in range(6)]
    out = _text(capsys, block("bert", logs))
    assert "  error in 6 of 6 logs, as result_0.txt:9: the quality is 0.0\n" in out
    assert "      result_1.txt:9: the quality is 0.1\n" in out
    assert "      result_2.txt:9: the quality is 0.2\n" in out
    assert "      and likewise result_3.txt:9, result_4.txt:9, result_5.txt:9\n" in out
    assert "0.3" not in out


def test_missing_records_are_told_together(capsys: Capture) -> None:
    out = _text(capsys, block("bert", [[_missing(key) for key in ("a", "b", "c")]] * 2))
    assert "  error in 2 of 2 logs: expected exactly one of each, found none: a, b, c\n" in out
    assert "      [rules.*.missing] Log each of them.\n" in out
    out = _text(capsys, block("bert", [[_missing(key) for key in ("a", "b")]] * 2))
    assert "expected exactly one a, found none" in out
    assert "expected exactly one b, found none" in out
    assert "found: 0" not in out


def test_only_what_the_same_logs_lack_is_told_together(capsys: Capture) -> None:
    both = [_missing(key) for key in ("a", "b", "c")]
    out = _text(capsys, block("bert", [both, [*both, _missing("d")]]))
    assert "of each, found none: a, b, c\n" in out
    assert "  error in result_1.txt: expected exactly one d, found none\n" in out


def test_errors_come_first_then_what_most_logs_have(capsys: Capture) -> None:
    note = finding("run.note", "a note", severity=Severity.NOTE)
    warning = finding("run.warning", "a warning", severity=Severity.WARNING)
    rare, common = finding("run.rare", "rare"), finding("run.common", "common")
    folder = finding("folder.failed_runs", "of the folder")
    logs = [[note, warning, common], [warning, rare, common]]
    out = _text(capsys, block("bert", logs, folder))
    places = [
        out.index(text) for text in ("common", "rare", "of the folder", "a warning", "a note")
    ]
    assert places == sorted(places)


def test_at_most_twenty_of_a_kind(capsys: Capture) -> None:
    """A kind is a rule with its key left out; in a log each finding counts."""
    findings = [finding(f"rules.k{number}.value", f"k{number} is 0") for number in range(50)]
    findings += [
        finding("log.json", f"no JSON {number}", line_no=number + 1) for number in range(30)
    ]
    out = _text(capsys, Block(".", files=[verdict("x.txt", *findings)]))
    assert sum(".value]" in line for line in out.splitlines()) == 20
    assert out.count("[log.json]") == 1
    assert "  and 30 more of rules.*.value\n" in out
    assert sum("no JSON" in line for line in out.splitlines()) == 20
    assert "  and 10 more of log.json\n" in out


def test_expected_and_found_are_shown_unless_the_message_says_them(capsys: Capture) -> None:
    said = finding(message="expected 3 nodes, found 4", expected="3 nodes", found="4")
    unsaid = finding("run.x", "the nodes differ", expected="3 nodes", found="4 nodes")
    out = _text(capsys, Block(".", files=[verdict("x.txt", said, unsaid)]))
    assert out.count("      expected: 3 nodes\n      found: 4 nodes\n") == 1
    assert out.count("expected:") == 1
    in_line = finding("system.x", "a word is not known", line='"status": "on"', found='"on"')
    assert "found:" not in _text(capsys, Block(".", files=[verdict("x.txt", in_line)]))


def test_a_long_condition_is_told_once(capsys: Capture) -> None:
    long = " and ".join(f"the value is not {number}" for number in range(9))
    for expected, times in ((long, 1), ("the value is 1", 2)):
        one = finding(message=f"k: expected that {expected}", fix=f"Log k so that {expected}.")
        out = _text(capsys, Block(".", files=[verdict("x.txt", replace(one, expected=expected))]))
        assert out.count(expected) == times
        assert ("Log k as expected." in out) is (times == 1)


def test_the_table_stands_under_what_it_explains(capsys: Capture) -> None:
    table = ("batch size  mean", "       256  12.5")
    one = finding("rcp.too_fast", "the mean is too low", fix="")
    out = _text(capsys, block("bert", [[]], one, table=table))
    assert "      [rcp.too_fast]\n      batch size  mean\n             256  12.5\n" in out


def test_the_same_findings_of_a_later_folder_are_not_told_again(capsys: Capture) -> None:
    one, other = finding(), finding("run.x", "something else")
    same = [[one], [one]]
    out = _text(capsys, block("a/bert", same), block("b/bert", same), block("c/bert", [[one], []]))
    assert out.count("in 2 of 2 logs") == 1
    assert "b/bert  (2 logs; " in out
    assert "  the same finding as in a/bert\n" in out
    assert "  error in result_0.txt: the run did not succeed\n" in out  # c differs
    out = _text(capsys, block("a/bert", same), block("b/bert", [[one, other]] * 2))
    assert "the same" not in out


def test_a_warning_is_explained_once(capsys: Capture) -> None:
    warning = finding("run.x", "odd", severity=Severity.WARNING, line_no=3, expected="even")
    other = finding("run.x", "odder", severity=Severity.WARNING, line_no=4, expected="even")
    error = finding("run.y", "wrong", fix="Mend it.")
    out = _text(
        capsys,
        block("a", [[warning, error], []]),
        block("b", [[warning, error], []]),
        block("c", [[warning], [other], []]),
    )
    assert out.count("expected: even") == 1
    assert out.count("[run.x] Run it again.") == 1
    assert "  warning in result_0.txt line 3: odd [run.x]\n" in out
    assert "  warning in 2 of 3 logs, as result_0.txt:3: odd [run.x]\n" in out
    assert out.count("[run.y] Mend it.") == 2  # an error is told in full wherever it is


def test_a_warning_that_comes_often_is_counted(capsys: Capture) -> None:
    one = finding("run.x", "odd", severity=Severity.WARNING)
    out = _text(capsys, block("a", [[one], []]), block("b", [[one, one, one], []]))
    assert "  warning in result_0.txt: odd (and 2 more) [run.x]\n" in out


def test_where_to_read_what_is_asked_for(capsys: Capture) -> None:
    one = finding("rules.seed.missing", "no seed", fix="")
    logs = [[one], []]
    opened = Block("c", files=[replace(verdict("c/x.txt", one), division="open")])
    unknown = Block("d", files=[replace(verdict("d/x.txt", one), benchmark="$(rm -r /)")])
    common = Block("e", files=[replace(verdict("e/x.txt", one), benchmark="common")])
    out = _text(capsys, block("a", logs), block("b", logs), opened, unknown, common)
    command = "      All that is asked for: trainmark rules show 4.0 bert"
    assert out.count(f"{command}\n") == 1
    assert out.count(f"{command} --division open\n") == 1
    assert out.count("All that is asked for") == 2
    assert "trainmark rules show" not in _text(capsys, block("a", [[finding("run.x", "odd")]]))


def test_valid_folders_say_nothing(capsys: Capture) -> None:
    out = _text(capsys, block("a/bert", [[], []]), block("b/bert", [[]]))
    assert out == "Valid: 3 logs by the rules of MLPerf Training round 4.0.\n"


def test_a_large_set_ends_with_the_rules(capsys: Capture) -> None:
    logs = [[finding("rules.seed.missing", "no seed")]] * 2
    out = _text(capsys, block("a", logs), block("b", [*logs, [finding("run.status", "failed")]]))
    lines = out.splitlines()
    place = lines.index("(trainmark check --explain RULE tells more):")
    assert lines[place + 1].startswith(
        "       4  rules.*.missing  A record that every log must have"
    )
    assert lines[place + 2].startswith("       1  run.status")
    assert lines[place + 3 : place + 6] == ["They are in 2 folders:", "  a", "  b"]
    assert lines[-1] == (
        "Not valid: 5 of 5 logs have errors by the rules of MLPerf Training round 4.0."
    )


def test_bytes_that_are_no_utf8_are_shown_escaped(capsys: Capture) -> None:
    name = b"result_\xff\x1b[31m.txt".decode("utf-8", "surrogateescape")
    out = _text(capsys, Block("x", files=[verdict(f"x/{name}", finding())]))
    assert "x/result_\\xff\N{REPLACEMENT CHARACTER}[31m.txt" in out
    assert escaped("caf\N{LATIN SMALL LETTER E WITH ACUTE}") == "caf\u00e9"
    assert escaped("a\ud800b\udcff") == "a\\ud800b\\udcff"


@settings(max_examples=60, deadline=None)
@given(name=NAMES, logs=st.lists(st.lists(FINDINGS, max_size=3), max_size=3))
def test_only_what_can_be_printed_reaches_the_terminal(
    name: str, logs: list[list[Finding]]
) -> None:
    out = printed(TextOutput(), block(f"a/{name}", logs, table=("\x1b[2J",)))
    assert all(c.isprintable() for c in out.replace("\n", ""))
    found = any(one for findings in logs for one in findings)
    assert out.startswith("Valid") is not found


def test_verdicts_are_grouped_by_folder() -> None:
    one, two, three = verdict("a/x.txt"), verdict("a/y.txt"), verdict("b/x.txt")
    of_a, of_b = verdict("a", kind="folder"), verdict("b", kind="folder")
    blocks = list(grouped([one, two, of_a, three, of_b]))
    assert [(b.folder, b.files, b.whole) for b in blocks] == [
        ("a", [one, two], [of_a]),
        ("b", [three], [of_b]),
    ]
    here = [verdict("x.txt"), verdict(".", kind="folder")]
    assert [b.folder for b in grouped(here)] == ["."]
    assert list(grouped([])) == []


def test_a_huge_folder_is_not_held_in_memory() -> None:
    blocks = list(grouped(verdict(f"a/{number}.txt") for number in range(2500)))
    assert [len(b.files) for b in blocks] == [1000, 1000, 500]


def test_rounds_are_named_together() -> None:
    tally = Tally()
    for name in ("5.0", "own", "4.0", "hpc-3.0"):
        tally.add(Block(".", files=[replace(verdict("x"), ruleset=known_rulesets()[name])]))
    assert summary(tally) == (
        "Valid",
        "4 logs by the rules of MLPerf Training rounds 4.0, 5.0 and trainmark's own rules and "
        "the rules of MLPerf HPC round 3.0.",
    )


def test_the_smaller_parts() -> None:
    kept, left = bounded([finding("a.b"), finding("a.c"), finding("a.b")], 1)
    assert ([one.rule for one in kept], left) == (["a.b", "a.c"], {"a.b": 1})
    assert kind_of("rules.x.y.missing") == "rules.*.missing"
    assert kind_of("rules.table") == "rules.table"
    assert kind_of("run.status") == "run.status"
    assert relative("a/../b") == "b"
    assert relative("/etc/hosts") == "/etc/hosts"


def test_system_descriptions_of_a_folder_are_told_together(capsys: Capture) -> None:
    one = finding("system.x", "host_processor_count is text", severity=Severity.WARNING)
    systems = [verdict(f"systems/{name}.json", one, kind="system") for name in "abc"]
    blocks = list(grouped(systems))
    assert [(b.folder, b.kind, len(b.files)) for b in blocks] == [("systems", "system", 3)]
    out = _text(capsys, *blocks)
    assert out.startswith("systems  (3 system descriptions; the rules of")
    assert "  warning in 3 of 3 system descriptions: host_processor_count is text\n" in out
    assert out.splitlines()[-1].startswith("Valid: 3 system descriptions by the rules")


def test_findings_of_a_folder_name_the_file_that_they_are_about(capsys: Capture) -> None:
    scaling = finding("folder.scaling", "it is not JSON", path="v4.0/bert/scaling.json", line_no=2)
    out = _text(capsys, block("v4.0/bert", [[]], scaling))
    assert "  error in scaling.json line 2: it is not JSON\n" in out
    names = [f"sub/benchmarks/b{number}" for number in range(22)]
    readmes = [finding("submission.no_readme", "there is no README", path=name) for name in names]
    out = _text(capsys, Block("sub", whole=[verdict("sub", *readmes, kind="submission")]))
    assert "  error in 22 places: there is no README\n" in out
    assert "      at benchmarks/b0, benchmarks/b1, " in out
    assert "benchmarks/b11 and 10 more\n" in out
    assert out.splitlines()[-1].startswith("Not valid: 1 of 1 submission has errors")


def test_a_file_elsewhere_is_named_in_full(capsys: Capture) -> None:
    one = finding("submission.same_log", "the same log twice", path="other/result_0.txt")
    out = _text(capsys, Block("sub", whole=[verdict("sub", one, kind="submission")]))
    assert "  error in other/result_0.txt: the same log twice\n" in out


def test_on_a_terminal_long_lines_go_on_below(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = " ".join(f"word{number}" for number in range(40))
    blocks = [block("bert", [[finding(message=words, line_no=3)], []])]
    plain = _text(capsys, *blocks)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((70, 24)))
    shown = _text(capsys, *blocks)
    assert max(map(len, plain.splitlines())) > 200
    body = [line for line in shown.splitlines() if "word" in line]
    assert len(body) > 3
    assert max(map(len, body)) <= 70
    assert shown.split() == plain.split()


def test_what_was_not_kept_of_a_log_comes_last_and_is_counted() -> None:
    kept = [finding("log.json", "not valid JSON", line_no=number) for number in range(1, 31)]
    more = finding("log.json", "99,000 more findings of this kind: not valid JSON")
    out = printed(TextOutput(), block("a", [[more, *kept]]))
    assert "findings of this kind" not in out
    assert out.count("not valid JSON") == 20
    assert "  and 99,010 more of log.json\n" in out


def test_large_numbers_are_readable_everywhere() -> None:
    out = printed(TextOutput(), block("a", [[finding()]] * 1200))
    assert "  error in 1,200 of 1,200 logs: " in out
    assert "Not valid: 1,200 of 1,200 logs" in out


def test_a_folder_of_many_logs_is_not_sent_to_itself() -> None:
    same = block("a", [[finding()]] * 2)
    assert "  the same finding as in the logs above\n" in printed(TextOutput(), same, same)


def test_several_kinds_with_errors_read_as_a_list() -> None:
    power = Block("b", whole=[verdict("b", finding(), kind="power")])
    out = printed(TextOutput(), block("a", [[finding()]], finding("folder.runs")), power)
    told = "1 of 1 log, 1 of 1 folder and 1 of 1 power folder have errors"
    assert f"Not valid: {told}" in out


def test_a_heading_that_is_too_long_goes_on_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainmark.cli.check_output._terminal_width", lambda: 60)
    lines = printed(TextOutput(), block("f" * 50, [[finding()]] * 2)).splitlines()
    assert lines[0] == "f" * 50
    assert lines[1].startswith("  (2 logs; the rules of")
    assert all(len(line) <= 60 for line in lines)
    assert printed(TextOutput(), block("f", [[finding()]] * 2)).startswith("f\n  (2 logs")
    monkeypatch.setattr("trainmark.cli.check_output._terminal_width", lambda: 100)
    assert printed(TextOutput(), block("f", [[finding()]] * 2)).startswith("f  (2 logs; the rules")
