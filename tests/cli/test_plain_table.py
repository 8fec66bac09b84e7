"""Plain tables: alignment, narrow terminals, hostile text."""

from trainmark.cli.plain_table import Column, amount, number, percent, table_lines, wrapped

_COLUMNS = (Column("name", right=False), Column("n"), Column("note", 2, right=False))


def test_numbers_right_text_left() -> None:
    assert table_lines(_COLUMNS, [("a", "1", "x"), ("bcd", "234", "")]) == [
        "name    n  note",
        "a       1  x",
        "bcd   234",
    ]


def test_a_narrow_terminal_loses_the_column_of_the_highest_rank() -> None:
    rows = [("a", "1", "something long")]
    assert table_lines(_COLUMNS, rows, width=20)[0] == "name  n"
    assert table_lines(_COLUMNS, rows, width=3)[0] == "name  n"
    assert "note" in table_lines(_COLUMNS, rows, width=24)[0]


def test_an_empty_column_is_left_out() -> None:
    assert table_lines(_COLUMNS, [("a", "1", "")])[0] == "name  n"


def test_wide_letters_and_control_characters() -> None:
    lines = table_lines(_COLUMNS, [("日本", "1", "\x1b[31m"), ("ab", "2", "y")])
    assert lines[1].startswith("日本  1")
    assert lines[2].startswith("ab    2")
    assert "\x1b" not in "".join(lines)


def test_numbers_for_people() -> None:
    assert [number(x) for x in (None, 0.0, 0.3194722, 2.672083, 19.6351, 137.88, 41324.2)] == [
        "", "0", "0.319", "2.672", "19.64", "137.9", "41,324",
    ]  # fmt: skip
    shown = ["9.68", "10.00", "100.0", "14.3"]
    assert [number(x, 3) for x in (9.68, 9.999, 99.96, 14.3)] == shown
    assert (percent(None), percent(0.236), percent(-0.05, sign=True)) == ("", "23.6%", "-5.0%")
    assert [percent(x, sign=True) for x in (-1e-5, 0.0, 1e-5)] == ["+0.0%"] * 3
    assert percent(-0.004, places=0) == "0%"


def test_amounts_have_prefixes() -> None:
    values = (None, 3072.0, 9_999.0, 10_000.0, 590_123.0, 48_684_346.0, 3_775e6, 2e12)
    shown = ["", "3,072", "9,999", "10.00k", "590.1k", "48.68M", "3.775G", "2.000T"]
    assert [amount(value) for value in values] == shown


def test_sentences_fit_a_terminal_and_are_one_line_in_a_pipe() -> None:
    text = "one two three four five six seven eight nine ten \x1b[31m"
    lines = wrapped(text, width=40, first="- ")
    assert len(lines) == 2
    assert max(map(len, lines)) <= 40
    assert (lines[0][:2], lines[1][:2]) == ("- ", "  ")
    (line,) = wrapped(text, width=None)
    assert "\x1b" not in line
    assert wrapped("", width=40) == []
