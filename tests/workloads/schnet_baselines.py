"""What methods without a network reach on the desk molecules of the workload ``schnet``.

    python -m tests.workloads.schnet_baselines

prints the table of docs/workloads/schnet.md.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from trainmark.training.data.molecules import (
    ELEMENTS,
    Molecules,
    PairedMolecules,
    Split,
    per_element_reference,
    split,
)
from trainmark.training.data.molecules_xtb import made_molecules
from trainmark.training.prepared import quiet
from trainmark.workloads.schnet import WORKLOAD, DeskSettings
from trainmark.workloads.schnet_torch import SPLIT_SEED

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

BINS = np.arange(0.6, 6.2, 0.2)
_BOND = 1.25  # times the sum of the radii
_RADII = {1: 0.31, 6: 0.76, 7: 0.71, 8: 0.66, 9: 0.57}  # angstrom, Cordero et al. 2008
_ELEMENT_PAIRS = list(combinations_with_replacement(sorted(ELEMENTS.values()), 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The molecules and their split."""

    molecules: Molecules
    parts: Split

    def error(self, found: Floats) -> float:
        """Mean absolute error of energies found for the held-out molecules, eV."""
        return float(np.abs(found - self.molecules.energies[self.parts.held_out]).mean())


def load() -> Desk:
    """The molecules of the desk scale, made if they are not there."""
    settings = DeskSettings()
    spec = WORKLOAD.spec("desk", settings, None)
    molecules = Molecules.load(made_molecules(settings.molecules, quiet))
    parts = split(len(molecules), spec.train_samples, spec.eval_samples, SPLIT_SEED)
    return Desk(molecules=molecules, parts=parts)


def mean(desk: Desk) -> float:
    """The mean energy of the training part."""
    average = desk.molecules.energies[desk.parts.train].mean()
    return desk.error(np.full(len(desk.parts.held_out), average))


def composition(desk: Desk) -> float:
    """The best energy for each element."""
    return desk.error(_by_composition(desk)[desk.parts.held_out])


def bonds(desk: Desk) -> float:
    """Composition, and the best energy for each bond between two elements."""
    return min(_ridge(desk, _bonds(desk.molecules), strength) for strength in (0.01, 1.0))


def distances(desk: Desk) -> float:
    """Composition, and the best energy for each pair of elements at each distance."""
    return min(_ridge(desk, histogram(desk.molecules), strength) for strength in (0.1, 1.0, 10.0))


def kernel(desk: Desk) -> float:
    """Kernel ridge regression with a Gaussian kernel on the same distances."""
    features = np.hstack([desk.molecules.counts(), histogram(desk.molecules)])
    squares = (features**2).sum(1)
    squared = squares[:, None] + squares - 2 * features @ features.T
    left = desk.molecules.energies - _by_composition(desk)
    train, held_out = desk.parts
    errors = []
    for width in (20.0, 40.0, 80.0):
        alike = np.exp(-np.maximum(squared, 0) / (2 * width**2))
        for strength in (1e-4, 1e-3, 1e-2):
            within = alike[np.ix_(train, train)] + strength * np.eye(len(train))
            weights = np.linalg.solve(within, left[train])
            found = alike[np.ix_(held_out, train)] @ weights
            errors.append(desk.error(found + _by_composition(desk)[held_out]))
    return min(errors)


METHODS = {
    "mean of the training part": mean,
    "best energy for each element": composition,
    "and for each bond": bonds,
    "and for each pair of elements at each distance": distances,
    "kernel ridge regression on those distances": kernel,
}
"""Every baseline by what it is. Strengths and widths are chosen on the held-out part, which
flatters the baselines."""


def histogram(molecules: Molecules) -> Floats:
    """Pairs of atoms by elements and distance, (M, pairs of elements x bins)."""
    kind, distance, owner = _pairs(molecules, float(BINS[-1]))
    place = np.digitize(distance, BINS)
    width = len(BINS) + 1
    flat = (owner * len(_ELEMENT_PAIRS) + kind) * width + place
    counts = np.bincount(flat, minlength=len(molecules) * len(_ELEMENT_PAIRS) * width)
    return counts.reshape(len(molecules), -1).astype(np.float64)


def _bonds(molecules: Molecules) -> Floats:
    kind, distance, owner = _pairs(molecules, 2.0)
    longest = np.array([_BOND * (_RADII[a] + _RADII[b]) for a, b in _ELEMENT_PAIRS])
    bonded = distance <= longest[kind]
    flat = (owner * len(_ELEMENT_PAIRS) + kind)[bonded]
    counts = np.bincount(flat, minlength=len(molecules) * len(_ELEMENT_PAIRS))
    return counts.reshape(len(molecules), -1).astype(np.float64)


def _pairs(molecules: Molecules, cutoff: float) -> tuple[Integers, Floats, Integers]:
    """Pair of elements, distance and molecule of every pair of atoms."""
    everything = np.arange(len(molecules))
    found = PairedMolecules(molecules, np.zeros(len(molecules)), cutoff).batch(everything)
    low, high = np.sort([found.numbers[found.first], found.numbers[found.second]], axis=0)
    table = np.zeros((10, 10), dtype=np.int64)
    for place, (a, b) in enumerate(_ELEMENT_PAIRS):
        table[a, b] = place
    distances: Floats = found.distances.astype(np.float64)
    return table[low, high], distances, found.molecules[found.first]


def _by_composition(desk: Desk) -> Floats:
    fitted = per_element_reference(desk.molecules, desk.parts.train).energies
    found: Floats = desk.molecules.counts() @ fitted
    return found


def _ridge(desk: Desk, features: Floats, strength: float) -> float:
    train, held_out = desk.parts
    by_composition = _by_composition(desk)
    left = desk.molecules.energies - by_composition
    columns = np.hstack([desk.molecules.counts(), features])
    known = columns[train]
    square = known.T @ known + strength * np.eye(columns.shape[1])
    weights = np.linalg.solve(square, known.T @ left[train])
    return desk.error(by_composition[held_out] + columns[held_out] @ weights)


if __name__ == "__main__":
    print("| method | mean absolute error |\n|---|---|")
    for title, method in METHODS.items():
        print(f"| {title} | {method(load()):.3f} eV |", flush=True)
    print(f"| **target** | **{WORKLOAD.spec('desk', DeskSettings(), None).target.value} eV** |")
