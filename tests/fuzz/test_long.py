"""The longer runs find what they are to find, and say so."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import long
from tests.fuzz.corpus import corpus

_FOLDER = Path(__file__).parent


def test_the_same_number_is_the_same_log(tmp_path: Path) -> None:
    logs = corpus(tmp_path)
    for kind in ("lines", "files"):
        made = [long.damaged(kind, number, logs) for number in range(20)]
        assert made == [long.damaged(kind, number, logs) for number in range(20)]
        assert len({data for data, _ in made}) > 15


def test_logs_that_hold_are_counted() -> None:
    report = long.run(long.Task("lines", range(3), ""))
    assert (report.logs, report.lines, report.failures) == (3, 60, [])
    assert report.findings.total() > 3


def test_any_exception_is_a_failure_and_the_log_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_data: bytes, _round_name: str | None) -> None:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(long, "check_holds", breaks)
    report = long.run(long.Task("files", range(7, 9), str(tmp_path)))
    assert report.logs == 2
    assert len(report.failures) == 2
    assert report.failures[0].startswith("files 7: ")
    assert "broken on purpose" in report.failures[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files_7.txt", "files_8.txt"]


def test_nothing_asked_for_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["long.py"])
    with pytest.raises(SystemExit):
        long.main()
    assert "say how much" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("atheris") is not None, reason="atheris is here")
def test_the_guided_run_says_what_it_needs(tmp_path: Path) -> None:
    command = [sys.executable, str(_FOLDER / "guided.py"), str(tmp_path / "inputs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install atheris" in done.stderr
    assert not (tmp_path / "inputs").exists()
