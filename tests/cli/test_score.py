import json
import os
from pathlib import Path

import pytest

from tests.cli.calls import Call, calls
from tests.logs import CONVERGED, RunShape, desk_folder, write_desk, write_folder, write_resnet

RUNS = [RunShape(seed=seed, minutes=minutes) for seed, minutes in ((1, 3), (2, 1), (3, 2))]


@pytest.fixture
def score(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs ``trainmark score``: exit status, standard output, standard error."""
    return calls("score", monkeypatch, capsys)


def test_a_session(score: Call, tmp_path: Path) -> None:
    folder = write_folder(desk_folder(tmp_path), RUNS)
    status, out, err = score(tmp_path)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        str(folder),
        "  2.000 minutes  resnet50_desk, trainmark's own rules",
        "  own benchmark, official formula: 3 runs; the middle value",
        "    result_0.txt  3.000",
        "    result_1.txt  1.000",
        "    result_2.txt  2.000",
        "",
        "Scores are unverified unless MLCommons has published them.",
    ]


def test_fewer_runs_than_required_are_said_plainly(score: Call, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", RUNS, write_resnet)
    status, out, _ = score(folder, "--round", "4.0")
    assert status == 0
    assert "not an official score: 3 of 5 required runs; the middle value" in out


def test_the_scaling_of_the_file_and_the_reckoned_one(score: Call, tmp_path: Path) -> None:
    shapes = [
        RunShape(seed=seed, minutes=10, batch=10_600, qualities=CONVERGED) for seed in range(5)
    ]
    folder = write_folder(tmp_path / "v4.0" / "resnet", shapes, write_resnet)
    status, out, _ = score(folder)
    assert status == 0
    assert "10.000 minutes" in out
    assert "error: there is no scaling.json" in out
    status, out, _ = score(folder, "--scaling", "reckon")
    assert status == 0
    assert "(reference convergence)" in out
    assert "10.000 minutes" not in out


def test_no_score_is_exit_1_with_the_reason(score: Call, tmp_path: Path) -> None:
    failed = [RunShape(seed=seed, status="aborted") for seed in (7, 8)]
    folder = write_folder(tmp_path / "x", [*RUNS, *failed])
    status, out, _ = score(folder)
    assert status == 1
    assert "no score: 2 of 5 runs did not succeed, at most 1 may fail" in out
    assert "result_3.txt  12.000  does not count: the run did not succeed" in out


def test_json(score: Call, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", RUNS)
    (folder / "scaling.json").write_text("broken", encoding="utf-8")
    status, out, _ = score(folder, "--json")
    (data,) = json.loads(out)
    assert status == 0
    assert data["score"]["minutes"] == pytest.approx(2.0)
    assert data["findings"][0]["rule"] == "folder.scaling"
    assert "the score is reckoned without it" in score(folder)[1]


def test_one_log(score: Call, tmp_path: Path) -> None:
    status, out, _ = score(write_desk(tmp_path / "one.txt", RunShape(minutes=4)))
    assert status == 0
    assert "4.000 minutes" in out
    assert "1 of 3 required runs" in out


@pytest.mark.parametrize("arguments", [(), ("absent",), ("a", "b")])
def test_wrong_requests(arguments: tuple[str, ...], score: Call) -> None:
    status, out, err = score(*arguments)
    assert (status, out) == (2, "")
    assert err


def test_nothing_from_a_log_reaches_the_terminal_raw(score: Call, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x\x1b[31m", RUNS)
    path = folder / "result_0.txt"
    raw = path.read_text(encoding="utf-8").replace("resnet50_desk", "\\u001b[2J")
    path.write_text(raw.replace("success", "\\u001b[2J"), encoding="utf-8")
    _, out, _ = score(folder)
    assert not [c for c in out if c != "\n" and not c.isprintable()]


def test_what_is_wrong_with_a_folder_and_what_to_do_stand_apart(
    score: Call, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "x", RUNS)
    (folder / "scaling.json").write_text("[]")
    _, out, _ = score(folder)
    lines = out.splitlines()
    place = next(number for number, line in enumerate(lines) if "scaling_factor" in line)
    assert lines[place].endswith("the score is reckoned without it")
    assert lines[place + 1].startswith("      Write {")


def test_a_benchmark_with_an_endless_name_does_not_fill_the_screen(
    score: Call, tmp_path: Path
) -> None:
    log = write_desk(tmp_path / "result_0.txt", RunShape(more={"x": 1}))
    log.write_text(log.read_text().replace("resnet50_desk", "v" * 100_000))
    _, out, _ = score(log, "--round", "4.0")
    assert max(map(len, out.splitlines())) < 1000


def test_on_a_terminal_long_lines_go_on_below(
    score: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainmark.cli.check_output._terminal_width", lambda: 60)
    shapes = [RunShape(minutes=3), RunShape(seed=2, status="aborted")]
    folder = write_folder(tmp_path / "x", shapes, write_resnet)
    lines = [line.strip() for line in score(folder, "--round", "4.0")[1].splitlines()[2:]]
    assert max(map(len, lines)) <= 60
    assert "the run did not succeed: run_stop says status" in " ".join(lines)
    assert "no score: 1 of 2 runs did not succeed" in lines


def test_json_takes_a_folder_whose_name_is_no_utf_8(score: Call, tmp_path: Path) -> None:
    write_folder(desk_folder(tmp_path / os.fsdecode(b"caf\xe9")), RUNS)
    status, out, _ = score(tmp_path, "--json")
    assert status == 0
    (one,) = json.loads(out)
    assert "caf\\xe9" in one["path"]
    one["path"].encode()  # no lone surrogate
