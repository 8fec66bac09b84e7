"""The network of TGN: memory, temporal attention, link decoder (arXiv:2006.10637).

It computes what the paper's code computes (github.com/twitter-research/tgn, variant "TGN-attn"),
with less work: the projections of keys and values are applied to the query and to the weighted sum
instead of to every neighbour, and nothing is multiplied by a gradient that nobody asks for. The
memory lies beside the weights in tensors of its own; all nodes of a batch are taken at once.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.training.data.link_batches import LinkBatch

__all__ = ["DeviceBatch", "Memory", "Shape", "TemporalAttention", "Tgn", "TimeEncoder", "to_device"]

_LOG_SPAN = 16.0  # log(1 + age) of the oldest neighbours: 9e6 interactions or seconds
_HIDDEN = -1e9  # a score that softmax makes 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of the network.

    Attributes:
        memory: Width of memory and embedding.
        time: Width of the time encoding.
        features: Features of an interaction.
        heads: Heads of the attention.
        dropout: Dropout of the attention weights.
        directed: Whether the network is told which side acted.
        meetings: Whether the decoder is told when the ends of a link last met.
        logarithmic: Whether the time encoder reads the logarithm of an age.
    """

    memory: int
    time: int
    features: int
    heads: int = 2
    dropout: float = 0.0
    directed: bool = False
    meetings: bool = False
    logarithmic: bool = False

    @property
    def link(self) -> int:
        """Width of what the decoder sees."""
        return 2 * self.memory + (self.time + 1 if self.meetings else 0)

    @property
    def edge(self) -> int:
        """Width of what is known of an interaction."""
        return self.features + int(self.directed)


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
    partners: Tensor
    acted: Tensor
    gaps: Tensor
    queries: Tensor
    neighbours: Tensor
    filled: Tensor
    interactions: Tensor
    sides: Tensor
    ages: Tensor
    met: Tensor
    met_ages: Tensor
    written: Tensor
    written_rows: Tensor


_TENSORS = (
    *("nodes", "waiting", "messages", "partners", "acted", "gaps", "queries", "neighbours"),
    *("filled", "interactions", "sides", "ages", "met", "met_ages", "written", "written_rows"),
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


class TimeEncoder(nn.Module):
    """cos(w t + b) for many w (Xu et al. 2020, arXiv:2002.07962).

    Args:
        width: Number of frequencies.
        logarithmic: Read log(1 + t) instead of t. Then frequencies are spaced evenly, else, as in
            the paper's code, by powers of ten from 1 to 1e-9.
    """

    def __init__(self, width: int, *, logarithmic: bool) -> None:
        super().__init__()
        self.logarithmic = logarithmic
        if logarithmic:
            frequencies = torch.linspace(0.25, 6, width) * (math.pi / _LOG_SPAN)
        else:
            frequencies = torch.logspace(0, -9, width)
        self.frequencies = nn.Parameter(frequencies)
        self.phases = nn.Parameter(torch.zeros(width))

    def forward(self, times: Tensor) -> Tensor:
        """Times (...) of at least 0 to (..., width)."""
        read = torch.log1p(times) if self.logarithmic else times
        return torch.cos(read[..., None] * self.frequencies + self.phases)


class TemporalAttention(nn.Module):
    """Each query attends to its own neighbours; the result is merged with the query's node.

    The same function as ``torch.nn.MultiheadAttention`` with keys and values of another width
    (query: node and time 0; key and value: node, interaction, age), followed by a perceptron of one
    hidden layer. A key's bias adds the same to all scores of a query, so there is none.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        inner, key = shape.memory + shape.time, shape.memory + shape.edge + shape.time
        assert inner % shape.heads == 0, (inner, shape.heads)
        self.heads, self.dropout = shape.heads, shape.dropout
        self.parts = (shape.memory, shape.edge, shape.time)
        self.query = nn.Linear(inner, inner)
        self.key = nn.Parameter(torch.empty(inner, key))
        self.value = nn.Parameter(torch.empty(inner, key))
        self.value_bias = nn.Parameter(torch.zeros(inner))
        self.out = nn.Linear(inner, inner)
        self.hidden = nn.Linear(inner + shape.memory, shape.memory)
        self.merged = nn.Linear(shape.memory, shape.memory)
        for weight in (self.query.weight, self.key, self.value):
            nn.init.xavier_uniform_(weight)
        for layer in (self.hidden, self.merged):
            nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(self.query.bias)
        nn.init.zeros_(self.out.bias)

    def forward(
        self, nodes: Tensor, now: Tensor, neighbours: tuple[Tensor, Tensor, Tensor], filled: Tensor
    ) -> Tensor:
        """The embeddings (Q, memory).

        Args:
            nodes: The queries' nodes, (Q, memory).
            now: The encoding of time 0, (time,).
            neighbours: Node, interaction and age of every neighbour, (Q, K, ...) each.
            filled: Which neighbours there are, (Q, K).
        """
        attended = self.attend(nodes, now, neighbours, filled)
        hidden = functional.relu(self.hidden(torch.cat([attended, nodes], dim=1)))
        merged: Tensor = self.merged(hidden)
        return merged

    def attend(
        self, nodes: Tensor, now: Tensor, neighbours: tuple[Tensor, Tensor, Tensor], filled: Tensor
    ) -> Tensor:
        """The attention alone, (Q, memory + time); 0 for a query without neighbours."""
        number, inner = len(nodes), self.query.out_features
        query = self.query(torch.cat([nodes, now.expand(number, -1)], dim=1))
        query = query.view(number, self.heads, -1).transpose(0, 1)  # heads, Q, inner / heads
        key, value = (w.view(self.heads, -1, w.shape[1]) for w in (self.key, self.value))
        asked = torch.bmm(query, key).transpose(0, 1)  # Q, heads, width of a key
        scores = sum(
            torch.bmm(part, data.to(part.dtype).transpose(1, 2))
            for part, data in self._parts(asked, neighbours)
        )
        assert isinstance(scores, Tensor)
        scores = scores.float() / math.sqrt(inner // self.heads)
        scores = scores.masked_fill(~filled[:, None], _HIDDEN)
        weights = functional.dropout(scores.softmax(-1), self.dropout, self.training)
        found = torch.cat(
            [torch.bmm(weights.to(d.dtype), d) for d in neighbours if d.shape[-1]], dim=-1
        )
        seen = torch.bmm(found.transpose(0, 1), value.transpose(1, 2)).transpose(0, 1)
        # Dropped weights do not sum to 1: the bias counts as often as they do.
        bias = weights.sum(-1, keepdim=True) * self.value_bias.view(self.heads, -1)
        out: Tensor = self.out((seen + bias).reshape(number, inner))
        return out * filled.any(1, keepdim=True)

    def _parts(
        self, asked: Tensor, neighbours: tuple[Tensor, Tensor, Tensor]
    ) -> list[tuple[Tensor, Tensor]]:
        """What is asked of each part of a key, beside that part of all neighbours."""
        pairs = zip(asked.split(self.parts, dim=-1), neighbours, strict=True)
        return [(part, data) for part, data in pairs if data.shape[-1]]


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
        edges = self._edges(batch.memory.features, batch.interactions, batch.sides)
        embedded = self.attention(
            nodes[batch.queries],
            torch.cos(self.time.phases),  # of an age of 0
            (nodes[batch.neighbours], edges, self.time(batch.ages)),
            batch.filled,
        )
        source, real, chance = embedded.chunk(3)
        new = nodes.detach()[batch.written_rows]
        scores = self._scores(source.repeat(2, 1), torch.cat([real, chance]), batch)
        real_scores, chance_scores = scores.chunk(2)
        return real_scores, chance_scores, new

    def remember(self, batch: DeviceBatch) -> Tensor:
        """The memory of the batch's nodes with the waiting messages taken in, (U, memory)."""
        memory, updater = batch.memory, self.updater
        own = memory.values[batch.nodes]
        edges = self._edges(memory.features, batch.messages, batch.acted)
        known = torch.cat([own, memory.values[batch.partners], edges], dim=1)
        width = known.shape[1]
        # Only the time encoding has a gradient to be followed: the rest stays apart from it.
        given = functional.linear(known, updater.weight_ih[:, :width], updater.bias_ih)
        given = given + functional.linear(self.time(batch.gaps), updater.weight_ih[:, width:])
        held = functional.linear(own, updater.weight_hh, updater.bias_hh)
        given_gates, given_new = given.split((2 * own.shape[1], own.shape[1]), dim=1)
        held_gates, held_new = held.split((2 * own.shape[1], own.shape[1]), dim=1)
        reset, keep = torch.sigmoid(given_gates + held_gates).chunk(2, dim=1)
        new = torch.tanh(given_new + reset * held_new).float()
        return torch.where(batch.waiting[:, None], torch.lerp(new, own, keep.float()), own)

    def _edges(self, features: Tensor, interactions: Tensor, sides: Tensor) -> Tensor:
        """What is known of interactions, as one side of them sees it, (..., edge)."""
        found = features[interactions]
        return torch.cat([found, sides[..., None]], dim=-1) if self.shape.directed else found

    def _scores(self, source: Tensor, other: Tensor, batch: DeviceBatch) -> Tensor:
        seen = [source, other]
        if self.shape.meetings:
            met = batch.met.to(source.dtype)[:, None]
            seen += [met, met * self.time(batch.met_ages)]
        scores: Tensor = self.decoder(torch.cat(seen, dim=1))
        return scores[:, 0]
