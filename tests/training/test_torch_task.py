"""The shared task on a line to be fitted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.training.moments import make_spec
from trainmark.training.frameworks.torch import FRAMEWORK
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.settings import Settings, setting
from trainmark.training.task import TaskRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSettings(Settings):
    memory_format: str = setting("contiguous", "none", choices=("contiguous",))
    average: float = setting(0.0, "decay of the average")


class Line(TorchTask):
    """Fits y = 3 x."""

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.average_decay = self.settings.average

    def make_model(self) -> nn.Module:
        return nn.Linear(1, 1)

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), 0.1)

    def learning_rate(self, samples: int) -> float:
        return 0.5 if samples else 0.25

    def loss(self, model: Any, batch: Tensor) -> Tensor:
        loss: Tensor = ((model(batch) - 3 * batch) ** 2).mean()
        return loss

    def synthetic_batch(self, samples: int) -> Tensor:
        return torch.randn(samples, 1)

    def warm_up_evaluation(self) -> None:
        self.tally(places=1, padding=1)

    def batches(self) -> Iterator[Tensor]:
        while True:
            yield self.synthetic_batch(self.settings.micro_batch)


def line(**changes: Any) -> Line:
    settings = LineSettings(precision="fp32", threads=1, global_batch_size=8, **changes)
    FRAMEWORK.prepare(settings, seed=1)
    task = Line(TaskRequest(scale="desk", spec=make_spec(), settings=settings, seed=1, data=None))
    task.build()
    return task


def weights(task: Line) -> list[Tensor]:
    return [p.detach().clone() for p in task.model.parameters()]


def test_it_learns_and_tells_its_loss() -> None:
    task = line()
    batches = task.batches()
    losses = []
    for step in range(50):
        loss = task.forward_backward(next(batches))
        assert not loss.requires_grad
        losses.append(float(loss))
        task.update(8 * step)
    assert losses[-1] < 1e-3 < losses[0]


def test_the_learning_rate_is_that_of_the_samples() -> None:
    task = line()
    batch = task.synthetic_batch(8)
    for samples, rate in ((0, 0.25), (8, 0.5)):
        task.forward_backward(batch)
        task.update(samples)
        assert [group["lr"] for group in task.optimizer.param_groups] == [rate]


def test_micro_batches_add_up_to_the_batch() -> None:
    task, whole = line(micro_batch_size=2), line()
    batch = torch.randn(8, 1)
    for part in batch.split(2):
        task.forward_backward(part)
    whole.forward_backward(batch)
    for one, other in zip(task.model.parameters(), whole.model.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert torch.allclose(one.grad, other.grad)


def test_the_gradient_is_clipped_as_one() -> None:
    task = line()
    task.clip_norm = 1e-3
    before = weights(task)
    task.forward_backward(torch.full((8, 1), 9.0))
    task.update(0)
    moved = torch.cat([(a - b).flatten() for a, b in zip(before, weights(task), strict=True)])
    assert float(moved.norm()) == pytest.approx(0.25 * 1e-3, rel=1e-3)


def test_the_average_follows_and_is_what_is_evaluated() -> None:
    task = line(average=0.5)
    start = weights(task)
    seen = []
    for _ in range(3):
        task.forward_backward(task.synthetic_batch(8))
        task.update(8)
        seen.append(weights(task))
    expected = seen[0]  # the first step sets the average
    for later in seen[1:]:
        expected = [0.5 * old + 0.5 * new for old, new in zip(expected, later, strict=True)]
    found = list(task.evaluated_model.parameters())
    assert task.evaluated_model is not task.model
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True))
    assert not torch.equal(start[0], seen[-1][0])


def test_without_an_average_the_model_itself_is_evaluated() -> None:
    task = line()
    assert task.evaluated_model is task.model


def test_the_warm_up_leaves_no_trace() -> None:
    task, untouched = line(average=0.9), line(average=0.9)
    task.optimizer.param_groups[0]["step"] = 0  # as some optimizers count

    def counted(*_: Any) -> None:
        task.optimizer.param_groups[0]["step"] += 1

    task.optimizer.register_step_post_hook(counted)
    task.warm_up()
    assert task.optimizer.param_groups[0]["step"] == 0
    assert not task.statistics()
    for one, other in (
        (task.model, untouched.model),
        (task.evaluated_model, untouched.evaluated_model),
    ):
        mine, theirs = one.state_dict(), other.state_dict()
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert task.averaged is not None
    assert int(task.averaged.n_averaged) == 0


def test_the_padding_share_is_counted_from_block_to_block() -> None:
    task = line()
    assert task.statistics() == {}
    task.tally(places=10, padding=1)
    task.tally(places=10, padding=2)
    assert task.statistics() == {"padding_share": pytest.approx(0.15)}
    assert task.statistics() == {}


def test_its_operations_are_counted() -> None:
    assert line().flop_per_sample() == pytest.approx(2 * 2, rel=0.5)
