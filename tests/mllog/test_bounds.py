"""Memory stays bounded whatever a log holds."""

import io
import tracemalloc
from pathlib import Path

import pytest

from trainmark.mllog import excerpts, kept, read, read_bytes
from trainmark.mllog.blocks import blocks
from trainmark.types import RunLog


def record(key: str, value: str = "1") -> bytes:
    return b':::MLLOG {"time_ms": 1, "key": "%b", "value": %b, "metadata": {}}\n' % (
        key.encode(),
        value.encode(),
    )


class Endless(io.RawIOBase):
    """A stream that gives the same bytes again and again, and never holds them together."""

    def __init__(self, *runs: tuple[bytes, int]) -> None:
        self._runs = list(runs)

    def read(self, size: int = -1) -> bytes:
        if not self._runs:
            return b""
        (text, count), rest = self._runs[0], self._runs[1:]
        some = max(1, size // len(text))
        self._runs = [(text, count - some), *rest] if count > some else rest
        return text * min(some, count)


def test_a_long_line_without_a_token_is_never_held() -> None:
    stream = Endless((b"x" * 997, 60_000), (b"\n" + record("a"), 1))  # 60 MB
    tracemalloc.start()
    lengths = [len(block.data or b"") for block in blocks(stream)]  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(lengths) < 2 << 20
    assert peak < 8 << 20


def test_a_long_record_is_held_up_to_the_limit_alone() -> None:
    stream = Endless((b":::MLLOG ", 1), (b"x" * 1000, 60_000), (b"\n" + record("a"), 1))
    found = list(blocks(stream))  # type: ignore[arg-type]
    assert [block.data is None for block in found] == [True, False]
    assert found[1].data == b"\n" + record("a")


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_EVENTS", 10)
    monkeypatch.setattr(kept, "_MOST_OF_A_KEY", 3)
    monkeypatch.setattr(kept, "_MOST_FINDINGS", 5)
    monkeypatch.setattr(kept, "_MOST_NAMES", 4)
    monkeypatch.setattr("trainmark.mllog.blocks._PIECE_BYTES", 64)


def keys_of(log: RunLog) -> list[str]:
    return [event.key for event in log.events]


@pytest.mark.usefixtures("small_bounds")
def test_beyond_the_bounds_the_first_of_each_key_are_kept_and_it_is_said() -> None:
    log = read_bytes(record("a") * 30 + record("run_stop"), "log")
    assert keys_of(log) == ["a"] * 13 + ["run_stop"]
    (finding,) = log.findings
    assert (finding.rule, finding.is_error) == ("log.records", True)
    assert "17 of a" in finding.message
    assert log.dropped == {"a": 17}
    assert log.token_lines == 31


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize(
    "large", [f'"{"x" * 600}"', str([1] * 300), '{"a": {}}', '{"%s": 1}' % ("k" * 600)]
)
def test_large_records_count_by_their_size(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_BYTES", 1500)
    log = read_bytes(record("a", f'"{"x" * 600}"') * 3 + record("b", large) + record("c"), "log")
    assert keys_of(log) == ["a", "a", "a", "c"]
    assert log.findings[-1].rule == "log.records"


@pytest.mark.usefixtures("small_bounds")
def test_there_is_an_end_to_what_is_kept_beyond_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST_FURTHER_EVENTS", 5)
    log = read_bytes(b"".join(record(f"k{number}") for number in range(50)), "log")
    assert len(log.events) == 15
    assert sum(log.dropped.values()) == 35


@pytest.mark.usefixtures("small_bounds")
def test_the_names_that_are_counted_are_bounded() -> None:
    log = read_bytes(b"".join(record(f"k{number}") for number in range(50)), "log", wanted=[])
    assert len(log.dropped) == 5
    assert sum(log.dropped.values()) == 50


@pytest.mark.usefixtures("small_bounds")
def test_many_broken_lines_are_a_few_findings_and_a_count() -> None:
    log = read_bytes(b":::MLLOG {\n" * 50 + record("a"), "log")
    assert [finding.rule for finding in log.findings] == ["log.json"] * 6
    assert log.findings[-1].message.startswith("45 more")
    assert keys_of(log) == ["a"]


def test_excerpts_are_the_lines_by_number(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\r\n\x1b[2Jtwo\n" + b"y" * 5000 + b"\nfour")
    shown = excerpts(path, [4, 2, 3, 9, 1, 1, 0])
    assert shown.keys() == {1, 2, 3, 4}
    assert (shown[1], shown[2], shown[4]) == ("one", "\ufffd[2Jtwo", "four")
    assert len(shown[3]) == 160
    assert excerpts(tmp_path / "absent", [1]) == {}


def test_excerpts_agree_with_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x\n" * 700_000 + record("here") + b"y\n" * 700_000 + record("there"))
    log = read(path)
    shown = excerpts(path, [event.line_no for event in log.events])
    assert ['"here"' in shown[700_001], '"there"' in shown[1_400_002]] == [True, True]


def test_records_apart_by_carriage_returns_are_read_in_pieces_too() -> None:
    head = record("a").replace(b"\n", b"\r") * 3
    for end in (b"\n", record("b") * 40_000):  # the rest of the file has line feeds
        log = read_bytes(head * 10_000 + end, "log")
        assert log.findings == ()
        assert len(log.events) == 30_000 + (40_000 if len(end) > 1 else 0)
        numbers = [event.line_no for event in log.events]
        assert numbers == list(range(1, len(numbers) + 1))
