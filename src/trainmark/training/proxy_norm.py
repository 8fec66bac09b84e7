"""Proxy-normalized activation: what lets group norm match batch norm without its batch.

Labatie, Masters, Eaton-Rosen, Luschi 2021, "Proxy-Normalizing Activations to Match Batch
Normalization while Removing Batch Dependence" (arXiv:2106.03743). After the norm comes, instead of
``f(scale * x + shift)``,

    (f(scale * x + shift) - E[f(scale * Y + shift)]) / sqrt(Var[f(scale * Y + shift)] + epsilon)

where the proxy ``Y`` is normal with a learned mean and a deviation of one plus a learned number
for each channel. Mean and variance are taken over 200 even quantiles of the normal distribution,
epsilon is 0.03, as in the authors' implementation.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["ProxyNormSilu"]

_QUANTILES = 200
_EPSILON = 0.03


class ProxyNormSilu(nn.Module):
    """Scale, shift, SiLU and normalisation by the proxy: (N, channels, H, W) to the same.

    Args:
        channels: Channels of the input, which is normalised already.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.proxy_mean = nn.Parameter(torch.zeros(channels))
        self.proxy_deviation = nn.Parameter(torch.zeros(channels))
        # Made by numbers, not stored: not part of the model's state.
        middles = (torch.arange(_QUANTILES, dtype=torch.float64) + 0.5) / _QUANTILES
        quantiles = torch.special.ndtri(middles).float()
        self.register_buffer("quantiles", quantiles, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Activate ``x``."""
        mean, scale = self.proxy_statistics()
        y = functional.silu(torch.addcmul(_row(self.bias), x, _row(self.weight)))
        # One pass: y * scale - mean * scale.
        return torch.addcmul(_row(-mean * scale), y, _row(scale)).to(x.dtype)

    def proxy_statistics(self) -> tuple[Tensor, Tensor]:
        """Mean of the activated proxy and one over its deviation, each (channels,), in fp32."""
        with torch.autocast(self.weight.device.type, enabled=False):
            quantiles = self.get_buffer("quantiles")[:, None]
            proxy = self.proxy_mean + (1 + self.proxy_deviation) * quantiles
            activated = functional.silu(self.weight * proxy + self.bias)
            variance, mean = torch.var_mean(activated, 0, correction=0)
            return mean, torch.rsqrt(variance + _EPSILON)


def _row(channels: Tensor) -> Tensor:
    """(C,) to (1, C, 1, 1)."""
    return channels[None, :, None, None]
