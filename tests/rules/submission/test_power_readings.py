"""The readings that are found by a search are those that are read line by line."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.rules.submission import power_logs
from trainmark.rules.submission.power_logs import PowerLog, power_log_in
from trainmark.rules.submission.power_readings import Sample, plain_readings

PLACE = PurePosixPath("power/result_0/node_0.txt")
SPACED = (
    ':::MLLOG {"namespace": "", "time_ms": %d, "event_type": "POINT_IN_TIME", '
    '"key": "power_reading", "value": %s, "metadata": %s}'
)
START = (
    ':::MLLOG {"namespace":"","time_ms":1700000000000,"event_type":"INTERVAL_START",'
    '"key":"power_measurement_start","value":"null","metadata":""}'
)
PLAIN = [
    SPACED % (1_700_000_001_000, "2090", '""'),
    SPACED % (1_700_000_003_500, "2103.5", "{}"),
    SPACED % (1_700_000_002_000, "0", '{"file": "a b/c.py", "lineno": 7}'),
    (SPACED % (1_700_000_004_000, "12", '""')).replace(": ", ":").replace(", ", ","),
]
OTHERS = [
    START,
    START.replace("start", "stop").replace("START", "STOP"),
    SPACED.replace("power_reading", "conversion_eff") % (1_700_000_000_500, "0.94", "{}"),
    "",
    "some other text",
    "0: " + PLAIN[0],
    PLAIN[0] + PLAIN[1],
    PLAIN[0] + " and more",
    PLAIN[0][:-5],
    SPACED % (1_700_000_001_000, "-3", "{}"),
    SPACED % (1_700_000_001_000, "null", "{}"),
    SPACED % (1_700_000_001_000, "007", "{}"),
    SPACED % (1_700_000_001_000, "1e3", "{}"),
    SPACED % (17, "5", "{}"),
    SPACED % (1_700_000_001_000, "5", '{"file": "\\", "lineno": 7}'),
    SPACED % (1_700_000_001_000, "5", '{"file": "\x01", "lineno": 7}'),
    SPACED % (1_700_000_001_000, "5", '{"time_ms": 3}'),
    ":::MLL 1700000001.5 power_reading: " + '{"value": 5, "metadata": {}}',
    "\r",
]


def line_by_line(data: bytes) -> PowerLog:
    """The same without the search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(power_logs, "plain_readings", lambda *_: None)
        return power_log_in(data, PLACE)


@given(st.lists(st.sampled_from(PLAIN * 4 + OTHERS), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_a_search_reads_what_a_reader_reads(lines: list[str], end: str) -> None:
    data = end.join([START, *lines]).encode()
    assert power_log_in(data + end.encode(), PLACE) == line_by_line(data + end.encode())
    assert power_log_in(data, PLACE) == line_by_line(data)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_lines_are_found_by_the_search(end: str) -> None:
    found = plain_readings(end.join([START, *PLAIN, "other", *PLAIN]).encode(), "x")
    assert found is not None
    samples, log = found
    assert samples[1] == Sample(time_ms=1_700_000_003_500.0, watts=2103.5, line_no=3)
    assert [sample.line_no for sample in samples] == [2, 3, 4, 5, 7, 8, 9, 10]
    assert [event.key for event in log.events] == ["power_measurement_start"]
    assert log.token_lines == 9


@pytest.mark.parametrize("line", [SPACED % (1_700_000_001_000, "-3", "{}"), "\r"])
def test_what_is_odd_is_read_line_by_line(line: str) -> None:
    assert plain_readings("\n".join([START, *PLAIN, line]).encode(), "x") is None
