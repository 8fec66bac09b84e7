"""The loss of an RNN transducer, on rows without padding.

Graves, "Sequence Transduction with Recurrent Neural Networks", 2012 (arXiv:1211.3711), section 2.
An utterance of T encoder frames and U labels has a lattice of T x (U + 1) nodes. At node (t, u)
the model either says "blank" and goes on to the next frame, or says label u + 1 and stays. The
loss is minus the logarithm of the summed probability of all paths from (0, 0) to the last blank.

The nodes of a batch lie one after the other in rows (``Lattice``), utterance by utterance, so that
neither the joint network nor the axis of classes ever sees padding. Forward and backward variables
are found in one sweep over anti-diagonals, the latter on the lattice turned round. The gradient is
analytic and taken from the logits: log-probabilities of all classes are not kept.

No library that leaves torch unchanged offers it (docs/dependencies.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

__all__ = ["Lattice", "joint_rows", "lattice", "transducer_loss"]

# Stands for minus infinity; finite, so that no difference of two of them is NaN.
_NEVER = -1e30


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Where the nodes of a batch of B utterances lie.

    The sweep works on a grid of (planes, 2 B, columns): plane t + u + 1, below them one plane from
    which every path starts; the first B lattices as they are, then the same turned round, node
    (t, u) at (T - 1 - t, U - u). Columns count u.

    Attributes:
        frames: T of each utterance.
        labels: U of each utterance.
        planes: Planes of the grid.
        columns: Columns of the grid.
        cells: int64, (rows,). Place of each node in the flattened grid.
        turned: int64, (rows,). Its place in the lattice turned round.
        owners: int64, (rows,). The utterance that it belongs to.
        targets: int64, (rows,). The label that may be said there; in the last column, blank.
        speaks: bool, (rows,). Whether there is such a label.
        starts: int64, (B,). The row of each (0, 0).
    """

    frames: tuple[int, ...]
    labels: tuple[int, ...]
    planes: int
    columns: int
    cells: Tensor
    turned: Tensor
    owners: Tensor
    targets: Tensor
    speaks: Tensor
    starts: Tensor

    def _map(self, change: Any) -> "Lattice":
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        moved = {k: change(v) if isinstance(v, Tensor) else v for k, v in values.items()}
        return Lattice(**moved)

    def to(self, device: torch.device) -> "Lattice":
        """The same on a device; the copy may still be under way."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> "Lattice":
        """The same in page-locked memory."""
        return self._map(Tensor.pin_memory)

    def parts(self, rows: Tensor) -> Iterator[Tensor]:
        """Rows (rows, H) as one (T, U + 1, H) view for each utterance."""
        shapes = [(t, u + 1) for t, u in zip(self.frames, self.labels, strict=True)]
        pieces = rows.split([t * u for t, u in shapes])
        for piece, (t, u) in zip(pieces, shapes, strict=True):
            yield piece.view(t, u, -1)


def lattice(frames: Sequence[int], labels: Sequence[Sequence[int]], blank: int) -> Lattice:
    """Lay out the nodes of a batch.

    Args:
        frames: Encoder frames of each utterance, at least 1.
        labels: Labels of each utterance; there may be none.
        blank: The class that stands for "no label".
    """
    assert len(frames) == len(labels) > 0, (len(frames), len(labels))
    assert min(frames) > 0, frames
    batch, columns = len(frames), max(map(len, labels)) + 1
    lengths = torch.tensor([len(said) for said in labels])
    shape = torch.tensor(frames), lengths + 1
    sizes = shape[0] * shape[1]
    starts = sizes.cumsum(0) - sizes
    owners = torch.repeat_interleave(sizes)
    nodes = torch.arange(len(owners)) - starts[owners]
    width = shape[1][owners]
    t, u = nodes // width, nodes % width
    back_t, back_u = shape[0][owners] - 1 - t, width - 1 - u
    said = torch.full((batch, columns), blank)
    for row, symbols in zip(said, labels, strict=True):
        row[: len(symbols)] = torch.tensor(symbols, dtype=torch.int64)
    return Lattice(
        frames=tuple(frames),
        labels=tuple(lengths.tolist()),
        planes=max(frames) + columns + 1,  # a step out of the last one needs a place, too
        columns=columns,
        cells=((t + u + 1) * 2 * batch + owners) * columns + u,
        turned=((back_t + back_u + 1) * 2 * batch + batch + owners) * columns + back_u,
        owners=owners,
        targets=said[owners, u],
        speaks=back_u > 0,
        starts=starts,
    )


def joint_rows(encoded: Tensor, predicted: Tensor, where: Lattice) -> Tensor:
    """The rectified sum of both networks at every node.

    Args:
        encoded: (B, T_max, H).
        predicted: (B, U_max + 1, H), of the same type.
        where: The nodes.

    Returns:
        (rows, H).
    """
    rows: Tensor = _JointRows.apply(encoded, predicted, where)  # type: ignore[no-untyped-call]
    return rows


class _JointRows(torch.autograd.Function):
    """max(0, encoded + predicted), written once; backward by two sums for each utterance."""

    @staticmethod
    def forward(ctx: Any, encoded: Tensor, predicted: Tensor, where: Lattice) -> Tensor:
        rows = encoded.new_empty(len(where.owners), encoded.shape[2])
        for index, part in enumerate(where.parts(rows)):
            frames, columns, _ = part.shape
            torch.add(encoded[index, :frames, None], predicted[index, :columns], out=part)
        rows.relu_()
        ctx.save_for_backward(rows)
        ctx.where, ctx.shapes = where, (encoded.shape, predicted.shape)
        return rows

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        (rows,) = ctx.saved_tensors
        encoded, predicted = (gradient.new_zeros(shape) for shape in ctx.shapes)
        passed = torch.where(rows > 0, gradient, 0.0)
        for index, part in enumerate(ctx.where.parts(passed)):
            frames, columns, _ = part.shape
            torch.sum(part, 1, out=encoded[index, :frames])
            torch.sum(part, 0, out=predicted[index, :columns])
        return encoded, predicted, None


def transducer_loss(logits: Tensor, where: Lattice, blank: int) -> Tensor:
    """Minus the log-probability of the labels of each utterance.

    Args:
        logits: (rows, classes). Sums are taken in float32, of float64 logits in float64.
        where: The nodes, on the same device.
        blank: The class that stands for "no label".

    Returns:
        (B,), natural logarithm, float32 or float64.
    """
    losses: Tensor = _Loss.apply(logits, where, blank)  # type: ignore[no-untyped-call]
    return losses


class _Loss(torch.autograd.Function):
    """The sweep gives loss and probability of every step; ``backward`` needs no more of it."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, where: Lattice, blank: int) -> Tensor:
        wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
        normed = torch.log_softmax(logits, 1, dtype=wide)
        blanks = normed[:, blank].clone()
        said = normed.gather(1, where.targets[:, None])[:, 0]
        del normed
        said = torch.where(where.speaks, said, _NEVER)
        reached = _sweep(blanks, said, where)
        log_probability = reached[where.turned[where.starts]]
        plane = 2 * len(where.frames) * where.columns
        outside = reached[where.cells] - log_probability[where.owners]
        by_blank = (outside + blanks + reached[where.turned - plane]).exp_()
        by_label = (outside + said + reached[where.turned - plane - 1]).exp_()
        ctx.save_for_backward(logits, by_blank, by_label)
        ctx.where, ctx.blank = where, blank
        return -log_probability

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        logits, by_blank, by_label = ctx.saved_tensors
        where: Lattice = ctx.where
        weight = gradient[where.owners]
        by_blank, by_label = by_blank * weight, by_label * weight
        # By logit v: softmax_v times (probability of passing the node) less (of saying v there).
        found = torch.softmax(logits, 1, dtype=by_blank.dtype)
        found *= (by_blank + by_label)[:, None]
        found[:, ctx.blank] -= by_blank
        found.scatter_add_(1, where.targets[:, None], -by_label[:, None])
        return found.to(logits.dtype), None, None


def _sweep(blanks: Tensor, said: Tensor, where: Lattice) -> Tensor:
    """Log-probability of reaching each cell of the grid, flattened.

    In a lattice turned round, that of going on from the node to the end: a step then enters a node
    with the node's own probabilities, and with those of the node it came from otherwise.

    Args:
        blanks: (rows,), log-probability of blank.
        said: (rows,), log-probability of the label.
        where: The nodes.
    """
    lattices, columns = 2 * len(where.frames), where.columns
    plane = lattices * columns
    emit = blanks.new_full((where.planes * plane,), _NEVER)
    skip = torch.full_like(emit, _NEVER)
    skip[where.cells + plane], emit[where.cells + plane + 1] = blanks, said
    skip[where.turned], emit[where.turned] = blanks, said
    skip[where.cells[where.starts]] = 0.0
    skip, emit = (steps.view(-1, lattices, columns) for steps in (skip, emit))
    reached = torch.full_like(skip, _NEVER)
    reached[0, :, 0] = 0.0
    for d in range(1, where.planes):
        now = torch.add(reached[d - 1], skip[d], out=reached[d])
        by_label = reached[d - 1, :, :-1] + emit[d, :, 1:]
        torch.logaddexp(now[:, 1:], by_label, out=now[:, 1:])
    return reached.view(-1)
