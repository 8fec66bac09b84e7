import math

import pytest
import torch

from trainmark.training.lamb import Lamb
from trainmark.training.optim import decay_groups

BETAS, EPSILON, DECAY, RATE = (0.88, 0.95), 1e-6, 0.1, 0.02


def by_the_paper(
    weight: torch.Tensor, gradients: list[torch.Tensor], *, decay: float, scaled: bool
) -> torch.Tensor:
    """Algorithm 2 of arXiv:1904.00962, as it stands there, in double precision."""
    x = weight.double().clone()
    m, v = torch.zeros_like(x), torch.zeros_like(x)
    for t, gradient in enumerate(gradients, start=1):
        g = gradient.double()
        m = BETAS[0] * m + (1 - BETAS[0]) * g
        v = BETAS[1] * v + (1 - BETAS[1]) * g**2
        r = (m / (1 - BETAS[0] ** t)) / ((v / (1 - BETAS[1] ** t)).sqrt() + EPSILON)
        u = r + decay * x
        x = x - RATE * (x.norm() / u.norm() if scaled and x.any() else 1.0) * u
    return x


def stepped(
    weight: torch.Tensor, gradients: list[torch.Tensor], *, decay: float, scaled: bool
) -> tuple[torch.Tensor, Lamb]:
    parameter = torch.nn.Parameter(weight.clone())
    group = {"params": [parameter], "weight_decay": decay, "scaled": scaled}
    optimizer = Lamb([group], RATE, betas=BETAS, eps=EPSILON)
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimizer.step()
    return parameter.detach(), optimizer


@pytest.mark.parametrize("size", [0.01, 1.0, 50.0])
@pytest.mark.parametrize(("decay", "scaled"), [(DECAY, True), (0.0, True), (0.0, False)])
def test_it_is_the_rule_of_the_paper(size: float, decay: float, scaled: bool) -> None:
    """A norm of 50 x 30 is far above the 10 at which the library would stop."""
    torch.manual_seed(0)
    weight = size * torch.randn(30, 30)
    gradients = [torch.randn(30, 30) * 0.1**t for t in range(6)]
    found, _ = stepped(weight, gradients, decay=decay, scaled=scaled)
    wanted = by_the_paper(weight, gradients, decay=decay, scaled=scaled)
    assert torch.allclose(found.double(), wanted, rtol=1e-5, atol=1e-6 * size)


def test_weights_that_are_all_zero_take_the_step_as_it_is() -> None:
    """As in the MLPerf BERT reference; also where the first gradients are zero."""
    torch.manual_seed(0)
    gradients = [torch.zeros(4, 4), torch.randn(4, 4), torch.randn(4, 4)]
    found, _ = stepped(torch.zeros(4, 4), gradients, decay=DECAY, scaled=True)
    wanted = by_the_paper(torch.zeros(4, 4), gradients, decay=DECAY, scaled=True)
    assert torch.allclose(found.double(), wanted, rtol=1e-5, atol=1e-7)


def test_the_librarys_own_defaults_are_another_rule() -> None:
    """If that ever changes, this wrapper can go."""
    import pytorch_optimizer

    torch.manual_seed(0)
    weight, gradients = torch.randn(30, 30), [torch.randn(30, 30) for _ in range(3)]
    parameter = torch.nn.Parameter(weight.clone())
    plain = pytorch_optimizer.Lamb(
        [parameter], lr=RATE, betas=BETAS, eps=EPSILON, weight_decay=DECAY
    )
    for gradient in gradients:
        parameter.grad = gradient.clone()
        plain.step()
    wanted = by_the_paper(weight, gradients, decay=DECAY, scaled=True)
    assert (parameter.detach() - wanted).abs().max() > 1e-3


def test_rate_and_epsilon_stay_as_they_were_set() -> None:
    _, optimizer = stepped(torch.ones(2, 2), [torch.ones(2, 2)] * 2, decay=0.0, scaled=False)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["eps"]) == (RATE, EPSILON)


def test_a_warm_up_that_was_undone_leaves_no_trace() -> None:
    torch.manual_seed(0)
    weight, gradient = torch.randn(5, 5), torch.randn(5, 5)
    once, optimizer = stepped(weight, [gradient], decay=DECAY, scaled=True)
    optimizer.state.clear()
    (parameter,) = optimizer.param_groups[0]["params"]
    with torch.no_grad():
        parameter.copy_(weight)
    parameter.grad = gradient.clone()
    optimizer.step()
    assert torch.equal(parameter.detach(), once)


def test_vectors_neither_decay_nor_are_scaled() -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = Lamb(decay_groups(model, 0.5), RATE)
    matrices, vectors = optimizer.param_groups
    assert [p.ndim for p in matrices["params"]] == [2]
    assert [p.ndim for p in vectors["params"]] == [1]
    with torch.no_grad():
        model.bias.fill_(4.0)
    model.weight.grad, model.bias.grad = torch.zeros(2, 3), torch.ones(2)
    before = model.weight.detach().norm()
    optimizer.step()
    assert model.bias.tolist() == pytest.approx([4.0 - RATE] * 2, rel=1e-5)
    assert math.isclose(model.weight.detach().norm() / before, 1 - RATE, rel_tol=1e-5)
