"""LAMB, by the library pytorch-optimizer, set to the rule of the paper.

You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes", 2019
(arXiv:1904.00962), algorithm 2: Adam's step with both moments corrected for their start, plus the
decayed weights, scaled for each tensor by the norm of the weights over the norm of the step.
Weights that are all zero take the step as it is, as in the MLPerf BERT reference; the paper leaves
that open.

The library's own defaults are another rule: it corrects the first moment only, after the scaling,
decays the weights beside the scaled step, and takes no norm of weights for larger than 10. Large
matrices have larger ones: those of BERT-Large start at 20 and its embeddings at 112.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pytorch_optimizer
import torch

__all__ = ["Lamb"]


class Lamb(pytorch_optimizer.Lamb):
    """LAMB with the corrections of both moments and norms of any size.

    Args:
        groups: Parameter groups with their ``weight_decay``; one with ``scaled=False`` takes Adam's
            step as it is, which the MLPerf BERT reference does for biases and norms.
        lr: Learning rate, set anew before each step by a schedule.
        betas: Decay of the first and of the second moment.
        eps: Added to the root of the second moment.
    """

    clamp = math.inf

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        lr: float,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
    ) -> None:
        made = [
            {**group, "adam": not group.get("scaled", True), "decay": group["weight_decay"]}
            for group in groups
        ]
        for group in made:
            group.pop("scaled", None)
        super().__init__(
            made,
            lr=lr,
            betas=betas,
            weight_decouple=False,  # the decay is part of the step that is scaled
            eps=eps,
            foreach=True,
            adam_debias=True,  # no correction after the scaling
        )
        self._zeros: list[tuple[torch.Tensor, dict[str, Any]]] = []

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Take one step.

        The library works on moments without correction. The corrected step is theirs times a
        factor, with another epsilon; the factor cancels in the scaling, once the decay is divided
        by it, and belongs into the learning rate where nothing is scaled. Where there are zeros
        alone it is neither: they are multiplied by it afterwards.
        """
        if not self.state:
            self._zeros = list(self._all_zero())
        given = [(group["lr"], group["eps"]) for group in self.param_groups]
        for group in self.param_groups:
            if not self.state:
                group["step"] = 0  # a first step, or the first after a warm-up was undone
            beta1, beta2 = group["betas"]
            taken = group.get("step", 0) + 1
            root = math.sqrt(1 - beta2**taken)
            factor = group["factor"] = root / (1 - beta1**taken)
            group["eps"] *= root
            group["weight_decay"] = group["decay"] / factor
            if group["adam"]:
                group["lr"] *= factor
        try:
            loss = super().step(closure)
        finally:
            for group, (rate, epsilon) in zip(self.param_groups, given, strict=True):
                group["lr"], group["eps"] = rate, epsilon
        for weight, group in self._zeros:
            if "weight_norm" in self.state[weight]:
                was_zero = self.state[weight]["weight_norm"] == 0
                weight.mul_(torch.where(was_zero, group["factor"], 1.0))
        return loss

    def _all_zero(self) -> Iterator[tuple[torch.Tensor, dict[str, Any]]]:
        """The weights to be scaled that are all zero, with their groups; waits for the device."""
        for group in self.param_groups:
            if not group["adam"]:
                norms = torch.stack([norm.float() for norm in torch._foreach_norm(group["params"])])
                for weight, norm in zip(group["params"], norms.tolist(), strict=True):
                    if norm == 0:
                        yield weight, group
