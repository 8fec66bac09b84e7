import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from trainmark.training.data.interactions import History, Interactions, noise
from trainmark.training.data.link_batches import LinkBatches, chance_destinations
from trainmark.workloads.tgn import DeskSettings, FullSettings, TgnSettings, parameters
from trainmark.workloads.tgn_model import Memory, Shape, TemporalAttention, Tgn, to_device

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
    torch.manual_seed(1)
    shape = Shape(memory=12, time=6, features=5, heads=3, directed=True)
    ours = TemporalAttention(shape)
    for bias in (ours.query.bias, ours.value_bias, ours.out.bias):
        nn.init.normal_(bias)
    theirs = their_attention(ours, 18, 24)
    nodes, now, filled = torch.randn(7, 12), torch.randn(6), torch.rand(7, 4) < 0.7
    filled[:, 0], filled[3] = True, False
    parts = (torch.randn(7, 4, 12), torch.randn(7, 4, 6), torch.randn(7, 4, 6))
    query = torch.cat([nodes, now.expand(7, -1)], 1)[:, None]
    keys = torch.cat(parts, 2)
    found = ours.attend(nodes, now, parts, filled)
    there = filled.any(1)
    expected, _ = theirs(query[there], keys[there], keys[there], key_padding_mask=~filled[there])
    assert torch.allclose(found[there], expected[:, 0], atol=1e-5)
    assert not found[~there].any(), "a node without neighbours attends to nothing"


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
