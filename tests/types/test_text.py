import pytest

from trainmark.types import printable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain name", "plain name"),
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("two\nlines\r\x00", "two\ufffdlines\ufffd\ufffd"),
        ("right\u202eto left", "right\ufffdto left"),
        ("Größe [b] <i>", "Größe [b] <i>"),
    ],
)
def test_printable_leaves_only_what_can_be_seen(raw: str, shown: str) -> None:
    assert printable(raw) == shown
