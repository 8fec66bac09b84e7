import itertools
import math
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.multiprocessing.spawn import spawn

from tests.training.moments import MadeTask, built, make_spec
from trainmark import rules
from trainmark.mllog import LogWriter, read
from trainmark.training import loop
from trainmark.training.doom import DoomedRunError, Watch
from trainmark.training.frameworks.torch import FRAMEWORK
from trainmark.training.log_observer import LogObserver, Submission
from trainmark.training.moments import (
    Built,
    Evaluated,
    EvaluationStarted,
    Moment,
    RunStarted,
    RunStopped,
)
from trainmark.types import Direction, Target


def run(task: MadeTask, **changes: Any) -> list[Moment]:
    arguments: dict[str, Any] = {
        "global_batch_size": 50,
        "micro_batches": 1,
        "synchronize": lambda: None,
        "built": built(task),
        "matmul_peak": None,
    }
    return list(loop.train(task, **{**arguments, **changes}))


def stop_of(moments: Sequence[Moment]) -> RunStopped:
    last = moments[-1]
    assert isinstance(last, RunStopped)
    return last


class Diverging(MadeTask):
    """Its loss is no number in one step, and fine again afterwards."""

    odd = math.nan

    def forward_backward(self, batch: Any) -> float:
        return self.odd if batch == 2 else 1.0


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_ends_the_run_at_the_end_of_its_block(odd: float) -> None:
    task = Diverging([0.5] * 9)
    task.odd = odd
    stop = stop_of(run(task))
    assert (stop.status, stop.at.samples) == ("aborted", 200)
    assert stop.reason == "the training loss is not finite: the training has diverged"
    assert "learning rate" in stop.hint
    assert task.calls.count("evaluate") == 1


def test_within_a_long_block_the_loss_is_looked_at_once_a_second() -> None:
    class Loss(float):
        """Tells when it is read: on a device that would wait for it."""

        def __add__(self, other: float) -> "Loss":
            return Loss(float.__add__(self, other))

        __radd__ = __add__

        def __float__(self) -> float:
            read.append(now[0])
            return float.__add__(self, 0.0)

    now, read = [0.0], list[float]()
    watch = Watch(make_spec(), clock=lambda: now[0])
    for step in range(35):
        now[0] = step / 10
        watch.loss(Loss(1.0))
    assert read == [1.0, 2.0, 3.0]
    now[0] = 3.9
    watch.loss(Loss(math.nan))
    now[0] = 4.0
    with pytest.raises(DoomedRunError, match="not finite"):
        watch.loss(Loss(1.0))


@pytest.mark.parametrize(
    ("direction", "qualities", "doomed_at"),
    [
        (Direction.HIGHER, [0.1, 0.1, 0.9], 200),  # half of the 400 samples that it may train
        (Direction.HIGHER, [0.1, 0.2, 0.1, 0.1], None),  # has been better than guessing once
        (Direction.HIGHER, [math.nan, math.nan, 0.9], 200),
        (Direction.HIGHER, [0.1, 0.95], None),
        (Direction.LOWER, [0.1, 0.3, 0.0], 200),
        (Direction.LOWER, [0.1, 0.05, 0.1, 0.1], None),
    ],
)
def test_a_quality_no_better_than_guessing_ends_the_run_at_half_time(
    direction: Direction, qualities: list[float], doomed_at: int | None
) -> None:
    value = 0.9 if direction is Direction.HIGHER else 0.01
    target = Target(metric="eval_accuracy", value=value, direction=direction, name="score")
    stop = stop_of(run(MadeTask(qualities, target=target, chance=0.1)))
    if doomed_at is None:
        assert "guessing" not in stop.reason
    else:
        assert (stop.status, stop.at.samples) == ("aborted", doomed_at)
        assert "no better than guessing after 200 of at most 400 samples" in stop.reason
        assert "guessing reaches 0.1" in stop.reason
        assert "look at the data" in stop.hint


def test_without_a_known_chance_nobody_guesses() -> None:
    assert stop_of(run(MadeTask([0.0] * 4))).reason.startswith("the target was not met")


def test_one_bad_rank_stops_them_all_and_is_named() -> None:
    others = {"finite": ["finite", "nan"]}
    task = MadeTask([0.5] * 4)
    stop = stop_of(run(task, gather=lambda text: others.get(text, [text, "other"])))
    assert stop.reason.startswith("the training loss is not finite in rank 1 (nan)")


class Sharded(MadeTask):
    """A rank's task: its first batch is that of its shard."""

    def __init__(self, shard: int) -> None:
        super().__init__([0.95])
        self.shard = shard

    def batches(self) -> Any:
        return iter([torch.full((2, 3), float(self.shard + step)) for step in range(9)])


def rank(number: int, same: bool, port: int, folder: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=number, world_size=2
    )
    task = Sharded(0 if same else 100 * number)
    stop = stop_of(run(task, gather=FRAMEWORK.gather))
    Path(folder, str(number)).write_text(f"{stop.status}: {stop.reason}")
    torch.distributed.destroy_process_group()


@pytest.mark.skipif(sys.platform != "linux", reason="gloo over the loopback device")
@pytest.mark.parametrize("same", [True, False])
def test_two_real_ranks_that_read_the_same_shard_are_found_out(tmp_path: Path, same: bool) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn(rank, (same, port, str(tmp_path)), nprocs=2)
    found = [(tmp_path / str(number)).read_text() for number in range(2)]
    if same:
        wanted = "aborted: all 2 ranks read the same shard: their first batches are equal"
        assert found == [wanted] * 2
    else:
        assert found == ["success: "] * 2


def test_alone_there_is_one_text() -> None:
    assert list(FRAMEWORK.gather("mine")) == ["mine"]


def told(moments: Sequence[Moment]) -> RunStopped:
    heard: list[Moment] = []
    last = loop.record(moments, [heard.append])
    assert heard[-1] is last
    return last


def test_a_success_that_no_evaluation_proves_is_none() -> None:
    moments = run(MadeTask([0.5, 0.95]))
    assert told(moments).status == "success"
    without = [moment for moment in moments if not isinstance(moment, Evaluated)]
    short = [
        Evaluated(at=moment.at, quality=0.5, reached=True)  # it claims what is not so
        if isinstance(moment, Evaluated)
        else moment
        for moment in moments
    ]
    start = next(i for i, moment in enumerate(moments) if isinstance(moment, RunStarted))
    early = [*moments[:start], moments[-2], moments[start], moments[-1]]
    nameless = [moment for moment in moments if not isinstance(moment, Built)]
    for odd in (without, short, early, nameless):
        stop = told(odd)
        assert stop.status == "aborted"
        assert stop.reason == "no evaluation reached the target, so this is no success"


@pytest.mark.parametrize("evaluated", [False, True])
def test_the_checker_finds_a_success_without_an_evaluation(tmp_path: Path, evaluated: bool) -> None:
    """A log that another writer has made, or somebody's hand."""
    path = tmp_path / "result_0.txt"
    who = Submission(
        org="Us", platform="a box", division="open", status="onprem", ruleset="own", seed=7
    )
    task = MadeTask([0.95])
    task.hyperparameters = {
        "global_batch_size": 50,
        "gradient_accumulation_steps": 1,
        "opt_name": "sgd",
    }
    seconds = itertools.count(1_700_000_000_000, 1000)
    with LogWriter(path, now_ms=seconds.__next__) as writer:
        observer = LogObserver(writer, who)
        for moment in run(task):
            if evaluated or not isinstance(moment, EvaluationStarted | Evaluated):
                observer(moment)
    errors = [finding.rule for finding in rules.check_log(read(path)).findings if finding.is_error]
    missing = ["rules.eval_start.missing", "rules.eval_stop.missing", "rules.eval_accuracy.missing"]
    assert set(errors) == (set() if evaluated else set(missing))
