"""Records column by column: what comes out is what went in, made harmless."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.report.columns import KINDS, Field, encode
from trainmark.types import printable

Record = dict[str, Any]


def field(kind: str, **more: Any) -> Field[Record]:
    return Field(name="x", title="X", kind=kind, get=lambda record: record["x"], **more)


def column(kind: str, values: list[Any], **more: Any) -> dict[str, Any]:
    """The encoded column, through JSON, as the page reads it."""
    coded = encode([field(kind, **more)], [{"x": value} for value in values])
    assert coded["size"] == len(values)
    (found,) = json.loads(json.dumps(coded))["fields"]
    assert isinstance(found, dict)
    return found


@given(st.lists(st.text()))
def test_words_stand_once_and_are_found_again(values: list[str]) -> None:
    found = column("words", values)
    assert [found["words"][code] for code in found["at"]] == [printable(one) for one in values]
    assert len(set(found["words"])) == len(found["words"])


@given(st.lists(st.lists(st.text())))
def test_lines_stand_once_and_are_found_again(values: list[list[str]]) -> None:
    found = column("lines", values)
    decoded = [[found["words"][code] for code in codes] for codes in found["at"]]
    assert decoded == [[printable(one) for one in few] for few in values]
    assert len(set(found["words"])) == len(found["words"])


@given(st.lists(st.one_of(st.none(), st.floats(), st.integers())))
def test_numbers_are_kept_and_what_is_none_is_null(values: list[float | None]) -> None:
    found = column("numbers", values)["values"]
    for before, after in zip(values, found, strict=True):
        if before is None or not math.isfinite(before):
            assert after is None
        else:
            assert after == before or after == pytest.approx(before)


def test_a_whole_number_is_written_without_a_point() -> None:
    assert json.dumps(column("numbers", [8.0, 8.5, 1e300])["values"]) == "[8, 8.5, 1e+300]"


def test_digits_beyond_what_is_asked_are_dropped() -> None:
    assert column("numbers", [1.23456, 2.0], digits=2)["values"] == [1.23, 2]
    assert column("lists", [(1.23456,), ()], digits=2)["values"] == [[1.23], []]


def test_flags_are_0_and_1() -> None:
    assert column("flags", [True, False, None])["values"] == [1, 0, 0]


def test_text_is_made_printable() -> None:
    assert column("texts", ["a\x1b[2J", "b\u202ec", None])["values"] == [
        "a\ufffd[2J",
        "b\ufffdc",
        "",
    ]


def test_the_page_is_told_what_the_column_is() -> None:
    found = column("words", ["a"], facet="X", shown=True, section="S", unit="min")
    assert {name: found[name] for name in ("name", "title", "kind", "facet", "unit")} == {
        "name": "x",
        "title": "X",
        "kind": "words",
        "facet": "X",
        "unit": "min",
    }
    assert found["shown"] is True
    assert found["narrow"] is False


def test_every_kind_can_be_encoded() -> None:
    values: dict[str, Any] = {"lines": ["a"], "lists": [1.0], "numbers": 1.0, "flags": True}
    for kind in KINDS:
        assert column(kind, [values.get(kind, "a")])["kind"] == kind
