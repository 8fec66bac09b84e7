"""The network of the workload ``rnnt``, and greedy decoding, in PyTorch.

An encoder of LSTM layers (Hochreiter and Schmidhuber 1997) halves its frame rate between its two
stacks by joining neighbouring frames; a prediction network of LSTM layers reads the labels said so
far; a joint network of one hidden layer scores every (frame, labels so far) pair (Graves 2012,
arXiv:1211.3711). Sizes, dropout and initialisation as the MLPerf reference has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from trainmark.training.transducer import Lattice, joint_rows

__all__ = ["Sizes", "Transducer", "greedy"]

_FORGET_BIAS = 1.0
_LOOK_AHEAD = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The form of the network; the defaults are those of full scale.

    Attributes:
        features: Inputs for each frame.
        encoder: Width of the encoder's layers.
        layers_before: Encoder layers at the full frame rate.
        layers_after: Encoder layers after the frames were joined.
        stack: Frames that are joined into one.
        prediction: Width of the prediction network.
        prediction_layers: Its layers.
        joint: Hidden width of the joint network.
        classes: Labels and blank, which is the last.
        encoder_dropout: Dropout in and after the encoder's layers.
        prediction_dropout: The same of the prediction network.
        joint_dropout: Dropout of the joint network's hidden layer.
        scale: What LSTM weights and biases are multiplied by at the start.
    """

    features: int = 240
    encoder: int = 1024
    layers_before: int = 2
    layers_after: int = 3
    stack: int = 2
    prediction: int = 512
    prediction_layers: int = 2
    joint: int = 512
    classes: int = 1024
    encoder_dropout: float = 0.1
    prediction_dropout: float = 0.3
    joint_dropout: float = 0.3
    scale: float = 0.5

    @property
    def blank(self) -> int:
        """The class that stands for "no label"."""
        return self.classes - 1


class Transducer(nn.Module):
    """Encoder, prediction and joint network."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.before = _lstm(
            sizes.features, sizes.encoder, sizes.layers_before, sizes.encoder_dropout, sizes.scale
        )
        self.after = _lstm(
            sizes.stack * sizes.encoder,
            sizes.encoder,
            sizes.layers_after,
            sizes.encoder_dropout,
            sizes.scale,
        )
        self.embedding = nn.Embedding(sizes.classes - 1, sizes.prediction)
        self.prediction = _lstm(
            sizes.prediction,
            sizes.prediction,
            sizes.prediction_layers,
            sizes.prediction_dropout,
            sizes.scale,
        )
        self.joint_encoder = nn.Linear(sizes.encoder, sizes.joint)
        self.joint_prediction = nn.Linear(sizes.prediction, sizes.joint)
        self.output = nn.Linear(sizes.joint, sizes.classes)
        self.encoder_dropout = nn.Dropout(sizes.encoder_dropout)
        self.prediction_dropout = nn.Dropout(sizes.prediction_dropout)
        self.joint_dropout = nn.Dropout(sizes.joint_dropout)

    def frames(self, lengths: Sequence[int]) -> tuple[int, ...]:
        """Encoder frames of inputs of so many frames."""
        return tuple(-(-length // self.sizes.stack) for length in lengths)

    def encode(self, features: Tensor) -> Tensor:
        """Features (T, B, features) to the joint network's space, (B, T / stack, joint)."""
        x = self.encoder_dropout(self.before(features)[0])
        length, batch, width = x.shape
        x = functional.pad(x, (0, 0, 0, 0, 0, -length % self.sizes.stack))
        x = x.view(-1, self.sizes.stack, batch, width).transpose(1, 2).flatten(2)
        x = self.encoder_dropout(self.after(x)[0])
        encoded: Tensor = self.joint_encoder(x.transpose(0, 1))
        return encoded

    def predict(self, labels: Tensor) -> Tensor:
        """Labels (B, U) to (B, U + 1, joint); the first column knows of no label."""
        embedded = functional.pad(self.embedding(labels).transpose(0, 1), (0, 0, 0, 0, 1, 0))
        x = self.prediction_dropout(self.prediction(embedded)[0])
        predicted: Tensor = self.joint_prediction(x.transpose(0, 1))
        return predicted

    def forward(self, features: Tensor, labels: Tensor, where: Lattice) -> Tensor:
        """Logits of every node of the lattice.

        Args:
            features: (T, B, features).
            labels: (B, U), padded with any label.
            where: The nodes.

        Returns:
            (rows, classes).
        """
        rows = joint_rows(self.encode(features), self.predict(labels), where)
        logits: Tensor = self.output(self.joint_dropout(rows))
        return logits


class Lstm(nn.LSTM):
    """LSTM layers that compute in autocast's number format.

    PyTorch's autocast knows one format for the LSTM of cuDNN, fp16, whatever it is set to; so small
    a range would take loss scaling. On a CPU they stay in fp32: oneDNN has no 16-bit LSTM without
    the newest instructions.
    """

    def forward(self, x: Tensor, state: Any = None) -> Any:  # type: ignore[override]
        """As ``torch.nn.LSTM``: x (T, B, inputs) to (T, B, width) and the last state."""
        kind = x.device.type
        if not torch.is_autocast_enabled(kind):
            return super().forward(x, state)
        dtype = torch.float32 if kind == "cpu" else torch.get_autocast_dtype(kind)
        with torch.autocast(kind, enabled=False):
            return self.computed(x, state, dtype)

    def computed(self, x: Tensor, state: Any, dtype: torch.dtype) -> Any:
        """The same in a given format, weights and all."""
        weights = {name: value.to(dtype) for name, value in self.named_parameters()}
        state = state and tuple(part.to(dtype) for part in state)
        return functional_call(self, weights, (x.to(dtype), state))


def _lstm(inputs: int, width: int, layers: int, dropout: float, scale: float) -> Lstm:
    """LSTM layers; the forget gates lean to keeping, then everything is scaled."""
    lstm = Lstm(inputs, width, layers, dropout=dropout if layers > 1 else 0.0)
    with torch.no_grad():
        for name, values in lstm.named_parameters():
            if name.startswith("bias"):
                keep = _FORGET_BIAS if name.startswith("bias_ih") else 0.0
                values[width : 2 * width] = keep
            values.mul_(scale)
    return lstm


@torch.no_grad()
def greedy(
    model: Transducer,
    features: Tensor,
    lengths: Sequence[int],
    *,
    most_at_a_frame: int,
    most_symbols: int,
) -> list[list[int]]:
    """The most probable step at each node, one after the other, for a whole batch at once.

    Every utterance has its own place in time; several frames are scored at once, as long as no
    label is said the prediction network stands still.

    Args:
        model: The network, in evaluation mode.
        features: (T, B, features).
        lengths: Valid frames of each utterance.
        most_at_a_frame: Labels after which the next frame is due, blank or not.
        most_symbols: An utterance with more labels than that goes on to no further frame.

    Returns:
        The labels of each utterance.
    """
    encoded = model.encode(features)
    batch, total, _ = encoded.shape
    device = encoded.device
    ends = torch.tensor(model.frames(lengths), device=device)
    ahead = torch.arange(_LOOK_AHEAD, device=device)
    at = torch.zeros(batch, dtype=torch.int64, device=device)
    said_here, said = torch.zeros_like(at), torch.zeros_like(at)
    zeros = encoded.new_zeros(1, batch, model.sizes.prediction)
    output, state = model.prediction(zeros)
    found: list[tuple[Tensor, Tensor]] = []
    while bool((at < ends).any()):
        window = (at[:, None] + ahead).clamp_(max=total - 1)
        joint = encoded.gather(1, window[:, :, None].expand(-1, -1, encoded.shape[2]))
        joint = joint + model.joint_prediction(output).transpose(0, 1)
        best = model.output(joint.relu_()).argmax(2)
        over = said > most_symbols
        says = (best != model.sizes.blank) & (at[:, None] + ahead < ends[:, None])
        says[over, 1:] = False
        speaks, moved = says.any(1), says.int().argmax(1)
        moved = torch.where(speaks, moved, _LOOK_AHEAD)
        label = best.gather(1, moved.clamp(max=_LOOK_AHEAD - 1)[:, None])[:, 0]
        at += moved
        found.append((speaks, label))
        said += speaks
        said_here = torch.where(moved > 0, 0, said_here) + speaks
        full = said_here >= most_at_a_frame
        at += full
        said_here[full] = 0
        at = torch.where((said > most_symbols) & (full | ~speaks), ends, at)
        fresh, changed = model.prediction(
            model.embedding(label.clamp(max=model.sizes.blank - 1))[None], state
        )
        keep = speaks[None, :, None]
        output = torch.where(keep, fresh, output)
        state = (torch.where(keep, changed[0], state[0]), torch.where(keep, changed[1], state[1]))
    texts: list[list[int]] = [[] for _ in range(batch)]
    for speaks, label in found:
        for index, (speaking, symbol) in enumerate(
            zip(speaks.tolist(), label.tolist(), strict=True)
        ):
            if speaking:
                texts[index].append(symbol)
    return texts
