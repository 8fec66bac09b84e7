"""The columns of the page: complete, each told once, nothing that the page cannot show."""

from dataclasses import fields as dataclass_fields
from typing import Any

from tests.report.results import published, result
from trainmark.report.columns import KINDS, encode
from trainmark.report.fields import FIELDS
from trainmark.report.subjects import DERIVED, subjects_of
from trainmark.types import Doubt, Result

_BY_NAME = {field.name: field for field in FIELDS}


def test_each_column_stands_once() -> None:
    assert len(_BY_NAME) == len(FIELDS)


def test_every_field_of_a_result_is_in_the_page() -> None:
    # The name of the framework in one vocabulary stands in the column "framework".
    missing = {field.name for field in dataclass_fields(Result)} - set(_BY_NAME)
    assert missing == {"framework_name"}


def test_kinds_are_known_and_filters_are_over_words() -> None:
    for field in FIELDS:
        assert field.kind in KINDS, field.name
        assert not field.facet or field.kind == "words", field.name
        assert not field.shown or field.listed, field.name
        assert not field.narrow or field.shown, field.name


def test_filters_are_those_that_people_ask_for() -> None:
    assert {field.name for field in FIELDS if field.facet} == {
        "benchmark", "task", "group", "round", "submitter", "accelerator", "architecture", "vendor",
        "framework", "division", "category", "origin",
    }  # fmt: skip


def test_each_cost_says_how_it_came_about() -> None:
    for name, *_ in DERIVED:
        for part in ("formula", "basis", "missing", "marks", "sources"):
            assert f"{name}.{part}" in _BY_NAME


def _value(name: str, one: Result) -> Any:
    return _BY_NAME[name].get(subjects_of([one])[0])


def test_values_that_are_put_together() -> None:
    one = published(
        "2.0",
        "s",
        8,
        10.0,
        framework="PyTorch NVIDIA Release 22.04",
        framework_name="PyTorch",
        software={"b": "2", "a": "1"},
        doubts=(Doubt(kind="k", text="settled"), Doubt(kind="k", text="open", resolved=False)),
    )
    assert _value("framework", one) == "PyTorch"
    assert _value("software", one) == ["a: 1", "b: 2"]
    assert _value("doubts", one) == ["settled", "open (not resolved)"]
    assert _value("task", one) == "resnet"
    assert _value("framework", result()) == "PyTorch 2.12.0"


def test_where_the_result_comes_from_is_no_source_of_its_costs() -> None:
    one = published("4.0", "x", 8, 13.0, accelerator="H100-SXM-80GB", repository="r", path="p")
    assert _value("accelerator_minutes.sources", one) == []
    assert _value("run_cost_usd.sources", one) != []


def test_everything_can_be_encoded() -> None:
    coded = encode(FIELDS, subjects_of([published("2.0", "s", None, None), result()]))
    assert coded["size"] == 2
    assert all(len(one.get("at", one.get("values"))) == 2 for one in coded["fields"])
