"""Reading many lines at once means the same as reading each line exactly."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.mllog import batch, forget, read_bytes
from trainmark.mllog.batch import read_block
from trainmark.mllog.exact import TOKEN, read_line
from trainmark.types import Event, Finding

_TIME = 1_700_000_000_000


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    forget()
    yield
    forget()


def record(**changes: Any) -> bytes:
    fields = {
        "namespace": "",
        "time_ms": _TIME,
        "event_type": "POINT_IN_TIME",
        "key": "a",
        "value": 1,
        "metadata": {"file": "x.py", "lineno": 3},
    }
    return TOKEN + b" " + json.dumps(fields | changes).encode()


def exactly(data: bytes) -> tuple[list[Event], list[Finding]]:
    """Each line by itself, as the file of an exact and slow reader would have it."""
    items: list[Event | Finding] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        for part in line.split(b"\r"):
            token = part.find(TOKEN)
            if token >= 0:
                items += read_line(part[token:], "log", number)
    return (
        [item for item in items if isinstance(item, Event)],
        [item for item in items if isinstance(item, Finding)],
    )


def at_once(data: bytes) -> tuple[list[Event], list[Finding]]:
    found = read_block(data, 1, "log")
    assert found.lines == data.count(b"\n")
    assert found.token_lines == sum(TOKEN in line for line in data.split(b"\n"))
    return found.events, found.findings


_HEAD = TOKEN + b' {"namespace": "", "time_ms": '
# Lines that a reader which knows records by their text could take for one another.
_LINES = [
    record(),
    record(time_ms=_TIME + 5),
    record(time_ms=_TIME + 0.5),
    record(time_ms=12),
    record(time_ms=10 * _TIME),
    record(time_ms=str(_TIME)),
    record(time_ms=-_TIME),
    record(time_ms=None),
    record(key="b"),
    record(key="\u0101"),
    record(value=0.25),
    record(value=1 << 70),
    record(value=-(1 << 63) - 1),
    record(value=1e30),
    record(value={"throughput": 3.5}),
    record(value=float("nan")),
    record(value="a :::MLLOG {} b"),
    record(metadata=None),
    record(metadata={"deep": [[[1]]]}),
    record(namespace="worker"),
    record(namespace=7),
    _HEAD + b'1,"key":"abc", "event_type": "", "value": 1, "metadata": {}}',
    _HEAD + b'1700000000000, "event_type": "", "value": 1, "metadata": {}}',
    _HEAD + b'0700000000000, "event_type": "", "key": "a", "value": 1, "metadata": {}}',
    _HEAD + b'1700000000000, "event_type": "", "key": "a", "value": 1, "metadata": {}}',
    record().replace(b"time_ms", b"time_mS"),
    _HEAD + b'170000000000a, "event_type": "", "key": "a", "value": 1, "metadata": {}}',
    _HEAD + b'1700000000000, "event_type": "", "key": "a", "value": 1, "metadata": {}, '
    b'"time_ms": 5}',
    _HEAD + b'1700000000000, "event_type": "", "key": "a", "value": 1, "metadata": {}, '
    b'"time\\u005fms": 5}',
    _HEAD + b'1700000000000, "event_type": "POINT_IN_TIME", "key": "a", "value": 1, "metada',
    record() + b"\r",
    record() + b"\r 30 %\r",
    record()[:60] + b"\r" + record()[60:],
    record() + b"\r" + record(key="b") + b"\r5%\r0: " + record(value=0.5),
    record() + record(key="b"),
    record()[:40] + record(),
    record().replace(b" ", b""),
    b"0: " + record(),
    b"\x1b[31m" + record() + b"\x1b[0m",
    b"noise",
    b"",
    b"\xff\xfe",
    TOKEN,
    TOKEN + b" null",
    TOKEN + b" [1",
    TOKEN + b" 2]",
]


@given(st.lists(st.sampled_from(_LINES), max_size=30))
def test_many_lines_at_once_mean_what_each_means(lines: list[bytes]) -> None:
    data = b"\n".join([*lines, b""])
    for _ in range(2):  # the second time, records are known
        assert repr(at_once(data)) == repr(exactly(data))  # repr: NaN equals itself


@given(st.lists(st.sampled_from(_LINES), min_size=1, max_size=6), st.data())
def test_damaged_lines_too(lines: list[bytes], data: st.DataObject) -> None:
    text = b"\n".join([record(), *lines, record(), b""])
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin, min(len(text) - 1, begin + 40)))
    text = text[:begin] + data.draw(st.binary(max_size=4)) + text[end:]
    assert repr(at_once(text)) == repr(exactly(text))


def test_a_record_that_comes_again_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = at_once(record() + b"\n")[0]
    monkeypatch.setattr(batch, "orjson", None)
    (again,) = at_once(record(time_ms=_TIME + 1) + b"\n")[0]
    assert again == first[0]._replace(time_ms=_TIME + 1)


def test_what_is_known_is_bounded() -> None:
    lines = [record(key=f"key {number}") for number in range(batch._MOST_KNOWN + 100)]
    for _ in range(2):
        read_bytes(b"\n".join(lines), "log")
    assert sum(map(len, batch._known.values())) <= batch._MOST_KNOWN
    for number in range(2 * batch._MOST_HEADS):
        read_bytes(record(namespace=f"n {number}"), "log")
    assert len(batch._known) <= batch._MOST_HEADS


def test_only_wanted_keys_are_kept_and_the_others_counted() -> None:
    lines = [record(), record(key="b"), record(key="b"), record(key="b", value=float("nan"))]
    lines += [record(key="c", metadata=None)]
    log = read_bytes(b"\n".join(lines), "log", wanted=["a"])
    assert [event.key for event in log.events] == ["a"]
    assert log.dropped == {"b": 3, "c": 1}
    assert [finding.rule for finding in log.findings] == ["log.metadata"]
    assert log.token_lines == 5
