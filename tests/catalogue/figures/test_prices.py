"""Which results a row of the tables is about."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.catalogue.priced import dgx, result
from trainmark.catalogue.figures.figure import Figure
from trainmark.catalogue.figures.prices import Price, RackUnits, Rule, system_name

FIGURE = Figure(
    value=100.0,
    unit="USD",
    source="a list",
    address="",
    date="2024",
    basis="list",
    confidence="high",
)
POD = Price(
    id="pod",
    product="Pod",
    figure=FIGURE,
    rule=Rule(accelerator="GC200-IPU", accelerators=16, system=("pod16",)),
)
HOUR = Price(
    id="hour",
    product="cloud x",
    figure=replace(FIGURE, unit="USD/hour"),
    rule=Rule(accelerator="A100-SXM-80GB", accelerators=8, system=("x 8",)),
    provider="C",
    region="r",
    term="on demand",
)


@pytest.mark.parametrize(
    ("system", "is_it"),
    [
        ("IPU-POD16", True),
        ("ipu_pod16", True),
        ("ipu pod16 of ours", True),
        ("POD160", False),
        ("POD1", False),
        ("ipupod16", False),
        ("IPU-POD64", False),
    ],
)
def test_a_name_is_found_by_whole_words(system: str, is_it: bool) -> None:
    found = POD.of(result(system=system, id="own/x"), "GC200-IPU")
    assert (found is not None) == is_it


def test_the_folder_counts_as_well_as_the_name() -> None:
    found = result(system="something", id="v1.0/Graphcore/ipu-pod16-TF1/resnet")
    assert system_name(found) == "something ipu pod16 tf1"
    assert POD.of(found, "GC200-IPU") is not None


def test_another_accelerator_count_or_submitter_is_another_product() -> None:
    assert POD.of(result(), "Bow-IPU") is None
    assert POD.of(result(accelerators=32), "GC200-IPU") is None
    assert POD.of(result(accelerators=None), "GC200-IPU") is None
    only = replace(POD, rule=replace(POD.rule, submitters=("Baidu",)))
    assert only.of(result(), "GC200-IPU") is None
    assert only.of(result(submitter="Baidu"), "GC200-IPU") is not None


def test_several_products_only_where_the_row_says_so() -> None:
    several = replace(POD, rule=replace(POD.rule, multiples=True))
    four = several.of(result(accelerators=64, system="4 POD16"), "GC200-IPU")
    assert four is not None
    assert four.count == Fraction(4)
    assert four.amount == 400
    assert four.marks == ("4 times Pod, without what joins them",)
    assert several.of(result(accelerators=24), "GC200-IPU") is None


def test_a_row_without_names_is_the_price_of_no_result() -> None:
    part = replace(POD, rule=replace(POD.rule, system=()))
    assert part.of(result(), "GC200-IPU") is None


def test_a_machine_without_accelerators_has_a_price_by_its_name() -> None:
    box = replace(POD, rule=Rule(accelerator="", accelerators=0, system=("box",), multiples=True))
    own = result(system="my box", id="own/1", accelerator="", accelerators=0, nodes=1)
    found = box.of(own, "")
    assert found is not None
    assert found.amount == 100
    two = box.of(replace(own, nodes=2), "")
    assert two is not None
    assert two.amount == 200
    assert box.of(result(system="box"), "GC200-IPU") is None


def test_an_instance_with_the_same_accelerator_is_marked_as_not_the_system() -> None:
    found = HOUR.let(dgx(), "A100-SXM-80GB")
    assert found is not None
    assert found.count == Fraction(1)
    assert (found.amount, found.exact) == (100, False)
    assert found.marks == (
        "the price of cloud x with the same accelerator; this system is not that instance",
    )
    same = HOUR.let(dgx(system="X_8 on C"), "A100-SXM-80GB")
    assert same is not None
    assert (same.exact, same.marks) == (True, ())
    assert HOUR.let(result(), "GC200-IPU") is None


def test_an_hour_of_a_machine_without_accelerators_is_found_by_its_name() -> None:
    box = replace(HOUR, rule=Rule(accelerator="", accelerators=0, system=("box",)))
    own = result(system="my box", id="own/1", accelerator="", accelerators=0, nodes=2)
    found = box.let(own, "")
    assert found is not None
    assert (found.amount, found.exact) == (200, True)
    assert box.let(replace(own, system="another"), "") is None


def test_half_an_instance_is_not_for_sale() -> None:
    found = HOUR.let(dgx(accelerators=4), "A100-SXM-80GB")
    assert found is not None
    assert found.count == Fraction(1, 2)
    assert found.amount == 50
    assert "0.5 instances: they are let whole" in found.marks


def test_a_price_that_is_asked_for_needs_as_many_accelerators_and_no_name() -> None:
    asked = POD.instead(result(system="a clone"), "GC200-IPU")
    assert asked is not None
    assert asked.exact is False
    assert asked.marks == ("the price of Pod as asked for; this system is not that product",)
    assert POD.instead(result(accelerators=64), "GC200-IPU") is None
    assert POD.instead(result(), "Bow-IPU") is None


def test_what_must_stand_beside_a_figure() -> None:
    doubtful = replace(FIGURE, basis="estimate", confidence="low", note="rounded", own=True)
    assert [mark.partition(":")[0] for mark in doubtful.marks] == [
        "your own figure",
        "an estimate",
        "low confidence",
        "rounded",
    ]
    assert FIGURE.marks == ()
    assert FIGURE.citation == "a list (2024)"
    assert replace(FIGURE, address="https://x").citation == "a list (2024), https://x"


def test_a_row_as_data() -> None:
    height = RackUnits(id="h", product="Pod", figure=replace(FIGURE, unit="U"), rule=POD.rule)
    assert [POD.to_dict()["kind"], height.to_dict()["kind"]] == ["price", "space"]
    assert HOUR.to_dict() | {} == {
        "id": "hour",
        "kind": "price",
        "product": "cloud x",
        "value": 100.0,
        "unit": "USD/hour",
        "source": "a list",
        "address": "",
        "date": "2024",
        "basis": "list",
        "confidence": "high",
        "note": "",
        "own": False,
        "amount": 100.0,
        "count": 1.0,
        "exact": True,
        "marks": [],
        "accelerator": "A100-SXM-80GB",
        "accelerators": 8,
        "system": ["x 8"],
        "submitters": [],
        "multiples": False,
        "provider": "C",
        "region": "r",
        "term": "on demand",
    }
    assert HOUR.per_accelerator == 12.5
