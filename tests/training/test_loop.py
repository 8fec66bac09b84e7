from collections.abc import Iterator
from typing import Any

import pytest

from tests.training.moments import MadeTask, built
from trainmark.training import loop
from trainmark.training.moments import (
    BlockStarted,
    BlockStopped,
    Evaluated,
    InitStopped,
    Moment,
    RunStarted,
    RunStopped,
    Stepped,
)


def moments(task: MadeTask, **changes: Any) -> Iterator[Moment]:
    arguments: dict[str, Any] = {
        "global_batch_size": 50,
        "micro_batches": 2,
        "synchronize": lambda: task.calls.append("synchronize"),
        "built": built(task),
        "matmul_peak": 100.0,
    }
    return loop.train(task, **{**arguments, **changes})


def test_the_moments_come_in_the_order_of_the_clock_rules() -> None:
    task = MadeTask([0.5, 0.95])
    names = [type(moment).__name__ for moment in moments(task)]
    block = ["BlockStarted", "Stepped", "Stepped", "BlockStopped", "EvaluationStarted", "Evaluated"]
    assert names == [
        "InitStarted",
        "Built",
        "InitStopped",
        "RunStarted",
        *block,
        *block,
        "RunStopped",
    ]


def test_data_is_untouched_before_run_start() -> None:
    task = MadeTask([0.95])
    stream = moments(task)
    for moment in stream:
        if isinstance(moment, RunStarted):
            break
    assert "data" not in task.calls
    next(stream)
    assert task.calls[-1] == "data"


def test_warm_up_and_compilation_stand_outside_the_timer() -> None:
    task = MadeTask([0.95])
    for moment in moments(task):
        if isinstance(moment, InitStopped):
            assert task.calls == ["build", "warm_up", "synchronize"]


def test_it_stops_at_the_evaluation_that_meets_the_target() -> None:
    task = MadeTask([0.5, 0.9, 0.99])
    last = list(moments(task))[-1]
    assert isinstance(last, RunStopped)
    assert (last.status, last.at.samples, last.at.epoch) == ("success", 200, 2)
    assert task.calls.count("evaluate") == 2


def test_it_gives_up_at_the_sample_limit_and_says_so() -> None:
    last = list(moments(MadeTask([0.1] * 9)))[-1]
    assert isinstance(last, RunStopped)
    assert last.status == "aborted"
    assert last.reason == "the target was not met within 400 samples"


def test_nan_never_meets_the_target() -> None:
    last = list(moments(MadeTask([float("nan")] * 9)))[-1]
    assert isinstance(last, RunStopped)
    assert last.status == "aborted"


def test_every_time_is_taken_on_a_synchronised_device() -> None:
    task = MadeTask([0.95])
    for moment in moments(task):
        if isinstance(moment, BlockStopped | Evaluated | InitStopped):
            assert task.calls[-1] == "synchronize"


def test_a_step_is_all_its_micro_batches_and_the_schedule_counts_samples() -> None:
    task = MadeTask([0.5, 0.95])
    steps = [moment for moment in moments(task) if isinstance(moment, Stepped)]
    assert task.calls.count("pass") == 2 * len(steps) == 8
    assert task.schedule == [0, 50, 100, 150]


def test_a_batch_that_does_not_divide_the_epoch_still_counts_whole_epochs() -> None:
    task = MadeTask([0.5, 0.95])
    evaluated = [m for m in moments(task, global_batch_size=60) if isinstance(m, Evaluated)]
    assert [m.at.samples for m in evaluated] == [120, 240]
    assert [m.at.epoch for m in evaluated] == [1, 2]


def test_a_step_larger_than_the_way_to_the_next_evaluation_evaluates_once() -> None:
    task = MadeTask([0.5] * 9)
    blocks = [m for m in moments(task, global_batch_size=250) if isinstance(m, BlockStopped)]
    assert [m.samples for m in blocks] == [250, 250]
    assert task.calls.count("evaluate") == 2


def test_a_block_tells_its_mean_loss_and_what_the_task_says() -> None:
    task = MadeTask([0.5, 0.95])
    blocks = [m for m in moments(task) if isinstance(m, BlockStopped)]
    assert [dict(m.statistics) for m in blocks] == [{"train_loss": 1.0, "padding_share": 0.25}] * 2


def test_the_padding_share_of_a_run_is_the_mean_over_its_samples() -> None:
    class Packed(MadeTask):
        def __init__(self) -> None:
            super().__init__([0.5, 0.5], max_samples=150)
            self.shares = iter([0.1, 0.4])

        def statistics(self) -> dict[str, float]:
            return {"padding_share": next(self.shares)}

    last = list(moments(Packed()))[-1]
    assert isinstance(last, RunStopped)
    assert last.efficiency["padding_share"] == pytest.approx(0.2)  # 100 samples, then 50


def test_the_last_block_ends_at_the_limit() -> None:
    task = MadeTask([0.1] * 9, max_samples=250)
    blocks = [m for m in moments(task) if isinstance(m, BlockStarted)]
    assert [m.samples for m in blocks] == [100, 100, 50]


def test_efficiency_adds_up() -> None:
    last = list(moments(MadeTask([0.5, 0.95])))[-1]
    assert isinstance(last, RunStopped)
    found = last.efficiency
    assert found["achieved_flop_per_s"] == pytest.approx(3.0 * found["samples_per_second"])
    assert found["share_of_peak"] == pytest.approx(found["achieved_flop_per_s"] / 100.0)
    assert 0 <= found["input_wait_share"] <= 1


def test_without_a_measured_peak_no_share_is_invented() -> None:
    last = list(moments(MadeTask([0.95]), matmul_peak=None))[-1]
    assert isinstance(last, RunStopped)
    assert last.efficiency["share_of_peak"] is None


class Failing(MadeTask):
    def forward_backward(self, batch: Any) -> float:
        if batch == 5:
            raise RuntimeError("out of memory")
        return 1.0


def test_an_error_ends_the_stream_as_aborted_and_goes_on() -> None:
    heard: list[Moment] = []
    with pytest.raises(RuntimeError, match="out of memory"):
        loop.record(moments(Failing([0.5] * 9)), [heard.append])
    last = heard[-1]
    assert isinstance(last, RunStopped)
    assert (last.status, last.reason, last.at.samples) == ("aborted", "out of memory", 100)


def test_an_error_before_the_clock_runs_leaves_no_run_stop() -> None:
    class Unbuildable(MadeTask):
        def build(self) -> None:
            raise RuntimeError("no memory")

    heard: list[Moment] = []
    with pytest.raises(RuntimeError, match="no memory"):
        loop.record(moments(Unbuildable([])), [heard.append])
    assert not any(isinstance(moment, RunStopped) for moment in heard)


def test_every_observer_hears_every_moment() -> None:
    first: list[Moment] = []
    second: list[Moment] = []
    last = loop.record(moments(MadeTask([0.95])), [first.append, second.append])
    assert first == second
    assert first[-1] is last
