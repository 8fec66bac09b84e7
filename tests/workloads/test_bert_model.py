from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch.nn import functional

from trainmark.training.data.packing import lay_out
from trainmark.training.data.sequences import MaskedSequence, Recipe, masked
from trainmark.training.data.wordpiece import SYNTHETIC
from trainmark.workloads.bert_model import PackedBert, look_around
from trainmark.workloads.bert_settings import DeskSettings, FullSettings, parameter_count
from trainmark.workloads.bert_torch import Batch

LENGTHS = [7, 30, 12, 19, 5, 32, 9]
RECIPE = Recipe(length=32, vocabulary=50, special=SYNTHETIC)


def small(seed: int = 1) -> PackedBert:
    torch.manual_seed(seed)
    return PackedBert(
        vocabulary=50,
        length=32,
        layers=2,
        width=16,
        heads=2,
        inner=24,
        dropout=0.0,
        initial_range=0.2,
    )


def sequences(lengths: Sequence[int] = LENGTHS) -> list[MaskedSequence]:
    random = np.random.default_rng(5)
    texts = [random.integers(5, 50, length - 3).astype(np.int32) for length in lengths]
    return [
        masked(t[: len(t) // 2], t[len(t) // 2 :], len(t) % 2 == 0, RECIPE, random) for t in texts
    ]


def gradients(model: PackedBert, *, packed: bool) -> tuple[torch.Tensor, list[torch.Tensor]]:
    batch = Batch.of(lay_out(sequences(), 32, packed=packed))
    words, follows = model(*batch[:6])
    loss = functional.cross_entropy(words, batch.labels)
    loss = loss + functional.cross_entropy(follows, batch.random_next)
    model.zero_grad()
    loss.backward()
    return loss.detach(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


def test_the_full_network_has_the_published_number_of_parameters() -> None:
    settings = FullSettings()
    with torch.device("meta"):
        model = PackedBert(
            vocabulary=30_522,
            length=512,
            layers=settings.layers,
            width=settings.width,
            heads=settings.heads,
            inner=settings.inner,
            dropout=settings.dropout,
        )
    count = sum(p.numel() for p in model.parameters())
    assert count == parameter_count(settings, 30_522) == 336_226_108


def test_the_small_network_is_counted_right() -> None:
    settings = DeskSettings(sequence_length=32, layers=2, width=16, heads=2, inner=24)
    assert sum(p.numel() for p in small().parameters()) == parameter_count(settings, 50)


@pytest.mark.parametrize("packed", [True, False])
def test_each_sequence_gets_what_transformers_own_way_gives_it_alone(packed: bool) -> None:
    model, made = small().eval(), sequences()
    batch = Batch.of(lay_out(made, 32, packed=packed))
    words, follows = model(*batch[:6])
    model.network.set_attn_implementation("eager")
    taken = 0
    for number, sequence in enumerate(made):
        segments = (np.arange(len(sequence.tokens)) >= sequence.first).astype(np.int64)
        theirs = model.network(
            input_ids=torch.from_numpy(sequence.tokens.astype(np.int64))[None],
            token_type_ids=torch.from_numpy(segments)[None],
        )
        count = len(sequence.labels)
        wanted = theirs.prediction_logits[0, torch.from_numpy(sequence.positions.astype(np.int64))]
        assert torch.allclose(words[taken : taken + count], wanted, atol=1e-5)
        assert torch.allclose(follows[number], theirs.seq_relationship_logits[0], atol=1e-5)
        taken += count


def test_packed_and_padded_give_the_same_loss_and_gradient() -> None:
    model = small()
    packed_loss, packed = gradients(model, packed=True)
    padded_loss, padded = gradients(model, packed=False)
    assert packed_loss == pytest.approx(padded_loss.item(), abs=1e-5)
    assert len(packed) == len(list(model.parameters()))
    for one, other in zip(packed, padded, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_the_loss_is_the_one_that_transformers_reckons() -> None:
    model, made = small(), sequences()
    batch = Batch.of(lay_out(made, 32, packed=False))
    loss, _ = gradients(model, packed=False)
    labels = torch.full(batch.tokens.shape, -100).flatten()
    labels[batch.masked] = batch.labels
    theirs = model.network(
        input_ids=batch.tokens,
        token_type_ids=batch.segments,
        attention_mask=(batch.owners >= 0).long(),
        labels=labels.view(batch.tokens.shape),
        next_sentence_label=batch.random_next,
    ).loss
    assert loss == pytest.approx(theirs.item(), abs=1e-5)


def test_a_sequence_does_not_see_its_neighbour_in_the_row() -> None:
    model = small().eval()
    one, other = sequences([12, 9]), sequences([12, 9])
    other[0].tokens[3] = 49 if other[0].tokens[3] != 49 else 48
    before, after = (
        model(*Batch.of(lay_out(made, 32, packed=True))[:6])[1] for made in (one, other)
    )
    assert not torch.allclose(before[0], after[0])
    assert torch.equal(before[1], after[1])


def test_heads_that_look_around_look_at_their_neighbours() -> None:
    torch.manual_seed(1)
    model = PackedBert(
        vocabulary=200,
        length=64,
        layers=2,
        width=128,
        heads=4,
        inner=16,
        dropout=0.0,
        initial_range=0.03,
    )
    look_around(model)
    model.network.set_attn_implementation("eager")
    tokens = torch.randint(5, 200, (1, 64))
    seen = model.network.bert(input_ids=tokens, output_attentions=True).attentions[0][0]
    for head, distance in enumerate((-1, 1, -2, 2)):
        by_distance = {d: seen[head].diagonal(d).mean().item() for d in range(-8, 9)}
        assert max(by_distance, key=by_distance.__getitem__) == distance
    assert all(p.requires_grad for p in model.parameters())
