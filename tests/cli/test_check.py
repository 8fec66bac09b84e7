import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.calls import Call, calls
from tests.cli.commands import COMMAND
from tests.logs import RunShape, Text, desk_folder, write_desk, write_folder, write_resnet


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return calls("check", monkeypatch, capsys)


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
    assert "fit about equally well" in err
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
    assert out.count("not valid JSON") == 20
    assert out.count("[log.json]") == 1
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


def test_strict_makes_errors_of_warnings(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.repeat("submission_org")
    status, out, _ = check(text.write(), "--strict")
    assert status == 1
    assert "  error line 4: expected exactly one submission_org, found 2 with the same value" in out


@pytest.mark.parametrize("seeds", ["rule", "always"])
def test_seeds_by_the_rule_or_always(seeds: str, check: Call, tmp_path: Path) -> None:
    """Round 2.0 asks for no seeds; the official package checker does all the same."""

    def write(path: Path, shape: RunShape) -> Path:
        return write_resnet(path, shape, round_name="2.0")

    shapes = [RunShape(seed=7, minutes=12 + number) for number in range(5)]  # no copies
    folder = write_folder(tmp_path / "v2.0" / "resnet", shapes, write)
    out = check(folder, "--seeds", seeds, "--format", "json")[1]
    rules = json.loads(out)["counts"]["errors_by_rule"]
    assert ("folder.seeds" in rules) is (seeds == "always")


def test_several_processes_say_the_same(check: Call, tmp_path: Path) -> None:
    shapes = [RunShape(seed=1), *(RunShape(seed=seed, status="aborted") for seed in (2, 3))]
    folder = write_folder(tmp_path / "x", shapes)
    alone = check(folder, "--jobs", "1")
    assert check(folder, "-j", "2") == alone
    assert alone[0] == 1


def test_a_run_that_may_fail_does_not_fail_the_check(check: Call, tmp_path: Path) -> None:
    shapes = [RunShape(seed=1), RunShape(seed=2, status="aborted"), RunShape(seed=3)]
    status, out, _ = check(write_folder(tmp_path / "x", shapes))
    assert status == 0
    assert "the run did not succeed" in out
    assert out.splitlines()[-1].startswith("Valid: 3 logs")
    assert out.splitlines()[-1].endswith("; 1 log does not count, as may be.")


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    """Also the other processes, which are told to stop."""
    for name in "abcdef":
        write_folder(tmp_path / name, [RunShape(status="aborted")])
    process = subprocess.Popen(
        [*COMMAND, "check", str(tmp_path), "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.parametrize("style", ["text", "json", "github", "sarif", "junit"])
def test_a_wrong_request_prints_nothing_in_any_format(
    style: str, check: Call, tmp_path: Path
) -> None:
    write_desk(tmp_path / "result_0.txt")
    status, out, err = check(tmp_path, tmp_path / "absent", "--format", style)
    assert (status, out) == (2, "")
    assert "there is no" in err


def test_here_is_a_path_like_any_other(
    check: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "x", [RunShape(status="aborted"), RunShape(seed=2)])
    monkeypatch.chdir(folder)
    status, out, _ = check(".")
    assert status == 1
    assert out.startswith(".  (2 logs; trainmark's own rules, ")
    assert "  error in result_0.txt line " in out
