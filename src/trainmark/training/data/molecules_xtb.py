"""Small molecules with energies from a real semi-empirical calculation, made once on this machine.

The compounds are those that the package chemicals lists (identifiers from PubChem): neutral, of H,
C, N, O and F only, at most nine heavy atoms, no radicals or isotopes; of stereoisomers one. RDKit
embeds each once (ETKDG, Riniker and Landrum 2015, with a fixed seed) and relaxes it with the force
field MMFF94 (Halgren 1996); tblite reckons the total energy at that geometry with GFN2-xTB
(Bannwarth, Ehlert, Grimme 2019), a tight-binding method with self-consistent charges,
electrostatics and dispersion.
"""

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from trainmark.training.data.molecules import Molecules
from trainmark.training.prepared import Tell, prepared
from trainmark.types import TrainmarkError, UsageError

__all__ = ["FILE", "MOST", "made_molecules"]

FILE = "molecules.npz"
MOST = 6_000
"""About as many as the package lists and RDKit can embed: 6,050 are listed in chemicals 1.5.2."""
_PACKAGES = ("chemicals", "rdkit", "tblite")
_TABLES = ("chemical identifiers pubchem small.tsv", "chemical identifiers pubchem large.tsv")
_FORMULA_COLUMN, _SMILES_COLUMN = 2, 4
_FORMULA = re.compile(r"(?:[CHNOF]\d*)+")
_HEAVY = re.compile(r"[CNOF](\d*)")
_NUMBERS = frozenset({1, 6, 7, 8, 9})
_HEAVY_ATOMS = 9
_LONGEST_SMILES = 60  # of nine heavy atoms none needs more
_EMBEDDING_SEED = 1
_ORDER_SEED = 20220629
_RELAXATION_STEPS = 500
_BOHR_PER_ANGSTROM = 1 / 0.529177210903  # CODATA 2018
_EV_PER_HARTREE = 27.211386245988
_CHUNK = 40
_FORMAT = 2  # 1 held stereoisomers

Geometry = tuple[list[int], Any, float]
"""Atomic numbers, positions in angstrom (A, 3), energy in eV."""


def made_molecules(count: int, tell: Tell) -> Path:
    """The file of the first ``count`` molecules in a fixed random order; made when not there.

    Any part of it is a random part of all compounds. Those that cannot be embedded or reckoned
    are left out and counted in ``left_out.txt``.

    Args:
        count: Number of molecules.
        tell: Told how far it is.

    Raises:
        UsageError: A package is missing.
        TrainmarkError: There are not so many molecules.
    """
    inputs = {
        "format": _FORMAT,
        "count": count,
        "packages": {name: _version(name) for name in _PACKAGES},
    }

    def make(folder: Path, tell: Tell) -> None:
        made, left_out = _make(count, tell)
        made.save(folder / FILE)
        (folder / "left_out.txt").write_text("".join(f"{smiles}\n" for smiles in left_out))

    return prepared("molecules", inputs, make, tell) / FILE


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as error:
        raise UsageError(
            f"the desk-scale molecules need the package {package}, which is not installed",
            hint="Install it: pip install 'trainmark[schnet]'",
        ) from error


def _make(count: int, tell: Tell) -> tuple[Molecules, list[str]]:
    """The molecules, and the compounds left out on the way."""
    found: list[Geometry] = []
    left_out: list[str] = []
    for smiles, geometry in _geometries(count):
        if geometry is None:
            left_out.append(smiles)
            continue
        found.append(geometry)
        if len(found) % _CHUNK == 0 or len(found) == count:
            tell("computing molecules' energies (GFN2-xTB), once", len(found) / count)
        if len(found) == count:
            return _joined(found), left_out
    raise TrainmarkError(
        f"only {len(found)} compounds could be reckoned, {count} were asked for",
        hint=f"Ask for fewer: --set molecules={len(found)}",
    )


def _geometries(count: int) -> Iterator[tuple[str, Geometry | None]]:
    """Every compound in order with what came of it, on all cores; consumed as far as needed."""
    compounds = _compounds()
    size = min(_CHUNK, count)
    chunks = iter(lambda: list(islice(compounds, size)), [])
    wanted = -(-count // size)
    cores = min(len(os.sched_getaffinity(0)), wanted)
    # A few chunks ahead of what is read, no more: the last ones are often not needed.
    ahead = islice(chunks, min(2 * cores, wanted))
    with ProcessPoolExecutor(cores, get_context("spawn"), _one_thread) as pool:
        running = [(chunk, pool.submit(_reckon_all, chunk)) for chunk in ahead]
        try:
            while running:
                chunk, future = running.pop(0)
                yield from zip(chunk, future.result(), strict=True)
                running += [(new, pool.submit(_reckon_all, new)) for new in islice(chunks, 1)]
        except BrokenProcessPool as error:
            raise TrainmarkError(
                "a process that computed molecules' energies ended by itself",
                hint="It may have been killed for memory: free some and run again.",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _one_thread() -> None:
    """A process a core is faster than a thread a core; read by tblite when it is loaded."""
    os.environ["OMP_NUM_THREADS"] = "1"


def _compounds() -> Iterator[str]:
    """SMILES of all compounds that qualify, in a fixed random order.

    Of stereoisomers, and of a compound that is listed with and without its configuration, the first
    one only: their energies are equal or nearly so, and one of them held out would be no test.
    """
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    listed = sorted({smiles for file in _tables() for smiles in _listed(file)})
    met: set[str] = set()
    for place in np.random.default_rng(_ORDER_SEED).permutation(len(listed)):
        compound, constitution = _canonical(listed[place])
        if compound and constitution not in met:
            met.add(constitution)
            yield compound


def _tables() -> Iterator[Path]:
    spec = find_spec("chemicals")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    for name in _TABLES:
        file = Path(folders[0]) / "Identifiers" / name if folders else Path(name)
        if not file.is_file():
            raise UsageError(
                f"the package chemicals {_version('chemicals')} lacks {name}",
                hint="Install another: pip install 'chemicals>=1.5'",
            )
        yield file


def _listed(file: Path) -> Iterator[str]:
    """SMILES of the rows whose formula qualifies: quicker than to parse every structure."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            cells = line.split("\t", _SMILES_COLUMN + 1)
            if len(cells) <= _SMILES_COLUMN:
                continue
            formula, smiles = cells[_FORMULA_COLUMN], cells[_SMILES_COLUMN]
            if _FORMULA.fullmatch(formula) and len(smiles) <= _LONGEST_SMILES:
                heavy = sum(int(count or 1) for count in _HEAVY.findall(formula))
                if heavy <= _HEAVY_ATOMS:
                    yield smiles


def _canonical(smiles: str) -> tuple[str, str]:
    """The compound's one name, and that of all its stereoisomers; "" if it does not qualify."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None or not 0 < molecule.GetNumHeavyAtoms() <= _HEAVY_ATOMS:
        return "", ""
    if Chem.GetFormalCharge(molecule) or len(Chem.GetMolFrags(molecule)) > 1:
        return "", ""
    plain = all(
        atom.GetAtomicNum() in _NUMBERS
        and not atom.GetNumRadicalElectrons()
        and not atom.GetIsotope()
        for atom in molecule.GetAtoms()
    )
    if not plain:
        return "", ""
    return Chem.MolToSmiles(molecule), Chem.MolToSmiles(molecule, isomericSmiles=False)


def _reckon_all(compounds: Sequence[str]) -> list[Geometry | None]:
    return [_reckon(smiles) for smiles in compounds]


def _reckon(smiles: str) -> Geometry | None:
    """Geometry and energy of one compound; None if it cannot be embedded or reckoned."""
    from rdkit import Chem
    from rdkit.Chem import rdDistGeom, rdForceFieldHelpers

    molecule = Chem.AddHs(Chem.MolFromSmiles(smiles))
    if rdDistGeom.EmbedMolecule(molecule, randomSeed=_EMBEDDING_SEED) != 0:
        return None
    if not rdForceFieldHelpers.MMFFHasAllMoleculeParams(molecule):
        return None
    rdForceFieldHelpers.MMFFOptimizeMolecule(molecule, maxIters=_RELAXATION_STEPS)
    numbers = [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
    positions = np.asarray(molecule.GetConformer().GetPositions())
    energy = _energy(numbers, positions)
    return None if energy is None else (numbers, positions, energy)


def _energy(numbers: Sequence[int], positions: Any) -> float | None:
    """The GFN2-xTB total energy, eV; None where its charges do not become self-consistent."""
    from tblite.exceptions import TBLiteRuntimeError
    from tblite.interface import Calculator

    calculator = Calculator("GFN2-xTB", np.asarray(numbers), positions * _BOHR_PER_ANGSTROM)
    calculator.set("verbosity", 0)
    try:
        hartree = float(calculator.singlepoint().get("energy"))
    except TBLiteRuntimeError:
        return None
    return hartree * _EV_PER_HARTREE


def _joined(found: Sequence[Geometry]) -> Molecules:
    return Molecules(
        numbers=np.concatenate([np.asarray(numbers, dtype=np.uint8) for numbers, _, _ in found]),
        positions=np.concatenate([positions for _, positions, _ in found]).astype(np.float32),
        sizes=np.array([len(numbers) for numbers, _, _ in found], dtype=np.int64),
        energies=np.array([energy for _, _, energy in found]),
    )
