import io
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.mllog import blocks, iter_log, read, reader
from trainmark.types import Event, Finding, Severity, UsageError


def line(**changes: Any) -> bytes:
    """One record as a line without its end."""
    record = {
        "namespace": "",
        "time_ms": 1000,
        "event_type": "POINT_IN_TIME",
        "key": "a",
        "value": 1,
        "metadata": {},
    }
    return b":::MLLOG " + json.dumps(record | changes).encode()


def parse(raw: bytes) -> tuple[list[Event], list[Finding]]:
    items = list(iter_log(io.BytesIO(raw), "log"))
    return (
        [item for item in items if isinstance(item, Event)],
        [item for item in items if isinstance(item, Finding)],
    )


def test_a_record_with_everything() -> None:
    raw = line(
        key="eval_accuracy",
        value=0.5,
        metadata={"epoch_num": 4},
        namespace="w",
        event_type="INTERVAL_END",
        time_ms=1234.5,
    )
    (event,), findings = parse(b"noise\n" + raw + b"\n")
    assert findings == []
    assert event == Event(
        key="eval_accuracy",
        value=0.5,
        metadata={"epoch_num": 4},
        time_ms=1234.5,
        kind="INTERVAL_END",
        line_no=2,
        namespace="w",
    )


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (line(), [1]),
        (line() + b"\n" + line() + b"\n", [1, 2]),
        (b"x\n\n" + line() + b"\nx\n" + line(), [3, 5]),
        (line() + b"\r\n" + line() + b"\r\n", [1, 2]),
        (line() + b"\r" + line() + b"\r", [1, 2]),
        (b"10%\r20%\r" + line() + b"\r30%\n" + line() + b"\n", [1, 2]),
        (line() + b"\n\r\n" + line(), [1, 3]),
        # Records apart by a carriage return: all are read, wherever line feeds stand.
        (line() + b"\r" + line() + b"\r" + line() + b"\n", [1, 2, 3]),
        (line() + b"\r" + line() + b"\n" + line() + b"\r\n" + line(), [1, 1, 2, 3]),
        (line() + b"\n" + line() + b"\r" + line() + b"\r10%\r" + line() + b"\n", [1, 2, 2, 2]),
        (line() + b"\r\r\n" + line() + b"\r\r\n", [1, 2]),
        (b"\xef\xbb\xbf" + line() + b"\n", [1]),
        (b"0: " + line() + b"\n" + b"\xff\xfe rank 1 " + line(), [1, 2]),
        (line() + b" \t \n" + line(value="a\u2028b"), [1, 2]),
    ],
)
def test_line_numbers_are_those_of_the_file(raw: bytes, lines: list[int]) -> None:
    events, findings = parse(raw)
    assert findings == []
    assert [event.line_no for event in events] == lines


@pytest.mark.parametrize(
    ("raw", "rule", "events"),
    [
        (b":::MLLOG", "log.json", 0),
        (b":::MLLOG {", "log.json", 0),
        (b":::MLLOG run_start", "log.json", 0),
        (line() + b"}", "log.json", 1),
        (line() + b" x", "log.json", 1),
        (line()[:20] + b"\0" + line()[20:], "log.json", 0),
        (b':::MLLOG "text"', "log.record", 0),
        (b":::MLLOG null", "log.record", 0),
        (b":::MLLOG {}", "log.record", 0),
        (b':::MLLOG {"key": "a"}', "log.record", 1),
        (line(time_ms=None), "log.record", 1),
        (line(time_ms="soon"), "log.record", 1),
        (line(time_ms=[1]), "log.record", 1),
        (line(time_ms="1000"), "log.time", 1),
        (line(time_ms=True), "log.time", 1),
        (line(time_ms=-1), "log.time", 1),
        (line(time_ms=math.nan), "log.time", 1),
        (line(time_ms=math.inf), "log.time", 1),
        (line(key=None), "log.key", 0),
        (line(key=["a"]), "log.key", 0),
        (line(metadata=None), "log.metadata", 1),
        (line(metadata=[]), "log.metadata", 1),
        (line() + line(), "log.two_records", 2),
        (line()[:30] + line(), "log.torn", 1),
        (line() + b" x " + line(), "log.torn", 2),
        (b":::MLLOG " + b"[" * 100_000, "log.json", 0),
        (b":::MLLOG " + b"9" * 10_000, "log.json", 0),
    ],
)
def test_what_is_wrong_with_a_line_is_said_and_the_rest_is_read(
    raw: bytes, rule: str, events: int
) -> None:
    found, (finding,) = parse(line(key="before") + b"\n" + raw + b"\n" + line(key="after"))
    assert (finding.rule, finding.line_no, finding.severity) == (rule, 2, Severity.ERROR)
    assert finding.fix
    assert [event.key for event in found] == ["before", *["a"] * events, "after"]


def test_time_zero_stands_for_no_time() -> None:
    assert parse(line(time_ms=0))[1] == []


def test_numbers_that_json_does_not_have() -> None:
    (event,), findings = parse(line(value=[math.nan, math.inf, 10**30]))
    assert findings == []
    assert math.isnan(event.value[0])
    assert event.value[1:] == [math.inf, 10**30]


def test_latin1_and_utf8_are_read() -> None:
    (latin,), findings = parse(line(value="X").replace(b'"X"', '"Müller"'.encode("latin-1")))
    (utf8,), more = parse(line(value="X").replace(b'"X"', '"Müller"'.encode()))
    assert findings == more == []
    assert latin.value == utf8.value == "Müller"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_named(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    events, (finding,) = parse(mark + line().decode().encode(encoding))
    assert events == []
    assert finding.rule == "log.encoding"
    assert "iconv" in finding.fix


def test_a_token_inside_a_value_is_text() -> None:
    (event,), findings = parse(line(value="a :::MLLOG {} b"))
    assert (event.value, findings) == ("a :::MLLOG {} b", [])


def test_many_records_without_a_line_feed() -> None:
    events, findings = parse(line() * 3000)
    assert len(events) == 3000
    assert {finding.rule for finding in findings} == {"log.two_records"}


def test_a_line_of_broken_records_ends() -> None:
    begin = time.process_time()
    events, findings = parse(b':::MLLOG "' * 100_000 + b"\n" + line())
    assert [event.line_no for event in events] == [2]
    assert 0 < len(findings) <= 200
    assert time.process_time() - begin < 2


def test_a_record_beyond_the_limit_is_reported_once_and_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "MAX_RECORD_BYTES", 5000)
    monkeypatch.setattr(blocks, "_PIECE_BYTES", 1000)
    long = line(value="x" * 20_000 + ":::MLLOG {} " + "y" * 20_000)
    events, (finding,) = parse(line() + b"\n" + long + b"\n" + line(key="b") + b"\n")
    assert (finding.rule, finding.line_no) == ("log.length", 2)
    assert [(event.key, event.line_no) for event in events] == [("a", 1), ("b", 3)]


def test_shown_lines_are_short_and_printable() -> None:
    _, (finding,) = parse(b":::MLLOG \x1b[2J{" + b"\xff" * 10_000)
    assert len(finding.line) <= 160
    assert finding.line.isprintable()


_PIECES = st.lists(
    st.sampled_from(
        [
            line(),
            line(key="b", value="é"),
            b":::MLLOG {",
            b"noise",
            b"",
            b"\x00",
            b":::",
            b":::MLLOG",
            line() + line(),
            b"\xff\xff",
        ]
    ),
    max_size=12,
)


@given(pieces=_PIECES, newline=st.sampled_from([b"\n", b"\r\n"]), size=st.integers(1, 200))
def test_the_size_of_the_pieces_read_does_not_matter(
    pieces: list[bytes], newline: bytes, size: int
) -> None:
    raw = newline.join(pieces)
    whole = parse(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_PIECE_BYTES", size)
        assert parse(raw) == whole


@given(st.binary(max_size=300), st.lists(st.binary(max_size=60), max_size=4))
def test_nothing_that_a_file_can_hold_raises(start: bytes, bodies: list[bytes]) -> None:
    raw = start + b"\n".join(b":::MLLOG" + body for body in bodies)
    events, findings = parse(raw)
    last = raw.count(b"\n") + raw.count(b"\r") + 1
    assert all(1 <= event.line_no <= last for event in events)
    assert all(1 <= (finding.line_no or 0) <= last for finding in findings)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=_JSON, metadata=st.dictionaries(st.text(), _JSON, max_size=3), key=st.text())
def test_what_json_holds_is_read_as_json_reads_it(
    value: Any, metadata: dict[str, Any], key: str
) -> None:
    raw = line(value=value, metadata=metadata, key=key)
    (event,), findings = parse(raw)
    assert findings == []
    expected = json.loads(raw.split(b" ", 1)[1])
    assert repr(event.value) == repr(expected["value"])  # repr: NaN equals itself
    assert repr(event.metadata) == repr(expected["metadata"])
    assert event.key == key


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_bytes(line() + b"\n:::MLLOG {\n" + line() + line() + b"\nnoise\n")
    log = read(path)
    assert log.source == str(path)
    assert [event.line_no for event in log.events] == [1, 3, 3]
    assert [finding.rule for finding in log.findings] == ["log.json", "log.two_records"]
    assert log.token_lines == 3


@pytest.mark.parametrize("name", ["absent", "."])
def test_a_file_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read") as caught:
        read(tmp_path / name)
    assert "result_0.txt" in caught.value.hint


@pytest.mark.parametrize("inner", ["1", "NaN"])  # read by orjson, and by Python's own reader
@pytest.mark.parametrize("field", ["value", "metadata", "namespace", "event_type"])
@pytest.mark.parametrize("depth", [500, 900, 1020, 100_000])
def test_a_deep_record_is_one_finding(inner: str, field: str, depth: int) -> None:
    deep = '{"a":' + "[" * depth + inner + "]" * depth + "}"
    raw = line(**{field: "@"}).replace(b'"@"', deep.encode())
    events, findings = parse(line() + b"\n" + raw + b"\n" + line())
    assert [event.line_no for event in events] == [1, 3]
    assert [finding.line_no for finding in findings] == [2]
    assert findings[0].rule in ("log.depth", "log.json")


def test_the_depth_that_is_read_can_be_printed_and_compared() -> None:
    value: Any = 1
    for _ in range(reader.MAX_DEPTH - 1):  # the record itself is one
        value = [value]
    (event,), findings = parse(line(value=value))
    assert (event.value, findings) == (value, [])
    _, findings = parse(line(value=[value]))
    assert [finding.rule for finding in findings] == ["log.depth"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_its_mark_is_told(encoding: str) -> None:
    events, (finding,) = parse((b"a line\n" + line()).decode().encode(encoding))
    assert events == []
    assert finding.rule == "log.encoding"


@pytest.mark.parametrize("start", [b"\0", b"\0" * 20, b"x\0y\0", b"\0x\0y\0z", b""])
def test_some_nul_bytes_are_no_utf_16(start: bytes) -> None:
    events, findings = parse(start + b"\n" + line())
    assert len(events) == 1
    assert findings == []
