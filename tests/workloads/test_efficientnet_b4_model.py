from typing import Any

import pytest
import torch
from torch import nn

from trainmark.training.frameworks.torch import count_flop
from trainmark.workloads.efficientnet_b4_model import EfficientNet
from trainmark.workloads.efficientnet_b4_shape import Shape, parameters, round_channels

TINY = {"width": 0.25, "depth": 0.4, "classes": 10}


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def tiny(**changes: Any) -> EfficientNet:
    torch.manual_seed(0)
    return EfficientNet(Shape(**{**TINY, "dropout": 0.0, "stochastic_depth": 0.0, **changes}))


def test_it_has_the_published_number_of_parameters() -> None:
    """19,341,616: what torchvision and timm publish for EfficientNet-B4."""
    assert parameters(Shape()) == count(EfficientNet(Shape())) == 19_341_616


def test_its_blocks_are_those_of_b4() -> None:
    shape = Shape()
    blocks = list(shape.blocks())
    outs = [24, 32, 56, 112, 160, 272, 448]
    layers = [2, 4, 4, 6, 6, 8, 2]
    assert [b.out for b in blocks] == [
        out for out, number in zip(outs, layers, strict=True) for _ in range(number)
    ]
    assert (shape.stem, shape.head) == (48, 1792)
    assert [b.drop for b in blocks] == pytest.approx([0.2 * i / 32 for i in range(32)])


def test_its_operations_are_those_of_the_paper() -> None:
    """4.2 billion multiply-adds at 380 x 380 in the paper's table, 4.39 by torchvision's."""
    model = EfficientNet(Shape()).eval()
    picture = torch.zeros(1, 3, 380, 380)
    with torch.no_grad():
        assert count_flop(lambda: model(picture)) / 2 == pytest.approx(4.39e9, rel=0.005)


@pytest.mark.parametrize("normalisation", ["batch", "group", "proxy"])
@pytest.mark.parametrize("group_size", [1, 16])
@pytest.mark.parametrize("width", [0.1, 0.5, 1.4, 1.75])
def test_the_counted_parameters_are_those_of_the_network(
    normalisation: str, group_size: int, width: float
) -> None:
    shape = Shape(
        width=width, depth=0.4, normalisation=normalisation, group_size=group_size, in_channels=1
    )
    assert parameters(shape) == count(EfficientNet(shape))


def test_group_convolutions_have_16_channels_a_group_and_expand_by_4() -> None:
    blocks = list(Shape(group_size=16).blocks())
    assert {b.expanded // b.channels for b in blocks} == {1, 4}
    assert {b.expanded // b.groups for b in blocks if b.expanded > b.channels} == {16}


@pytest.mark.parametrize(
    ("channels", "width", "rounded"),
    [(32, 1.4, 48), (16, 1.4, 24), (24, 1.4, 32), (320, 1.4, 448), (16, 0.1, 8), (40, 0.5, 24)],
)
def test_channels_are_multiples_of_8_and_lose_no_tenth(
    channels: int, width: float, rounded: int
) -> None:
    assert round_channels(channels, width) == rounded


def randomise(model: nn.Module) -> None:
    """Weights and running statistics that leave nothing out."""
    generator = torch.Generator().manual_seed(3)
    for name, tensor in model.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
        elif tensor.is_floating_point() and tensor.ndim == 1:
            tensor.normal_(0.5, 0.3, generator=generator)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_it_computes_what_the_model_of_transformers_does(layout: torch.memory_format) -> None:
    """The published B4 there, with our weights: at 60 pixels the odd sides are those of 380."""
    from transformers import EfficientNetConfig, EfficientNetForImageClassification

    config = EfficientNetConfig(
        width_coefficient=1.4,
        depth_coefficient=1.8,
        hidden_dim=1792,
        image_size=60,
        depthwise_padding=[6],  # the block that meets an odd side, as published for B4
        id2label=dict(enumerate(map(str, range(1000)))),
    )
    other = EfficientNetForImageClassification(config).eval()
    ours = EfficientNet(Shape()).eval()
    randomise(ours)
    taken, wanted = ours.state_dict(), other.state_dict()
    assert len(taken) == len(wanted)
    other.load_state_dict(
        {
            name: tensor.reshape(wanted[name].shape)
            for name, tensor in zip(wanted, taken.values(), strict=True)
        }
    )
    torch.manual_seed(1)
    pictures = torch.randn(2, 3, 60, 60)
    with torch.no_grad():
        expected = other(pictures).logits
        found = ours.to(memory_format=layout)(pictures.to(memory_format=layout))  # type: ignore[call-overload]
    assert expected.std() > 1e-3
    assert torch.allclose(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("normalisation", ["group", "proxy"])
@pytest.mark.parametrize("group_size", [1, 16])
def test_the_variant_does_not_see_the_batch(normalisation: str, group_size: int) -> None:
    model = tiny(normalisation=normalisation, group_size=group_size)
    pictures = torch.randn(4, 3, 32, 32)
    assert torch.allclose(model(pictures)[:1], model(pictures[:1]), atol=1e-4)


def test_batch_norm_sees_it() -> None:
    model = tiny()
    pictures = torch.randn(4, 3, 32, 32)
    assert not torch.allclose(model(pictures)[:2], model(pictures[:2]), atol=1e-2)


def test_a_skipped_block_leaves_its_input_and_a_kept_one_is_made_up_for() -> None:
    model = tiny(stochastic_depth=0.8)
    block: Any = next(b for b in reversed(list(model.blocks)) if b.shortcut)
    block.drop = 0.5
    x = torch.randn(64, block.expand[0].in_channels, 4, 4)
    made = block(x)
    skipped = (made == x).flatten(1).all(1)
    assert 16 < int(skipped.sum()) < 48
    block.drop = 0.0
    whole = block(x)
    assert torch.allclose((made - x)[~skipped], 2 * (whole - x)[~skipped], rtol=1e-3, atol=1e-4)
    block.eval()
    block.drop = 0.5
    assert not (block(x) == x).flatten(1).all(1).any()


def test_both_layouts_give_the_same() -> None:
    model = tiny().eval()
    pictures = torch.randn(2, 3, 31, 31)
    expected = model(pictures)
    last = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert torch.allclose(last(pictures.to(memory_format=torch.channels_last)), expected, atol=1e-5)
