"""What holds for any bytes whatever, given to the reader and to the checker as a result log."""

import json
import math
import pickle
from unittest import mock

from trainmark.mllog import blocks, read_bytes
from trainmark.rules import Verdict, check_log
from trainmark.types import Event, Finding, RunLog, TrainmarkError, printable

__all__ = ["NAME", "ROUNDS", "check_holds", "pieces_hold", "read_holds"]

NAME = "result_0.txt"
ROUNDS = ("own", "0.6", "0.7", "1.0", "2.0", "3.1", "4.0", "5.1", "6.1", "hpc-3.0", None)


def read_holds(data: bytes) -> RunLog:
    """Read any bytes and see that what comes out is sound.

    Args:
        data: The bytes.
    """
    log = read_bytes(data, NAME)
    most = _lines(data)
    for event in log.events:
        assert isinstance(event.key, str)
        assert isinstance(event.time_ms, float | int)
        assert isinstance(event.metadata, dict)
        assert 1 <= event.line_no <= most, (event, most)
    lines = [event.line_no for event in log.events]
    assert lines == sorted(lines)
    _findings_hold(log.findings, most)
    assert log.token_lines <= most
    return log


def check_holds(data: bytes, round_name: str | None) -> Verdict | None:
    """Check any bytes and see that the verdict is sound.

    Args:
        data: The bytes.
        round_name: The rules; None to let the log tell, which it need not be able to.

    Returns:
        The verdict; None if nothing told the round.
    """
    log = read_holds(data)
    try:
        verdict = check_log(log, ruleset=round_name)
    except TrainmarkError as error:
        if round_name is not None:
            raise
        _is_printable(str(error))
        return None
    _findings_hold(verdict.findings, _lines(data))
    assert verdict.ok is not any(finding.is_error for finding in verdict.findings)
    assert json.loads(json.dumps(verdict.to_dict()))["ok"] is verdict.ok
    again = pickle.loads(pickle.dumps(verdict))  # as worker processes hand it over
    assert [one.rule for one in again.findings] == [one.rule for one in verdict.findings]
    if not log.events:
        assert not verdict.ok
    return verdict


def pieces_hold(data: bytes, size: int) -> None:
    """See that a log is read the same in small pieces as at once.

    Args:
        data: The bytes.
        size: The size of the pieces, from 1 up.
    """
    after_the_first_line = data[:size].partition(b"\n")[2]
    if b"\r" in data and b"\n" in data and b":::ML" not in after_the_first_line:
        return  # lines are counted by what the first piece has: a megabyte in earnest
    whole = read_bytes(data, NAME)
    with mock.patch.object(blocks, "_PIECE_BYTES", size):
        parts = read_bytes(data, NAME)
    assert list(map(_comparable, parts.events)) == list(map(_comparable, whole.events))
    assert parts.findings == whole.findings
    assert (parts.token_lines, parts.form) == (whole.token_lines, whole.form)


def _comparable(event: Event) -> tuple[object, ...]:
    """The event with NaN equal to itself."""
    time = None if math.isnan(event.time_ms) else event.time_ms
    return (*event[:1], repr(event.value), repr(event.metadata), time, *event[4:])


def _findings_hold(findings: tuple[Finding, ...], most: int) -> None:
    for finding in findings:
        assert finding.line_no is None or 1 <= finding.line_no <= most, (finding, most)
        for text in (finding.message, finding.fix, finding.line, finding.expected, finding.found):
            _is_printable(text)
            assert len(text) < 20_000, finding.rule


def _is_printable(text: str) -> None:
    """No control character, surrogate or hidden mark may reach a terminal."""
    assert printable(text) == text, repr(text)


def _lines(data: bytes) -> int:
    """The most lines that the bytes can be counted as."""
    return data.count(b"\n") + data.count(b"\r") + 1
