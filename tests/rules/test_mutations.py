"""Every way in which a log has been seen to go wrong, and the verdict it must get."""

import json
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.logs import START_MS, Text, write_desk, write_resnet
from trainmark.mllog import keys, read
from trainmark.rules import Verdict, check_log
from trainmark.types import Severity

Change = Callable[[Text], bytes | None]


@dataclass(frozen=True)
class Case:
    """One mutation: the finding it must lead to ("" for a log that stays fine), and where."""

    name: str
    change: Change
    rule: str = ""
    severity: Severity = Severity.ERROR
    at: Callable[[Text], int] | None = None  # the line the finding must name
    only: bool = True  # whether it must be the only finding of its severity
    says: str = ""  # what the message, or what it expected and found, must tell


def _raw(text: Text) -> bytes:
    return ("\n".join(text.lines()) + "\n").encode()


def _set(wanted: str, place: int = 0, /, **changes: Any) -> Change:
    return lambda text: text.find(wanted, place).update(changes)


def _metadata(key: str, metadata: Any) -> Change:
    return lambda text: text.find(key).update(metadata=metadata)


def _drop(key: str) -> Change:
    return lambda text: text.drop(key)


def _repeat(key: str, **changes: Any) -> Change:
    return lambda text: text.repeat(key, **changes)


def _move(key: str, after: str) -> Change:
    return lambda text: text.move(key, after=after)


def _all_values(value: Any) -> Change:
    def change(text: Text) -> None:
        for record in text.all("eval_accuracy"):
            record["value"] = value

    return change


def _line(at_key: str, edit: Callable[[bytes], bytes], place: int = 0) -> Change:
    """Edit the bytes of one line."""

    def change(text: Text) -> bytes:
        number = text.line_of(at_key, place) - 1
        lines = [line.encode() for line in text.lines()]
        lines[number] = edit(lines[number])
        return b"\n".join(lines) + b"\n"

    return change


def _whole(edit: Callable[[bytes], bytes]) -> Change:
    return lambda text: edit(_raw(text))


def _each_line(times: int, *, namespaces: bool) -> Change:
    def change(text: Text) -> None:
        text.records = [
            deepcopy(record) | ({"namespace": f"worker{rank}"} if namespaces else {})
            for record in text.records
            for rank in range(times)
        ]

    return change


def _two_records(text: Text) -> bytes:
    return _joined(text, "seed")


def _joined(text: Text, key: str) -> bytes:
    """The line of that key without its line feed."""
    lines = text.lines()
    number = text.line_of(key) - 1
    lines[number : number + 2] = [lines[number] + lines[number + 1]]
    return ("\n".join(lines) + "\n").encode()


def _second_start(seconds: float, **changes: Any) -> Change:
    def change(text: Text) -> None:
        start = text.find("run_start")
        later = deepcopy(start) | {"time_ms": start["time_ms"] + seconds * 1000} | changes
        text.records.insert(text.records.index(text.find("eval_start")), later)

    return change


def _no_metadata(text: Text) -> None:
    del text.find("eval_stop")["metadata"]


def _aborted_then_success(text: Text) -> None:
    text.repeat("run_stop")
    text.find("run_stop").update(metadata={"status": "aborted"})


def _before_1970(text: Text) -> None:
    for record in text.records:
        record["time_ms"] -= 2 * START_MS


def _met_after_stop(text: Text) -> None:
    stop = text.find("run_stop")
    late = deepcopy(text.find("eval_accuracy", -1))
    text.find("eval_accuracy", -1)["value"] = 0.5
    text.records.insert(text.records.index(stop) + 1, late)


def _minutes_later(key: str, minutes: float) -> Change:
    """That record and all after it are logged so many minutes later."""

    def change(text: Text) -> None:
        for record in text.records[text.records.index(text.find(key)) :]:
            record["time_ms"] += minutes * 60_000

    return change


def _torn_at_the_end(text: Text) -> bytes:
    """A record after run_stop that the writer did not finish."""
    return _raw(text) + text.lines()[-1].encode()[:50]


def _earlier(key: str, seconds: float) -> Change:
    """That record alone is dated back."""

    def change(text: Text) -> None:
        text.find(key)["time_ms"] -= seconds * 1000

    return change


def _line_at(key: str, place: int = 0) -> Callable[[Text], int]:
    return lambda text: text.line_of(key, place)


def _last_line(text: Text) -> int:
    return len(text.records)


def _token_in_value(text: Text) -> None:
    text.find("submission_org")["value"] = "a:::MLLOG b"


CASES = (
    # The run's interval
    Case(
        "no_run_stop",
        _drop("run_stop"),
        "run.no_stop",
        at=_last_line,
        says="there is no run_stop: the log ends at line",
    ),
    Case(
        "two_starts_same",
        _second_start(60),
        "run.two_starts",
        at=_line_at("run_start", 1),
        says="a later one shortens the score",
    ),
    Case(
        "two_starts_differ",
        _second_start(60, value=1),
        "run.two_starts",
        only=False,
        at=_line_at("run_start", 1),
        says="a later one shortens the score",
    ),
    Case(
        "stop_first",
        _move("run_stop", "init_stop"),
        "run.order",
        only=False,
        at=_line_at("run_stop"),
        says="comes before run_start",
    ),
    Case(
        "start_before_init_stop",
        _move("run_start", "init_start"),
        "rules.run_start.order",
        at=_line_at("run_start"),
        only=False,
        says="init_stop comes before it",
    ),
    Case(
        "stopped_twice",
        _repeat("run_stop", metadata={"status": "aborted"}),
        "run.two_stops",
        at=_line_at("run_stop", 1),
        says='with status "success", "aborted"',
    ),
    Case(
        "aborted_then_success",
        _aborted_then_success,
        "run.two_stops",
        only=False,
        at=_line_at("run_stop", 1),
        says='with status "aborted", "success"',
    ),
    Case(
        "aborted_with_target_met",
        _metadata("run_stop", {"status": "aborted"}),
        "run.status",
        at=_line_at("run_stop"),
        says='status "aborted", although the target was met on line',
    ),
    Case(
        "no_status",
        _metadata("run_stop", {}),
        "rules.run_stop.metadata",
        at=_line_at("run_stop"),
        says='metadata has "status"',
    ),
    # Quality
    Case(
        "under_target",
        _set("eval_accuracy", -1, value=0.5),
        "rules.eval_accuracy.target",
        says="the last is 0.5",
    ),
    Case(
        "met_after_stop",
        _met_after_stop,
        "run.target_after_stop",
        at=_line_at("run_stop"),
        says="after run_stop",
    ),
    Case(
        "last_nan",
        _set("eval_accuracy", -1, value=float("nan")),
        "rules.eval_accuracy.target",
        says="the last is NaN",
    ),
    Case(
        "all_nan", _all_values(float("nan")), "rules.eval_accuracy.target", says="the last is NaN"
    ),
    Case(
        "text_accuracy",
        _all_values("0.99"),
        "rules.eval_accuracy.target",
        only=False,
        says='"0.99"',
    ),
    Case(
        "last_text_accuracy",
        lambda text: text.repeat("eval_accuracy", value="0.99"),
        "rules.eval_accuracy.target",
        at=_line_at("eval_accuracy", 1),
        says='"0.99", which cannot be compared',
    ),
    Case(
        "bool_accuracy",
        _set("eval_accuracy", 0, value=True),
        "log.bool_as_number",
        at=_line_at("eval_accuracy"),
        says="eval_accuracy is true; expected a number",
    ),
    # Times
    Case(
        "negative_times",
        _before_1970,
        "log.time",
        only=False,
        at=lambda _: 1,
        says="this is -1700000000000",
    ),
    Case(
        "stops_before_it_starts",
        _set("run_stop", time_ms=START_MS - 1),
        "run.time",
        at=_line_at("run_stop"),
        says="seconds before run_start",
    ),
    Case(
        "nan_time",
        _set("run_start", time_ms=float("nan")),
        "log.time",
        only=False,
        at=_line_at("run_start"),
        says="this is NaN",
    ),
    Case(
        "text_time",
        _set("seed", time_ms=str(START_MS)),
        "log.time",
        at=_line_at("seed"),
        says="time_ms must be a number",
    ),
    Case(
        "null_time",
        _set("seed", time_ms=None),
        "log.record",
        at=_line_at("seed"),
        says="time_ms must be a number",
    ),
    Case(
        "slow_init",
        _minutes_later("init_stop", 31),
        "rules.init_stop.time",
        at=_line_at("init_stop"),
        says="it took 32.00 minutes, 2.00 over the limit of 30",
    ),
    Case(
        "clock_set_back",
        _set("eval_start", time_ms=START_MS),
        "run.time_backwards",
        Severity.WARNING,
        at=_line_at("eval_start"),
        says="which stands above it",
    ),
    Case(
        "stopped_before_the_target_by_the_clock",
        _earlier("run_stop", 30),
        "run.target_after_stop",
        at=_line_at("run_stop"),
        says="seconds by the clock after run_stop",
    ),
    # Values
    Case(
        "a_step_and_a_half",
        _set("gradient_accumulation_steps", value=1.5),
        "run.number",
        at=_line_at("gradient_accumulation_steps"),
        says="gradient_accumulation_steps is 1.5; expected a whole number above 0",
    ),
    Case(
        "placeholder",
        _set("submission_org", value="SUBMISSION_ORG_PLACEHOLDER"),
        "run.placeholder",
        Severity.WARNING,
        at=_line_at("submission_org"),
        says="submission_org is still",
    ),
    # Damaged lines
    Case(
        "truncated_last_line",
        _whole(lambda raw: raw[:-30]),
        "log.json",
        at=_last_line,
        only=False,
        says="not valid JSON after the token",
    ),
    Case(
        "truncated_after_run_stop",
        _torn_at_the_end,
        "log.json",
        at=lambda text: len(text.records) + 1,
        says="not valid JSON after the token",
    ),
    Case(
        "truncated_at_eval",
        _line("eval_stop", lambda line: line[:-9]),
        "log.json",
        at=_line_at("eval_stop"),
        says="not valid JSON after the token",
    ),
    Case(
        "invalid_json",
        _line("eval_stop", lambda line: line.replace(b'"key"', b"key")),
        "log.json",
        at=_line_at("eval_stop"),
        says="not valid JSON after the token",
    ),
    Case(
        "no_json",
        _line("eval_stop", lambda _: b":::MLLOG evaluation is done"),
        "log.json",
        at=_line_at("eval_stop"),
        says="not valid JSON after the token",
    ),
    Case(
        "list",
        _line("eval_stop", lambda _: b":::MLLOG [1, 2]"),
        "log.record",
        at=_line_at("eval_stop"),
        says="must be an object, this is a list",
    ),
    Case(
        "no_metadata",
        _no_metadata,
        "log.record",
        at=_line_at("eval_stop"),
        only=False,
        says="lacks metadata",
    ),
    Case(
        "null_metadata",
        _metadata("seed", None),
        "log.metadata",
        at=_line_at("seed"),
        says="metadata must be an object",
    ),
    Case(
        "list_key",
        _set("cache_clear", key=["cache", "clear"]),
        "log.key",
        only=False,
        at=lambda text: text.line_of("seed") + 3,
        says="key must be text",
    ),
    Case(
        "text_after_json",
        _line("seed", lambda line: line + b" done"),
        "log.json",
        at=_line_at("seed"),
        says="text after the record",
    ),
    Case(
        "nul_bytes",
        _line("eval_stop", lambda line: line[:40] + b"\0\0" + line[40:]),
        "log.json",
        at=_line_at("eval_stop"),
        says="not valid JSON",
    ),
    Case(
        "torn",
        _line("eval_stop", lambda line: line[:30] + line),
        "log.torn",
        at=_line_at("eval_stop"),
        says="not valid JSON",
    ),
    Case(
        "torn_and_lost",
        _line("run_stop", lambda line: line + b" x :::MLLOG {}"),
        "log.torn",
        at=_line_at("run_stop"),
        only=False,
        says="text after the record",
    ),
    Case(
        "two_needed_records",
        lambda text: _joined(text, "train_samples"),
        "log.two_records",
        at=_line_at("train_samples"),
        says="two records or more on one line",
    ),
    Case(
        "two_records",
        _two_records,
        "log.two_records",
        at=_line_at("seed"),
        says="two records or more on one line",
    ),
    Case(
        "utf16",
        _whole(lambda raw: raw.decode().encode("utf-16")),
        "log.encoding",
        at=lambda _: 1,
        says="UTF-16",
    ),
    Case("empty", _whole(lambda _: b""), "log.empty", says="no readable record"),
    Case(
        "no_tokens",
        _whole(lambda raw: raw.replace(b":::MLLOG", b"")),
        "log.empty",
        says="no readable record",
    ),
    # What a log must say
    Case(
        "no_division",
        _drop("submission_division"),
        "rules.submission_division.missing",
        says="submission_division, found none",
    ),
    Case(
        "path_as_division",
        _set("submission_division", value="../../evil"),
        "rules.submission_division.choice",
        at=_line_at("submission_division"),
        only=False,
        says='one of "closed", "open"',
    ),
    Case(
        "two_batch_sizes",
        _repeat("global_batch_size", value=17),
        "rules.global_batch_size.repeated",
        says="17",
    ),
    Case(
        "two_equal_batch_sizes",
        _repeat("global_batch_size"),
        "rules.global_batch_size.repeated",
        Severity.WARNING,
        says="the same value each time",
    ),
    Case(
        "two_benchmarks",
        _repeat("submission_benchmark", value="bert"),
        "rules.submission_benchmark.repeated",
        says='"bert"',
    ),
    # Several ranks
    Case(
        "every_line_twice",
        _each_line(2, namespaces=True),
        "run.ranks",
        Severity.WARNING,
        only=False,
        says="2 ranks write it; the times are those of the first",
    ),
    Case(
        "every_line_eight_times",
        _each_line(8, namespaces=False),
        "run.ranks",
        Severity.WARNING,
        only=False,
        says="8 ranks write it; the times are those of the first",
    ),
    # Odd, and fine
    Case(
        "duplicate_namespace",
        _line("seed", lambda line: line.replace(b"{", b'{"namespace": "x", ', 1)),
    ),
    Case("crlf", _whole(lambda raw: raw.replace(b"\n", b"\r\n"))),
    Case("cr", _whole(lambda raw: raw.replace(b"\n", b"\r"))),
    Case("bom", _whole(lambda raw: b"\xef\xbb\xbf" + raw)),
    Case("rank_before_token", _whole(lambda raw: raw.replace(b":::MLLOG", b"0: :::MLLOG"))),
    Case("no_space_after_token", _whole(lambda raw: raw.replace(b":::MLLOG ", b":::MLLOG"))),
    Case("token_in_value", _token_in_value),
    Case("latin1", _line("submission_org", lambda line: line.replace(b"tester", b"M\xfcller"))),
    Case("division_after_init", _move("submission_division", "init_stop")),
)


def _verdict(text: Text, change: Change) -> Verdict:
    raw = change(text)
    if isinstance(raw, bytes):
        text.path.write_bytes(raw)
    else:
        text.write()
    own = keys.OWN_RULESET in {
        record["key"]
        for record in text.records
        if "key" in record and isinstance(record["key"], str)
    }
    return check_log(read(text.path), ruleset="own" if own else "4.0")


@pytest.fixture(params=[write_desk, write_resnet], ids=["desk", "resnet"])
def text(request: pytest.FixtureRequest, tmp_path: Path) -> Text:
    return Text.read(request.param(tmp_path / "result_0.txt"))


def test_the_unchanged_log_is_fine(text: Text) -> None:
    assert _verdict(text, lambda _: None).findings == ()


@pytest.mark.parametrize("case", [c for c in CASES if c.rule], ids=lambda case: case.name)
def test_spoilt(case: Case, text: Text) -> None:
    verdict = _verdict(text, case.change)
    found = [finding for finding in verdict.findings if finding.rule == case.rule]
    assert found, [f"{finding.rule}: {finding.message}" for finding in verdict.findings]
    assert found[0].severity is case.severity
    assert verdict.ok is (case.severity is not Severity.ERROR)
    assert found[0].fix
    assert case.says in f"{found[0].message} {found[0].expected} {found[0].found}"
    if case.at is not None:
        assert found[0].line_no == case.at(text)
    if case.only:
        others = {f.rule for f in verdict.findings if f.severity is case.severity} - {case.rule}
        assert others == set()


@pytest.mark.parametrize("case", [c for c in CASES if not c.rule], ids=lambda case: case.name)
def test_odd_but_fine(case: Case, text: Text) -> None:
    verdict = _verdict(text, case.change)
    assert [f.message for f in verdict.findings if f.severity is not Severity.NOTE] == []
    assert verdict.run is not None
    assert verdict.run.minutes == pytest.approx(12.0)


def test_an_unknown_benchmark_is_told_the_known_ones(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    verdict = _verdict(text, _set("submission_benchmark", value="resnet51"))
    (finding,) = verdict.findings
    assert finding.rule == "rules.submission_benchmark.choice"
    assert '"resnet", "ssd"' in finding.expected
    assert "resnet51" in finding.found


@pytest.mark.parametrize("name", ["../../../../tmp/evil", "/etc/passwd", "resnet_lars/../resnet"])
def test_a_path_as_benchmark_reaches_no_file(name: str, text: Text, tmp_path: Path) -> None:
    beside = tmp_path / "evil.yaml"
    beside.write_text("- KEY: {NAME: seed, REQ: EXACTLY_ONE, CHECK: 'False'}\n", encoding="utf-8")
    verdict = _verdict(text, _set("submission_benchmark", value=name))
    assert not any(finding.rule.startswith("rules.seed") for finding in verdict.findings)
    if verdict.ruleset is not None and verdict.ruleset.official:
        assert not verdict.ok


def test_ranks_are_timed_by_the_first(text: Text) -> None:
    late = deepcopy(text.records)
    for record in late:
        record["time_ms"] += 500
    text.records = [record for pair in zip(text.records, late, strict=True) for record in pair]
    verdict = _verdict(text, lambda _: None)
    assert verdict.ok
    assert verdict.run is not None
    assert verdict.run.minutes == pytest.approx(12.0)


def test_how_much_too_long_the_initialisation_was(text: Text) -> None:
    verdict = _verdict(text, _minutes_later("init_stop", 31))
    (finding,) = verdict.findings
    assert "it took 32.00 minutes, 2.00 over the limit of 30" in finding.message


def test_a_log_cut_short_is_one_finding(text: Text) -> None:
    cut = text.line_of("eval_accuracy", 1)
    text.records = text.records[:cut]
    verdict = _verdict(text, lambda _: None)
    (finding,) = verdict.findings
    assert finding.rule == "run.no_stop"
    assert f"line {cut}" in finding.message
    minutes = (text.records[-1]["time_ms"] - text.find("run_start")["time_ms"]) / 60_000
    assert f"{minutes:.2f} minutes after run_start" in finding.message
    quality = text.find("eval_accuracy", -1)["value"]
    assert f"the last quality is {quality:g}" in finding.message


def test_a_log_cut_before_run_start_is_one_finding(text: Text) -> None:
    text.records = text.records[: text.line_of("init_start")]
    verdict = _verdict(text, lambda _: None)
    (finding,) = verdict.findings
    assert finding.rule == "run.no_stop"
    assert "before run_start" in finding.message


def test_an_aborted_log_says_so_and_nothing_else(text: Text) -> None:
    text.find("eval_accuracy", -1)["value"] = 0.6
    verdict = _verdict(text, _metadata("run_stop", {"status": "aborted"}))
    (finding,) = verdict.findings
    assert finding.rule == "run.status"
    assert '"aborted"' in finding.message
    assert "the last quality is 0.6" in finding.message
    assert "although" not in finding.message


@pytest.mark.parametrize(
    ("length", "prefix"), [(60_000, b":::MLLOG "), (20_000_000, b"noise ")], ids=["token", "other"]
)
def test_long_lines_take_milliseconds(length: int, prefix: bytes, text: Text) -> None:
    body = json.dumps(text.find("seed") | {"key": "note", "value": "x" * length}).encode()
    begin = time.process_time()
    verdict = _verdict(text, _whole(lambda raw: raw + prefix + body + b"\n"))
    assert verdict.ok
    assert time.process_time() - begin < 2  # the official parser takes 8 s for the first
