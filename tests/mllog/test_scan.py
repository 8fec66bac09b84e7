"""A scan of a log for some keys finds what reading all of it finds."""

import functools
import io
import json
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutate_file
from tests.mllog.test_bounds import Endless
from trainmark.mllog import count_ranks, read_bytes, scan
from trainmark.mllog.exact import TOKEN
from trainmark.types import RunLog

_WANTED = frozenset(
    {"run_start", "run_stop", "eval_accuracy", "seed", "submission_benchmark", "tracked_stats"}
)
_ALL_DAY = settings(deadline=None)


def scanned(data: bytes, wanted: frozenset[str] = _WANTED, **sampled: str) -> RunLog:
    return scan(io.BytesIO(data), "log", wanted, sampled=sampled)


def record(key: str = "run_start", **changes: Any) -> bytes:
    fields = {"time_ms": 1_700_000_000_000, "key": key, "value": 1, "metadata": {"a": 2}}
    return TOKEN + b" " + json.dumps(fields | changes).encode()


def agrees(data: bytes) -> None:
    """The events of a scan are those of a full reading (as text: NaN is not equal to itself)."""
    full, found = read_bytes(data, "log", _WANTED), scanned(data)
    if full.form == "mlp":
        return  # the full reader refuses round 0.5
    assert found.form == full.form
    if full.form == "mll" and b"'" in data:
        assert set(map(repr, full.events)) <= set(map(repr, found.events))
    else:
        assert repr(found.events) == repr(full.events)
    assert set(map(repr, found.findings)) <= set(map(repr, full.findings))


_LINES = (
    record(),
    record("run_stop"),
    record("cache_clear"),
    record("run_start_again"),
    record("eval_accuracy", value=float("nan")),
    record("eval_accuracy", time_ms="12"),
    record("seed", metadata={"key": "run_stop"}),
    record("other", metadata={"key": "run_stop"}),
    record("other", metadata={"a": '"key": "run_start"'}),
    record().replace(b'"key": ', b'"key"  \t:'),
    record().replace(b'"key": ', b'"key":'),
    record().replace(b'"key"', b'"\\u006bey"'),
    record("run_stop").replace(b"run_stop", b"run_\\u0073top"),
    b'{"key": "run_start"} ' + record("cache_clear"),
    record() + record("run_stop"),
    record("cache_clear") + b" " + record("run_stop"),
    record()[:-9],
    record().replace(b'"value": 1, ', b""),
    b'"key": "run_start"',
    record() + b"\r" + record("run_stop") + b"\r",
    record("cache_clear") + b"\rprogress\r" + record("seed"),
    b"\xff\x00 text",
    b"",
)


@_ALL_DAY
@given(
    lines=st.lists(st.sampled_from(_LINES), max_size=12),
    end=st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n"]),
    last=st.booleans(),
)
def test_any_lines_give_the_same_events(lines: list[bytes], end: bytes, last: bool) -> None:
    agrees(end.join(lines) + (end if last else b""))


def test_the_same_across_the_pieces_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1, 7, 64, 250):
        monkeypatch.setattr("trainmark.mllog.blocks._PIECE_BYTES", size)
        agrees(b"\n".join(_LINES))
        agrees(b"\r\n".join(_LINES) + b"\r\n")


@functools.cache
def _corpus() -> tuple[Sequence[bytes], ...]:
    with TemporaryDirectory() as folder:
        return tuple(corpus(Path(folder)))


@_ALL_DAY
@given(rng=st.randoms(use_true_random=False))
def test_damaged_logs_give_the_same_events(rng: Random) -> None:
    agrees(mutate_file(rng, rng.choice(_corpus()), rng.choice(_corpus())))


def test_published_logs_give_the_same_events(shared_logs: Path) -> None:
    logs = sorted(shared_logs.rglob("result_*.txt"))[::3]
    for path in logs:
        agrees(path.read_bytes())
    assert len(logs) > 100


def test_what_cannot_be_read_of_a_wanted_key_is_said_with_its_line() -> None:
    found = scanned(b"\n".join([b"x", record("cache_clear")[:-9], record()[:-9], record()]))
    assert [(one.rule, one.line_no) for one in found.findings] == [("log.json", 3)]
    assert [event.line_no for event in found.events] == [4]
    assert found.token_lines == 2


def test_a_key_that_a_search_cannot_have_is_refused() -> None:
    with pytest.raises(ValueError, match="a/b"):
        scanned(b"", frozenset({"a/b"}))


def test_a_sample_is_even_and_has_the_first() -> None:
    lines = [record("tracked_stats", value={"throughput": n}) for n in range(1000)]
    lines.insert(500, record("run_stop"))
    found = scanned(b"\n".join(lines), tracked_stats="throughput")
    rates = [e.value["throughput"] for e in found.events if e.key == "tracked_stats"]
    assert rates[0] == 0
    assert len(rates) == pytest.approx(125, abs=3)
    assert max(b - a for a, b in pairwise(rates)) < 16
    for period in range(2, 12):  # in step with no pattern
        assert len({rate % period for rate in rates}) == period
    assert set(found.dropped) == {"tracked_stats"}
    assert found.count("run_stop") == 1
    assert [e.line_no for e in found.events] == sorted(e.line_no for e in found.events)


def test_a_sample_is_of_records_with_the_word() -> None:
    loss = record("tracked_stats", value={"loss": 1})
    first = b'{"value": {"throughput": 5}, "key": "tracked_stats", "time_ms": 1, "metadata": {}}'
    found = scanned(b"\n".join([loss, TOKEN + first, loss]), tracked_stats="throughput")
    assert [event.value for event in found.events] == [{"throughput": 5}]
    assert not scanned(b"\n".join([loss] * 100), tracked_stats="throughput").events


def test_another_record_on_a_sampled_line_is_not_lost() -> None:
    both = record("tracked_stats", value={"throughput": 1}) + b" " + record("run_stop")
    found = scanned(both, tracked_stats="throughput")
    assert [event.key for event in found.events] == ["tracked_stats", "run_stop"]
    many = b"\n".join([record("tracked_stats", value={"throughput": 1})] * 40 + [both] * 2)
    assert scanned(many, tracked_stats="throughput").count("run_stop") == 2


def test_a_record_alone_is_kept_wherever_it_stands() -> None:
    for place in range(0, 100, 9):
        lines = [b"x" * 50] * 100
        lines[place] = record("tracked_stats", value={"throughput": 1})
        found = scanned(b"\n".join(lines), tracked_stats="throughput")
        assert (found.count("tracked_stats"), found.dropped) == (1, {})
        assert found.events[0].line_no == place + 1


def test_the_first_is_enough_of_a_key_without_a_word() -> None:
    lines = [b"x", record("cache_clear"), *[record("init_start")] * 50]
    found = scanned(b"\n".join([*lines, b""]), init_start="")
    assert [(e.key, e.line_no) for e in found.events] == [("init_start", 3)]
    assert set(found.dropped) == {"init_start"}


def test_ranks_are_told_though_a_key_is_sampled() -> None:
    lines = [record("init_start")] * 40 + [record()] * 40 + [record("run_stop")] * 40
    log = scanned(b"\n".join(lines), init_start="")
    assert log.count("init_start") < 40
    assert count_ranks(log) == 40


def test_records_of_round_0_6_may_have_single_quotes() -> None:
    line = b":::MLL 15.5 run_stop: {\"value\": null, \"metadata\": {'status': 'success'}}"
    found = scanned(b"\n".join([line, b":::MLL 16 run_stop: {'value': 1", b""]))
    assert [event.metadata for event in found.events] == [{"status": "success"}]
    assert [one.line_no for one in found.findings] == [2]
    assert not read_bytes(line, "log").events  # by the rules it is none


def test_records_of_round_0_5() -> None:
    found = scanned(
        b"DEBUG::::MLPv0.5.0 ncf 1541.5 (a (b).py:1) eval_accuracy: "
        b'{"epoch": 1, "value": 0.5}\r\n'
        b":::MLPv0.5.0 ncf 1542 (<string>:2) run_start\n"
        b':::MLPv0.5.0 ncf 1543 (a.py:3) seed : "none"\n'
        b":::MLPv0.5.0 ncf 1544 (a.py:3) seed: not JSON\n"
        b":::MLPv0.5.0 ncf 1.2.3 (a.py:4) run_stop\n"
        b":::MLPv0.5.0 ncf 1545 (a.py:4) opt_name: 5\n"
    )
    assert found.form == "mlp"
    assert [(e.key, e.value, e.time_ms, e.line_no) for e in found.events] == [
        ("eval_accuracy", {"epoch": 1, "value": 0.5}, 1_541_500, 1),
        ("run_start", None, 1_542_000, 2),
        ("seed", "none", 1_543_000, 3),
        ("seed", "not JSON", 1_544_000, 4),
    ]
    assert [(one.rule, one.line_no) for one in found.findings] == [("log.record", 5)]


def test_the_full_reader_still_refuses_round_0_5() -> None:
    log = read_bytes(b"a\n:::MLPv0.5.0 ncf 1542 (<string>:2) run_start\n" * 2, "log")
    assert [(one.rule, one.line_no) for one in log.findings] == [("log.round_0_5", 2)]
    assert not log.events


def test_a_long_line_without_a_record_is_never_held() -> None:
    stream = Endless((b'"key": "run_start" ' * 50, 60_000), (b"\n" + record(), 1))  # 57 MB
    tracemalloc.start()
    found = scan(stream, "log", _WANTED)  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.count("run_start") == 1
    assert peak < 8 << 20
