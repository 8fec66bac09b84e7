"""Optimizers and learning-rate schedules that PyTorch does not have.

LARS: You, Gitman, Ginsburg, "Large Batch Training of Convolutional Networks", 2017
(arXiv:1708.03888), in the form of the MLPerf ResNet-50 reference: the learning rate stands inside
the momentum, and one-dimensional parameters (biases, batch-norm) are neither scaled nor decayed.
The LARS of the library pytorch-optimizer takes the learning rate out of the momentum: the same
step while the rate is constant, another one under a schedule, and not the reference's (a test
shows both).
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch

__all__ = ["Lars", "decay_groups", "linear_warmup_polynomial_decay"]


class Lars(torch.optim.Optimizer):
    """Layer-wise adaptive rate scaling with momentum.

    Args:
        params: Parameter groups; a group with ``scaled=False`` is plain momentum SGD.
        lr: Learning rate, set anew before each step by a schedule.
        momentum: Momentum coefficient.
        weight_decay: Decay added to the gradient, 1/step.
        trust_coefficient: Share of ``|weight| / |gradient|`` that a layer may move.
        epsilon: Added to the denominator of the trust ratio.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        *,
        momentum: float = 0.9,
        weight_decay: float = 5e-5,
        trust_coefficient: float = 0.001,
        epsilon: float = 0.0,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "trust_coefficient": trust_coefficient,
            "epsilon": epsilon,
            "scaled": True,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step. ``closure`` is not supported."""
        assert closure is None, "LARS takes no closure"
        for group in self.param_groups:
            weights = [p for p in group["params"] if p.grad is not None]
            if weights:
                self._step_group(group, weights)

    def _step_group(self, group: dict[str, Any], weights: list[torch.Tensor]) -> None:
        gradients = [w.grad for w in weights if w.grad is not None]
        updates = list(torch._foreach_add(gradients, weights, alpha=group["weight_decay"]))
        if group["scaled"]:
            ratios = self._trust_ratios(group, weights, gradients)
            torch._foreach_mul_(updates, ratios)
        torch._foreach_mul_(updates, group["lr"])
        velocities = [self.state[w].setdefault("velocity", torch.zeros_like(w)) for w in weights]
        torch._foreach_mul_(velocities, group["momentum"])
        torch._foreach_add_(velocities, updates)
        torch._foreach_sub_(weights, velocities)

    def _trust_ratios(
        self, group: dict[str, Any], weights: list[torch.Tensor], gradients: list[torch.Tensor]
    ) -> list[torch.Tensor]:
        weight_norms = torch._foreach_norm(weights)
        gradient_norms = torch._foreach_norm(gradients)
        ratios = []
        for weight_norm, gradient_norm in zip(weight_norms, gradient_norms, strict=True):
            bottom = gradient_norm + group["weight_decay"] * weight_norm + group["epsilon"]
            ratio = group["trust_coefficient"] * weight_norm / bottom
            usable = (weight_norm > 0) & (gradient_norm > 0)
            ratios.append(torch.where(usable, ratio, torch.ones_like(ratio)))
        return ratios


def decay_groups(model: torch.nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Two parameter groups: matrices and kernels with decay, vectors without.

    Args:
        model: The model.
        weight_decay: Decay of the first group.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0, "scaled": False},
    ]


def linear_warmup_polynomial_decay(
    step: float, *, base: float, end: float, warmup_steps: float, total_steps: float, power: float
) -> float:
    """Learning rate at a step: a straight line up to ``base``, then a polynomial down to ``end``.

    Args:
        step: Steps taken before this one.
        base: Rate at the end of the warm-up.
        end: Rate at ``total_steps`` and after.
        warmup_steps: Steps of the warm-up.
        total_steps: Steps of the whole schedule.
        power: Power of the decay: 1 is a straight line, 2 the MLPerf ResNet-50 schedule.
    """
    if step < warmup_steps:
        return base * (step + 1) / max(warmup_steps, 1.0)
    left = max(0.0, 1.0 - (step - warmup_steps) / max(total_steps - warmup_steps, 1.0))
    return float((base - end) * left**power + end)
