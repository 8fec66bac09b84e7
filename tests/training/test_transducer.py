"""The loss against all paths counted one by one, its gradient against differences."""

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trainmark.training.transducer import joint_rows, lattice, transducer_loss

BLANK, CLASSES = 0, 5
FRAMES: tuple[int, ...] = (3, 1, 4, 2)
LABELS: tuple[list[int], ...] = ([1, 2], [3], [], [2, 2])


def all_paths(logits: Tensor, labels: Sequence[int]) -> Tensor:
    """Minus the log of the summed probability of every path, each walked on its own.

    Args:
        logits: (T, U + 1, classes).
        labels: The labels.
    """
    normed = logits.log_softmax(2)
    last = logits.shape[0] - 1

    def walk(t: int, u: int) -> list[Tensor]:
        done = t == last and u == len(labels)
        by_blank = [normed[t, u, BLANK]] if done else []
        if t < last:
            by_blank = [normed[t, u, BLANK] + rest for rest in walk(t + 1, u)]
        if u == len(labels):
            return by_blank
        return by_blank + [normed[t, u, labels[u]] + rest for rest in walk(t, u + 1)]

    return -torch.logsumexp(torch.stack(walk(0, 0)), 0)


def paths(frames: int, labels: int) -> int:
    """How many there are: where the labels stand among the blanks before the last."""
    return math.comb(frames - 1 + labels, labels)


def random_logits(rows: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(rows, CLASSES, dtype=torch.float64, generator=generator)


def test_it_is_the_sum_over_all_paths() -> None:
    where = lattice(FRAMES, LABELS, BLANK)
    logits = random_logits(len(where.owners))
    wanted = [all_paths(part, said) for part, said in zip(where.parts(logits), LABELS, strict=True)]
    assert torch.allclose(transducer_loss(logits, where, BLANK), torch.stack(wanted))


@settings(max_examples=40, deadline=None)
@given(
    utterances=st.lists(
        st.tuples(st.integers(1, 5), st.lists(st.integers(1, CLASSES - 1), max_size=4)),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 1000),
)
def test_it_is_the_sum_over_all_paths_whatever_the_lengths(
    utterances: list[tuple[int, list[int]]], seed: int
) -> None:
    frames, labels = zip(*utterances, strict=True)
    where = lattice(frames, labels, BLANK)
    logits = random_logits(len(where.owners), seed)
    found = transducer_loss(logits, where, BLANK)
    for part, said, loss in zip(where.parts(logits), labels, found, strict=True):
        assert float(loss) == pytest.approx(float(all_paths(part, said)))


def test_of_equal_probabilities_it_counts_the_paths() -> None:
    where = lattice([6], [[1, 2, 3]], BLANK)
    loss = transducer_loss(torch.zeros(len(where.owners), CLASSES), where, BLANK)
    steps = 6 + 3
    assert float(loss) == pytest.approx(steps * math.log(CLASSES) - math.log(paths(6, 3)), rel=1e-5)


def test_its_gradient_is_that_of_finite_differences() -> None:
    where = lattice(FRAMES, LABELS, BLANK)
    logits = random_logits(len(where.owners)).requires_grad_()
    weights = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: transducer_loss(x, where, BLANK) * weights, (logits,))


def test_its_gradient_is_that_of_differentiating_every_path() -> None:
    where = lattice(FRAMES, LABELS, BLANK)
    gradients = []
    for by_paths in (False, True):
        logits = random_logits(len(where.owners), seed=5).requires_grad_()
        losses = (
            torch.stack([all_paths(x, y) for x, y in zip(where.parts(logits), LABELS, strict=True)])
            if by_paths
            else transducer_loss(logits, where, BLANK)
        )
        losses.mean().backward()
        gradients.append(logits.grad)
    ours, theirs = gradients
    assert ours is not None
    assert theirs is not None
    assert torch.allclose(ours, theirs, atol=1e-12)


def test_the_joint_is_the_rectified_sum_and_its_gradient_that_of_differences() -> None:
    where = lattice(FRAMES, LABELS, BLANK)
    generator = torch.Generator().manual_seed(3)
    encoded, predicted = (
        torch.randn(4, 4, 3, dtype=torch.float64, generator=generator).requires_grad_()
        for _ in range(2)
    )
    rows = joint_rows(encoded, predicted, where)
    for index, part in enumerate(where.parts(rows)):
        t, u, _ = part.shape
        wanted = (encoded[index, :t, None] + predicted[index, None, :u]).relu()
        assert torch.equal(part, wanted)
    assert torch.autograd.gradcheck(lambda a, b: joint_rows(a, b, where), (encoded, predicted))


def test_an_utterance_does_not_feel_the_others_of_its_batch() -> None:
    where = lattice(FRAMES, LABELS, BLANK)
    logits = random_logits(len(where.owners)).float()
    together = transducer_loss(logits, where, BLANK)
    for part, t, said, loss in zip(where.parts(logits), FRAMES, LABELS, together, strict=True):
        alone = lattice([t], [said], BLANK)
        (found,) = transducer_loss(part.reshape(-1, CLASSES), alone, BLANK)
        assert float(found) == pytest.approx(float(loss), rel=1e-6)


def test_it_is_stable_over_500_frames() -> None:
    labels = [1 + place % 4 for place in range(120)]
    where = lattice([500, 480], [labels, labels[:100]], BLANK)
    logits = (8 * random_logits(len(where.owners))).float().requires_grad_()
    losses = transducer_loss(logits, where, BLANK)
    losses.sum().backward()
    exact = transducer_loss(logits.detach().double(), where, BLANK)
    assert torch.allclose(losses.detach().double(), exact, rtol=1e-5)
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    # Softmax moves probability from class to class: what a row gains it loses.
    assert float(logits.grad.sum(1).abs().max()) < 1e-5


def test_half_precision_is_summed_in_float32() -> None:
    where = lattice([40], [[1, 2, 3]], BLANK)
    logits = random_logits(len(where.owners)).bfloat16().requires_grad_()
    (loss,) = transducer_loss(logits, where, BLANK)
    (exact,) = transducer_loss(logits.detach().double(), where, BLANK)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(float(exact), rel=1e-5)
    loss.backward()
    assert logits.grad is not None
    assert logits.grad.dtype == torch.bfloat16
