"""RMSProp in TensorFlow's form, which the published EfficientNets were trained with.

It differs from PyTorch's in three ways that matter at its usual epsilon of 0.001: the mean square
begins at one, not at nothing; epsilon stands under the root; the learning rate stands inside the
momentum. For a gradient g of a weight w:

    s = decay * s + (1 - decay) * g * g
    v = momentum * v + rate * g / sqrt(s + epsilon)
    w = w - v

(tf.compat.v1.train.RMSPropOptimizer; Tieleman, Hinton 2012.) No library that keeps torch unchanged
offers it (docs/workloads/efficientnet_b4.md).
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch

__all__ = ["RmsProp"]


class RmsProp(torch.optim.Optimizer):
    """RMSProp with momentum, for all weights of a group at once.

    Args:
        params: Parameters or parameter groups.
        lr: Learning rate, set anew before each step by a schedule.
        decay: Share of the mean square that is kept.
        momentum: Share of the velocity that is kept.
        epsilon: Added to the mean square, under the root.
        weight_decay: Decay added to the gradient, 1/step.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        *,
        decay: float = 0.9,
        momentum: float = 0.9,
        epsilon: float = 1e-3,
        weight_decay: float = 0.0,
    ) -> None:
        defaults = {
            "lr": lr,
            "decay": decay,
            "momentum": momentum,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Take one step. ``closure`` is not supported."""
        assert closure is None, "RMSProp takes no closure"
        for group in self.param_groups:
            weights = [p for p in group["params"] if p.grad is not None]
            if weights:
                self._step_group(group, weights)

    def _step_group(self, group: dict[str, Any], weights: list[torch.Tensor]) -> None:
        gradients = [w.grad for w in weights if w.grad is not None]
        if group["weight_decay"]:
            gradients = list(torch._foreach_add(gradients, weights, alpha=group["weight_decay"]))
        squares, velocities = [], []
        for weight in weights:
            state = self.state[weight]
            if not state:
                state["mean_square"] = torch.ones_like(weight)
                state["velocity"] = torch.zeros_like(weight)
            squares.append(state["mean_square"])
            velocities.append(state["velocity"])
        kept = group["decay"]
        torch._foreach_mul_(squares, kept)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - kept)
        roots = torch._foreach_add(squares, group["epsilon"])
        torch._foreach_sqrt_(roots)
        torch._foreach_mul_(velocities, group["momentum"])
        torch._foreach_addcdiv_(velocities, gradients, roots, group["lr"])
        torch._foreach_sub_(weights, velocities)
