import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainmark.training.optim import Lars, decay_groups, linear_warmup_polynomial_decay

RATE = {"base": 7.4, "end": 1e-4, "warmup_steps": 100.0, "total_steps": 1000.0, "power": 2.0}


def test_lars_takes_the_step_of_the_paper() -> None:
    weight = torch.nn.Parameter(torch.tensor([[3.0, 4.0]]))
    optimizer = Lars([{"params": [weight]}], lr=2.0, momentum=0.5, weight_decay=0.1)
    expected, velocity = [3.0, 4.0], [0.0, 0.0]
    for gradient in ([0.6, 0.8], [1.0, 0.0]):
        weight.grad = torch.tensor([gradient])
        optimizer.step()
        norm_w, norm_g = math.hypot(*expected), math.hypot(*gradient)
        trust = 0.001 * norm_w / (norm_g + 0.1 * norm_w)
        for i in range(2):
            velocity[i] = 0.5 * velocity[i] + 2.0 * trust * (gradient[i] + 0.1 * expected[i])
            expected[i] -= velocity[i]
        assert weight.tolist()[0] == pytest.approx(expected, rel=1e-6)


def test_lars_leaves_vectors_unscaled_and_undecayed() -> None:
    bias = torch.nn.Parameter(torch.tensor([2.0]))
    optimizer = Lars(
        [{"params": [bias], "scaled": False, "weight_decay": 0.0}], lr=0.5, momentum=0.0
    )
    bias.grad = torch.tensor([1.0])
    optimizer.step()
    assert bias.item() == 1.5


def test_lars_moves_a_weight_that_is_zero() -> None:
    weight = torch.nn.Parameter(torch.zeros(1, 2))
    optimizer = Lars([{"params": [weight]}], lr=1.0, momentum=0.0, weight_decay=0.0)
    weight.grad = torch.tensor([[1.0, 0.0]])
    optimizer.step()
    assert weight.tolist() == [[-1.0, 0.0]]


@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.5, 0.1, 0.02)])
def test_the_librarys_lars_is_ours_while_the_rate_is_constant(rates: tuple[float, ...]) -> None:
    """If the second case ever passes as the first does, the library can take its place."""
    import pytorch_optimizer

    torch.manual_seed(0)
    first, gradients = torch.randn(4, 3), [torch.randn(4, 3) for _ in rates]
    weights = [torch.nn.Parameter(first.clone()) for _ in range(2)]
    both = (
        Lars([weights[0]], lr=1.0, momentum=0.9, weight_decay=0.1),
        pytorch_optimizer.LARS([weights[1]], lr=1.0, momentum=0.9, weight_decay=0.1),
    )
    for rate, gradient in zip(rates, gradients, strict=True):
        for weight, optimizer in zip(weights, both, strict=True):
            optimizer.param_groups[0]["lr"] = rate
            weight.grad = gradient.clone()
            optimizer.step()
    assert torch.allclose(weights[0], weights[1], rtol=0, atol=1e-6) == (len(set(rates)) == 1)


def test_only_kernels_and_matrices_decay() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
    decayed, plain = decay_groups(model, 0.1)
    assert [p.ndim for p in decayed["params"]] == [4]
    assert [p.ndim for p in plain["params"]] == [1, 1, 1]
    assert (decayed["weight_decay"], plain["weight_decay"]) == (0.1, 0.0)


def test_the_schedule_goes_through_its_corners() -> None:
    assert linear_warmup_polynomial_decay(0, **RATE) == pytest.approx(0.074)
    assert linear_warmup_polynomial_decay(99, **RATE) == pytest.approx(7.4)
    assert linear_warmup_polynomial_decay(550, **RATE) == pytest.approx(7.4 / 4, rel=1e-3)
    assert linear_warmup_polynomial_decay(1000, **RATE) == pytest.approx(1e-4)
    assert linear_warmup_polynomial_decay(5000, **RATE) == pytest.approx(1e-4)


@given(st.floats(0, 2000), st.floats(0, 2000))
def test_the_rate_only_falls_after_the_warm_up(one: float, other: float) -> None:
    early, late = sorted((100 + one, 100 + other))
    assert linear_warmup_polynomial_decay(early, **RATE) >= linear_warmup_polynomial_decay(
        late, **RATE
    )
