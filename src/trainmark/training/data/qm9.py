"""QM9 as published: one bz2 archive of xyz files, and the list of those to leave out.

Ramakrishnan, Dral, Rupp, von Lilienfeld, "Quantum chemistry structures and properties of 134 kilo
molecules", Scientific Data 1, 140022 (2014), figshare collection 10.6084/m9.figshare.c.978904.
A file ``dsgdb9nsd_000001.xyz`` has the number of atoms; a line "gdb", index and 15 properties;
an atom a line (element, x, y, z, charge); frequencies; SMILES; InChI. Some numbers are written
``1.2*^-6``, as Mathematica does. The archive is read through, never unpacked.
"""

import hashlib
import itertools
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainmark.training.data.molecules import ELEMENTS, Molecules
from trainmark.training.prepared import Tell, prepared, quiet
from trainmark.types import UsageError

__all__ = [
    "ARCHIVE",
    "FREE_ATOMS",
    "LEFT_OUT",
    "MOLECULES",
    "prepared_molecules",
    "read_archive",
    "read_left_out",
]

ARCHIVE = "dsgdb9nsd.xyz.tar.bz2"
LEFT_OUT = "uncharacterized.txt"
MOLECULES = 133_885
"""Molecules in the published archive; 3,054 are left out, 130,831 remain."""
FILE = "qm9.npz"
_EV_PER_HARTREE = 27.211386245988  # CODATA 2018
_FREE_ATOM_HARTREE = {"H": -0.500273, "C": -37.846772, "N": -54.583861, "O": -75.064579}
_FREE_ATOM_HARTREE["F"] = -99.718730
FREE_ATOMS = np.zeros(100)
"""Energy of the free atom of each atomic number at 0 K, eV: column U0 of the published
``atomref.txt``."""
for _element, _hartree in _FREE_ATOM_HARTREE.items():
    FREE_ATOMS[ELEMENTS[_element]] = _hartree * _EV_PER_HARTREE

_NAME = re.compile(r"(?:.*/)?dsgdb9nsd_(\d{6})\.xyz")
_U0 = 12  # the word of the second line; "gdb" and the index are words 0 and 1
_HEADING = 9  # lines above the list
_LARGEST_FILE = 1 << 16  # of the published ones none reaches 4 KiB
_MOST_ROWS, _LONGEST_ROW = 20_000, 4_096  # of the list, which has 3,064 of about 160 letters
_TELL_EVERY = 2_000
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Molecule:
    index: int
    numbers: list[int]
    positions: list[list[float]]
    energy: float


def prepared_molecules(data: Path, tell: Tell) -> Path:
    """The molecules of a data folder as one file of plain arrays, made once.

    This only changes the format, as one-time preparation may under the MLPerf rules: no molecule
    is changed, and the split is made by the run.

    Args:
        data: The folder with the archive and the list.
        tell: Told how far it is.

    Raises:
        UsageError: A file is missing or not as published.
    """
    archive, listed = data / ARCHIVE, data / LEFT_OUT
    for path in (archive, listed):
        if not path.is_file():
            raise UsageError(
                f"{path} is not there",
                hint="trainmark workloads show schnet says where QM9 comes from.",
            )
    left_out = read_left_out(listed)
    inputs = {"format": _FORMAT, "archive": _sha256(archive), "left_out": _sha256(listed)}

    def make(folder: Path, tell: Tell) -> None:
        read_archive(archive, left_out, tell).save(folder / FILE)

    return prepared("qm9", inputs, make, tell) / FILE


def read_archive(
    archive: Path, left_out: frozenset[int], tell: Tell = quiet, first: int | None = None
) -> Molecules:
    """Every molecule but those left out, in the order of their indices.

    Args:
        archive: The bz2 archive of xyz files.
        left_out: Indices that are not wanted.
        tell: Told how far it is, by the published number of molecules.
        first: Stop after so many.

    Raises:
        UsageError: The archive, or a file in it, is not as published.
    """
    found = []
    for read, (index, name, content) in enumerate(
        itertools.islice(_files(archive), first), start=1
    ):
        if read % _TELL_EVERY == 0:
            tell("reading QM9, once", min(read / MOLECULES, 1.0))
        if index not in left_out:
            found.append(_parse(content, index, f"{archive}, {name}"))
    if not found:
        raise UsageError(
            f"{archive} holds no file dsgdb9nsd_NNNNNN.xyz", hint="Fetch the published one."
        )
    found.sort(key=lambda molecule: molecule.index)
    for one, other in itertools.pairwise(found):
        if one.index == other.index:
            raise UsageError(
                f"{archive} holds dsgdb9nsd_{one.index:06d}.xyz twice",
                hint="Fetch the published archive again.",
            )
    return Molecules(
        numbers=np.array([n for molecule in found for n in molecule.numbers], dtype=np.uint8),
        positions=np.array([p for molecule in found for p in molecule.positions], dtype=np.float32),
        sizes=np.array([len(molecule.numbers) for molecule in found], dtype=np.int64),
        energies=np.array([molecule.energy for molecule in found]),
    )


def read_left_out(listed: Path) -> frozenset[int]:
    """Indices of the molecules whose relaxed geometry is not that of the compound.

    The list has nine lines of heading, a row for each (index, SMILES, ...), and one line of end.

    Raises:
        UsageError: It is not such a list.
    """
    rows: list[str] = []
    try:
        with listed.open(encoding="utf-8", errors="replace") as lines:
            # A line is read in parts of that length: no file takes more memory than the list.
            while len(rows) < _MOST_ROWS and (row := lines.readline(_LONGEST_ROW)):
                rows.append(row)
    except OSError as error:
        raise UsageError(
            f"cannot read {listed}: {error.strerror or error}",
            hint="Make it readable, or fetch it again.",
        ) from error
    found = set()
    for number, row in enumerate(rows[_HEADING:-1], start=_HEADING + 1):
        first = row.split()[:1]
        if not (first and first[0].isascii() and first[0].isdigit()):
            raise _not_the_list(f"{listed}:{number}: it does not start with a molecule's index")
        found.add(int(first[0]))
    if not found:
        raise _not_the_list(
            f"{listed} has {len(rows)} lines; nine of heading, one a molecule, one of end are due"
        )
    return frozenset(found)


def _not_the_list(what: str) -> UsageError:
    return UsageError(f"{what}; this is not the published list", hint="Fetch it again.")


def _files(archive: Path) -> Iterator[tuple[int, str, bytes]]:
    """Index, name and content of each xyz file, read as a stream."""
    try:
        with tarfile.open(archive, "r|bz2") as stream:
            for member in stream:
                named = _NAME.fullmatch(member.name)
                if not named or not member.isfile():
                    continue
                opened = stream.extractfile(member)
                if opened is None or member.size > _LARGEST_FILE:
                    raise UsageError(
                        f"{archive}, {member.name}: {member.size} bytes are no xyz file of QM9",
                        hint="Fetch the published archive again.",
                    )
                yield int(named[1]), member.name, opened.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UsageError(
            f"cannot read {archive}: {error}",
            hint="Fetch the published archive again; trainmark data check schnet DIR compares it.",
        ) from error


def _parse(content: bytes, index: int, where: str) -> _Molecule:
    """One xyz file."""
    try:
        lines = content.decode("ascii").replace("*^", "e").split("\n")
        count = int(lines[0])
        properties = lines[1].split()
        rows = [line.split() for line in lines[2 : 2 + count]]
        numbers = [ELEMENTS[row[0]] for row in rows]
        positions = [[float(row[1]), float(row[2]), float(row[3])] for row in rows]
        energy = float(properties[_U0]) * _EV_PER_HARTREE
    except (ValueError, IndexError, KeyError) as error:
        raise UsageError(
            f"{where}: not an xyz file of QM9: {error!r}",
            hint="Fetch the published archive again.",
        ) from error
    if not 0 < count == len(rows):
        raise UsageError(
            f"{where}: {count} atoms are announced, {len(rows)} are there",
            hint="Fetch the published archive again.",
        )
    finite: Any = np.isfinite(positions).all() and np.isfinite(energy)
    if not finite:
        raise UsageError(
            f"{where}: a position or the energy is not a number",
            hint="Fetch the published archive again.",
        )
    return _Molecule(index=index, numbers=numbers, positions=positions, energy=energy)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
