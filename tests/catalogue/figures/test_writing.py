"""A row added to the user's own file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.catalogue.figures.reading import parse_table, read_table_file
from trainmark.catalogue.figures.writing import Value, add_row, slug
from trainmark.types import UsageError

ROW: dict[str, Value] = {
    "id": "mine",
    "product": "My box",
    "amount": 1000.0,
    "currency": "USD",
    "accelerator": "A30",
    "accelerators": 2,
    "system": ("my box",),
    "source": "an offer",
    "date": "2024-05-06",
}


def test_the_file_is_made_and_what_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "prices.toml"
    add_row(path, "list", ROW)
    first = path.read_text()
    path.write_text(f"{first}# a word of mine\n")
    added = add_row(path, "list", ROW | {"id": "second", "note": 'a "quoted" \\ note'})
    assert path.read_text().startswith(f"{first}# a word of mine\n\n[[list]]\n")
    assert added.figure.note == 'a "quoted" \\ note'
    assert list(read_table_file(path, own=True).products) == ["mine", "second"]
    assert "amount = 1000\n" in first


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"id": "mine"}, "has a row 'mine' already"),
        ({"id": "x", "amount": -1.0}, "list 'x': amount is -1; allowed"),
        ({"id": "x", "date": "2024-20"}, "date is '2024-20'"),
        ({"id": "x", "currency": "EUR"}, "currency is 'EUR'"),
        ({"id": "x", "note": "a\nb"}, "note has characters that cannot be printed"),
        ({"id": "x", "source": "\udcff"}, "source has characters that cannot be printed"),
    ],
)
def test_a_wrong_row_leaves_the_file_alone(
    tmp_path: Path, changed: dict[str, Value], told: str
) -> None:
    path = tmp_path / "prices.toml"
    add_row(path, "list", ROW)
    before = path.read_bytes()
    with pytest.raises(UsageError) as caught:
        add_row(path, "list", ROW | changed)
    assert told in caught.value.message
    assert "line" not in caught.value.message  # of a file that was not written
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_wrong_is_not_added_to(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text("oops")
    with pytest.raises(UsageError, match="not valid TOML"):
        add_row(path, "list", ROW)
    assert path.read_text() == "oops"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "link.toml"
    link.symlink_to(real)
    add_row(link, "list", ROW)
    assert link.is_symlink()
    assert "mine" in read_table_file(real, own=True).products


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        add_row(tmp_path / "file" / "x" / "prices.toml", "list", ROW)


@given(st.text(min_size=1, max_size=40), st.floats(1e-6, 1e11))
def test_any_text_and_number_comes_back_as_it_was(text: str, amount: float) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "prices.toml"
        try:
            added = add_row(path, "list", ROW | {"product": text, "amount": amount})
        except UsageError:
            assert not text.strip() or not text.isprintable()
            return
        assert added.product == text.strip()
        assert added.figure.value == amount
        assert parse_table(path, path.read_text("utf-8"), own=True).products["mine"] == added


def test_a_name_from_a_product() -> None:
    assert slug("IPU-POD64 (offer)") == "ipu-pod64-offer"
    assert slug("日本") == "own"
