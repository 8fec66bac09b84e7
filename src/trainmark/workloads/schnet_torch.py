"""SchNet in PyTorch: data, step and evaluation at both scales.

What it is, and where each number comes from: ``trainmark.workloads.schnet``.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainmark.mllog import keys
from trainmark.training.data import molecules_xtb, qm9
from trainmark.training.data.molecules import (
    ELEMENTS,
    MoleculeArrays,
    Molecules,
    PairedMolecules,
    Reference,
    Split,
    endless_batches,
    per_atom_reference,
    per_element_reference,
    split,
)
from trainmark.training.frameworks.torch_task import TorchTask
from trainmark.training.prepared import quiet
from trainmark.training.task import TaskRequest
from trainmark.workloads.schnet import DeskSettings, FullSettings, SchNetSettings
from trainmark.workloads.schnet_model import MoleculeBatch, SchNet

__all__ = ["SPLIT_SEED", "DeskTask", "FullTask", "SchNetTask"]

EVAL_BATCH = 100
_HUBER = 0.1  # of the reference's scale
SPLIT_SEED = 20220629
_SYNTHETIC_ATOMS = 18  # the mean of QM9 and of the desk molecules
_SYNTHETIC_SPREAD = 1.4  # angstrom: a cloud with as many near pairs as the desk molecules have


def _huber(found: Tensor, wanted: Tensor) -> Tensor:
    """Squared below a tenth of the scale, absolute above; at most as steep as the latter."""
    return functional.huber_loss(found, wanted, delta=_HUBER) / _HUBER


_ERRORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared": functional.mse_loss,
    "absolute": functional.l1_loss,
    "huber": _huber,
}


class SchNetTask(TorchTask):
    """One run of either scale; the subclasses differ in data and schedule."""

    settings: SchNetSettings

    def __init__(self, request: TaskRequest) -> None:
        super().__init__(request)
        self.average_decay = self.settings.average_decay
        self.clip_norm = self.settings.clip_norm
        self.hyperparameters = {
            keys.GLOBAL_BATCH_SIZE: self.settings.global_batch_size,
            keys.GRADIENT_ACCUMULATION_STEPS: self.settings.gradient_accumulation_steps,
            "opt_name": "adam",
            "opt_base_learning_rate": self.settings.learning_rate,
        }
        self._pin = self.device.type == "cuda"

    def load(self) -> Molecules:
        """All molecules, from the prepared file."""
        raise NotImplementedError

    def reference(self, molecules: Molecules, parts: Split) -> Reference:
        """What the network need not learn, from the training part."""
        raise NotImplementedError

    def make_model(self) -> nn.Module:
        """See ``workloads/schnet_model.py``."""
        sizes = self.settings
        return SchNet(
            width=sizes.width,
            filters=sizes.filters,
            interactions=sizes.interactions,
            gaussians=sizes.gaussians,
            cutoff=sizes.cutoff,
        )

    def make_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """Adam, all parameters in one kernel."""
        return torch.optim.Adam(model.parameters(), self.settings.learning_rate, fused=True)

    def batches(self) -> Iterator[MoleculeBatch]:
        """Batches in a new order every epoch; reads the molecules and fits the reference."""
        molecules = self.load()
        train, held_out = self.spec.train_samples, self.spec.eval_samples
        self.parts = split(len(molecules), train, held_out, SPLIT_SEED)
        self.zero = self.reference(molecules, self.parts)
        self.molecules = PairedMolecules(
            molecules, self.zero.remainder(molecules), self.settings.cutoff
        )
        endless = endless_batches(
            self.molecules, self.parts.train, self.settings.micro_batch, self.seed
        )
        return map(self.tensors, endless)

    def loss(self, model: Any, batch: MoleculeBatch) -> Tensor:
        """The mean of the chosen error in units of the reference's scale."""
        on_device = batch.to(self.device)
        self.tally(places=len(batch.numbers), padding=0)  # molecules lie end to end
        return _ERRORS[self.settings.loss](model(on_device), on_device.targets)

    def synthetic_batch(self, samples: int) -> MoleculeBatch:
        """Clouds of atoms of the usual number, spread and elements."""
        generator = np.random.default_rng(0)
        atoms = samples * _SYNTHETIC_ATOMS
        molecules = Molecules(
            numbers=generator.choice(list(ELEMENTS.values()), atoms).astype(np.uint8),
            positions=generator.normal(0, _SYNTHETIC_SPREAD, (atoms, 3)).astype(np.float32),
            sizes=np.full(samples, _SYNTHETIC_ATOMS),
            energies=np.zeros(samples),
        )
        targets = generator.normal(size=samples).astype(np.float32)
        paired = PairedMolecules(molecules, targets, self.settings.cutoff)
        return self.tensors(paired.batch(np.arange(samples)))

    def warm_up_evaluation(self) -> None:
        """One batch of the evaluation."""
        self._absolute_error([self.synthetic_batch(EVAL_BATCH)])

    def evaluate(self) -> float:
        """Mean absolute error on the whole held-out set, eV."""
        total = self._absolute_error(self._held_out())
        return total * self.zero.scale / self.spec.eval_samples

    def _held_out(self) -> Iterator[MoleculeBatch]:
        chosen = self.parts.held_out
        # Molecules of like size together: less to wait for where a device does many at once.
        chosen = chosen[np.argsort(self.molecules.sizes[chosen], kind="stable")]
        for at in range(0, len(chosen), EVAL_BATCH):
            yield self.tensors(self.molecules.batch(chosen[at : at + EVAL_BATCH]))

    @torch.no_grad()
    def _absolute_error(self, batches: Iterable[MoleculeBatch]) -> float:
        """The sum of the absolute errors in units of the reference's scale."""
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for batch in batches:
            on_device = batch.to(self.device)
            with self.autocast:
                found = self.evaluated_model(on_device)
            total += (found - on_device.targets).abs().sum()
        return float(total)

    def tensors(self, arrays: MoleculeArrays) -> MoleculeBatch:
        """A batch for the model, in page-locked memory where the device can use that."""
        batch = MoleculeBatch(*(torch.from_numpy(array) for array in arrays))
        return batch.pinned() if self._pin else batch


class DeskTask(SchNetTask):
    """Molecules whose energies were reckoned on this machine."""

    settings: DeskSettings

    def data_files(self) -> Iterator[Path]:
        """The prepared file."""
        yield molecules_xtb.made_molecules(self.settings.molecules, quiet)

    def load(self) -> Molecules:
        """All molecules, from the prepared file."""
        return Molecules.load(molecules_xtb.made_molecules(self.settings.molecules, quiet))

    def reference(self, molecules: Molecules, parts: Split) -> Reference:
        """The least-squares energy of each element: the composition baseline."""
        return per_element_reference(molecules, parts.train)

    def learning_rate(self, samples: int) -> float:
        """A straight line up within half a cosine down; the first step moves, too."""
        trained = samples + self.settings.global_batch_size
        return self.settings.learning_rate_after(trained / self.spec.train_samples)


class FullTask(SchNetTask):
    """QM9."""

    settings: FullSettings

    def data_files(self) -> Iterator[Path]:
        """The prepared file."""
        yield self._file

    def load(self) -> Molecules:
        """All molecules, from the prepared file."""
        return Molecules.load(self._file)

    def reference(self, molecules: Molecules, parts: Split) -> Reference:
        """The published energies of free atoms, then the mean for each atom."""
        return per_atom_reference(molecules, parts.train, qm9.FREE_ATOMS)

    def learning_rate(self, samples: int) -> float:
        """Exponential decay."""
        return self.settings.learning_rate_after(samples // self.settings.global_batch_size)

    @property
    def _file(self) -> Path:
        assert self.data is not None, "spec() asks for --data"
        return qm9.prepared_molecules(self.data, quiet)
