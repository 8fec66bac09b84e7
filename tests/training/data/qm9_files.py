"""Small files in the formats of the published QM9, for tests."""

import bz2
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["METHANE", "WATER", "archive_of", "write_qm9"]

METHANE = """5
gdb 1\t157.7118\t157.70997\t157.70699\t0.\t13.21\t-0.3877\t0.1171\t0.5048\t35.3641\t0.044749\t\
-40.47893\t-40.476062\t-40.475117\t-40.498597\t6.469\t
C\t-0.0126981359\t 1.0858041578\t 0.0080009958\t-0.535689
H\t 0.002150416\t-0.0060313176\t 0.0019761204\t 0.133921
H\t 1.0117308433\t 1.463751162\t 0.0002765748\t 0.133922
H\t-0.540815069\t 1.4475266138\t-0.8766437152\t 0.133923
H\t-0.5238136345\t 1.4379326443\t 0.9063972942\t 0.133923
1341.307\t1341.3284\t1341.365\t1562.6731\t1562.7453\t3038.3205\t3151.6034\t3151.6788\t3151.7078
C\tC\t
InChI=1S/CH4/h1H4\tInChI=1S/CH4/h1H4
"""
"""The first molecule as published."""

WATER = """3
gdb 3\t799.58812\t437.90386\t282.94545\t1.8511\t6.31\t-0.2928\t0.0687\t0.3615\t19.0002\t0.021375\t\
-76.404702\t-76.401867\t-76.400922\t-76.422349\t6.002\t
O\t-0.0343604951\t 0.9775395708\t 0.0076015923\t-0.589706
H\t 0.0647664923\t 0.0205721989\t 1.5346341*^-3\t 0.294853
H\t 0.8717903737\t 1.3007924048\t 6.931336*^-4\t 0.294853
1671.4222\t3803.6305\t3907.698
O\tO\t
InChI=1S/H2O/h1H2\tInChI=1S/H2O/h1H2
"""
"""Another, with two numbers in the notation of Mathematica."""


def archive_of(files: Mapping[int, str]) -> bytes:
    """A bz2 archive that holds those xyz files by index."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for index, text in files.items():
            member = tarfile.TarInfo(f"dsgdb9nsd_{index:06d}.xyz")
            content = text.encode()
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return bz2.compress(raw.getvalue())


def write_qm9(folder: Path, molecules: int, left_out: tuple[int, ...] = (2,)) -> Path:
    """A data folder with so many molecules, methane and water in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {index: METHANE if index % 2 else WATER for index in range(1, molecules + 1)}
    (folder / "dsgdb9nsd.xyz.tar.bz2").write_bytes(archive_of(files))
    rows = [f"{index:10d}   C   C   C" for index in left_out]
    (folder / "uncharacterized.txt").write_text(
        "\n".join([*(["heading"] * 9), *rows, f"{len(left_out)} compounds"]) + "\n"
    )
    return folder
