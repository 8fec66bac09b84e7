"""docs/prices.md against the code: its tables, and its file of one's own figures."""

import re
from pathlib import Path

from tests.docs.examples import DOCS
from trainmark.analysis.cost import NAMES
from trainmark.catalogue.figures.figure import BASES, CONFIDENCES
from trainmark.catalogue.figures.reading import parse_table

PAGE = (DOCS / "prices.md").read_text("utf-8")


def rows(*headings: str) -> dict[str, str]:
    """The first two columns of the table with these headings."""
    table = PAGE.partition(f"| {' | '.join(headings)} |\n")[2].partition("\n\n")[0]
    found = re.findall(r"^\| ?([^|]*?) \| ([^|]*?) \|", table, re.MULTILINE)
    return dict(found)


def test_the_words_for_bases_and_confidences() -> None:
    assert rows("basis", "what it is") == BASES
    assert rows("confidence", "what it is") == CONFIDENCES


def test_every_derived_number_is_explained() -> None:
    found = rows("name", "formula", "basis")
    assert tuple(name.strip("`") for name in found if name) == NAMES


def test_the_file_of_the_page_is_read() -> None:
    text = PAGE.partition("```toml\n")[2].partition("```")[0]
    found = parse_table(Path("prices.toml"), text, own=True)
    assert list(found.products) == ["ipu-pod64", "ipu-pod64-space", "ipu-pod64-power"]
    assert found.products["ipu-pod64"].figure.basis == "quote"
    watts = found.hardware["A30"].watts
    assert watts is not None
    assert watts.value == 150
