import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.logs import Clock
from trainmark.mllog import LogWriter, read, steady_time_ms
from trainmark.types import TrainmarkError, UsageError


def test_the_three_kinds_of_record(tmp_path: Path) -> None:
    clock = Clock(5000)
    with LogWriter(tmp_path / "log.txt", now_ms=clock) as log:
        log.point("seed", 7)
        clock.wait(1.5)
        log.start("run_start")
        log.stop("run_stop", None, status="success", epoch_num=3)
    events = read(tmp_path / "log.txt").events
    assert [(e.key, e.value, e.kind, e.time_ms) for e in events] == [
        ("seed", 7, "POINT_IN_TIME", 5000),
        ("run_start", None, "INTERVAL_START", 6500),
        ("run_stop", None, "INTERVAL_END", 6500),
    ]
    assert events[2].metadata == {"status": "success", "epoch_num": 3}


def test_the_official_parser_reads_it(tmp_path: Path) -> None:
    from mlperf_logging.compliance_checker import mlp_parser

    with LogWriter(tmp_path / "log.txt") as log:
        log.point("submission_org", "Müller & Söhne", note="ä")
    (record,), errors = mlp_parser.parse_file(str(tmp_path / "log.txt"), ruleset="4.0.0")
    assert errors == []
    assert record.key == "submission_org"


def test_every_record_is_on_disk_at_once(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log.txt")
    for number in range(3):
        log.point("a", number)
        assert len(read(tmp_path / "log.txt").events) == number + 1
    log.close()


def test_a_log_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(UsageError, match="never overwritten"):
        LogWriter(path)
    assert path.read_text(encoding="utf-8") == "precious"
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "elsewhere.txt")
    with pytest.raises(UsageError, match="exists already"):
        LogWriter(link)
    assert not (tmp_path / "elsewhere.txt").exists()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot create .*absent") as caught:
        LogWriter(tmp_path / "absent" / "log.txt")
    assert "--out" in caught.value.hint


def _fill_the_disk(log: LogWriter) -> None:
    """From now on the log's disk is full."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, log._file)
    os.close(full)


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log.txt")
    log.point("a", 1)
    _fill_the_disk(log)
    with pytest.raises(TrainmarkError, match="after 1 records: No space left") as caught:
        log.point("b", 2)
    assert caught.value.exit_code == 1
    assert "Free some space" in caught.value.hint
    assert [event.key for event in read(tmp_path / "log.txt").events] == ["a"]


def _write_to_a_full_disk(path: Path) -> None:
    with LogWriter(path) as log:
        _fill_the_disk(log)
        log.point("b", 2)


def test_a_full_disk_ends_the_with_block_with_that_error(tmp_path: Path) -> None:
    with pytest.raises(TrainmarkError, match="No space left"):
        _write_to_a_full_disk(tmp_path / "log.txt")


def test_a_log_that_cannot_be_made_durable_is_reported(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "log.txt")
    _fill_the_disk(log)
    with pytest.raises(TrainmarkError, match="cannot write"):
        log.close()


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data[:7])))
    with LogWriter(tmp_path / "log.txt") as log:
        log.point("a", "x" * 100)
    monkeypatch.undo()
    (event,) = read(tmp_path / "log.txt").events
    assert event.value == "x" * 100


def test_a_killed_writer_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    code = (
        "import sys; from pathlib import Path; from trainmark.mllog import LogWriter\n"
        "log = LogWriter(Path(sys.argv[1]))\n"
        "for n in range(10**9): log.point('a', n)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as writer:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 10_000):
            time.sleep(0.01)
        writer.send_signal(signal.SIGKILL)
    log = read(path)
    assert log.findings == ()
    assert [event.value for event in log.events] == list(range(len(log.events)))
    assert len(log.events) > 50


def test_the_clock_is_the_time_of_day_and_never_runs_backwards() -> None:
    assert abs(steady_time_ms() - time.time() * 1000) < 5000
    times = [steady_time_ms() for _ in range(1000)]
    assert times == sorted(times)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_hold_is_null(value: float, tmp_path: Path) -> None:
    with LogWriter(tmp_path / "log.txt") as log:
        log.point("eval_accuracy", value)
    assert read(tmp_path / "log.txt").events[0].value is None


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), min_size=1),
            _VALUES,
            st.dictionaries(st.text(st.characters(codec="utf-8")), _VALUES, max_size=3),
        ),
        max_size=5,
    )
)
def test_what_is_written_is_read(
    records: list[tuple[str, Any, dict[str, Any]]], tmp_path: Path
) -> None:
    path = tmp_path / "log.txt"
    path.unlink(missing_ok=True)
    with LogWriter(path) as log:
        for key, value, metadata in records:
            log.point(key, value, **metadata)
    back = read(path)
    assert back.findings == ()
    assert [(e.key, e.value, dict(e.metadata)) for e in back.events] == records
    assert log.records == len(records)
    lines = path.read_bytes().split(b"\n")
    assert all(json.loads(one.split(b" ", 1)[1]) for one in lines if one)
