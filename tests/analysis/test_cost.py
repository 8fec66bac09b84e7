"""Derived numbers: the formulas, their words, and the claims that are made with them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalogue.priced import dgx, result, row
from trainmark.analysis.cost import NAMES, PER, Derived, advantage, derive
from trainmark.catalogue import published
from trainmark.catalogue.figures.tables import Tables, load_tables
from trainmark.types import Result, UsageError


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables()


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    found = published(benchmark="resnet", rounds=["1.0"]) + published(
        benchmark="bert", rounds=["1.0"]
    )
    return {one.id: one for one in found}


def value(text: str) -> float:
    """What the left side of a formula comes to."""
    left = re.sub(
        r"[A-Za-z][\w/-]*", lambda m: "*" if m[0] == "x" else "", text.partition(" = ")[0]
    )
    left = left.replace(",", "")
    assert re.fullmatch(r"[\d.*/() e-]+", left), left
    return float(eval(left))  # digits and signs only


CLAIMS = {
    ("ipu-pod16-TF1/resnet", "dgxa100_ngc21.05_mxnet/resnet"): (1.550, 0.930),
    ("ipu-pod16-POPART-closed/bert", "dgxa100_ngc21.05_pytorch/bert"): (1.258, 0.755),
}


@pytest.mark.parametrize("pair", CLAIMS)
def test_the_claims_per_dollar_and_per_rack_unit(
    tables: Tables, results: dict[str, Result], pair: tuple[str, str]
) -> None:
    pod = derive(results[f"v1.0/Graphcore/{pair[0]}"], tables)
    other = derive(results[f"v1.0/NVIDIA/{pair[1]}"], tables)
    found = [
        advantage(pod[name], other[name]).value for name in ("dollar_minutes", "rack_unit_minutes")
    ]
    assert found == pytest.approx(CLAIMS[pair], abs=0.0005)


def test_a_formula_has_its_numbers_source_and_date(
    tables: Tables, results: dict[str, Result]
) -> None:
    found = derive(results["v1.0/Graphcore/ipu-pod16-TF1/resnet"], tables)["dollar_minutes"]
    assert found.formula == (
        "37.11521 min x 149,995 USD = 5,567,096 USD-minutes (list price of IPU-POD16, 2021-06-30)"
    )
    assert found.basis == "list price of IPU-POD16"
    assert found.sources == (
        "mlcommons/training_results_v1.0, Graphcore/results/ipu-pod16-TF1/resnet",
        "Graphcore, Raising the bar: Graphcore's first MLPerf results (2021-06-30), "
        "https://www.graphcore.ai/posts/raising-the-bar-graphcores-first-mlperf-results "
        "[list; confidence high]",
    )
    assert found.missing == ""


def test_a_competitors_figure_says_so(tables: Tables) -> None:
    found = derive(dgx(), tables)["dollar_minutes"]
    assert found.basis == "list price of DGX A100 640GB by a vendor's report"
    assert any("stated by Graphcore" in mark for mark in found.marks)


def test_every_number_of_a_result(tables: Tables) -> None:
    found = derive(replace(dgx(), energy_joules=4.5e6), tables, price="cloud")
    assert "times" not in found["energy_joules"].basis
    scaled = replace(dgx(), energy_joules=4.5e6, scaling_factor=1.05)
    assert "times 1.05 as its time is" in derive(scaled, tables)["energy_joules"].basis
    assert tuple(found) == NAMES
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            "accelerator_minutes": 160,
            "dollar_minutes": 6_000_000,
            "run_cost_usd": 27.44705 / 3,
            "rack_unit_minutes": 120,
            "rated_watt_hours": 6500 / 3,
            "accelerator_watt_hours": 3200 / 3,
            "energy_joules": 4.5e6,
            "peak_pflop_hours": 8 * 0.312 / 3,
        }
    )
    for one in found.values():
        assert one.missing == ""
        assert one.sources


@given(
    minutes=st.floats(0.01, 1e5),
    chips=st.integers(1, 12_000),
    years=st.floats(0.5, 10),
    price=st.sampled_from(["list", "cloud"]),
)
def test_a_formula_comes_to_its_value(
    tables: Tables, minutes: float, chips: int, years: float, price: str
) -> None:
    for one in (dgx(minutes=minutes, accelerators=chips), dgx(minutes=minutes)):
        for derived in derive(one, tables, price=price, years=years).values():
            if derived.value is None:
                assert (derived.formula, derived.sources) == ("", ())
                continue
            assert value(derived.formula) == pytest.approx(derived.value, rel=2e-6)
            right = re.match(r"[\d.,e-]+", derived.formula.partition(" = ")[2])
            assert right is not None
            assert float(right[0].replace(",", "")) == pytest.approx(derived.value, rel=2e-6)


def test_rated_power_is_never_called_measured(tables: Tables) -> None:
    found = derive(dgx(), tables)
    for name in ("rated_watt_hours", "accelerator_watt_hours"):
        assert any("datasheet, not measured" in mark for mark in found[name].marks)
        assert "rated power" in found[name].basis
    # Whole systems were measured to draw up to 1.5 times what their accelerators are rated at.
    assert "upper bound" not in " ".join(found["accelerator_watt_hours"].marks)
    assert found["accelerator_watt_hours"].value == pytest.approx(8 * 400 / 3)
    assert found["energy_joules"].value is None
    assert found["energy_joules"].missing == "no power measurement was submitted"


def test_what_is_not_known_says_why_and_what_to_do(tables: Tables) -> None:
    pod64 = result(system="IPU-POD64", id="v1.0/G/ipu-pod64/resnet", accelerators=64)
    found = derive(pod64, tables, price="cloud")
    assert found["dollar_minutes"].missing == (
        "no public list price of IPU-POD64 is known; add your own: trainmark prices add"
    )
    assert found["rack_unit_minutes"].missing.startswith("the height of IPU-POD64 is not known")
    assert found["rated_watt_hours"].missing.startswith("the rated power of IPU-POD64 is not known")
    assert found["run_cost_usd"].missing.startswith("no hourly price of GC200-IPU is known")
    assert found["accelerator_watt_hours"].missing == "the rated power of GC200-IPU is not known"
    assert found["accelerator_minutes"].value == 64 * 30


def test_without_a_score_nothing_is_derived(tables: Tables) -> None:
    found = derive(dgx(minutes=None, score_basis="no score: 2 of 5 logs"), tables, price="cloud")
    for name, one in found.items():
        assert one.value is None
        if name != "energy_joules":
            assert one.missing == "there is no score: no score: 2 of 5 logs"


def test_a_processor_alone(tables: Tables) -> None:
    box = result(accelerator="", accelerators=0, system="4-socket", id="v1.0/Intel/4s/resnet")
    found = derive(box, tables, price="cloud")
    assert all(one.value is None and one.missing for one in found.values())
    assert "a machine without accelerators" in found["run_cost_usd"].missing


def test_the_running_cost_by_a_list_price_needs_years(tables: Tables) -> None:
    assert "over how many years" in derive(result(), tables)["run_cost_usd"].missing
    found = derive(result(), tables, years=3)["run_cost_usd"]
    assert found.value == pytest.approx(30 / 60 * 149_995 / (3 * 8766))
    assert found.basis == "list price of IPU-POD16 spread over 3 years"
    assert "without power, cooling, space and staff" in found.marks[0]
    assert "3 years x 8,766 h" in found.formula


@pytest.mark.parametrize("years", [0, -1, float("nan"), 1e9])
def test_strange_years(tables: Tables, years: float) -> None:
    with pytest.raises(UsageError, match="cannot spread a price"):
        derive(result(), tables, years=years)


def test_the_running_cost_by_a_cloud(tables: Tables) -> None:
    found = derive(dgx(), tables, price="cloud")["run_cost_usd"]
    assert found.formula.startswith("20 min x 27.44705 USD/hour / 60 = 9.149017 USD (on demand")
    assert found.marks[0].startswith("one of 3 hourly prices; the others, USD/hour: azure-nd96amsr")
    assert found.marks[1].endswith("this system is not that instance")
    before = derive(dgx(), Tables(date="2025-02"), price="cloud")["run_cost_usd"]
    assert before.value == pytest.approx(20 / 60 * 32.77)  # Azure was cheaper then
    none = derive(dgx(), Tables(date="2019"), price="cloud")
    assert none["run_cost_usd"].missing.startswith(
        "no hourly price of A100-SXM-80GB of 2019 or before is known"
    )
    assert "DGX" not in none["dollar_minutes"].formula
    assert "of 2019 or before" in none["dollar_minutes"].missing


def test_a_price_asked_for_by_its_id(tables: Tables) -> None:
    clone = dgx(system="XE8545", id="v1.0/Dell/XE8545/resnet")
    asked = derive(clone, tables, price="dgx-a100-640gb", years=4)
    assert asked["dollar_minutes"].value == 20 * 300_000
    assert "this system is not that product" in asked["dollar_minutes"].marks[0]
    assert asked["run_cost_usd"].value == pytest.approx(20 / 60 * 300_000 / (4 * 8766))
    other = derive(result(), tables, price="dgx-a100-640gb", years=4)
    assert other["dollar_minutes"].missing == (
        "dgx-a100-640gb is the price of 8 A100-SXM-80GB; this system has 16 GC200-IPU"
    )
    hourly = derive(dgx(), tables, price="gcp-a2-ultragpu-8g")
    assert hourly["run_cost_usd"].value == pytest.approx(20 / 60 * 40.55)
    assert hourly["dollar_minutes"].value == 20 * 300_000
    wrong = derive(result(), tables, price="gcp-a2-ultragpu-8g")["run_cost_usd"]
    assert wrong.missing == (
        "gcp-a2-ultragpu-8g is the price of 8 A100-SXM-80GB; this system has 16 GC200-IPU"
    )
    with pytest.raises(UsageError, match="no price 'ebay'"):
        derive(result(), tables, price="ebay")


def test_ones_own_price_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(row(accelerator='"GC200-IPU"', accelerators="64", system='["pod64"]'))
    pod64 = result(system="IPU-POD64", id="v1.0/G/ipu-pod64/resnet", accelerators=64)
    found = derive(pod64, load_tables(path))["dollar_minutes"]
    assert (found.value, found.marks) == (30_000, ("your own figure: an offer",))


def test_an_advantage_is_the_others_amount_by_ones_own() -> None:
    a = Derived(name="dollar_minutes", value=2.0, unit="USD-minutes", basis="x", marks=("m",))
    b = replace(a, value=3.0, basis="y", sources=("s",))
    found = advantage(a, b)
    assert found.value == 1.5
    assert found.formula == "3 / 2 USD-minutes = 1.500"
    assert found.name == "performance per dollar of list price"
    assert found.basis == "A: x; B: y"
    assert (found.marks, found.sources) == (("A: m", "B: m"), ("s",))
    lacking = advantage(a, replace(b, value=None, missing="no price"))
    assert (lacking.value, lacking.missing) == (None, "B: no price")


def test_derived_numbers_as_data(tables: Tables) -> None:
    for name, one in derive(result(), tables).items():
        data = one.to_dict()
        assert data["name"] == name
        assert name in PER
        assert set(data) == set(Derived.__dataclass_fields__)
