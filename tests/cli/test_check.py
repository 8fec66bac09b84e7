import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.logs import RunShape, Text, desk_folder, write_desk, write_folder, write_resnet
from trainmark.cli.main import main

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs ``trainmark check``: exit status, standard output, standard error."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["trainmark", "check", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code, out, err

    return call


def test_a_good_session(check: Call, tmp_path: Path) -> None:
    write_folder(desk_folder(tmp_path), [RunShape(seed=seed) for seed in (1, 2, 3)])
    status, out, err = check(tmp_path)
    assert (status, err) == (0, "")
    assert out == "Valid: 3 logs by trainmark's own rules.\n"


def test_a_bad_log_is_explained(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.find("global_batch_size")["value"] = 0
    line = text.line_of("global_batch_size")
    status, out, _ = check(text.write())
    assert status == 1
    assert f"{text.path}  (trainmark's own rules, by the log's record trainmark_ruleset)" in out
    assert f"error line {line}: global_batch_size: expected that the value is more than 0" in out
    assert "[rules.global_batch_size.value] Log global_batch_size so that" in out
    assert out.splitlines()[-1] == "Not valid: 1 of 1 log has errors by trainmark's own rules."


def test_json(check: Call, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", [RunShape(), RunShape(status="aborted", seed=2)])
    status, out, _ = check(folder, "--json")
    data = json.loads(out)
    assert status == 1
    assert data["ok"] is False
    assert [verdict["kind"] for verdict in data["verdicts"]] == ["log", "log", "folder"]
    assert data["verdicts"][1]["findings"][0]["rule"] == "run.status"


def test_the_round_can_be_named(check: Call, tmp_path: Path) -> None:
    path = write_resnet(tmp_path / "result_0.txt")
    status, out, err = check(path)
    assert (status, out) == (2, "")
    assert "fit equally well" in err
    assert "--round" in err
    status, out, _ = check(path, "--round", "4.0")
    assert status == 0
    assert out == "Valid: 1 log by the rules of MLPerf Training round 4.0.\n"
    status, _, err = check(path, "--round", "12.3")
    assert status == 2
    assert "no rules for round '12.3'" in err


def test_division_and_benchmark_can_be_named(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt"))
    text.drop("submission_division")
    text.find("submission_benchmark")["value"] = "nameless"
    text.write()
    assert check(text.path, "--round", "4.0")[0] == 1
    options = ("--round", "4.0", "--division", "closed", "--benchmark", "resnet")
    assert check(text.path, *options)[0] == 0


def test_several_paths(check: Call, tmp_path: Path) -> None:
    paths = [write_desk(tmp_path / f"{name}.txt") for name in "ab"]
    assert check(*paths)[:2] == (0, "Valid: 2 logs by trainmark's own rules.\n")


@pytest.mark.parametrize("arguments", [(), ("absent",), ("--nonsense", "x")])
def test_wrong_requests(arguments: tuple[str, ...], check: Call) -> None:
    status, out, err = check(*arguments)
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    assert err


def test_at_most_twenty_of_a_kind(check: Call, tmp_path: Path) -> None:
    path = write_desk(tmp_path / "result_0.txt")
    with path.open("a", encoding="utf-8") as log:
        log.writelines(":::MLLOG {broken\n" for _ in range(50))
    status, out, _ = check(path)
    assert status == 1
    assert out.count("[log.json]") == 20
    assert "and 30 more of log.json" in out


def test_nothing_from_a_log_reaches_the_terminal_raw(check: Call, tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;title\x07[bold]\u202e\r"
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.find("submission_division")["value"] = evil
    text.repeat("submission_org", value=evil)
    text.find("run_stop")["metadata"]["status"] = evil
    text.find("seed")["key"] = evil
    path = text.write().rename(tmp_path / "result_\x1b[31m.txt")
    with path.open("ab") as log:
        log.write(b":::MLLOG \x1b[2J{" + evil.encode() + b"\n")
    _, out, _ = check(path)
    assert not [c for c in out if c != "\n" and not c.isprintable()]
    assert "log.json" in out
    _, out, _ = check(path, "--json")
    assert "\x1b" not in out


def test_a_killed_run_says_what_is_missing(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.records = text.records[: text.line_of("block_stop", 2)]
    text.write()
    text.path.write_bytes(text.path.read_bytes() + b':::MLLOG {"namespace": "", "time_')
    status, out, _ = check(text.path)
    assert status == 1
    last = len(text.records)
    assert f'the log ends at line {last} with "block_stop" and a broken line after it' in out
    assert "run it again" in out
    assert out.count("error") == 2  # that, and the sum


def test_warnings_alone_are_no_failure(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.repeat("submission_org")
    status, out, _ = check(text.write())
    assert status == 0
    assert out.endswith("Valid: 1 log by trainmark's own rules; 1 warning.\n")
