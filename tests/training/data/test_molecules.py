import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.training.data import molecules_xtb
from trainmark.training.data.molecules import (
    Molecules,
    PairedMolecules,
    endless_batches,
    per_atom_reference,
    per_element_reference,
    split,
)
from trainmark.training.prepared import quiet
from trainmark.types import TrainmarkError, UsageError

HYDROGEN, CARBON = 1, 6
NPY = (
    b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"
    + b" " * 12
    + b"\n"
)


def made(sizes: list[int], seed: int = 0) -> Molecules:
    """Random molecules of those sizes."""
    generator = np.random.default_rng(seed)
    atoms = sum(sizes)
    return Molecules(
        numbers=generator.choice([1, 6, 7, 8, 9], atoms).astype(np.uint8),
        positions=generator.normal(0, 1.5, (atoms, 3)).astype(np.float32),
        sizes=np.array(sizes, dtype=np.int64),
        energies=generator.normal(-500, 50, len(sizes)),
    )


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    molecules = made([3, 1, 4])
    molecules.save(tmp_path / "m.npz")
    found = Molecules.load(tmp_path / "m.npz")
    for name in ("numbers", "positions", "sizes", "energies"):
        assert np.array_equal(getattr(found, name), getattr(molecules, name))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 neither", NPY])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(UsageError, match="does not hold prepared molecules"):
        Molecules.load(tmp_path / "m.npz")


@given(sizes=st.lists(st.integers(1, 9), min_size=1, max_size=8), cutoff=st.floats(1.0, 6.0))
def test_a_batch_holds_every_near_pair_once(sizes: list[int], cutoff: float) -> None:
    """Against loops over all atoms."""
    molecules = made(sizes)
    chosen = np.random.default_rng(1).permutation(len(sizes))
    targets = np.arange(len(sizes), dtype=np.float32)
    batch = PairedMolecules(molecules, targets, cutoff).batch(chosen)
    starts = np.cumsum([0, *sizes])
    wanted, numbers, at = {}, [], 0
    for index in chosen:
        place = slice(starts[index], starts[index + 1])
        numbers.extend(molecules.numbers[place].tolist())
        positions = molecules.positions[place].astype(np.float64)
        for a in range(sizes[index]):
            for b in range(a + 1, sizes[index]):
                wanted[at + a, at + b] = np.linalg.norm(positions[a] - positions[b])
        at += sizes[index]
    wanted = {pair: distance for pair, distance in wanted.items() if distance <= cutoff}
    found = dict(
        zip(
            zip(batch.first.tolist(), batch.second.tolist(), strict=True),
            batch.distances,
            strict=True,
        )
    )
    assert len(found) == len(batch.first)
    assert found == pytest.approx(wanted, rel=1e-4)
    assert batch.numbers.tolist() == numbers
    assert (
        batch.molecules.tolist()
        == np.repeat(np.arange(len(chosen)), molecules.sizes[chosen]).tolist()
    )
    assert batch.targets.tolist() == chosen.tolist()


def test_every_epoch_shows_every_molecule_once_in_a_new_order() -> None:
    molecules = made([2] * 12)
    paired = PairedMolecules(molecules, np.arange(12, dtype=np.float32), 5.0)
    chosen = np.arange(2, 12)
    seen = np.concatenate([b.targets for b in islice(endless_batches(paired, chosen, 4, 1), 5)])
    assert sorted(seen[:10]) == sorted(seen[10:]) == list(range(2, 12))
    assert list(seen[:10]) != list(seen[10:])


def test_the_seed_decides_the_order() -> None:
    paired = PairedMolecules(made([2] * 12), np.arange(12, dtype=np.float32), 5.0)

    def first(seed: int) -> list[float]:
        batch = next(endless_batches(paired, np.arange(12), 12, seed))
        return list(batch.targets)

    assert first(1) == first(1) != first(2)


def test_a_split_is_fixed_and_nothing_is_on_both_sides() -> None:
    train, held_out = split(20, 12, 5, seed=3)
    assert (len(train), len(held_out)) == (12, 5)
    assert not set(train) & set(held_out)
    assert split(20, 12, 5, seed=3).train.tolist() == train.tolist()


def test_energies_that_only_depend_on_the_composition_leave_nothing() -> None:
    molecules = made([4, 7, 5, 6, 9, 3, 8, 5])
    energies = np.zeros(100)
    energies[[1, 6, 7, 8, 9]] = -13.6, -1036, -1489, -2046, -2715
    molecules = Molecules(
        numbers=molecules.numbers,
        positions=molecules.positions,
        sizes=molecules.sizes,
        energies=molecules.counts() @ energies,
    )
    reference = per_element_reference(molecules, np.arange(7))
    left = molecules.energies - molecules.counts() @ reference.energies
    assert left == pytest.approx(np.zeros(8), abs=1e-6)


def test_the_reference_knows_the_training_part_only() -> None:
    molecules = made([4, 7, 5, 6, 9, 3, 8, 5])
    train = np.arange(6)
    before = per_element_reference(molecules, train)
    molecules.energies[6:] += 1000
    after = per_element_reference(molecules, train)
    assert np.array_equal(before.energies, after.energies)
    assert before.scale == after.scale


def test_the_mean_for_each_atom_is_taken_off_free_atoms() -> None:
    molecules = made([4, 7, 5, 6])
    free = np.zeros(100)
    free[[HYDROGEN, CARBON]] = -13.6, -1030
    bound = np.array([-3.0, -4.0, -5.0, -6.0]) * molecules.sizes
    molecules = Molecules(
        numbers=molecules.numbers,
        positions=molecules.positions,
        sizes=molecules.sizes,
        energies=molecules.counts() @ free + bound,
    )
    reference = per_atom_reference(molecules, np.arange(4), free)
    assert reference.energies[CARBON] == pytest.approx(-1030 - 4.5)
    left = reference.remainder(molecules) * reference.scale
    assert left == pytest.approx(np.array([1.5, 0.5, -0.5, -1.5]) * molecules.sizes, rel=1e-4)


@pytest.fixture(scope="module")
def reckoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve molecules, really reckoned."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return molecules_xtb.made_molecules(12, quiet)


def test_molecules_are_reckoned(reckoned: Path) -> None:
    molecules = Molecules.load(reckoned)
    assert len(molecules) == 12
    assert set(molecules.numbers) <= {1, 6, 7, 8, 9}
    heavy = np.add.reduceat(molecules.numbers > 1, np.cumsum([0, *molecules.sizes[:-1]]))
    assert 1 <= heavy.min() <= heavy.max() <= 9
    near = PairedMolecules(molecules, np.zeros(12), 20.0).batch(np.arange(12)).distances
    assert 0.6 < near.min() < 1.2  # a bond to hydrogen, in angstrom


def test_the_energies_are_those_of_gfn2_xtb() -> None:
    """Water at its experimental geometry: -5.07 hartree (GFN2-xTB, tblite's own examples)."""
    positions = np.array([[0, 0, 0.1173], [0, 0.7572, -0.4692], [0, -0.7572, -0.4692]])
    energy = molecules_xtb._energy([8, 1, 1], positions)
    assert energy is not None
    assert energy / 27.211386 == pytest.approx(-5.07, abs=0.005)


def test_a_compound_that_the_force_field_does_not_know_is_left_out() -> None:
    assert molecules_xtb._reckon("[H][H]") is None


@pytest.mark.parametrize(
    ("smiles", "name"),
    [
        ("OCC", "CCO"),
        ("C(C)O", "CCO"),
        ("CC[O-]", ""),  # charged
        ("CCO.O", ""),  # two
        ("[13CH3]CO", ""),  # an isotope
        ("C[CH2]", ""),  # a radical
        ("CCS", ""),  # another element
        ("CCCCCCCCCC", ""),  # ten heavy atoms
        ("[H][H]", ""),  # none
        ("C1CC", ""),  # no structure
    ],
)
def test_what_qualifies(smiles: str, name: str) -> None:
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    assert molecules_xtb._canonical(smiles) == (name, name)


def test_of_stereoisomers_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mirror images have one energy: one trained on and the other held out would be no test."""
    listed = ["CC[C@H](C)O", "CC[C@@H](C)O", "CCC(C)O", "C/C=C/CO", "C/C=C\\CO", "CCO", "OCC"]
    table = tmp_path / "table.tsv"
    table.write_text("".join(f"1\t1\tC4H10O\t1\t{smiles}\tname\n" for smiles in listed))
    monkeypatch.setattr(molecules_xtb, "_tables", lambda: iter([table]))
    assert len(list(molecules_xtb._compounds())) == 3


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(molecules_xtb, "_PACKAGES", ("no-such-package",))
    with pytest.raises(UsageError, match="need the package no-such-package") as caught:
        molecules_xtb.made_molecules(12, quiet)
    assert "trainmark[schnet]" in caught.value.hint


def test_a_process_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(molecules_xtb, "_one_thread", _die)
    with pytest.raises(TrainmarkError, match="ended by itself"):
        molecules_xtb.made_molecules(3, quiet)
    assert not list(tmp_path.rglob("*.npz"))


def _die() -> None:
    os._exit(9)
