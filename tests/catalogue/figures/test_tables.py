"""The packaged tables themselves, and the user's own file over them."""

import re
from pathlib import Path

import pytest

from tests.catalogue.priced import dgx, result, row
from trainmark.catalogue.figures.figure import BASES, CONFIDENCES, Figure
from trainmark.catalogue.figures.hardware import Hardware
from trainmark.catalogue.figures.tables import PACKAGED, Tables, load_tables, own_file
from trainmark.catalogue.naming import names
from trainmark.types import UsageError

# What the datasheets and price lists say, written a second time: a slip of the hand in the TOML
# files is found here. Dense 16-bit TFLOP/s, GB, GB/s, W.
SHEETS = {
    "V100-SXM2-16GB": (125, 16, 900, 300),
    "V100-SXM2-32GB": (125, 32, 900, 300),
    "A100-SXM-40GB": (312, 40, 1555, 400),
    "A100-SXM-80GB": (312, 80, 2039, 400),
    "A30": (165, 24, 933, 165),
    "L40S": (362.05, 48, 864, 350),
    "H100-SXM-80GB": (989, 80, 3350, 700),
    "H200-SXM-141GB": (989, 141, 4800, 700),
    "B200-SXM-180GB": (2250, 180, 8000, 1000),
    "GB200": (2500, 186, 8000, 1200),
    "MI300X": (1307, 192, 5300, 750),
    "MI325X": (1307, 256, 6000, 1000),
    "MI355X": (2500, 288, 8000, 1400),
    "Gaudi2": (432, 96, 2450, 600),
    "Gaudi3": (1835, 128, 3700, 900),
    "TPU-v3": (123, 32, 900, 262),
    "TPU-v4": (275, 32, 1200, 192),
    "TPU-v5e": (197, 16, 819, None),
    "TPU-v5p": (459, 95, 2765, None),
    "TPU-v6e": (918, 32, 1638, None),
    "GC200-IPU": (250, 0.9, 47500, None),
    "Bow-IPU": (350, 0.9, 65400, None),
}
AMOUNTS = {
    "ipu-pod16": 149_995,
    "bow-pod16": 149_995,
    "ipu-m2000": 32_450,
    "dgx-a100-640gb": 300_000,
    "dgx-a100-320gb": 199_000,
    "gaudi2-kit": 65_000,
    "gaudi3-kit": 125_000,
    "aws-p4d": 21.957642,
    "aws-p4de": 27.44705,
    "aws-p5": 55.04,
    "aws-p5-before-2025": 98.32,
    "aws-p5en": 63.296,
    "aws-p6-b200": 113.9328,
    "azure-nd96asr-v4": 27.20,
    "azure-nd96amsr-a100-v4": 32.77,
    "azure-nd-h100-v5": 98.32,
    "gcp-a2-ultragpu-8g": 40.55,
    "gcp-a3-highgpu-8g": 88.49,
    "gcp-a3-ultragpu-8g": 84.81,
    "gcp-tpu-v3": 2.00,
    "gcp-tpu-v4": 3.22,
    "gcp-tpu-v5e": 1.20,
    "gcp-tpu-v5p": 4.20,
    "gcp-tpu-v6e": 2.70,
    "lambda-8x-v100": 6.32,
    "ipu-pod16-space": 5,
    "bow-pod16-space": 5,
    "dgx-a100-space": 6,
    "dgx-h100-space": 8,
    "dgx-b200-space": 10,
    "dgx-a100-power": 6500,
    "dgx-h100-power": 10_200,
    "dgx-b200-power": 14_300,
}


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables()


def figures(tables: Tables) -> list[Figure]:
    hardware = [figure for one in tables.accelerators.values() for figure in one.figures.values()]
    return [*hardware, *(row.figure for row in tables.products.values())]


def test_every_figure_says_where_it_is_from(tables: Tables) -> None:
    found = figures(tables)
    assert len(found) > 300
    for figure in found:
        assert figure.source
        assert figure.address.startswith("https://")
        assert re.fullmatch(r"20\d\d(-\d\d){0,2}", figure.date)
        assert figure.basis in BASES
        assert figure.confidence in CONFIDENCES
        assert not figure.own


def test_what_is_recollected_is_of_low_confidence(tables: Tables) -> None:
    recollected = [figure for figure in figures(tables) if "recollection" in figure.source]
    assert recollected
    assert {figure.confidence for figure in recollected} == {"low"}


def test_every_accelerator_of_the_vocabulary_is_there(tables: Tables) -> None:
    certain = {one.name for one in names.accelerators() if one.certain}
    assert tables.accelerators.keys() == certain
    assert {one.rule.accelerator for one in tables.products.values()} <= tables.accelerators.keys()


@pytest.mark.parametrize("name", SHEETS)
def test_the_datasheets(tables: Tables, name: str) -> None:
    found = tables.hardware(name)
    assert found is not None
    peak = found.peak_16_bit
    assert peak is not None
    values = (peak[1], found.memory, found.bandwidth, found.watts)
    assert tuple(v and v.value for v in values) == SHEETS[name]


def test_peaks_are_dense(tables: Tables) -> None:
    """The doubled numbers "with sparsity" would break these ratios between the precisions."""
    for hardware in tables.accelerators.values():
        value = {name: figure.value for name, figure in hardware.figures.items()}
        if {"fp16", "bf16"} <= value.keys():
            assert value["fp16"] == value["bf16"], hardware.name
        if {"bf16", "fp8"} <= value.keys():
            assert 0.99 <= value["fp8"] / value["bf16"] <= 2.03, hardware.name
        if {"fp8", "fp4"} <= value.keys():
            assert 1.9 <= value["fp4"] / value["fp8"] <= 3.01, hardware.name
        if {"tf32", "bf16"} <= value.keys():
            assert 1.9 <= value["bf16"] / value["tf32"] <= 2.1, hardware.name


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_amounts(tables: Tables, name: str) -> None:
    assert tables.products[name].figure.value == AMOUNTS[name]


def test_a_kit_or_part_is_the_price_of_no_result(tables: Tables) -> None:
    assert not tables.list_prices(result(system="HLS-Gaudi2", accelerator="Gaudi2", accelerators=8))
    m2000 = result(system="IPU-M2000", id="own/x", accelerators=4)
    assert not tables.list_prices(m2000)


def test_no_price_is_made_up_from_a_smaller_product(tables: Tables) -> None:
    pod64 = result(system="IPU-POD64", id="v1.0/G/ipu-pod64/resnet", accelerators=64)
    assert tables.list_prices(pod64) == ()
    assert tables.rack_units(pod64) is None
    assert tables.list_prices(dgx(accelerators=64, nodes=8)) == ()
    assert tables.list_prices(dgx(system="XE8545", id="v1.0/Dell/XE8545/resnet")) == ()


def test_the_systems_of_the_reports(tables: Tables) -> None:
    pod, other = result(), dgx()
    assert [price.amount for price in tables.list_prices(pod)] == [149_995]
    assert [price.amount for price in tables.list_prices(other)] == [300_000]
    heights = [tables.rack_units(one) for one in (pod, other)]
    assert [one and one.amount for one in heights] == [5, 6]
    watts = tables.rated_watts(other)
    assert watts is not None
    assert watts.amount == 6500
    assert tables.rated_watts(pod) is None
    eight = tables.rack_units(dgx(accelerators=64, nodes=8))
    assert eight is not None
    assert eight.amount == 48
    assert "without what joins them" in eight.marks[0]


def test_a_cloud_price_is_the_newest_and_can_be_an_older_one(tables: Tables) -> None:
    h100 = dgx(accelerator="H100-SXM-80GB", accelerators=16)

    def aws(date: str | None) -> list[tuple[str, float]]:
        found = Tables(date=date).cloud_prices(h100)
        return [(price.id, price.amount) for price in found if price.provider == "AWS"]

    assert aws(None) == [("aws-p5", 110.08)]
    assert aws("2024-12-31") == [("aws-p5-before-2025", 196.64)]
    assert aws("2022-01-01") == []
    order = tables.cloud_prices(h100)
    assert [price.per_accelerator for price in order] == sorted(
        price.per_accelerator for price in order
    )


def test_a_list_price_of_later_is_not_known_before() -> None:
    assert [price.id for price in Tables(date="2021").list_prices(result())] == ["ipu-pod16"]
    assert [price.id for price in Tables(date="2021-06-30").list_prices(result())] == ["ipu-pod16"]
    assert Tables(date="2021-05").list_prices(result()) == ()


def test_a_date_that_is_none() -> None:
    with pytest.raises(UsageError, match="'yesterday' is no date"):
        load_tables(date="yesterday")


def test_the_very_instance_comes_before_a_cheaper_one(tables: Tables) -> None:
    azure = dgx(system="ND96amsr_A100_v4_n1", id="v2.0/Azure/ND96amsr_A100_v4_n1/resnet")
    first, *others = tables.cloud_prices(azure)
    assert (first.id, first.exact) == ("azure-nd96amsr-a100-v4", True)
    assert any(price.per_accelerator < first.per_accelerator for price in others)


def test_a_spelling_is_understood(tables: Tables) -> None:
    assert tables.hardware("NVIDIA A100-SXM4-80GB (400W)") is tables.accelerators["A100-SXM-80GB"]
    assert tables.hardware("nothing") is None
    assert tables.list_prices(result(accelerator="Graphcore IPU GC200"))


def own(tmp_path: Path, text: str) -> Tables:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return load_tables(path)


def test_ones_own_price_adds_and_comes_first(tmp_path: Path) -> None:
    found = own(
        tmp_path,
        row(accelerator='"GC200-IPU"', accelerators="16", system='["pod16"]', date="2020-01-01"),
    )
    prices = found.list_prices(result())
    assert [price.id for price in prices] == ["mine", "ipu-pod16"]
    assert prices[0].marks == ("your own figure: an offer",)


def test_ones_own_row_replaces_that_of_the_same_id(tmp_path: Path) -> None:
    changed = row(
        id='"ipu-pod16"', accelerator='"GC200-IPU"', accelerators="16", system='["pod16"]'
    )
    assert [price.amount for price in own(tmp_path, changed).list_prices(result())] == [1000]


def test_ones_own_hardware_replaces_figure_by_figure(tmp_path: Path) -> None:
    text = '[accelerators.A30]\nsource = "a meter"\ndate = "2024"\nwatts = 150\n'
    found = own(tmp_path, text).hardware("A30")
    assert isinstance(found, Hardware)
    assert found.watts is not None
    assert (found.watts.value, found.watts.own) == (150, True)
    assert found.memory is not None
    assert (found.memory.value, found.memory.own, found.vendor) == (24, False, "NVIDIA")


def test_ones_own_file_is_found_in_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert "mine" not in load_tables().products  # none yet
    own_file().parent.mkdir(parents=True)
    own_file().write_text(row())
    found = load_tables()
    assert found.products["mine"].figure.own
    assert found.own_path == own_file()
    own_file().write_text("oops")
    with pytest.raises(UsageError, match="not valid TOML"):
        load_tables()


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_tables(tmp_path / "absent.toml")


def test_an_unknown_price_lists_the_known(tables: Tables) -> None:
    with pytest.raises(UsageError, match="no price 'ipu-pod17'") as caught:
        tables.price("ipu-pod17", result())
    assert "Did you mean 'ipu-pod16'?" in caught.value.hint
    with pytest.raises(UsageError):
        tables.price("ipu-pod16-space", result())


def test_a_price_asked_for_by_its_id(tables: Tables) -> None:
    clone = dgx(system="XE8545", id="v1.0/Dell/XE8545/resnet")
    asked = tables.price("dgx-a100-640gb", clone)
    assert asked is not None
    assert (asked.amount, asked.exact) == (300_000, False)
    proper = tables.price("dgx-a100-640gb", dgx())
    assert proper is not None
    assert proper.exact
    hourly = tables.price("aws-p4de", clone)
    assert hourly is not None
    assert hourly.hourly
    assert tables.price("ipu-pod16", clone) is None


def test_the_packaged_files_are_in_the_package() -> None:
    assert all(path.is_file() for path in PACKAGED)
