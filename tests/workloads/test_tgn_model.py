import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from trainmark.training.data.interactions import History, Interactions, noise
from trainmark.training.data.link_batches import LinkBatches, chance_destinations
from trainmark.workloads.tgn import DeskSettings, FullSettings, TgnSettings, parameters
from trainmark.workloads.tgn_layers import Shape, TemporalAttention, TimeEncoder
from trainmark.workloads.tgn_model import Memory, Tgn, to_device

SIZE = 10


@pytest.fixture(scope="module")
def pyg_tgn() -> Any:
    """PyTorch Geometric's module; to import it takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses what this torch calls deprecated
        from torch_geometric.nn.models import tgn
    return tgn


def shape_of(settings: TgnSettings, features: int) -> Shape:
    return Shape(
        memory=settings.memory,
        time=settings.time,
        features=features,
        heads=settings.heads,
        directed=settings.directed,
        meetings=settings.meetings,
        logarithmic=settings.logarithm,
    )


def count(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize(
    ("settings", "features"), [(FullSettings(), 172), (DeskSettings(), 0), (FullSettings(), 3)]
)
def test_it_has_as_many_parameters_as_its_spec_says(settings: TgnSettings, features: int) -> None:
    assert count(Tgn(shape_of(settings, features))) == parameters(settings, features)


def test_the_full_network_is_the_papers() -> None:
    """Counted from PyTorch's own modules in the sizes of the paper's code for Wikipedia.

    Its attention has a bias of the keys (344) besides, which changes nothing.
    """
    width, query, key = 172, 2 * 172, 3 * 172
    theirs = [
        nn.Linear(1, width),  # time
        nn.GRUCell(4 * width, width),
        nn.MultiheadAttention(query, 2, kdim=key, vdim=key),
        *(nn.Linear(query + width, width), nn.Linear(width, width)),  # merging
        *(nn.Linear(2 * width, width), nn.Linear(width, 1)),  # decoder
    ]
    assert parameters(FullSettings(), 172) == sum(map(count, theirs)) - query == 1_216_041


def stream_of(features: int) -> Interactions:
    return noise(users=20, items=8, length=200, features=features, seed=2)


def memory_of(stream: Interactions, width: int) -> Memory:
    return Memory(
        values=torch.zeros(stream.nodes, width),
        features=torch.from_numpy(stream.features),
    )


def batches_of(stream: Interactions) -> LinkBatches:
    return LinkBatches(
        history=History(stream),
        starts=np.arange(len(stream)) // SIZE * SIZE,
        clock=stream.times,
        neighbours=4,
    )


def test_the_memory_is_that_of_pytorch_geometric(pyg_tgn: Any) -> None:
    """TGNMemory with the same weights on the same stream, batch after batch."""
    stream = stream_of(features=6)
    torch.manual_seed(0)
    ours = Tgn(Shape(memory=8, time=6, features=6))
    theirs = pyg_tgn.TGNMemory(
        *(stream.nodes, 6, 8, 6), pyg_tgn.IdentityMessage(6, 8, 6), pyg_tgn.LastAggregator()
    )
    theirs.gru.load_state_dict(ours.updater.state_dict())
    with torch.no_grad():
        theirs.time_enc.lin.weight.copy_(ours.time.frequencies[:, None])
        theirs.time_enc.lin.bias.copy_(ours.time.phases)
    # Its last update is a whole number.
    whole = Interactions(
        sources=stream.sources,
        destinations=stream.destinations,
        times=np.floor(stream.times * 10).cumsum(),
        features=stream.features,
        nodes=stream.nodes,
    )
    memory, batches = memory_of(whole, 8), batches_of(whole)
    generator = np.random.default_rng(0)
    compared = 0
    for start in range(0, len(whole), SIZE):
        part = slice(start, start + SIZE)
        chance = chance_destinations(whole.destinations, SIZE, generator)
        batch = to_device(batches.links(start, start + SIZE, chance), memory)
        with torch.no_grad():
            updated = ours.remember(batch)
            expected, _ = theirs(batch.nodes)
            seen = batch.waiting  # of others theirs makes a memory out of no message
            assert torch.allclose(updated[seen], expected[seen], atol=1e-5)
            compared += int(seen.sum())
            memory.values.index_copy_(0, batch.written, updated[batch.written_rows])
            theirs.update_state(
                *(torch.from_numpy(a[part]) for a in (whole.sources, whole.destinations)),
                torch.from_numpy(whole.times[part].astype(np.int64)),
                torch.from_numpy(whole.features[part]),
            )
            # Nodes without a message stay at 0 in ours: keep theirs there as well.
            new = torch.from_numpy(np.setdiff1d(batch.written.numpy(), batch.nodes[seen].numpy()))
            theirs.memory[new] = 0
    assert compared > 300


def their_attention(ours: TemporalAttention, inner: int, key: int) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(inner, ours.heads, kdim=key, vdim=key, batch_first=True)
    copied: dict[str, Any] = {
        "q_proj_weight": ours.query.weight,
        "k_proj_weight": ours.key,
        "v_proj_weight": ours.value,
        "in_proj_bias": torch.cat([ours.query.bias, torch.ones(inner), ours.value_bias]),
        "out_proj.weight": ours.out.weight,
        "out_proj.bias": ours.out.bias,
    }
    theirs.load_state_dict({name: value.detach() for name, value in copied.items()})
    return theirs


def test_the_attention_is_pytorchs_multihead_attention() -> None:
    """And the perceptron that merges it with the node; outputs, and all gradients."""
    torch.manual_seed(1)
    shape = Shape(memory=12, time=6, features=5, heads=3, directed=True)
    ours = TemporalAttention(shape)
    for bias in (ours.query.bias, ours.value_bias, ours.out.bias):
        nn.init.normal_(bias)
    theirs = their_attention(ours, 18, 24)
    nodes, now, filled = torch.randn(5, 12), torch.randn(6), torch.rand(7, 4) < 0.7
    filled[:, 0], filled[3] = True, False
    queries = torch.tensor([0, 1, 1, 2, 4, 3, 1])  # a node is asked about more than once
    parts = (torch.randn(7, 4, 12), torch.randn(7, 4, 6), torch.randn(7, 4, 6))
    given = (nodes, now, parts[0], parts[2])
    for data in given:
        data.requires_grad_()
    query = torch.cat([nodes[queries], now.expand(7, -1)], 1)[:, None]
    keys, there = torch.cat(parts, 2), filled.any(1)
    attended, _ = theirs(query[there], keys[there], keys[there], key_padding_mask=~filled[there])
    # A query without neighbours attends to nothing.
    placed = torch.zeros(7, 18).masked_scatter(there[:, None], attended[:, 0])
    merging = nn.Sequential(ours.hidden, nn.ReLU(), ours.merged)
    expected = merging(torch.cat([placed, nodes[queries]], 1))
    found = ours(nodes, queries, now, parts, filled)
    assert torch.allclose(found, expected, atol=1e-5)
    weights = torch.randn_like(found)
    shared = (*given, ours.hidden.weight, ours.hidden.bias)
    pairs: list[tuple[torch.Tensor, torch.Tensor]]
    pairs = [(ours.query.weight, theirs.q_proj_weight), (ours.value, theirs.v_proj_weight)]
    pairs += [(ours.key, theirs.k_proj_weight), (ours.out.bias, theirs.out_proj.bias)]
    pairs += [(ours.out.weight, theirs.out_proj.weight), *zip(shared, shared, strict=True)]
    mine, usual = zip(*pairs, strict=True)
    of_ours = torch.autograd.grad((found * weights).sum(), mine)
    of_theirs = torch.autograd.grad((expected * weights).sum(), usual)
    for one, two in zip(of_ours, of_theirs, strict=True):
        assert torch.allclose(one, two, atol=1e-4)


def test_dropout_of_the_attention_keeps_the_mean() -> None:
    """In training weights are dropped and the others raised: on average nothing changes."""
    torch.manual_seed(1)
    layer = TemporalAttention(Shape(memory=12, time=6, features=0, dropout=0.5))
    nn.init.normal_(layer.value_bias)
    # Behind the hidden layer nothing else is linear: let it always be open.
    nn.init.constant_(layer.hidden.bias, 50.0)
    nodes, now = torch.randn(1, 12), torch.randn(6)
    parts = tuple(torch.randn(1, 4, width) for width in (12, 0, 6))
    many = [data.expand(4000, *data.shape[1:]) for data in parts]
    filled, queries = torch.ones(4000, 4, dtype=torch.bool), torch.zeros(4000, dtype=torch.int64)
    dropped = layer(nodes, queries, now, many, filled)
    whole = layer.eval()(nodes, queries[:1], now, parts, filled[:1])
    assert dropped.std(0).min() > 0.1
    assert torch.allclose(dropped.mean(0), whole[0], atol=0.1)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_the_encoding_of_time_is_a_cosine_with_its_gradient(logarithmic: bool) -> None:
    encoder = TimeEncoder(6, logarithmic=logarithmic)
    nn.init.normal_(encoder.phases)
    times = torch.tensor([0.0, 0.7, 30.0])
    read = times.log1p() if logarithmic else times
    expected = torch.cos(read[:, None] * encoder.frequencies + encoder.phases)
    assert torch.allclose(encoder(times), expected, atol=1e-5)
    weights = torch.randn(3, 6)
    ours, usual = (
        torch.autograd.grad((found * weights).sum(), list(encoder.parameters()))
        for found in (encoder(times), expected)
    )
    for one, two in zip(ours, usual, strict=True):
        assert torch.allclose(one, two, atol=1e-4)


def test_the_score_of_a_link_does_not_depend_on_the_others_of_its_batch() -> None:
    stream = stream_of(features=3)
    torch.manual_seed(0)
    model = Tgn(Shape(memory=8, time=6, features=3, directed=True, meetings=True)).eval()
    memory, batches = memory_of(stream, 8), batches_of(stream)
    memory.values.normal_()
    chance = stream.destinations[:SIZE]
    whole, _, _ = model(to_device(batches.links(100, 110, chance), memory))
    # The first link of a batch: the only one whose memory may be asked for alone.
    alone, _, _ = model(to_device(batches.links(100, 101, chance[:1]), memory))
    assert torch.allclose(whole[:1], alone, atol=1e-5)


def test_every_weight_gets_a_gradient() -> None:
    stream = stream_of(features=3)
    model = Tgn(Shape(memory=8, time=6, features=3, directed=True, meetings=True))
    memory, batches = memory_of(stream, 8), batches_of(stream)
    memory.values.normal_()
    real, chance, new = model(to_device(batches.links(100, 110, stream.destinations[:10]), memory))
    assert not new.requires_grad
    (real.sum() - chance.sum()).backward()
    silent = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == ["decoder.2.bias"], "it cancels in the difference"


def test_16_bits_compute_nearly_the_same() -> None:
    stream = stream_of(features=3)
    model = Tgn(Shape(memory=8, time=6, features=3, logarithmic=True)).eval()
    memory, batches = memory_of(stream, 8), batches_of(stream)
    batch = to_device(batches.links(100, 110, stream.destinations[:10]), memory)
    real, _, new = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        rough, _, rough_new = model(batch)
    assert torch.allclose(rough.float(), real, atol=0.05)
    assert new.dtype == rough_new.dtype == torch.float32
    assert torch.allclose(rough_new, new, atol=0.02)
