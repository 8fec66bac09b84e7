from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.findings import finding, verdict
from trainmark.cli.check_lines import with_lines


def _shown(log: Path, *numbers: int) -> list[str]:
    """The lines that findings with these numbers get."""
    findings = [finding(line_no=number, path=str(log)) for number in numbers]
    return [one.line for one in with_lines(verdict(str(log), *findings)).findings]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_findings_get_their_lines(end: bytes, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(end.join([b"first", b"second \x1b[31m", b"x" * 3_000_000, b"", b"fifth"]) + end)
    first, second, third, fifth, sixth = _shown(log, 1, 2, 3, 5, 9)
    assert (first, fifth, sixth) == ("first", "fifth", "")
    assert second.startswith("second ")
    assert "\x1b" not in second
    assert third.startswith("x" * 150)
    assert len(third) <= 160


def test_what_has_a_line_or_another_file_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_text("first\nsecond\n")
    has_one = finding(line_no=1, path=str(log), line="has one")
    elsewhere = finding(line_no=1, path=str(tmp_path / "scaling.json"))
    unplaced = finding(path=str(log))
    lacking = finding(line_no=2, path=str(log))
    whole = verdict(str(log), has_one, elsewhere, unplaced, lacking)
    assert [one.line for one in with_lines(whole).findings] == ["has one", "", "", "second"]
    folder = replace(whole, kind="folder")
    assert with_lines(folder) is folder


def test_a_log_that_has_gone_changes_nothing(tmp_path: Path) -> None:
    assert _shown(tmp_path / "absent", 1) == [""]
    assert _shown(tmp_path, 1) == [""]


def test_a_line_of_utf_16_is_not_shown(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_text(":::MLLOG {}\n", encoding="utf-16")
    whole = verdict(str(log), finding("log.encoding", line_no=1, path=str(log)))
    assert [one.line for one in with_lines(whole).findings] == [""]
