"""The network of TGN: memory, temporal attention, link decoder (arXiv:2006.10637).

It computes what the paper's code computes (github.com/twitter-research/tgn, variant "TGN-attn"),
with less work. A product of a weight and several things joined is the sum of products of its parts,
so each part is multiplied once for all that share it: a message for both its sides, a node for all
that sent it their last message. Weights that are applied one after another with nothing between
are multiplied with each other first. Nothing is multiplied by a gradient that nobody asks for. The
memory lies beside the weights in tensors of its own; all nodes of a batch are taken at once.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.training.data.link_batches import LinkBatch
from trainmark.workloads.tgn_layers import Shape, TemporalAttention, TimeEncoder

__all__ = ["DeviceBatch", "Memory", "Tgn", "to_device"]


@dataclass(slots=True, kw_only=True)
class Memory:
    """What a run remembers of its nodes; no weight, and not trained.

    Attributes:
        values: The memory, (N, memory), float32.
        features: Features of all interactions, (E, features).
    """

    values: Tensor
    features: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceBatch:
    """The fields of ``LinkBatch`` as tensors on the device, and the memory that they count in."""

    memory: Memory
    end: int
    first: bool
    places: int
    padding: int
    nodes: Tensor
    waiting: Tensor
    messages: Tensor
    message_rows: Tensor
    partners: Tensor
    partner_rows: Tensor
    acted: Tensor
    gaps: Tensor
    asking: Tensor
    queries: Tensor
    neighbours: Tensor
    filled: Tensor
    there: Tensor
    interactions: Tensor
    sides: Tensor
    ages: Tensor
    met: Tensor
    met_ages: Tensor
    written: Tensor
    written_rows: Tensor


_TENSORS = (
    *("nodes", "waiting", "messages", "message_rows", "partners", "partner_rows", "acted", "gaps"),
    *("asking", "queries", "neighbours", "filled", "there", "interactions", "sides", "ages"),
    *("met", "met_ages", "written", "written_rows"),
)


def to_device(batch: LinkBatch, memory: Memory) -> DeviceBatch:
    """A batch where the memory lies, copied without waiting."""
    device = memory.values.device

    def moved(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Tensor:
        tensor = torch.from_numpy(array)
        if device.type == "cuda":
            return tensor.pin_memory().to(device, non_blocking=True)
        return tensor.to(device)

    return DeviceBatch(
        memory=memory,
        end=batch.end,
        first=batch.first,
        places=batch.filled.size,
        padding=batch.filled.size - int(batch.filled.sum()),
        **{name: moved(getattr(batch, name)) for name in _TENSORS},
    )


class Tgn(nn.Module):
    """The network: which of two links is real, and what its nodes remember."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.memory
        self.shape = shape
        self.time = TimeEncoder(shape.time, logarithmic=shape.logarithmic)
        self.updater = nn.GRUCell(2 * width + shape.edge + shape.time, width)
        self.attention = TemporalAttention(shape)
        self.decoder = nn.Sequential(nn.Linear(shape.link, width), nn.ReLU(), nn.Linear(width, 1))
        for layer in self.decoder:
            if isinstance(layer, nn.Linear):
                nn.init.xavier_normal_(layer.weight)

    def forward(self, batch: DeviceBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of the real links (n,), of the chance links (n,), and the new memory.

        The new memory, (W, memory), is that of ``batch.written``, for the caller to write.
        """
        nodes = self.remember(batch)
        embedded = self.attention(
            nodes.index_select(0, batch.asking),
            batch.queries,
            torch.cos(self.time.phases),  # of an age of 0
            self._neighbours(batch, nodes),
            batch.filled,
        )
        source, real, chance = embedded.chunk(3)
        new = nodes.detach()[batch.written_rows]
        scores = self._scores(source, torch.cat([real, chance]), batch)
        real_scores, chance_scores = scores.chunk(2)
        return real_scores, chance_scores, new

    def remember(self, batch: DeviceBatch) -> Tensor:
        """The memory of the batch's nodes with the waiting messages taken in, (U, memory)."""
        updater, width = self.updater, self.shape.memory
        own = batch.memory.values.index_select(0, batch.nodes)
        of_own, of_message = updater.weight_ih.split(
            (width, updater.weight_ih.shape[1] - width), dim=1
        )
        # The gates add what is given and what is held: of the own memory one product gives both.
        given, held = ((of_own, updater.bias_ih), (updater.weight_hh, updater.bias_hh))
        weight, bias = (
            torch.cat([g[: 2 * width] + h[: 2 * width], g[2 * width :], h[2 * width :]])
            for g, h in zip(given, held, strict=True)
        )
        known = functional.linear(own, weight, bias)
        own_gates, own_new, own_held = known.split((2 * width, width, width), dim=1)
        message = self._messages(batch, of_message)
        message_gates, message_new = message.split((2 * width, width), dim=1)
        reset, keep = torch.sigmoid(own_gates + message_gates).chunk(2, dim=1)
        new = torch.tanh(own_new + message_new + reset * own_held).float()
        return torch.where(batch.waiting[:, None], torch.lerp(new, own, keep.float()), own)

    def _messages(self, batch: DeviceBatch, weight: Tensor) -> Tensor:
        """What the updater is given by the messages, less what their nodes are, (U, 3 memory).

        Args:
            batch: The batch.
            weight: Of partner, interaction, side and gap.
        """
        shape, memory = self.shape, batch.memory
        of_partner, of_features, of_side, of_gap = weight.split(
            (shape.memory, shape.features, int(shape.directed), shape.time), dim=1
        )
        partners = functional.linear(memory.values.index_select(0, batch.partners), of_partner)
        given = partners.index_select(0, batch.partner_rows)
        given = torch.addmm(given, self.time(batch.gaps), of_gap.t())
        if shape.features:
            found = memory.features.index_select(0, batch.messages)
            features = functional.linear(found, of_features)
            given = given + features.index_select(0, batch.message_rows)
        return given + batch.acted[:, None] * of_side[:, 0] if shape.directed else given

    def _neighbours(self, batch: DeviceBatch, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Node, interaction and age of every neighbour, (Q, K, ...) each."""
        places, features = batch.filled.shape, batch.memory.features
        near = nodes.index_select(0, batch.neighbours.flatten())
        found = features.index_select(0, batch.interactions.flatten()).view(*places, -1)
        edges = torch.cat([found, batch.sides[..., None]], dim=2) if self.shape.directed else found
        # Of places without a neighbour nothing is used: their ages are not encoded.
        ages = self.time(batch.ages)
        placed = ages.new_zeros(batch.filled.numel(), self.shape.time)
        placed = placed.index_copy(0, batch.there, ages)
        return near.view(*places, -1), edges, placed.view(*places, -1)

    def _scores(self, source: Tensor, other: Tensor, batch: DeviceBatch) -> Tensor:
        """Scores of the real links, then of the chance links: both have the same sources."""
        first, activation, last = self.decoder
        assert isinstance(first, nn.Linear)
        width = self.shape.memory
        of_source, of_other = first.weight.split((width, self.shape.link - width), dim=1)
        seen = [other]
        if self.shape.meetings:
            met = batch.met.to(source.dtype)[:, None]
            seen += [met, met * self.time(batch.met_ages)]
        hidden = functional.linear(torch.cat(seen, dim=1), of_other)
        hidden = hidden + functional.linear(source, of_source, first.bias).repeat(2, 1)
        scores: Tensor = last(activation(hidden))
        return scores[:, 0]
