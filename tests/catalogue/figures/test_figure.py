import pytest

from trainmark.catalogue.figures.figure import is_date


@pytest.mark.parametrize("text", ["2021", "2021-06", "2021-06-30", "2024-02-29"])
def test_a_date(text: str) -> None:
    assert is_date(text)


@pytest.mark.parametrize(
    "text",
    ["", "21", "2021-6", "2021-13", "2023-02-29", "0000", "2021-06-30x", "٢٠٢١", "2021-", "now"],
)
def test_what_is_no_date(text: str) -> None:
    assert not is_date(text)
