import io
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.training.moments import make_spec
from tests.training.test_session import order
from trainmark.training.progress import ProgressLine, _duration
from trainmark.types import Direction, Target

ANSWER: dict[str, Any] = {
    "settings": {"precision": "fp32", "memory_format": "contiguous", "global_batch_size": 50},
    "environment": {"threads": 2, "device": "cpu"},
}


def follow(progress: ProgressLine, *, runs: int = 1) -> None:
    progress.probing(order(Path("out"), runs=2))
    progress.probed(make_spec(typical_samples=200), ANSWER)
    for run in range(runs):
        progress.message(run, {"kind": "started"})
        progress.message(run, {"kind": "step", "samples": 50, "seconds": 1.0})
        progress.message(run, {"kind": "step", "samples": 100, "seconds": 2.0})
        progress.message(
            run, {"kind": "evaluated", "samples": 100, "seconds": 2.0, "quality": 0.95}
        )
        progress.message(run, {"kind": "stopped", "status": "success", "reason": ""})


def test_away_from_a_terminal_there_is_one_plain_line_a_run() -> None:
    out = io.StringIO()
    with ProgressLine(Console(file=out)) as progress:
        follow(progress, runs=2)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1] == "run 1 of 2: success, eval_accuracy 95.00 % after 100 samples in 0:02"
    assert "\x1b" not in out.getvalue()


def test_the_line_shows_rate_quality_and_time_left() -> None:
    progress = ProgressLine(Console(file=io.StringIO()))
    progress.probing(order(Path("out"), runs=2))
    progress.probed(make_spec(typical_samples=200), ANSWER)
    for samples, seconds in ((50, 1.0), (100, 2.0)):
        progress.message(0, {"kind": "step", "samples": samples, "seconds": seconds})
    line = progress._line(0)
    assert "run 1 of 2" in line
    assert "50 samples/s" in line
    assert "eval_accuracy - of 90 %" in line
    assert "about 0:02 left" in line


def test_the_quality_has_the_name_and_unit_of_the_target_and_a_doomed_run_advice() -> None:
    out = io.StringIO()
    target = Target(
        metric="eval_error", value=0.24, direction=Direction.LOWER, name="mean error", unit="eV"
    )
    with ProgressLine(Console(file=out, width=200)) as progress:
        progress.probing(order(Path("out")))
        progress.preparing("computing energies", 0.5)
        progress.probed(make_spec(target=target), ANSWER)
        progress.message(0, {"kind": "started"})
        progress.message(0, {"kind": "evaluated", "samples": 9, "seconds": 1.0, "quality": 0.5})
        stopped = {"kind": "stopped", "status": "aborted", "reason": "doomed", "hint": "Think."}
        progress.message(0, stopped | {"samples": 12, "seconds": 2.0})
    lines = out.getvalue().splitlines()
    assert "target mean error 0.24 eV;" in lines[0]
    assert lines[1].startswith("run 1 of 1: aborted (doomed), mean error 0.5")
    assert lines[1].endswith(" eV after 12 samples in 0:02")
    assert lines[2:] == ["  Think."]


def test_the_second_run_is_timed_by_the_first() -> None:
    progress = ProgressLine(Console(file=io.StringIO()))
    follow(progress)
    progress.message(1, {"kind": "started"})
    for samples, seconds in ((10, 1.0), (50, 5.0)):
        progress.message(1, {"kind": "step", "samples": samples, "seconds": seconds})
    assert "about 0:05 left" in progress._line(1)


def test_on_a_terminal_the_line_is_drawn() -> None:
    out = io.StringIO()
    with ProgressLine(Console(file=out, force_terminal=True, width=120)) as progress:
        follow(progress)
    assert "\x1b[" in out.getvalue()


def test_durations_are_clock_like() -> None:
    assert [_duration(s) for s in (0, 61.4, 3725)] == ["0:00", "1:01", "1:02:05"]
