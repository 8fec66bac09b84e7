"""SchNet in PyTorch over flat lists of atoms and unordered pairs of atoms.

The network is that of PyTorch Geometric (``torch_geometric.nn.models.SchNet``), parameter for
parameter and under the same names; a test compares the outputs with copied weights. What differs
is the work: a distance is the same in both directions, so the filters, which cost most, are made
once for each unordered pair and used for both; shifts by log 2 are folded into the next bias; and
the product of features and filters has a backward pass of its own that keeps no copy of either.
Molecules of different size lie one after another in one list, so nothing is padded.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["MoleculeBatch", "SchNet"]

ELEMENTS = 100
"""Rows of the table of embeddings: atomic numbers 0 (nothing) to 99."""
_LOG_2 = math.log(2.0)


class MoleculeBatch(NamedTuple):
    """Molecules one after another: A atoms, P pairs of atoms, B molecules.

    Attributes:
        numbers: Atomic numbers, int64, (A,).
        molecules: The molecule of each atom, int64, (A,).
        first: One atom of each pair, int64, (P,).
        second: The other atom, int64, (P,).
        distances: Distance of the two, angstrom, float32, (P,).
        targets: What is to be learnt of each molecule, float32, (B,).
    """

    numbers: Tensor
    molecules: Tensor
    first: Tensor
    second: Tensor
    distances: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> "MoleculeBatch":
        """The same on the device; from page-locked memory without waiting."""
        return MoleculeBatch(*(part.to(device, non_blocking=True) for part in self))

    def pinned(self) -> "MoleculeBatch":
        """The same in page-locked memory."""
        return MoleculeBatch(*(part.pin_memory() for part in self))


class _PairSum(torch.autograd.Function):
    """For each atom the sum over its pairs of filter times the features of the other atom."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, filters: Tensor, first: Tensor, second: Tensor) -> Any:
        """(A, F), (P, F), (P,), (P,) to (A, F)."""
        ctx.save_for_backward(features, filters, first, second)
        return _both_ways(features, filters, first, second)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Gradients of features and filters. The sum is its own transpose in the features."""
        (gradient,) = gradients
        features, filters, first, second = ctx.saved_tensors
        of_filters = features.index_select(0, second).mul_(gradient.index_select(0, first))
        of_filters.addcmul_(features.index_select(0, first), gradient.index_select(0, second))
        return _both_ways(gradient, filters, first, second), of_filters, None, None


def _both_ways(features: Tensor, filters: Tensor, first: Tensor, second: Tensor) -> Tensor:
    summed = torch.zeros_like(features)
    for to, other in ((first, second), (second, first)):
        messages = features.index_select(0, other).mul_(filters)
        # scatter_add_ over an expanded index is vectorised on a CPU; index_add_ is not.
        summed.scatter_add_(0, to[:, None].expand_as(messages), messages)
    return summed


def _softplus_then(layer: nn.Linear, hidden: Tensor) -> Tensor:
    """``layer(softplus(hidden) - log 2)``, the shift folded into the bias."""
    bias = layer.bias - _LOG_2 * layer.weight.sum(1)
    return functional.linear(functional.softplus(hidden), layer.weight, bias)


class _Gaussians(nn.Module):
    """Distances as Gaussian bumps, evenly spaced from 0 to the cutoff."""

    offset: Tensor

    def __init__(self, cutoff: float, count: int) -> None:
        super().__init__()
        self.register_buffer("offset", torch.linspace(0.0, cutoff, count))
        self.coefficient = -0.5 * ((count - 1) / cutoff) ** 2

    def forward(self, distances: Tensor) -> Tensor:
        """(P,) to (P, count)."""
        return (distances[:, None] - self.offset).square_().mul_(self.coefficient).exp_()


class _Convolution(nn.Module):
    """The two linear maps around the sum over neighbours."""

    def __init__(self, width: int, filters: int) -> None:
        super().__init__()
        self.lin1 = nn.Linear(width, filters, bias=False)
        self.lin2 = nn.Linear(filters, width)


class _Interaction(nn.Module):
    """One interaction block: filters from distances, sum over neighbours, two linear maps."""

    def __init__(self, width: int, gaussians: int, filters: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(gaussians, filters), nn.Softplus(), nn.Linear(filters, filters)
        )
        self.conv = _Convolution(width, filters)
        self.lin = nn.Linear(width, width)

    def forward(self, x: Tensor, batch: MoleculeBatch, bumps: Tensor, fade: Tensor) -> Tensor:
        """Features (A, width) to what is added to them."""
        into, out = self.mlp[0], self.mlp[2]
        assert isinstance(into, nn.Linear) and isinstance(out, nn.Linear)  # noqa: PT018
        filters = _softplus_then(out, into(bumps)) * fade
        features = self.conv.lin1(x).to(filters.dtype)
        summed: Tensor = _PairSum.apply(  # type: ignore[no-untyped-call]
            features, filters, batch.first, batch.second
        )
        return _softplus_then(self.lin, self.conv.lin2(summed))


class SchNet(nn.Module):
    """The network: molecules to one number each, the sum over their atoms.

    Args:
        width: Features of an atom.
        filters: Features of a filter.
        interactions: Number of interaction blocks.
        gaussians: Number of Gaussians.
        cutoff: Distance at which filters have faded to zero, angstrom; a batch must hold no
            longer pair.
    """

    def __init__(
        self, *, width: int, filters: int, interactions: int, gaussians: int, cutoff: float
    ) -> None:
        super().__init__()
        self.cutoff = cutoff
        self.embedding = nn.Embedding(ELEMENTS, width, padding_idx=0)
        self.distance_expansion = _Gaussians(cutoff, gaussians)
        self.interactions = nn.ModuleList(
            _Interaction(width, gaussians, filters) for _ in range(interactions)
        )
        self.lin1 = nn.Linear(width, width // 2)
        self.lin2 = nn.Linear(width // 2, 1)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, batch: MoleculeBatch) -> Tensor:
        """A batch to (B,), float32."""
        bumps = self.distance_expansion(batch.distances)
        fade = torch.cos(batch.distances * (math.pi / self.cutoff)).add_(1).mul_(0.5)[:, None]
        x = self.embedding(batch.numbers)
        for interaction in self.interactions:
            x = x + interaction(x, batch, bumps, fade)
        atoms = _softplus_then(self.lin2, self.lin1(x)).squeeze(1).float()
        return atoms.new_zeros(len(batch.targets)).index_add_(0, batch.molecules, atoms)
