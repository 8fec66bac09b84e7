import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.findings import finding, verdict
from trainmark.cli import check_lines
from trainmark.cli.check_lines import lines_at, with_lines

TEXTS = st.lists(
    st.sampled_from([b"a", b"bcd", b"\n", b"\r", b"\r\n", b"\0", b"\xff"]), max_size=40
).map(b"".join)


def _lines(data: bytes) -> list[bytes]:
    """The lines as Python's universal newlines have them, an unended last one included."""
    return re.split(rb"\r\n|\r|\n", data)


@settings(max_examples=200, deadline=None)
@given(data=TEXTS, size=st.integers(1, 9), head=st.integers(4, 40))
def test_lines_are_those_of_universal_newlines(data: bytes, size: int, head: int) -> None:
    """Whatever the size of the pieces in which the file is read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_lines, "_PIECE_BYTES", size)
        patch.setattr(check_lines, "_HEAD_BYTES", head)
        expected = _lines(data)
        numbers = range(1, len(expected) + 2)
        found = check_lines._scan(io.BytesIO(data), numbers)
    wanted = {number: line[:head] for number, line in enumerate(expected, start=1)}
    if not expected[-1]:  # nothing stands after the last end of a line
        found.pop(len(expected), None)
        wanted.pop(len(expected))
    assert found == wanted


def test_findings_get_their_lines(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(b"first\r\n  second \xff\n" + b"x" * 5_000_000 + b"\nfourth")
    at = [finding(line_no=number, path=str(log)) for number in (2, 3, 4, 9)]
    other = finding(line_no=1, path=str(log), line="has one")
    elsewhere = finding(line_no=1, path=str(tmp_path / "scaling.json"))
    unplaced = finding(path=str(log))
    whole = verdict(str(log), *at, other, elsewhere, unplaced)
    lines = [one.line for one in with_lines(whole).findings]
    assert lines == ["second \udcff", "x" * 157 + "...", "fourth", "", "has one", "", ""]
    assert with_lines(replace(whole, kind="folder")).findings == whole.findings


def test_what_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    assert lines_at(tmp_path / "absent", [1]) == {}
    assert lines_at(tmp_path, [1]) == {}
    assert lines_at(Path("/dev/zero"), [1]) == {}
    assert lines_at(Path("a\0b"), [1]) == {}
    (tmp_path / "empty").touch()
    assert lines_at(tmp_path / "empty", [1]) == {}
    (tmp_path / "x").write_text("a\nb\n")
    assert lines_at(tmp_path / "x", []) == {}


def test_lines_far_down_are_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_lines, "_PIECE_BYTES", 4)
    monkeypatch.setattr(check_lines, "_MOST_BYTES", 8)
    (tmp_path / "x").write_text("a\n" * 100)
    assert lines_at(tmp_path / "x", [2, 50]) == {2: "a"}
