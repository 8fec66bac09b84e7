import math
from collections.abc import Callable

import pytest
import torch

from trainmark.training.rmsprop import RmsProp


def test_it_takes_the_steps_of_its_rule() -> None:
    """Mean square from one, epsilon under the root, the rate inside the momentum."""
    weight = torch.nn.Parameter(torch.tensor([3.0, -4.0]))
    optimizer = RmsProp([weight], 0.5, decay=0.8, momentum=0.6, epsilon=0.01, weight_decay=0.1)
    expected, square, velocity = [3.0, -4.0], [1.0, 1.0], [0.0, 0.0]
    for rate, gradient in ((0.5, [0.6, 0.8]), (0.2, [-1.0, 0.0]), (0.1, [0.3, 2.0])):
        optimizer.param_groups[0]["lr"] = rate
        weight.grad = torch.tensor(gradient)
        optimizer.step()
        for i in range(2):
            decayed = gradient[i] + 0.1 * expected[i]
            square[i] = 0.8 * square[i] + 0.2 * decayed**2
            velocity[i] = 0.6 * velocity[i] + rate * decayed / math.sqrt(square[i] + 0.01)
            expected[i] -= velocity[i]
        assert weight.tolist() == pytest.approx(expected, rel=1e-5)
        assert torch.equal(weight.grad, torch.tensor(gradient))  # the caller's gradient stays


def test_it_starts_gently_where_pytorchs_leaps() -> None:
    """With its mean square from nothing PyTorch's first step is ten times the rate."""

    def first_step(make: Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]) -> float:
        weight = torch.nn.Parameter(torch.tensor([1.0]))
        weight.grad = torch.tensor([1e-3])
        make([weight]).step()
        return 1 - weight.item()

    ours = first_step(lambda weights: RmsProp(weights, 0.1))
    assert ours == pytest.approx(0.1 * 1e-3 / math.sqrt(0.9 + 1e-3), rel=1e-2)
    assert first_step(lambda weights: torch.optim.RMSprop(weights, 0.1)) > 0.5


def test_groups_have_their_own_decay_and_weights_without_gradient_stay() -> None:
    kept, decayed, idle = (torch.nn.Parameter(torch.tensor([2.0])) for _ in range(3))
    optimizer = RmsProp(
        [
            {"params": [kept, idle], "weight_decay": 0.0},
            {"params": [decayed], "weight_decay": 0.5},
        ],
        0.1,
    )
    kept.grad = decayed.grad = torch.zeros(1)
    optimizer.step()
    assert (kept.item(), idle.item()) == (2.0, 2.0)
    assert decayed.item() < 2.0


def test_its_state_can_be_kept_and_given_back() -> None:
    def steps(optimizer: RmsProp, weight: torch.nn.Parameter, number: int) -> None:
        for _ in range(number):
            weight.grad = weight.detach().clone()
            optimizer.step()

    whole = torch.nn.Parameter(torch.tensor([1.0]))
    steps(RmsProp([whole], 0.1), whole, 4)
    first = torch.nn.Parameter(torch.tensor([1.0]))
    optimizer = RmsProp([first], 0.1)
    steps(optimizer, first, 2)
    second = torch.nn.Parameter(first.detach().clone())
    other = RmsProp([second], 0.7)
    other.load_state_dict(optimizer.state_dict())
    steps(other, second, 2)
    assert second.item() == whole.item()
