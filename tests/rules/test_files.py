"""One file at a time, whatever its size."""

from pathlib import Path

import pytest

from tests.logs import Text, write_desk
from trainmark.rules import CheckOptions
from trainmark.rules import files as checked
from trainmark.rules.files import Untold, check_file
from trainmark.rules.verdict import Verdict


def check(path: Path) -> Verdict:
    verdict = check_file(path, CheckOptions())
    assert not isinstance(verdict, Untold)
    return verdict


def test_a_large_log_is_judged_like_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write_desk(tmp_path / "result_0.txt")
    text = Text.read(write_desk(tmp_path / "result_1.txt"))
    text.find("eval_accuracy", -1)["value"] = 0.5
    bad = text.write()
    small = [check(path) for path in (good, bad)]
    monkeypatch.setattr(checked, "_LARGE_BYTES", 0)
    large = [check(path) for path in (good, bad)]
    assert [one.findings for one in large] == [one.findings for one in small]
    assert [one.run and one.run.minutes for one in large] == [
        one.run and one.run.minutes for one in small
    ]
    assert small[0].ok
    assert not small[1].ok


def test_a_log_that_vanishes_is_a_finding(tmp_path: Path) -> None:
    verdict = check(tmp_path / "gone.txt")
    assert [finding.rule for finding in verdict.findings] == ["log.unreadable"]
