"""The facts of one log are the same whether it is scanned or read as a whole."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.logs import RunShape, write_resnet
from trainmark.catalogue.importing.run_facts import read_run
from trainmark.catalogue.importing.samples import summarize_as
from trainmark.mllog import read_bytes
from trainmark.types import Finding, Run


def facts(data: bytes, benchmark: str = "resnet") -> tuple[Run, tuple[Finding, ...]]:
    return read_run(io.BytesIO(data), "log", benchmark=benchmark, round_name="2.0")


def whole(data: bytes, benchmark: str) -> Run:
    return summarize_as(read_bytes(data, "log"), benchmark)


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    return write_resnet(tmp_path / "log", RunShape(seed=5)).read_bytes()


def test_a_good_log(good: bytes) -> None:
    run, findings = facts(good)
    assert findings == ()
    assert run == whole(good, "resnet")
    assert (run.benchmark, run.division, run.submitter) == ("resnet", "closed", "tester")
    assert (run.seed, run.global_batch_size, run.status) == (5, 4096, "success")
    assert run.minutes == pytest.approx(12.0)
    assert run.init_minutes == pytest.approx(1.0)
    assert run.samples_to_target == 16 * 1_281_167
    assert len(run.evaluations) == 4


def test_a_log_of_several_ranks_is_that_of_the_first(good: bytes) -> None:
    twice = b"".join(line + b"\n" + b"1: " + line + b"\n" for line in good.splitlines())
    run = facts(twice)[0]
    assert run == whole(twice, "resnet")
    assert (run.minutes, run.evaluations) == (facts(good)[0].minutes, facts(good)[0].evaluations)


def test_the_last_start_before_the_first_stop_counts(good: bytes) -> None:
    lines = good.decode().splitlines()
    start = next(line for line in lines if '"run_start"' in line)
    record = json.loads(start.removeprefix(":::MLLOG "))
    later = ":::MLLOG " + json.dumps(record | {"time_ms": record["time_ms"] + 60_000})
    lines.insert(lines.index(start) + 1, later)
    assert facts("\n".join(lines).encode())[0].minutes == pytest.approx(11.0)


def test_times_in_seconds(good: bytes) -> None:
    lines = [json.loads(line.removeprefix(b":::MLLOG ")) for line in good.splitlines()]
    begin = lines[0]["time_ms"]
    changed = [
        {k: v for k, v in one.items() if k != "time_ms"}
        | {"time_s": (one["time_ms"] - begin) / 1e3}
        for one in lines
    ]
    text = "\n".join(":::MLLOG " + json.dumps(one) for one in changed)
    run, findings = facts(text.encode())
    assert run.minutes == pytest.approx(12.0)
    assert {one.rule for one in findings} == {"log.record"}


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_other_ends_of_lines(good: bytes, end: bytes) -> None:
    assert facts(good.replace(b"\n", end))[0] == facts(good)[0]


@pytest.mark.parametrize("data", [b"", b"not a log", b"\0" * 99, b'"key": "run_start"'])
def test_what_is_no_log_has_no_facts(data: bytes) -> None:
    run, _ = facts(data)
    assert (run.minutes, run.status, run.quality, run.evaluations) == (None, None, None, ())


def test_published_logs(shared_logs: Path) -> None:
    compared = 0
    for path in sorted(shared_logs.rglob("result_*.txt"))[::5]:
        data, benchmark = path.read_bytes(), path.parent.name
        scanned, read = facts(data, benchmark)[0], whole(data, benchmark)
        if "'" in data.decode("latin-1") and ":::MLL " in data.decode("latin-1"):
            continue  # round 0.6 in single quotes: a full reading follows the rules
        rate, sampled = read.samples_per_second, scanned.samples_per_second
        assert sampled == (None if rate is None else pytest.approx(rate, rel=0.05))
        assert repr(replace(scanned, samples_per_second=None)) == repr(
            replace(read, samples_per_second=None)
        ), path
        compared += 1
    assert compared > 50
