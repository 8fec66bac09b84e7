"""Molecules as flat arrays: atoms, positions, energies, pairs of atoms, batches. NumPy only."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trainmark.types import UsageError

__all__ = [
    "ELEMENTS",
    "MoleculeArrays",
    "Molecules",
    "PairedMolecules",
    "Reference",
    "Split",
    "endless_batches",
    "per_atom_reference",
    "per_element_reference",
    "split",
]

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]

ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9}
"""Atomic numbers of the elements that both data sets hold."""
_LARGEST = 100  # atomic numbers are below
# What NumPy raises for a file of anything else; an array alone is no context manager.
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile)
_FIELDS = ("numbers", "positions", "sizes", "energies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Molecules:
    """M molecules, their atoms one after another.

    Attributes:
        numbers: Atomic numbers, uint8, (A,).
        positions: Positions in angstrom, float32, (A, 3).
        sizes: Atoms of each molecule, int64, (M,).
        energies: Energy of each molecule in eV, float64, (M,).
    """

    numbers: Integers
    positions: Floats
    sizes: Integers
    energies: Floats

    def __len__(self) -> int:
        return len(self.sizes)

    def counts(self) -> Floats:
        """Atoms of each atomic number in each molecule, float64, (M, 100)."""
        molecules = np.repeat(np.arange(len(self)), self.sizes)
        flat = np.bincount(molecules * _LARGEST + self.numbers, minlength=len(self) * _LARGEST)
        return flat.reshape(len(self), _LARGEST).astype(np.float64)

    def save(self, path: Path) -> None:
        """Write them as plain arrays (npz)."""
        with path.open("wb") as stream:
            np.savez(stream, **{name: getattr(self, name) for name in _FIELDS})

    @classmethod
    def load(cls, path: Path) -> "Molecules":
        """Read what ``save`` wrote.

        Raises:
            UsageError: The file is not one of ours.
        """
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                found = cls(**{name: arrays[name] for name in _FIELDS})
        except _UNREADABLE as error:
            raise UsageError(
                f"{path} does not hold prepared molecules: {error}",
                hint="Delete its folder; the next run makes it anew.",
            ) from error
        assert len(found.numbers) == len(found.positions) == found.sizes.sum(), path
        assert len(found.sizes) == len(found.energies), path
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a network need not learn: an energy for each atom, and a scale for the rest.

    Attributes:
        energies: Energy of each atomic number, eV, float64, (100,).
        scale: Standard deviation of what remains, eV.
    """

    energies: Floats
    scale: float

    def remainder(self, molecules: Molecules) -> Floats:
        """What is left to be learnt, in units of ``scale``, float32, (M,)."""
        left = molecules.energies - molecules.counts() @ self.energies
        return (left / self.scale).astype(np.float32)


class Split(NamedTuple):
    """Which molecules are trained on and which are held out: indices, int64."""

    train: Integers
    held_out: Integers


def split(molecules: int, train: int, held_out: int, seed: int) -> Split:
    """A random split, the same on every machine.

    Args:
        molecules: How many there are.
        train: How many are trained on.
        held_out: How many are held out; what is left over is not used.
        seed: Seed of the split, fixed by the benchmark.
    """
    assert train + held_out <= molecules, (train, held_out, molecules)
    order = np.random.default_rng(seed).permutation(molecules)
    return Split(train=order[held_out : held_out + train], held_out=order[:held_out])


def per_element_reference(molecules: Molecules, chosen: Integers) -> Reference:
    """The best energy for each element, by least squares.

    Args:
        molecules: The molecules.
        chosen: Those to fit: the training part.
    """
    counts, energies = molecules.counts()[chosen], molecules.energies[chosen]
    fitted = np.linalg.lstsq(counts, energies, rcond=None)[0]
    return Reference(energies=fitted, scale=_scale(energies - counts @ fitted))


def per_atom_reference(molecules: Molecules, chosen: Integers, free_atoms: Floats) -> Reference:
    """Energies of free atoms, then the mean of the rest for each atom whatever its element.

    Args:
        molecules: The molecules.
        chosen: Those that mean and scale are taken from: the training part.
        free_atoms: Energy of the free atom of each atomic number, eV, (100,).
    """
    counts, energies = molecules.counts()[chosen], molecules.energies[chosen]
    bound = energies - counts @ free_atoms
    mean = float((bound / counts.sum(1)).mean())
    return Reference(energies=free_atoms + mean, scale=_scale(bound - mean * counts.sum(1)))


def _scale(remainder: Floats) -> float:
    return float(remainder.std()) or 1.0  # one molecule, or all alike


class MoleculeArrays(NamedTuple):
    """Some molecules one after another: A atoms, P pairs of atoms, B molecules.

    Attributes:
        numbers: Atomic numbers, int64, (A,).
        molecules: The molecule of each atom, int64, (A,).
        first: One atom of each pair, int64, (P,).
        second: The other atom, int64, (P,).
        distances: Distance of the two, angstrom, float32, (P,).
        targets: What is to be learnt of each molecule, float32, (B,).
    """

    numbers: Integers
    molecules: Integers
    first: Integers
    second: Integers
    distances: Floats
    targets: Floats


class PairedMolecules:
    """Molecules with every unordered pair of their atoms within a cutoff, ready for batches.

    Args:
        molecules: The molecules.
        targets: What is to be learnt of each, float32, (M,).
        cutoff: Longest pair, angstrom.
    """

    def __init__(self, molecules: Molecules, targets: Floats, cutoff: float) -> None:
        self.sizes = molecules.sizes
        self.targets = targets
        self._numbers = molecules.numbers.astype(np.int64)
        self._atoms = _starts(self.sizes)
        counts, self._first, self._second, self._distances = _pairs(molecules, cutoff)
        self._pairs = _starts(counts)

    def __len__(self) -> int:
        return len(self.sizes)

    def batch(self, chosen: Integers) -> MoleculeArrays:
        """The chosen molecules, in that order."""
        sizes = self.sizes[chosen]
        before = _starts(sizes)[:-1]
        atoms = _joined(self._atoms, chosen)
        pairs = _joined(self._pairs, chosen)
        shift = np.repeat(before, np.diff(self._pairs)[chosen])
        return MoleculeArrays(
            numbers=self._numbers[atoms],
            molecules=np.repeat(np.arange(len(chosen)), sizes),
            first=self._first[pairs] + shift,
            second=self._second[pairs] + shift,
            distances=self._distances[pairs],
            targets=self.targets[chosen],
        )


def endless_batches(
    molecules: PairedMolecules, chosen: Integers, batch: int, seed: int
) -> Iterator[MoleculeArrays]:
    """Training batches without end: every epoch in a new order, none lost at its end.

    Args:
        molecules: The molecules.
        chosen: Those to train on.
        batch: Molecules in a batch.
        seed: Seed of the order.
    """
    generator = np.random.default_rng(seed)
    order = np.empty(0, dtype=np.int64)
    while True:
        while len(order) < batch:
            order = np.concatenate([order, generator.permutation(chosen)])
        yield molecules.batch(order[:batch])
        order = order[batch:]


def _starts(counts: Integers) -> Integers:
    """Where each of several runs begins in their join, and its length at the end."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


def _joined(starts: Integers, chosen: Integers) -> Integers:
    """Indices of the chosen runs' elements, run after run."""
    lengths = starts[chosen + 1] - starts[chosen]
    begins = _starts(lengths)
    shift = np.repeat(starts[chosen] - begins[:-1], lengths)
    found: Integers = np.arange(begins[-1]) + shift
    return found


def _pairs(molecules: Molecules, cutoff: float) -> tuple[Integers, Integers, Integers, Floats]:
    """Pairs of each molecule; both atoms of each, counted within the molecule; distances.

    All molecules of one size are done at once.
    """
    starts, count = _starts(molecules.sizes), len(molecules)
    parts = []
    for size in np.unique(molecules.sizes):
        alike = np.flatnonzero(molecules.sizes == size)
        positions = molecules.positions[starts[alike, None] + np.arange(size)]
        first, second = np.triu_indices(size, 1)
        distances = np.linalg.norm(positions[:, first] - positions[:, second], axis=-1)
        which, pair = np.nonzero(distances <= cutoff)
        parts.append((alike[which], first[pair], second[pair], distances[which, pair]))
    owner, first, second, near = (
        np.concatenate([part[column] for part in parts]) for column in range(4)
    )
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=count)
    return (
        counts,
        first[order].astype(np.int16),
        second[order].astype(np.int16),
        near[order].astype(np.float32),
    )
