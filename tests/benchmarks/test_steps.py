"""The driver of the step benchmarks, with a workload that steps in no time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
_SCRIPT = '''\
"""A step of the toy."""

import sys
import time

sys.path.insert(0, {benchmarks!r})
from steps import StepBenchmark, Usual, run
from toy_workload import WORKLOAD


def usual_step(usual):
    assert usual == Usual(batch=40, device="cpu")
    return lambda: time.sleep(0.2)


def batches(task, samples):
    return [task.synthetic_batch(samples), task.synthetic_batch(samples)]


run(
    StepBenchmark(
        script=__file__,
        workload=WORKLOAD,
        spec=WORKLOAD.spec("desk", WORKLOAD.scales["desk"](), None),
        samples="points",
        usual="a nap",
        usual_step=usual_step,
        batch=40,
        steps=2,
        batches=batches,
        scale="desk",
    ),
    __doc__,
)
'''


@pytest.fixture
def script(toy_plugin: None, tmp_path: Path) -> Path:
    path = tmp_path / "step_toy.py"
    path.write_text(_SCRIPT.format(benchmarks=str(_BENCHMARKS)))
    return path


def _run(script: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, timeout=100, check=False
    )


def test_both_sides_are_measured_in_pairs(script: Path) -> None:
    done = _run(script, "--pairs", "2")
    assert done.returncode == 0, done.stderr
    assert "precision=fp32, memory_format=contiguous, threads=1 on cpu" in done.stdout
    assert "Two clouds, 40 points a step. Theirs: a nap" in done.stdout
    assert done.stdout.count("  pair ") == 2
    # Two naps of 0.2 s for 80 points: 200 a second and no more.
    theirs = re.search(r"theirs ([\d.]+) points/s", done.stdout)
    assert theirs is not None
    assert 20 < float(theirs[1]) <= 200


def test_a_setting_reaches_our_step(script: Path) -> None:
    """40 points in no less than 0.3 s: at most 133 a second."""
    done = _run(script, "--pairs", "1", "--steps", "1", "--set", "step_seconds=0.3")
    assert done.returncode == 0, done.stderr
    ours = re.search(r"ours ([\d.]+) points/s", done.stdout)
    assert ours is not None
    assert float(ours[1]) <= 134


def test_numbers_are_one_or_more(script: Path) -> None:
    done = _run(script, "--steps", "0")
    assert done.returncode == 2
    assert "argument --steps" in done.stderr
