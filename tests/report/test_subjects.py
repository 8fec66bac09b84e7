"""What the page says around a result: group, hardware, prices, costs."""

from pathlib import Path

import pytest

from tests.report.results import published, result
from trainmark.report.subjects import DERIVED, subjects_of
from trainmark.types import UsageError

POD16 = published(
    "1.0",
    "IPU-POD16",
    16,
    37.115,
    id="v1.0/Graphcore/pod16-TF1/resnet",
    submitter="Graphcore",
    accelerator="GC200-IPU",
    nodes=1,
)


def test_a_published_result_has_group_vendor_price_and_costs() -> None:
    (subject,) = subjects_of([POD16])
    assert subject.group.startswith("ResNet-50")
    assert "rounds 0.6 to 4.0" in subject.group
    assert subject.vendor == "Graphcore"
    assert subject.list_price_usd == 149995
    cost = subject.derived["dollar_minutes"]
    assert cost.value == pytest.approx(37.115 * 149995)
    assert "149,995" in cost.formula


def test_every_derived_number_has_a_value_or_a_reason() -> None:
    (subject,) = subjects_of([POD16])
    assert {name for name, *_ in DERIVED} <= set(subject.derived)
    for derived in subject.derived.values():
        assert (derived.value is None) == bool(derived.missing)
        assert (derived.value is None) == (derived.formula == "")


def test_the_cost_of_a_run_is_by_cloud_prices() -> None:
    h100 = published("4.0", "x", 8, 13.0, accelerator="H100-SXM-80GB")
    (subject,) = subjects_of([h100])
    cost = subject.derived["run_cost_usd"]
    assert cost.value is not None
    assert "hour" in cost.basis + cost.formula


def test_a_desk_run_of_ones_own_compares_with_no_group() -> None:
    (subject,) = subjects_of([result()])
    assert (subject.group, subject.vendor, subject.list_price_usd) == ("", "", None)


def test_a_damaged_file_of_prices_is_told(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text("[[price")
    with pytest.raises(UsageError, match=r"prices\.toml"):
        subjects_of([POD16], prices=file)
