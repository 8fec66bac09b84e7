"""``trainmark diff`` as a user and a CI job see it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.cli.calls import calls
from tests.logs import RunShape, write_folder
from trainmark.cli.diff import command

_STEADY = (0.998, 0.999, 1.0, 1.001, 1.002)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of desk runs: before, after updates of several kinds, and two that are not alike."""
    root = tmp_path_factory.mktemp("runs")

    def folder(name: str, minutes: list[float], batch: int = 64, failed: int = 0) -> None:
        shapes = [RunShape(minutes=m, seed=n, batch=batch) for n, m in enumerate(minutes, start=1)]
        lost = [RunShape(minutes=9, seed=90 + n, status="aborted") for n in range(failed)]
        write_folder(root / name, [*shapes, *lost])

    folder("before", [3 * f for f in _STEADY])
    folder("same", [3.001 * f for f in _STEADY])
    folder("faster", [2.8 * f for f in _STEADY])
    folder("slower", [3.3 * f for f in _STEADY])
    folder("noisy", [2.7, 2.9, 3.1, 3.2, 3.5])
    folder("batch", [3 * f for f in _STEADY], batch=128)
    folder("broken", [3.0, 3.0, 3.0], failed=2)
    return root


def _run(runs: Path, after: str, *options: str) -> Result:
    arguments = [str(runs / "before"), str(runs / after), *options]
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    ("after", "status", "headline"),
    [
        ("same", 0, "Within noise, by time and throughput; limit 3 %."),
        ("faster", 0, "Faster beyond noise, by time and throughput; limit 3 %."),
        ("slower", 1, "Slower beyond noise, by time and throughput; limit 3 %."),
        ("noisy", 0, "Too few runs to tell, by time and throughput; limit 3 %."),
        ("broken", 1, "The runs after have no score: too many failed."),
    ],
)
def test_the_verdict_and_the_status(runs: Path, after: str, status: int, headline: str) -> None:
    done = _run(runs, after, "--fail-if-slower", "3%")
    assert headline in done.output.splitlines()
    assert done.exit_code == status
    assert "Unverified" in done.output


def test_a_folder_against_itself_is_said_to_be_that(runs: Path) -> None:
    assert "Note: both sides are the very same runs" in _run(runs, "before").output
    assert "the very same" not in _run(runs, "same").output


def test_without_a_limit_slower_is_told_and_is_no_failure(runs: Path) -> None:
    done = _run(runs, "slower")
    assert done.exit_code == 0
    assert "Slower beyond noise, by time and throughput." in done.output
    (time,) = [line for line in done.output.splitlines() if line.startswith("time ")]
    assert "+10.0%" in time
    assert time.endswith("slower")
    (rate,) = [line for line in done.output.splitlines() if line.startswith("throughput ")]
    assert "-9.1%" in rate


def test_a_wide_limit_lets_it_pass(runs: Path) -> None:
    done = _run(runs, "slower", "--fail-if-slower", "15%")
    assert done.exit_code == 0
    assert "Slower beyond noise, within the limit" in done.output


def test_too_few_runs_say_how_many_would_tell_and_fail_only_when_strict(runs: Path) -> None:
    done = _run(runs, "noisy", "--fail-if-slower", "3%")
    assert done.exit_code == 0
    assert "runs on each side would tell" in done.output
    assert _run(runs, "noisy", "--fail-if-slower", "3%", "--strict").exit_code == 1
    assert _run(runs, "same", "--fail-if-slower", "3%", "--strict").exit_code == 0


def test_one_measure_may_decide(runs: Path) -> None:
    done = _run(runs, "slower", "--fail-if-slower", "3%", "--by", "throughput")
    assert done.exit_code == 1
    assert "by throughput;" in done.output


def test_json(runs: Path) -> None:
    done = _run(runs, "slower", "--fail-if-slower", "3%", "--json")
    assert done.exit_code == 1
    (found,) = json.loads(done.output)
    assert found["slower"] is True
    assert found["outcome"] == "slower"
    assert found["threshold"] == pytest.approx(0.03)
    time = found["measures"][0]
    assert time["slowdown"] == pytest.approx(0.1, abs=1e-3)
    assert time["low"] < time["slowdown"] < time["high"]


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("before", "batch"), 2, "--anyway"),
        (("before", "gone"), 2, "gone"),
        (("before", "same", "--fail-if-slower", "3"), 2, "write it as 3%"),
        (("before", "same", "--fail-if-slower", "nan%"), 2, "write it as 3%"),
        (("before", "same", "--fail-if-slower", "-1%"), 2, "write it as 3%"),
        (("before", "same", "--strict"), 2, "--fail-if-slower"),
    ],
)
def test_mistakes_are_texts(
    runs: Path,
    arguments: tuple[str, ...],
    status: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sides = [str(runs / name) for name in arguments[:2]]
    code, _, errors = calls("diff", monkeypatch, capsys)(*sides, *arguments[2:])
    assert code == status, errors
    assert word in errors


def test_unlike_sides_are_compared_on_demand_and_noted(runs: Path) -> None:
    done = _run(runs, "batch", "--anyway")
    assert done.exit_code == 0
    assert "Note: global batch size: 64 before, 128 after" in done.output


def test_any_bytes_are_no_traceback(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "bytes"
    folder.mkdir()
    (folder / "result_0.txt").write_bytes(b"\xff\x00:::MLLOG {\x1b[2J\n" * 50)
    code, output, errors = calls("diff", monkeypatch, capsys)(runs / "before", folder)
    assert code in (1, 2)
    assert "\x1b" not in output + errors
