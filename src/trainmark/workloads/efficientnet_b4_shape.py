"""The EfficientNet network's channels and layers at any width and depth, without a framework.

Tan, Le 2019 (arXiv:1905.11946), table 1, scaled as the authors' implementation does
(github.com/tensorflow/tpu, models/official/efficientnet).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["STEM_KERNEL", "Block", "Shape", "parameters", "round_channels"]

STEM_KERNEL = 3
_STEM_CHANNELS, _HEAD_CHANNELS = 32, 1280
_SQUEEZE = 0.25
_CHANNEL_DIVISOR = 8
_GROUPED_EXPANSION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """One row of table 1 of the paper, at width and depth 1."""

    expansion: int
    kernel: int
    stride: int
    channels: int
    layers: int


_STAGES = (
    _Stage(expansion=1, kernel=3, stride=1, channels=16, layers=1),
    _Stage(expansion=6, kernel=3, stride=2, channels=24, layers=2),
    _Stage(expansion=6, kernel=5, stride=2, channels=40, layers=2),
    _Stage(expansion=6, kernel=3, stride=2, channels=80, layers=3),
    _Stage(expansion=6, kernel=5, stride=1, channels=112, layers=3),
    _Stage(expansion=6, kernel=5, stride=2, channels=192, layers=4),
    _Stage(expansion=6, kernel=3, stride=1, channels=320, layers=1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One mobile inverted bottleneck.

    Attributes:
        channels: Of its input.
        expanded: Between its two pointwise convolutions; equal to ``channels``: there is no first.
        out: Of its output.
        kernel: Width and height of the spatial convolution, whose ``stride`` and ``groups`` follow.
        squeezed: Width of the squeeze-excitation.
        drop: Share of the samples that skip it in training.
    """

    channels: int
    expanded: int
    out: int
    kernel: int
    stride: int
    groups: int
    squeezed: int
    drop: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a network is made from; the defaults are EfficientNet-B4.

    Attributes:
        width: Factor on the channels of the base network.
        depth: Factor on its layers.
        in_channels: 3 for colour.
        classes: Number of classes.
        dropout: Share of the pooled features dropped before the classifier.
        stochastic_depth: Share of the samples for which a block after the last would be skipped
            in training; it rises linearly from 0 at the first.
        normalisation: "batch", "group", or "proxy": group norm and proxy-normalized activation.
        group_size: Channels in a group of the spatial convolutions; 1 is depthwise. Above 1 the
            expansion is 4 instead of 6, as published for 16.
        batch_norm_kept: Share of batch norm's running statistics that a batch leaves as it was.
    """

    width: float = 1.4
    depth: float = 1.8
    in_channels: int = 3
    classes: int = 1000
    dropout: float = 0.4
    stochastic_depth: float = 0.2
    normalisation: str = "batch"
    group_size: int = 1
    batch_norm_kept: float = 0.99

    @property
    def stem(self) -> int:
        """Channels of the first convolution."""
        return round_channels(_STEM_CHANNELS, self.width)

    @property
    def head(self) -> int:
        """Channels of the last convolution."""
        return round_channels(_HEAD_CHANNELS, self.width)

    def blocks(self) -> Iterator[Block]:
        """The blocks from the first to the last."""
        channels, number = self.stem, 0
        total = sum(self._layers(stage) for stage in _STAGES)
        for stage in _STAGES:
            out = round_channels(stage.channels, self.width)
            for layer in range(self._layers(stage)):
                expanded = channels * self._expansion(stage)
                yield Block(
                    channels=channels,
                    expanded=expanded,
                    out=out,
                    kernel=stage.kernel,
                    stride=1 if layer else stage.stride,
                    groups=_groups(expanded, self.group_size),
                    squeezed=max(1, int(channels * _SQUEEZE)),
                    drop=self.stochastic_depth * number / total,
                )
                channels, number = out, number + 1

    def _layers(self, stage: _Stage) -> int:
        return math.ceil(stage.layers * self.depth)

    def _expansion(self, stage: _Stage) -> int:
        return min(stage.expansion, _GROUPED_EXPANSION) if self.group_size > 1 else stage.expansion


def round_channels(channels: int, width: float) -> int:
    """Channels at a width: the nearest multiple of 8, but never more than a tenth fewer."""
    wanted = channels * width
    rounded = max(
        _CHANNEL_DIVISOR,
        int(wanted + _CHANNEL_DIVISOR / 2) // _CHANNEL_DIVISOR * _CHANNEL_DIVISOR,
    )
    return rounded + _CHANNEL_DIVISOR if rounded < 0.9 * wanted else rounded


def parameters(shape: Shape) -> int:
    """Number of trainable parameters."""
    # Scale and shift of a norm; the proxy of an activation has two numbers a channel more.
    plain, activated = 2, 4 if shape.normalisation == "proxy" else 2
    total = shape.stem * (shape.in_channels * STEM_KERNEL**2 + activated)
    last = shape.stem
    for block in shape.blocks():
        inner, last = block.expanded, block.out
        if inner != block.channels:
            total += inner * (block.channels + activated)
        total += inner * (inner // block.groups * block.kernel**2 + activated)
        total += 2 * inner * block.squeezed + block.squeezed + inner
        total += last * (inner + plain)
    total += shape.head * (last + activated)
    return total + (shape.head + 1) * shape.classes


def _groups(channels: int, size: int) -> int:
    """Groups of ``size`` channels, at least one; fewer where they would not come out even."""
    groups = max(channels // size, 1)
    return next(number for number in range(groups, 0, -1) if channels % number == 0)
