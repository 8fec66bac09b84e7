"""The layers of TGN: encoding of time, attention to neighbours (arXiv:2006.10637)."""

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Shape", "TemporalAttention", "TimeEncoder"]

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


class _Waves(torch.autograd.Function):
    """cos(w t + b) of many t and w; its backward pass keeps no product of the two."""

    @staticmethod
    def forward(ctx: Any, times: Tensor, frequencies: Tensor, phases: Tensor) -> Tensor:
        angles = torch.addcmul(phases, times[:, None], frequencies)
        ctx.save_for_backward(times, angles)
        return torch.cos(angles)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        times, angles = ctx.saved_tensors
        falling = torch.sin(angles).mul_(gradients[0])
        return None, -(times @ falling), -falling.sum(0)


class _Attention(torch.autograd.Function):
    """Softmax of the scores of neighbours, and the means of these by it; all parts at once.

    Written out because both uses of a neighbour then give its gradient in one product, and none of
    its operands is first brought into another layout.
    """

    @staticmethod
    def forward(
        ctx: Any, filled: Tensor, kept: Tensor | None, *parts: Tensor
    ) -> tuple[Tensor, ...]:
        """Sums of the weights, (Q, heads), and for each part the mean, (Q, heads, width).

        Args:
            ctx: Holds what the backward pass needs.
            filled: Which neighbours there are, (Q, K).
            kept: Factor of each weight, (Q, heads, K), None for 1: dropout.
            parts: What is asked of each part of a neighbour, (Q, heads, width), then each part of
                all neighbours, (Q, K, width).
        """
        asked, known = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        scores = _sum(
            torch.bmm(part, data.transpose(1, 2)) for part, data in zip(asked, known, strict=True)
        )
        scores = scores.float().masked_fill_(~filled[:, None], _HIDDEN)
        weights = scores.softmax(-1) * filled[:, None]
        used = weights if kept is None else weights * kept
        ctx.save_for_backward(weights, used, *parts)
        ctx.kept = kept
        mixed = used.to(known[0].dtype)
        return used.sum(-1), *(torch.bmm(mixed, data) for data in known)

    @staticmethod
    def backward(ctx: Any, of_sum: Tensor, *of_means: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of what was asked and of the neighbours."""
        weights, used, *parts = ctx.saved_tensors
        asked, known = parts[: len(of_means)], parts[len(of_means) :]
        of_used = _sum(
            torch.bmm(part, data.transpose(1, 2))
            for part, data in zip(of_means, known, strict=True)
        )
        of_used = of_used.float() + of_sum[..., None]
        of_weights = of_used if ctx.kept is None else of_used * ctx.kept
        of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True))
        of_scores = of_scores.to(asked[0].dtype)
        both = torch.cat([of_scores, used.to(of_scores.dtype)], dim=1).transpose(1, 2)
        of_known = (
            torch.bmm(both, torch.cat([part, mean], dim=1)) if needed else None
            for part, mean, needed in zip(
                asked, of_means, ctx.needs_input_grad[2 + len(asked) :], strict=True
            )
        )
        return None, None, *(torch.bmm(of_scores, data) for data in known), *of_known


def _sum(tensors: Iterable[Tensor]) -> Tensor:
    return functools.reduce(torch.add, tensors)


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
        """Times (n,) of at least 0 to (n, width)."""
        read = torch.log1p(times) if self.logarithmic else times
        waves: Tensor = _Waves.apply(read, self.frequencies, self.phases)  # type: ignore[no-untyped-call]
        return waves


class TemporalAttention(nn.Module):
    """Each query attends to its own neighbours; the result is merged with the query's node.

    The same function as ``torch.nn.MultiheadAttention`` with keys and values of another width
    (query: node and time 0; key and value: node, interaction, age), followed by a perceptron of one
    hidden layer. A key's bias adds the same to all scores of a query, so there is none.

    The projection of keys is applied to the query and not to every neighbour, that of values to the
    weighted sum; and what a query is before it meets its neighbours is made once for a node.
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
        self,
        nodes: Tensor,
        queries: Tensor,
        now: Tensor,
        neighbours: tuple[Tensor, Tensor, Tensor],
        filled: Tensor,
    ) -> Tensor:
        """The embeddings (Q, memory).

        Args:
            nodes: The queried nodes, each once, (A, memory).
            queries: Which of them each query is about, (Q,).
            now: The encoding of time 0, (time,).
            neighbours: Node, interaction and age of every neighbour, (Q, K, ...) each.
            filled: Which neighbours there are, (Q, K).
        """
        of_found, of_node = self.hidden.weight.split((self.out.out_features, nodes.shape[1]), dim=1)
        own = functional.linear(nodes, of_node, self.hidden.bias)
        # What is found goes through value, out and hidden with nothing between but a bias.
        through = of_found @ self.out.weight
        there = filled.any(1, keepdim=True).to(own.dtype)  # the attention of nothing is 0
        hidden = own.index_select(0, queries) + there * functional.linear(self.out.bias, of_found)
        hidden = hidden + self._found(self._asked(nodes, now), queries, neighbours, filled, through)
        merged: Tensor = self.merged(functional.relu(hidden))
        return merged

    def _asked(self, nodes: Tensor, now: Tensor) -> list[Tensor]:
        """What a node asks of each part of a key, (A, heads, width of the part) each."""
        weight, inner = self.query.weight, self.query.out_features
        of_node, of_now = weight.split((nodes.shape[1], len(now)), dim=1)
        query = functional.linear(nodes, of_node, self.query.bias + of_now @ now)
        query = query.view(len(nodes), self.heads, -1).transpose(0, 1)
        query = query / math.sqrt(inner // self.heads)
        key = self.key.view(self.heads, -1, self.key.shape[1])
        return [torch.bmm(query, part).transpose(0, 1) for part in key.split(self.parts, dim=2)]

    def _found(
        self,
        asked: list[Tensor],
        queries: Tensor,
        neighbours: tuple[Tensor, Tensor, Tensor],
        filled: Tensor,
        through: Tensor,
    ) -> Tensor:
        """What the queries find at their neighbours, (Q, memory).

        Args:
            asked: What the nodes ask of each part of a key.
            queries: Which node each query is about, (Q,).
            neighbours: The parts of every neighbour.
            filled: Which neighbours there are.
            through: What the values go through, (memory, inner).
        """
        kinds = [part.dtype for part in asked]
        known = [data.to(kind) for data, kind in zip(neighbours, kinds, strict=True)]
        kept = None
        if self.training and self.dropout:
            ones = torch.ones(len(queries), self.heads, filled.shape[1], device=filled.device)
            kept = functional.dropout(ones, self.dropout)
        here = (part.index_select(0, queries) for part in asked)
        total, *means = _Attention.apply(filled, kept, *here, *known)  # type: ignore[no-untyped-call]
        # Dropped weights do not sum to 1: the bias counts as often as they do.
        heads = through.view(len(through), self.heads, -1).transpose(0, 1)
        bias = torch.bmm(heads, self.value_bias.view(self.heads, -1, 1))[..., 0]
        found: Tensor = total.to(bias.dtype) @ bias
        values = torch.bmm(heads, self.value.view(self.heads, -1, self.value.shape[1]))
        for mean, part in zip(means, values.split(self.parts, dim=2), strict=True):
            part = part.transpose(0, 1).reshape(len(through), -1)
            found = found + functional.linear(mean.view(len(mean), -1), part)
        return found
