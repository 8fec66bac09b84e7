"""BERT's network on packed rows, and its first weights.

The network is ``BertForPreTraining`` of the library transformers, weights and names included; only
the way through it is ours: attention within each sequence's own block, the vocabulary projection
at the places to predict and nowhere else, the next-sentence head at each sequence's own [CLS].
"""

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["PackedBert", "look_around"]

# Of ``look_around``: size of sines and cosines, longest wave over the shortest, and the scale of
# queries and keys, which says how sharply the heads look. Found by trial.
_AMPLITUDE, _WAVES, _GAIN = 0.1, 200.0, 1.7


class PackedBert(nn.Module):
    """``BertForPreTraining`` on rows that hold several sequences each.

    Args:
        vocabulary: Number of token ids.
        length: Most tokens in a sequence.
        layers: Number of layers.
        width: Width of a layer.
        heads: Attention heads of a layer.
        inner: Width within the feed-forward part of a layer.
        dropout: Share of activations and of attention that is dropped in training.
        initial_range: Standard deviation of the first weights.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        length: int,
        layers: int,
        width: int,
        heads: int,
        inner: int,
        dropout: float,
        initial_range: float = 0.02,
    ) -> None:
        super().__init__()
        from transformers import BertConfig, BertForPreTraining

        config = BertConfig(
            vocab_size=vocabulary,
            max_position_embeddings=length,
            num_hidden_layers=layers,
            hidden_size=width,
            num_attention_heads=heads,
            intermediate_size=inner,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            initializer_range=initial_range,
        )
        config._attn_implementation = "sdpa"
        self.network: Any = BertForPreTraining(config)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor,
        positions: Tensor,
        owners: Tensor,
        starts: Tensor,
        masked: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """What the two heads say.

        Args:
            tokens: (rows, width), as the rest in the words of ``training.data.packing.Rows``.
            segments: (rows, width).
            positions: (rows, width).
            owners: (rows, width).
            starts: (sequences,).
            masked: (predictions,).

        Returns:
            Logits of the hidden tokens, (predictions, vocabulary), and of the second segment being
            the next one or not, (sequences, 2).
        """
        bert, heads = self.network.bert, self.network.cls
        hidden = bert.embeddings(input_ids=tokens, token_type_ids=segments, position_ids=positions)
        same = owners[:, None, :, None] == owners[:, None, None, :]
        hidden = bert.encoder(hidden, attention_mask=same).last_hidden_state.flatten(0, 1)
        first = bert.pooler(hidden[starts, None])
        return heads.predictions(hidden[masked]), heads.seq_relationship(first)


@torch.no_grad()
def look_around(model: PackedBert) -> None:
    """First weights under which the heads of the first layer look at the neighbours.

    Positions start as sines and cosines (Vaswani et al. 2017, arXiv:1706.03762), and the heads'
    queries and keys so that they meet where the key stands one before, one behind, two before, two
    behind, and so on: a rotation of the sines by that distance. A large BERT learns such heads by
    itself, after thousands of steps in which it guesses by frequency alone; a small one would spend
    its whole run on that. Every weight stays free.

    Args:
        model: What to change.
    """
    embeddings = model.network.bert.embeddings.position_embeddings.weight
    length, width = embeddings.shape
    attention = model.network.bert.encoder.layer[0].attention.self
    heads = attention.num_attention_heads
    frequency = _WAVES ** (-torch.arange(0, width, 2) / width)
    angle = torch.arange(length)[:, None] * frequency
    embeddings[:, 0::2] = _AMPLITUDE * angle.sin()
    embeddings[:, 1::2] = _AMPLITUDE * angle.cos()
    size = width // heads
    queries = attention.query.weight.view(heads, size, width)
    keys = attention.key.weight.view(heads, size, width)
    queries.zero_()
    keys.zero_()
    fast = torch.arange(0, size, 2)  # the shortest waves, which tell neighbours apart
    for head in range(heads):
        distance = (head // 2 + 1) * (-1 if head % 2 == 0 else 1)
        sine = _GAIN * (distance * frequency[: size // 2]).sin()
        cosine = _GAIN * (distance * frequency[: size // 2]).cos()
        keys[head, fast, fast] = _GAIN
        keys[head, fast + 1, fast + 1] = _GAIN
        queries[head, fast, fast] = cosine
        queries[head, fast, fast + 1] = sine
        queries[head, fast + 1, fast] = -sine
        queries[head, fast + 1, fast + 1] = cosine
