import hashlib
import os
from pathlib import Path

import pytest

from trainmark.training.data_files import FileState, check_files
from trainmark.types import DataFile, DataSet, Severity

CONTENT = b"the data" * 1000
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
SHA256 = f"sha256:{hashlib.sha256(CONTENT).hexdigest().upper()}"


def data_set(*files: DataFile) -> DataSet:
    return DataSet(name="x", url="", licence="y", size_bytes=1, layout="z", files=files)


def states(folder: Path, *files: DataFile) -> list[FileState]:
    return list(check_files(data_set(*files), folder, lambda read, whole: None))


def only(folder: Path, file: DataFile) -> FileState:
    (found,) = states(folder, file)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "data.bin").write_bytes(CONTENT)
    return tmp_path


@pytest.mark.parametrize(
    ("size", "digest", "verified"),
    [
        (8000, MD5, "checksum"),
        (None, SHA256, "checksum"),
        (8000, "", "size"),
        (None, "", "presence"),
    ],
)
def test_a_published_file_is_checked_by_what_is_known_of_it(
    folder: Path, size: int | None, digest: str, verified: str
) -> None:
    state = only(folder, DataFile(path="a/data.bin", size_bytes=size, digest=digest))
    assert (state.verified, state.finding) == (verified, None)


def test_another_content_of_the_same_size_is_found(folder: Path) -> None:
    (folder / "a" / "data.bin").write_bytes(CONTENT[:-1] + b"A")
    state = only(folder, DataFile(path="a/data.bin", size_bytes=8000, digest=MD5))
    assert state.finding is not None
    assert (state.verified, state.finding.rule) == ("", "data.checksum")
    assert state.finding.is_error
    assert state.finding.expected == MD5
    assert state.finding.fix


def test_a_file_that_was_cut_short_is_found_without_reading_it(folder: Path) -> None:
    state = only(folder, DataFile(path="a/data.bin", size_bytes=8001, digest=MD5))
    assert state.finding is not None
    assert state.finding.rule == "data.size"
    assert (state.finding.expected, state.finding.found) == ("8,001 bytes", "8,000 bytes")


def test_missing_files_are_errors_but_for_those_a_run_can_do_without(folder: Path) -> None:
    needed, optional = states(
        folder, DataFile(path="gone", size_bytes=1), DataFile(path="gone too", optional=True)
    )
    assert needed.finding is not None
    assert optional.finding is not None
    assert (needed.finding.rule, needed.finding.severity) == ("data.missing", Severity.ERROR)
    assert optional.finding.severity is Severity.NOTE


def test_a_folder_in_the_place_of_a_file(folder: Path) -> None:
    state = only(folder, DataFile(path="a"))
    assert state.finding is not None
    assert state.finding.rule == "data.file"


def test_a_name_that_is_too_long_for_any_file(folder: Path) -> None:
    state = only(folder, DataFile(path="x" * 400))
    assert state.finding is not None
    assert state.finding.rule == "data.unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(folder: Path) -> None:
    (folder / "a" / "data.bin").chmod(0)
    state = only(folder, DataFile(path="a/data.bin", size_bytes=8000, digest=MD5))
    assert state.finding is not None
    assert state.finding.rule == "data.unreadable"


def test_progress_ends_with_everything_read(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    file = DataFile(path="a/data.bin", digest=MD5)
    list(check_files(data_set(file, file), folder, lambda *both: told.append(both)))
    assert told[-1] == (16_000, 16_000)
