import math
from statistics import NormalDist

import pytest
import torch
from torch.nn import functional

from trainmark.training.proxy_norm import ProxyNormSilu


def plain(layer: ProxyNormSilu, x: torch.Tensor) -> torch.Tensor:
    """The formula, channel by channel, with quantiles of the standard library."""
    points = [NormalDist().inv_cdf((i + 0.5) / 200) for i in range(200)]
    made = []
    for channel in range(x.shape[1]):
        scale, shift = layer.weight[channel], layer.bias[channel]
        spread = 1 + layer.proxy_deviation[channel]
        proxy = torch.tensor(points) * spread + layer.proxy_mean[channel]
        activated = functional.silu(proxy * scale + shift)
        centred = functional.silu(x[:, channel] * scale + shift) - activated.mean()
        made.append(centred / (activated.var(correction=0) + 0.03).sqrt())
    return torch.stack(made, 1)


@pytest.fixture
def layer() -> ProxyNormSilu:
    torch.manual_seed(0)
    made = ProxyNormSilu(5)
    for parameter in made.parameters():
        parameter.data += 0.3 * torch.randn(5)
    return made


def test_it_is_the_papers_formula(layer: ProxyNormSilu) -> None:
    x = torch.randn(3, 5, 4, 2)
    assert torch.allclose(layer(x), plain(layer, x), rtol=1e-5, atol=1e-5)


def test_its_gradients_are_the_papers(layer: ProxyNormSilu) -> None:
    """Through the proxy as well: a proxy held fast would not follow scale and shift."""
    x = torch.randn(3, 5, 4, 2)
    goal = torch.randn(3, 5, 4, 2)
    parameters = list(layer.parameters())
    ours = torch.autograd.grad((layer(x) * goal).sum(), parameters)
    expected = torch.autograd.grad((plain(layer, x) * goal).sum(), parameters)
    for one, other in zip(ours, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)
        assert other.abs().min() > 0


def test_a_normal_input_leaves_with_mean_0_and_nearly_variance_1() -> None:
    """SiLU of a normal number: mean 0.2066, mean square 0.3558 (by integration)."""
    mean, scale = ProxyNormSilu(1).proxy_statistics()
    variance = 0.35578 - 0.20662**2
    assert mean.item() == pytest.approx(0.20662, abs=2e-3)
    assert scale.item() == pytest.approx(1 / math.sqrt(variance + 0.03), rel=1e-2)
    torch.manual_seed(0)
    made = ProxyNormSilu(1)(torch.randn(1, 1, 300, 300))
    assert made.mean().item() == pytest.approx(0, abs=0.02)
    assert made.var().item() == pytest.approx(variance / (variance + 0.03), rel=0.03)


def test_it_keeps_layout_and_number_format() -> None:
    x = torch.randn(2, 4, 3, 3).to(memory_format=torch.channels_last)
    assert ProxyNormSilu(4)(x).is_contiguous(memory_format=torch.channels_last)
    assert ProxyNormSilu(4)(x.bfloat16()).dtype is torch.bfloat16
