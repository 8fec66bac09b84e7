"""The TOML files: what is read, and what each mistake is told as."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalogue.priced import ROW, row
from trainmark.catalogue.figures.prices import Price, RackUnits, Watts
from trainmark.catalogue.figures.reading import TableFile, parse_table, read_table_file
from trainmark.catalogue.figures.tables import PACKAGED
from trainmark.types import UsageError

HARDWARE = """
[sources.sheet]
title = "A sheet"
address = "https://sheet"
date = 2020-02-03
confidence = "high"

[accelerators.NEW-1]
vendor = "V"
architecture = "F"
year = 2025
source = "sheet"
bf16 = 10.5
memory_gb = { value = 8, confidence = "low", note = "less is usable" }
watts = { value = 300, source = "hearsay", date = "2021", confidence = "low" }
"""


def parse(text: str, *, own: bool = True) -> TableFile:
    return parse_table(Path("prices.toml"), text, own=own)


def problem(text: str, *, own: bool = True) -> str:
    with pytest.raises(UsageError) as caught:
        parse(text, own=own)
    return caught.value.message


def told(text: str) -> str | None:
    """What is told of a text; None when it is read. Any other error fails the test."""
    try:
        parse(text)
    except UsageError as error:
        return error.message
    return None


def test_a_figure_takes_what_it_lacks_from_its_row_and_its_source() -> None:
    found = parse(HARDWARE, own=False).hardware["NEW-1"]
    assert (found.vendor, found.architecture, found.year) == ("V", "F", 2025)
    peak, memory, watts = found.peak("bf16"), found.memory, found.watts
    assert peak is not None
    assert (peak.value, peak.unit, peak.basis, peak.own) == (10.5, "TFLOP/s", "datasheet", False)
    assert peak.citation == "A sheet (2020-02-03), https://sheet"
    assert memory is not None
    assert (memory.source, memory.confidence, memory.note) == ("A sheet", "low", "less is usable")
    assert watts is not None
    assert (watts.citation, watts.confidence) == ("hearsay (2021)", "low")
    assert found.peak("fp8") is None
    assert found.bandwidth is None


def test_each_kind_of_row() -> None:
    text = (
        row()
        + row("cloud", id='"hour"', provider='"C"', region='"r"', term='"t"')
        + row("space", id='"high"', amount=None, currency=None, rack_units="2")
        + row("power", id='"hot"', amount=None, currency=None, watts="700.5")
    )
    found = list(parse(text).products.values())
    assert [type(one) for one in found] == [Price, Price, RackUnits, Watts]
    assert [one.figure.unit for one in found] == ["USD", "USD/hour", "U", "W"]
    assert [one.figure.value for one in found] == [1000, 1000, 2, 700.5]
    assert all(one.figure.own for one in found)
    assert found[0].figure.date == "2024-05-06"
    assert found[0].figure.confidence == "medium"  # what one says oneself is so unless told
    assert isinstance(found[1], Price)
    assert (found[1].hourly, found[1].provider, found[1].region) == (True, "C", "r")


MISTAKES = {
    "an unknown key": (row(price="3"), 11, "there is no key 'price'"),
    "no id": (row(id=None), 1, "id is missing"),
    "an id of strange characters": (row(id='"a b"'), 2, "id is 'a b'"),
    "no amount": (row(amount=None), 1, "amount is missing"),
    "an amount below 0": (row(amount="-1"), 4, "amount is -1"),
    "no amount of money": (row(amount="nan"), 4, "amount is nan"),
    "true as an amount": (row(amount="true"), 4, "amount is True"),
    "text as an amount": (row(amount='"12"'), 4, "amount is '12'"),
    "no currency": (row(currency=None), 1, "currency is missing"),
    "another currency": (row(currency='"EUR"'), 5, "currency is 'EUR'; only USD"),
    "no accelerators": (row(accelerators=None), 1, "accelerators is missing"),
    "half an accelerator": (row(accelerators="1.5"), 7, "accelerators is 1.5"),
    "an accelerator of none": (row(accelerators="0"), 7, "no accelerators, but"),
    "none of an accelerator": (row(accelerator=None), 1, "accelerator is missing"),
    "a text for a list": (row(system='"box"'), 8, "system is 'box'"),
    "an empty name": (row(system='["  "]'), 8, "system is ['  ']"),
    "no source": (row(source=None), 1, "source is missing"),
    "no date": (row(date=None), 9, "there is no date"),
    "a strange date": (row(date='"June 2024"'), 10, "date is 'June 2024'"),
    "a date that is none": (row(date='"2024-13"'), 10, "date is '2024-13'"),
    "a strange basis": (row(basis='"guess"'), 11, "basis is 'guess'; allowed: list"),
    "a strange confidence": (row(confidence='"sure"'), 11, "confidence is 'sure'; allowed: high"),
    "an id twice": (row() + row(), 12, "the id is there twice"),
    "a price that is no row": ("list = 3", 1, "list: is 3"),
    "a table for rows": ('# x\n[list]\nid = "x"', 2, "allowed: rows under [[list]]"),
    "an unknown table": ("\n[[prices]]\nid = 3", 2, "there is no key 'prices'"),
    "a source that is none": ("[sources]\nx = 3", None, "source 'x': is 3"),
    "a source without a title": ("[sources.x]\ndate = 2024-01-01", 1, "title is missing"),
    "hardware of a strange key": ("[accelerators.X]\nint8 = 3", 2, "there is no key 'int8'"),
    "hardware of no figure": (
        '[accelerators.X]\nsource = "s"\ndate = "2024"\nbf16 = 0',
        4,
        "bf16 is 0",
    ),
    "a strange year": ('[accelerators.X]\nyear = "new"', 2, "year is 'new'"),
    "several as a word": (row(multiples='"yes"'), 11, "multiples is 'yes'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_line(name: str) -> None:
    text, line, words = MISTAKES[name]
    message = problem(text)
    assert words in message
    place = f"prices.toml, line {line}: " if line else "prices.toml: "
    assert message.startswith(place)


def test_a_mistake_in_a_later_row_has_that_rows_line() -> None:
    rows = (row(), "\n", row(id='"two"'), row(id='"three"', amount="0"))
    text = "# mine\n\n" + "".join(rows)
    assert problem(text).startswith("prices.toml, line 27: list 'three': amount is 0")


def test_syntax_errors_say_where() -> None:
    assert "line 2" in problem("x = 1\ny = =")
    assert "not valid TOML" in problem("[" * 100_000)


def test_packaged_figures_must_say_how_sure_they_are() -> None:
    assert "there is no confidence" in problem(row(), own=False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = 1\n\xff\xfe", "line 2: not UTF-8"),
        (b"#" * 1_000_001, "no file of prices"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_table_file(path, own=True)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_table_file(tmp_path / "absent.toml", own=True)
    with pytest.raises(UsageError, match="cannot read"):
        read_table_file(tmp_path, own=True)


_SCALARS = st.sampled_from(
    ["3", "-1", "0", "inf", "true", '"x"', "[]", '["a", 3]', "{}", "{a = 1}", "2020-01-01", '""']
)


@given(st.sampled_from([*ROW, "note", "multiples", "basis", "bogus"]), _SCALARS)
def test_any_value_of_any_key_is_read_or_told(key: str, value: str) -> None:
    message = told(row(**{key: value}))
    assert message is None or message.startswith("prices.toml")


@given(st.data())
def test_any_cut_of_a_packaged_file_is_read_or_told(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([path.read_text("utf-8") for path in PACKAGED]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert told(text[:start] + text[end:]) != ""
