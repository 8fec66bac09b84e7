import warnings
from typing import Any

import numpy as np
import pytest
import torch

from trainmark.training.data.molecules import Molecules, PairedMolecules
from trainmark.workloads.schnet import DeskSettings, FullSettings, parameters
from trainmark.workloads.schnet_model import MoleculeBatch, SchNet, _PairSum

CUTOFF = 3.0


@pytest.fixture(scope="module")
def pyg_schnet() -> Any:
    """PyTorch Geometric's class; to import it takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses what this torch calls deprecated
        from torch_geometric.nn.models.schnet import SchNet as PygSchNet
    return PygSchNet


def some_molecules(*, dtype: torch.dtype = torch.float32) -> MoleculeBatch:
    """Four molecules, one of a single atom and one with two atoms too far apart."""
    generator = np.random.default_rng(3)
    sizes = np.array([5, 1, 7, 2])
    positions = generator.normal(0, 1.2, (15, 3)).astype(np.float32)
    positions[-1] = positions[-2] + 4
    molecules = Molecules(
        numbers=generator.choice([1, 6, 7, 8, 9], 15).astype(np.uint8),
        positions=positions,
        sizes=sizes,
        energies=np.zeros(4),
    )
    arrays = PairedMolecules(molecules, np.ones(4, dtype=np.float32), CUTOFF).batch(np.arange(4))
    batch = MoleculeBatch(*(torch.from_numpy(array) for array in arrays))
    return batch._replace(distances=batch.distances.to(dtype))


def both_ways(batch: MoleculeBatch) -> tuple[torch.Tensor, torch.Tensor]:
    edges = torch.stack(
        [torch.cat([batch.first, batch.second]), torch.cat([batch.second, batch.first])]
    )
    return edges, batch.distances.repeat(2)


def test_it_is_the_network_of_pytorch_geometric(pyg_schnet: Any) -> None:
    """Same names, same weights, same numbers, same gradients."""
    torch.manual_seed(0)
    batch = some_molecules()
    theirs = pyg_schnet(16, 24, 2, 10, CUTOFF, interaction_graph=lambda *_: both_ways(batch))
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # biases, too, which start at zero
    ours = SchNet(width=16, filters=24, interactions=2, gaussians=10, cutoff=CUTOFF)
    # Theirs keeps the filters' layers under a second name, too.
    state = {name: value for name, value in theirs.state_dict().items() if ".conv.nn." not in name}
    ours.load_state_dict(state)
    wanted = theirs(batch.numbers, batch.numbers, batch.molecules).squeeze(1)
    found = ours(batch)
    assert torch.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    found.square().sum().backward()
    wanted.square().sum().backward()
    theirs_by_name = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        assert parameter.grad is not None
        largest = float(parameter.grad.abs().max())
        assert torch.allclose(
            parameter.grad, theirs_by_name[name].grad, rtol=1e-4, atol=1e-5 * (1 + largest)
        ), name


def test_the_gradients_of_the_sum_over_pairs_are_right() -> None:
    batch = some_molecules()
    features = torch.randn(15, 3, dtype=torch.float64, requires_grad=True)
    filters = torch.randn(len(batch.first), 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(_PairSum.apply, (features, filters, batch.first, batch.second))


def test_the_full_network_has_the_published_number_of_parameters(pyg_schnet: Any) -> None:
    """That of PyTorch Geometric's defaults, which are those of SchNetPack's QM9 models."""
    theirs = sum(p.numel() for p in pyg_schnet().parameters())
    assert theirs == 455_809 == parameters(FullSettings())


@pytest.mark.parametrize("settings", [DeskSettings(), FullSettings()])
def test_parameters_are_counted_right(settings: DeskSettings | FullSettings) -> None:
    model = SchNet(
        width=settings.width,
        filters=settings.filters,
        interactions=settings.interactions,
        gaussians=settings.gaussians,
        cutoff=settings.cutoff,
    )
    assert sum(p.numel() for p in model.parameters()) == parameters(settings)


def test_an_energy_does_not_depend_on_what_else_is_in_the_batch() -> None:
    torch.manual_seed(0)
    model = SchNet(width=8, filters=8, interactions=2, gaussians=8, cutoff=CUTOFF)
    batch = some_molecules()
    apart = batch.molecules == 2
    pairs = apart[batch.first]
    alone = MoleculeBatch(
        numbers=batch.numbers[apart],
        molecules=torch.zeros(7, dtype=torch.int64),
        first=batch.first[pairs] - 6,
        second=batch.second[pairs] - 6,
        distances=batch.distances[pairs],
        targets=batch.targets[:1],
    )
    assert torch.allclose(model(alone)[0], model(batch)[2], atol=1e-6)


def test_a_pair_at_the_cutoff_counts_for_nothing() -> None:
    model = SchNet(width=8, filters=8, interactions=2, gaussians=8, cutoff=CUTOFF)
    atoms = torch.tensor([6, 8])
    none = torch.empty(0, dtype=torch.int64)
    here = torch.zeros(2, dtype=torch.int64)
    apart = MoleculeBatch(atoms, here, none, none, torch.empty(0), torch.zeros(1))
    zero, one = torch.tensor([0]), torch.tensor([1])
    at_cutoff = MoleculeBatch(atoms, here, zero, one, torch.tensor([CUTOFF]), torch.zeros(1))
    near = at_cutoff._replace(distances=torch.tensor([1.0]))
    assert torch.allclose(model(apart), model(at_cutoff), atol=1e-6)
    assert not torch.allclose(model(apart), model(near), atol=1e-3)
