"""The full-size SchNet training step on molecules of QM9's sizes: ours against the usual one.

    python benchmarks/step_schnet.py [--pairs 5] [--batch 32] [--steps 8]

"Usual" is SchNet of pyg-team/pytorch_geometric, torch_geometric/nn/models/schnet.py, with its
defaults (128 features and filters, 6 interactions, 50 Gaussians, 10 angstrom) in an eager fp32
step with Adam, on batches as its DataLoader joins them. Its radius_graph needs pyg-lib, so both
directions of every pair within the cutoff are given to it, made beforehand: it is spared the
search. Both sides train on the same molecules: clouds of atoms whose number is drawn from a
normal distribution of mean 18 and deviation 3, 6 to 29, as QM9's. Goal: 1.5 times the usual step.
"""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from steps import StepBenchmark, Usual, run

from trainmark.training.data.molecules import ELEMENTS, Molecules, PairedMolecules
from trainmark.workloads.schnet import WORKLOAD, FullSettings

CUTOFF = FullSettings().cutoff
BATCHES = 4


def molecules(count: int) -> PairedMolecules:
    """Clouds of atoms, always the same."""
    generator = np.random.default_rng(1)
    sizes = np.clip(np.round(generator.normal(18, 3, count)), 6, 29).astype(np.int64)
    atoms = int(sizes.sum())
    made = Molecules(
        numbers=generator.choice(list(ELEMENTS.values()), atoms).astype(np.uint8),
        positions=generator.normal(0, 1.4, (atoms, 3)).astype(np.float32),
        sizes=sizes,
        energies=np.zeros(count),
    )
    return PairedMolecules(made, generator.normal(size=count).astype(np.float32), CUTOFF)


def our_batches(task: Any, batch: int) -> Sequence[Any]:
    """The molecules as the workload's task takes them."""
    paired = molecules(BATCHES * batch)
    return [task.tensors(paired.batch(at * batch + np.arange(batch))) for at in range(BATCHES)]


def usual_step(usual: Usual) -> Callable[[], None]:
    """The step of PyTorch Geometric's model in a plain loop."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import SchNet

    paired = molecules(BATCHES * usual.batch)
    graphs = []
    for index in range(len(paired)):
        one = paired.batch(np.array([index]))
        first, second = torch.from_numpy(one.first), torch.from_numpy(one.second)
        edges = torch.stack([torch.cat([first, second]), torch.cat([second, first])])
        graphs.append(
            Data(
                num_nodes=len(one.numbers),
                z=torch.from_numpy(one.numbers),
                edge_index=edges,
                edge_weight=torch.from_numpy(one.distances).repeat(2),
                y=torch.from_numpy(one.targets),
            )
        )
    current: list[Any] = []
    model = SchNet(interaction_graph=lambda *_: (current[0].edge_index, current[0].edge_weight)).to(
        usual.device
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    batches = cycle(list(DataLoader(graphs, batch_size=usual.batch)))

    def step() -> None:
        batch = next(batches).to(usual.device)
        current[:] = [batch]
        optimizer.zero_grad()
        found = model(batch.z, batch.z, batch.batch).squeeze(1)
        torch.nn.functional.mse_loss(found, batch.y).backward()
        optimizer.step()

    return step


BENCHMARK = StepBenchmark(
    script=__file__,
    workload=WORKLOAD,
    spec=WORKLOAD.published["full"],
    samples="molecules",
    usual="pyg-team/pytorch_geometric, torch_geometric/nn/models/schnet.py",
    usual_step=usual_step,
    batch=32,
    steps=8,
    batches=our_batches,
)

if __name__ == "__main__":
    run(BENCHMARK, __doc__)
