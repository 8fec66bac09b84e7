"""The EfficientNet network in PyTorch, at any width and depth, with three kinds of normalisation.

Tan, Le 2019 (arXiv:1905.11946), in the details of the authors' TensorFlow implementation
(github.com/tensorflow/tpu, models/official/efficientnet): strided convolutions pad as TensorFlow's
"SAME" does, batch-norm has epsilon 0.001, each block's squeeze-excitation is a quarter of the
block's input wide, stochastic depth rises linearly with the block's number.

The batch-independent variant: Masters, Labatie, Eaton-Rosen, Luschi 2021 (arXiv:2106.03640) put
group convolutions of 16 channels a group with an expansion of 4 in the place of depthwise ones
with 6, and group norm with proxy-normalized activations (``training.proxy_norm``) in the place of
batch norm.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.training.proxy_norm import ProxyNormSilu
from trainmark.workloads.efficientnet_b4_shape import STEM_KERNEL, Block, Shape

__all__ = ["EfficientNet"]

_NORM_EPSILON = 1e-3
# Of the variant's published configuration (github.com/graphcore/examples, vision/cnns/pytorch).
_NORM_GROUPS = 4


class _SamePad(nn.Conv2d):
    """A convolution that pads as TensorFlow's "SAME": a strided one more at the right and below."""

    def __init__(
        self, channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) to (N, out, ceil(H / stride), ceil(W / stride))."""
        (kernel, _), (stride, _) = self.kernel_size, self.stride
        down, right = (_padding(size, kernel, stride) for size in x.shape[-2:])
        if down[0] == down[1] == right[0] == right[1]:
            return functional.conv2d(x, self.weight, None, self.stride, down[0], groups=self.groups)
        padded = functional.pad(x, (*right, *down))
        return functional.conv2d(padded, self.weight, None, self.stride, 0, groups=self.groups)


def _padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Pixels before and after a line of ``size`` so that the result is ceil(size / stride)."""
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class _Pointwise(nn.Conv2d):
    """A 1x1 convolution. On a CPU, in channels-last layout, it is one matrix multiplication.

    PyTorch's own way there sets a convolution up, or with one thread unfolds the picture.
    """

    def __init__(self, channels: int, out: int) -> None:
        super().__init__(channels, out, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(N, channels, H, W) to (N, out, H, W)."""
        if x.device.type != "cpu" or not x.is_contiguous(memory_format=torch.channels_last):
            return super().forward(x)
        y = functional.linear(x.permute(0, 2, 3, 1), self.weight.flatten(1))
        return y.permute(0, 3, 1, 2)


class _SqueezeExcite(nn.Module):
    """Channels weighted by what the whole picture shows (Hu et al. 2017, arXiv:1709.01507)."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        # Matrices, not 1x1 convolutions of a 1x1 picture: the same function, less to set up.
        self.reduce = nn.Linear(channels, squeezed)
        self.expand = nn.Linear(squeezed, channels)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) to the same shape."""
        pooled = functional.silu(self.reduce(x.mean((2, 3))))
        weighted: Tensor = x * self.expand(pooled).sigmoid()[:, :, None, None]
        return weighted


class _Block(nn.Module):
    """Mobile inverted bottleneck: expand, spatial convolution, squeeze-excite, project."""

    def __init__(self, block: Block, shape: Shape) -> None:
        super().__init__()
        inner, norm = block.expanded, partial(_normalised, shape=shape)
        self.expand: nn.Module = nn.Identity()
        if inner != block.channels:
            self.expand = nn.Sequential(_Pointwise(block.channels, inner), *norm(inner))
        self.spatial = nn.Sequential(
            _SamePad(inner, inner, block.kernel, block.stride, block.groups), *norm(inner)
        )
        self.squeeze_excite = _SqueezeExcite(inner, block.squeezed)
        self.project = nn.Sequential(_Pointwise(inner, block.out), _norm(block.out, shape))
        self.shortcut = block.stride == 1 and block.channels == block.out
        self.drop = block.drop

    def forward(self, x: Tensor) -> Tensor:
        """(N, channels, H, W) to (N, out, H / stride, W / stride)."""
        y: Tensor = self.project(self.squeeze_excite(self.spatial(self.expand(x))))
        if not self.shortcut:
            return y
        if not self.training or self.drop == 0:
            return y + x
        kept = torch.rand(len(x), 1, 1, 1, device=x.device) >= self.drop
        return torch.addcmul(x, y, kept.to(y.dtype) / (1 - self.drop))


class EfficientNet(nn.Module):
    """The network: (N, in_channels, H, W) to (N, classes)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            _SamePad(shape.in_channels, shape.stem, STEM_KERNEL, stride=2),
            *_normalised(shape.stem, shape),
        )
        blocks = list(shape.blocks())
        self.blocks = nn.Sequential(*(_Block(block, shape) for block in blocks))
        self.head = nn.Sequential(
            _Pointwise(blocks[-1].out, shape.head), *_normalised(shape.head, shape)
        )
        self.dropout = nn.Dropout(shape.dropout)
        self.classifier = nn.Linear(shape.head, shape.classes)
        self.apply(_initialise)

    def forward(self, x: Tensor) -> Tensor:
        """(N, in_channels, H, W) to (N, classes)."""
        pooled = self.head(self.blocks(self.stem(x))).mean((2, 3))
        classes: Tensor = self.classifier(self.dropout(pooled))
        return classes


def _norm(channels: int, shape: Shape) -> nn.Module:
    if shape.normalisation == "batch":
        # PyTorch's momentum is the share that is replaced.
        return nn.BatchNorm2d(channels, eps=_NORM_EPSILON, momentum=1 - shape.batch_norm_kept)
    return nn.GroupNorm(_NORM_GROUPS, channels, eps=_NORM_EPSILON)


def _normalised(channels: int, shape: Shape) -> tuple[nn.Module, nn.Module]:
    """Normalisation and activation after a convolution."""
    if shape.normalisation == "proxy":
        # The activation has the scale and shift: it needs them for its proxy.
        norm = nn.GroupNorm(_NORM_GROUPS, channels, eps=_NORM_EPSILON, affine=False)
        return norm, ProxyNormSilu(channels)
    return _norm(channels, shape), nn.SiLU(inplace=True)


def _initialise(module: nn.Module) -> None:
    """Convolutions as published: normal, by fan-out within the group.

    Matrices keep PyTorch's initialisation, by their inputs. The authors' is by their outputs, which
    at full scale gives the classifier nearly the same; with the ten classes of the desk scale it
    would begin ten times too large.
    """
    if isinstance(module, nn.Conv2d):
        fan_out = module.weight[0, 0].numel() * module.out_channels // module.groups
        nn.init.normal_(module.weight, std=math.sqrt(2 / fan_out))
