import pytest
import torch

from trainmark.training.frameworks.torch import Torch, count_flop, preserved
from trainmark.training.settings import Settings
from trainmark.types import UsageError


def test_the_same_seed_gives_the_same_numbers() -> None:
    framework = Torch()
    framework.prepare(Settings(precision="fp32"), seed=3)
    first = torch.rand(4)
    framework.prepare(Settings(precision="fp32"), seed=3)
    assert torch.equal(torch.rand(4), first)


def test_a_precision_without_instructions_is_refused_with_the_measured_rates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    framework = Torch()
    rates = {"fp32": 100e9, "bf16": 0.9e9, "fp16": 180e9}
    monkeypatch.setattr(framework, "_matmul", lambda size, name, seconds=0: rates[name])
    assert framework.precisions()["fp16"] == ""
    with pytest.raises(UsageError, match=r"0\.9 GFLOP/s where fp32 reaches 100") as caught:
        framework.prepare(Settings(precision="bf16"), seed=0)
    assert caught.value.hint == "Usable here: fp32, fp16."


@pytest.mark.parametrize("name", ["cuda:99", "abacus", "meta"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="device="):
        Torch().prepare(Settings(precision="fp32", device=name), seed=0)


def test_the_matmul_peak_is_a_plausible_rate() -> None:
    assert 1e8 < Torch()._matmul(256, "fp32", seconds=0.02) < 1e15


def test_the_environment_names_framework_device_and_threads() -> None:
    found = Torch().environment()
    assert found["framework"] == "torch"
    assert found["torch"] == str(torch.__version__)
    assert found["threads"] == torch.get_num_threads()


def test_warm_up_leaves_no_trace() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    expected = torch.get_rng_state()
    with preserved(model, optimizer):
        model(torch.randn(4, 3)).sum().backward()
        optimizer.step()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), expected)
    assert not optimizer.state
    assert all(p.grad is None for p in model.parameters())


def test_operations_are_counted_forward_and_backward() -> None:
    layer, x = torch.nn.Linear(8, 4, bias=False), torch.randn(2, 8, requires_grad=True)
    assert count_flop(lambda: layer(x).sum().backward()) == 3 * 2 * 2 * 8 * 4


@pytest.mark.parametrize("groups", [1, 2, 8])
def test_a_grouped_convolution_costs_what_its_groups_do(groups: int) -> None:
    """PyTorch's own count of the backward pass is that of a dense one: 8 times for 8 groups."""
    layer = torch.nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=groups, bias=False)
    x = torch.randn(2, 8, 10, 10, requires_grad=True)
    forward = 2 * 2 * 25 * 16 * (8 // groups) * 9  # two pictures of 5 x 5 places
    assert count_flop(lambda: layer(x)) == forward
    assert count_flop(lambda: layer(x).sum().backward()) == 3 * forward
    still = x.detach()  # the gradient of a picture is not asked for
    assert count_flop(lambda: layer(still).sum().backward()) == 2 * forward


def test_a_transposed_convolution_is_counted_as_well() -> None:
    layer = torch.nn.ConvTranspose2d(8, 16, 3, stride=2, groups=4, bias=False)
    x = torch.randn(2, 8, 5, 5, requires_grad=True)
    forward = 2 * 2 * 25 * 8 * 4 * 9
    assert count_flop(lambda: layer(x).sum().backward()) == 3 * forward
