import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.jodie_files import HEADER, write_stream
from trainmark.training.data import jodie
from trainmark.training.data.jodie import check_table, read_table, scan_table
from trainmark.types import UsageError

GOOD = "0,0,0.0,0,0.1,0.2\n0,1,3.0,0,0.1,0.2\n1,0,3.0,1,0.5,-0.2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "wikipedia.csv"


def test_what_was_written_is_read(file: Path) -> None:
    written = write_stream(file, users=11, items=5, length=300, features=7)
    table = scan_table(file)
    assert (table.interactions, table.features) == (300, 7)
    stream = read_table(table)
    assert stream.nodes == 16
    assert np.array_equal(stream.sources, written.sources)
    assert np.array_equal(stream.destinations, written.destinations)
    assert np.allclose(stream.times, written.times, rtol=1e-12)
    assert np.allclose(stream.features, written.features, rtol=1e-6)
    assert stream.features.dtype == np.float32


def test_a_last_line_without_its_end_counts(file: Path) -> None:
    file.write_text(HEADER + GOOD.rstrip("\n"))
    assert scan_table(file).interactions == 3
    assert len(read_table(scan_table(file))) == 3


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "it starts with ''"),
        ("a,b\n" + GOOD, 1, "it starts with 'a,b'"),
        (HEADER, 2, "is not a row of numbers"),
        (HEADER + "1,2\n", 2, "it has 2 fields, at least 4"),
        (HEADER + GOOD + "1,x,5.0,0,1,2\n", 5, "is not a row of numbers"),
        (HEADER + GOOD + "1,1,5.0,0,1\n", 5, "it has 5 fields, the first record has 6"),
        (HEADER + GOOD + "1,1,5.0,0,1,2,3\n", 5, "it has 7 fields, the first record has 6"),
        (HEADER + GOOD + "1,1,2.5,0,1,2\n", 5, "its time is before"),
        (HEADER + GOOD + "1,-1,5.0,0,1,2\n", 5, "are numbered from 0"),
        (HEADER + GOOD + "1,1,5.0,0,nan,2\n", 5, "not finite"),
        (HEADER + GOOD + "1,1,inf,0,1,2\n", 5, "not finite"),
        (HEADER + GOOD + "\n" + GOOD, 5, "is not a row of numbers"),
        (HEADER + GOOD + "1,99999999999999999999,5.0,0,1,2\n", 5, "are numbered from 0"),
        # A memory for two thousand million nodes would take the machine's.
        (HEADER + GOOD + "2000000000,1,5.0,0,1,2\n", 5, "without gaps, so below 4"),
        (HEADER + GOOD + "1,4,5.0,0,1,2\n", 5, "without gaps, so below 4"),
    ],
)
def test_a_wrong_line_is_named(file: Path, text: str, line: int, what: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_table(scan_table(file))
    assert caught.value.message.startswith(f"{file}:{line}: ")
    assert what in caught.value.message
    assert "snap.stanford.edu/jodie" in caught.value.hint


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.binary(max_size=60))
def test_no_bytes_of_a_file_end_in_anything_but_an_answer(tmp_path: Path, rest: bytes) -> None:
    file = tmp_path / "any.csv"
    file.write_bytes((HEADER + GOOD).encode() + rest)
    try:
        said = len(read_table(scan_table(file))) >= 3
    except UsageError as error:
        said = str(file) in error.message
    assert said


def test_a_line_without_end_is_not_held_in_memory(file: Path) -> None:
    with file.open("wb") as stream:
        stream.write((HEADER + GOOD).encode())
        stream.truncate(1 << 28)
    tracemalloc.start()
    (finding,) = check_table(file, interactions=4, features=2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"{file}:5: " in finding.message
    assert most < 1 << 27


def test_a_missing_file_is_said(file: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the interactions"):
        scan_table(file)


def test_the_check_compares_with_the_published_numbers(file: Path) -> None:
    write_stream(file, users=3, items=2, length=50, features=4)
    assert not list(check_table(file, interactions=50, features=4))
    (finding,) = check_table(file, interactions=51, features=4)
    assert (finding.rule, finding.is_error) == ("data.count", False)
    assert finding.found == "50 interactions of 4 features"


def test_the_check_reads_the_first_lines_only(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jodie, "_FIRST_RECORDS", 3)
    file.write_text(HEADER + GOOD + "wrong\n")
    assert not list(check_table(file, interactions=4, features=2))
    file.write_text(HEADER + "0,0,0.0,0,0.1,0.2\nwrong\n")
    (finding,) = check_table(file, interactions=2, features=2)
    assert finding.is_error
    assert f"{file}:3: 'wrong' is not a row of numbers" in finding.message
