import bz2
import contextlib
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.data.qm9_files import METHANE, WATER, archive_of, write_qm9
from trainmark.training.data import qm9
from trainmark.training.data.molecules import Molecules
from trainmark.training.data.qm9_check import findings
from trainmark.training.prepared import quiet
from trainmark.types import UsageError

NOBODY: frozenset[int] = frozenset()


def read(folder: Path, files: dict[int, str], left_out: frozenset[int] = NOBODY) -> Molecules:
    archive = folder / qm9.ARCHIVE
    archive.write_bytes(archive_of(files))
    return qm9.read_archive(archive, left_out, quiet)


def test_the_published_first_molecule_is_read(tmp_path: Path) -> None:
    methane = read(tmp_path, {1: METHANE})
    assert methane.numbers.tolist() == [6, 1, 1, 1, 1]
    assert methane.sizes.tolist() == [5]
    assert methane.positions[0] == pytest.approx([-0.0126981359, 1.0858041578, 0.0080009958])
    assert methane.energies[0] == pytest.approx(-40.47893 * 27.211386245988)


def test_the_energy_of_atomisation_of_methane_is_that_of_the_literature(tmp_path: Path) -> None:
    """About 395 kcal/mol at 0 K with B3LYP (392.5 measured): the free atoms are the right ones."""
    methane = read(tmp_path, {1: METHANE})
    bound = methane.energies - methane.counts() @ qm9.FREE_ATOMS
    assert float(bound[0]) * 23.0605 == pytest.approx(-395, abs=3)


def test_numbers_as_mathematica_writes_them_are_read(tmp_path: Path) -> None:
    water = read(tmp_path, {3: WATER})
    assert water.positions[1, 2] == pytest.approx(1.5346341e-3)
    assert water.positions[2, 2] == pytest.approx(6.931336e-4)


def test_those_to_leave_out_are_left_out_and_the_order_is_that_of_the_index(tmp_path: Path) -> None:
    found = read(tmp_path, {7: WATER, 2: METHANE, 1: METHANE}, frozenset({2}))
    assert found.sizes.tolist() == [5, 3]


def test_a_data_folder_is_prepared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = write_qm9(tmp_path / "data", 6, left_out=(2, 4))
    made = qm9.prepared_molecules(folder, quiet)
    assert len(Molecules.load(made)) == 4
    monkeypatch.setattr(qm9, "read_archive", lambda *_: pytest.fail("read again"))
    assert qm9.prepared_molecules(folder, quiet) == made


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write_qm9(tmp_path / "data", 2)
    (folder / qm9.LEFT_OUT).unlink()
    with pytest.raises(UsageError, match=r"uncharacterized\.txt is not there"):
        qm9.prepared_molecules(folder, quiet)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (METHANE.replace("5\ngdb", "7\ngdb", 1), "not an xyz file of QM9"),
        (METHANE.replace("5\ngdb", "0\ngdb", 1), "0 atoms are announced"),
        (METHANE.replace("C\t-0.01", "Xe\t-0.01"), "not an xyz file of QM9"),
        (METHANE.replace("-40.47893", "nan"), "is not a number"),
        ("5\n", "not an xyz file of QM9"),
        ("\x00", "not an xyz file of QM9"),
    ],
)
def test_a_broken_file_is_named_with_its_archive(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read(tmp_path, {1: METHANE, 21: text})
    assert f"{qm9.ARCHIVE}, dsgdb9nsd_000021.xyz" in caught.value.message


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no file dsgdb9nsd_"):
        read(tmp_path, {})


@given(noise=st.binary(max_size=200), cut=st.integers(0, 400))
def test_no_bytes_end_in_anything_but_a_text(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, cut: int
) -> None:
    archive = tmp_path_factory.mktemp("noise") / qm9.ARCHIVE
    whole = archive_of({1: METHANE})
    for content in (noise, whole[:cut], bz2.compress(noise), whole[:cut] + noise + whole[cut:]):
        archive.write_bytes(content)
        with contextlib.suppress(UsageError):
            assert np.isfinite(qm9.read_archive(archive, NOBODY, quiet).energies).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", " has 0 lines"),
        (b"heading\n" * 10, " has 10 lines"),
        (b"heading\n" * 9 + b"x y\nend\n", ":10: it does not start with a molecule's index"),
        (b"heading\n" * 9 + b" 21 C\n\nend\n", ":11: it does not start with"),
        (b"heading\n" * 9 + b" 21 C\n-5 C\nend\n", ":11: it does not start with"),
        (b"\xff\xfe\n" * 12, ":10: it does not start with"),
    ],
)
def test_a_list_of_something_else_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    listed = tmp_path / qm9.LEFT_OUT
    listed.write_bytes(content)
    with pytest.raises(UsageError, match="this is not the published list") as caught:
        qm9.read_left_out(listed)
    assert caught.value.message.startswith(f"{listed}{said}")


def test_a_huge_list_is_not_held_in_memory(tmp_path: Path) -> None:
    listed = tmp_path / qm9.LEFT_OUT
    with listed.open("wb") as stream:
        stream.truncate(1 << 29)
    tracemalloc.start()
    with pytest.raises(UsageError, match="this is not the published list"):
        qm9.read_left_out(listed)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 28


def test_a_molecule_that_the_archive_holds_twice_is_refused(tmp_path: Path) -> None:
    """It could be trained on and held out as well."""
    once = bz2.decompress(archive_of({1: METHANE}))
    entry = once[: 512 + -(-len(METHANE) // 512) * 512]  # its heading and its content in blocks
    (tmp_path / qm9.ARCHIVE).write_bytes(bz2.compress(entry + once))
    with pytest.raises(UsageError, match=r"holds dsgdb9nsd_000001\.xyz twice"):
        qm9.read_archive(tmp_path / qm9.ARCHIVE, NOBODY, quiet)


def test_the_check_says_of_each_file_what_is_wrong_with_it(tmp_path: Path) -> None:
    assert list(findings(tmp_path)) == [], "what is missing the table of files tells"
    folder = write_qm9(tmp_path / "data", 4)
    (folder / qm9.LEFT_OUT).write_text("x")
    (folder / qm9.ARCHIVE).write_bytes(b"x")
    told = list(findings(folder))
    assert [Path(one.path).name for one in told] == [qm9.LEFT_OUT, qm9.ARCHIVE]
    assert all(one.is_error for one in told)
    (folder / qm9.LEFT_OUT).unlink()
    assert [Path(one.path).name for one in findings(folder)] == [qm9.ARCHIVE]


def test_another_list_is_told_as_another_benchmark(tmp_path: Path) -> None:
    (finding,) = findings(write_qm9(tmp_path / "data", 4))
    assert (finding.rule, finding.is_error, finding.found) == ("data.count", False, "1")


def test_the_list_is_what_stands_between_heading_and_end(tmp_path: Path) -> None:
    folder = write_qm9(tmp_path, 2, left_out=(21, 133_000))
    assert qm9.read_left_out(folder / qm9.LEFT_OUT) == {21, 133_000}
