from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.name_tables import look_up, rows_of, table


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("A100-SXM4-40GB", "A100-SXM-40GB"),
        ("NVIDIA A100-SXM4-80GB(400W)", "A100-SXM-80GB"),
        ("NVIDIA A100-SXM4-80GB (500W)", "A100-SXM-80GB"),
        ("NVIDIA A100-SXM-80GB CTS", "A100-SXM-80GB"),
        ("NVIDIA A100-PCIE-40GB (250W)", "A100-PCIe-40GB"),
        ("NVIDIA A100 - PCIe - 80 GB", "A100-PCIe-80GB"),
        ("NVIDIA A30", "A30"),
        ("NVIDIA A30-PCIE-24GB", "A30"),
        ("NVIDIA RTX A5000", "RTX-A5000"),
        ("NVIDIA L40", "L40"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM-80GB"),
        ("NVIDIA H100-PCIe", "H100-PCIe-80GB"),
        ("H100 NVL Tensor Core GPU (PCIe)", "H100-NVL-94GB"),
        ("NVIDIA Blackwell GPU (B200-SXM-180GB)", "B200-SXM-180GB"),
        ("NVIDIA Blackwell GPU (GB200)", "GB200"),
        ("NVIDIA Blackwell Ultra GPU (GB300)", "GB300"),
        ("Tesla V100-SXM3-32GB-H", "V100-SXM3-32GB"),
        ("Tesla V100-SXM3-H-32GB", "V100-SXM3-32GB"),
        ("AMD Instinct MI325X 256GB HBM3E DLC", "MI325X"),
        ("Graphcore Bow IPU", "Bow-IPU"),
        ("Graphcore IPU GC200", "GC200-IPU"),
        ("Habana Gaudi HL-205", "Gaudi"),
        ("Intel(R) Gaudi(R) 2 AI Accelerator", "Gaudi2"),
        ("Ascend 910 Premium A", "Ascend910"),
        ("tpuv3-512", "TPU-v3"),
        ("TPU-trillium", "TPU-v6e"),
        ("N/A", ""),
        ("", ""),
    ],
)
def test_spellings_of_an_accelerator_make_one_name(raw: str, name: str) -> None:
    assert names.accelerator(raw) == names.Named(name, known=True)


@pytest.mark.parametrize(
    ("raw", "evidence", "name"),
    [
        ("TPU", "tpu-v4-6912; tpu-v4-6912-TF; 32GB; ", "TPU-v4"),
        ("NVIDIA A100", "NF5488; nf5488_mxnet; 40G; NVLink 600 GB/s", "A100-SXM-40GB"),
        ("Nvidia Tesla V100", "PRIMERGY GX2570M5; x; 32GB; 6x 25GT/s NVLink", "V100-SXM2-32GB"),
    ],
)
def test_a_name_that_leaves_the_kind_open_is_completed_by_other_fields(
    raw: str, evidence: str, name: str
) -> None:
    assert names.accelerator(raw, evidence) == names.Named(name, known=True)
    open_name = names.accelerator(raw)
    assert not open_name.known
    facts = names.accelerator_named(open_name.name)
    assert facts is not None
    assert not facts.certain


def test_a_kind_is_not_guessed_without_evidence() -> None:
    assert names.accelerator("NVIDIA V100", "8xV100; gpu-v100-8; TODO; TODO").known is False
    assert names.accelerator("NVIDIA A100", "x; y; 40G; PCIe").known is False


def test_what_no_row_knows_stays_as_written_and_is_marked() -> None:
    assert names.accelerator("  Wonder Chip 9 ") == names.Named("Wonder Chip 9", known=False)
    assert names.accelerator_named("Wonder Chip 9") is None
    assert names.division("ajar") == names.Named("ajar", known=False)
    assert names.category("soon") == names.Named("soon", known=False)
    assert names.benchmark("resnet_distributed").known is False
    assert names.interconnect("two cans and a string").known is False


def test_every_accelerator_has_a_vendor_and_a_family() -> None:
    facts = names.accelerator_named("H100-SXM-80GB")
    assert facts == names.Accelerator("H100-SXM-80GB", "NVIDIA", "H100", certain=True)
    assert sum(one.certain for one in names.accelerators()) == 46
    assert len({one.name for one in names.accelerators()}) == len(names.accelerators())


_TABLES = [
    ("accelerators", "accelerator"),
    ("accelerators", "open"),
    ("interconnects", "interconnect"),
    ("frameworks", "framework"),
    ("frameworks", "other"),
]


@pytest.mark.parametrize(("file", "kind"), _TABLES)
def test_every_row_finds_its_own_examples_first(file: str, kind: str) -> None:
    for row in rows_of(file, kind):
        assert row.facts["examples"], row.name
        for example in row.facts["examples"]:
            assert row.pattern.search(example), (row.name, example)
            if file != "frameworks":  # a text may name several of those
                found = look_up(rows_of(file, kind), example)
                assert found is row, (example, found)


@pytest.mark.parametrize("kind", ["accelerator", "open"])
def test_an_accelerators_own_name_is_found(kind: str) -> None:
    for row in rows_of("accelerators", kind):
        assert names.accelerator(row.name).name == row.name


_NAMERS: list[Any] = [
    names.accelerator,
    names.benchmark,
    names.category,
    names.division,
    names.interconnect,
    names.submitter,
]


@pytest.mark.parametrize("namer", _NAMERS)
@given(raw=st.text(max_size=60))
def test_naming_twice_is_naming_once(namer: Any, raw: str) -> None:
    once = namer(raw)
    assert namer(once.name).name == once.name


@pytest.mark.parametrize("namer", _NAMERS)
def test_naming_a_known_name_twice_keeps_it_known(namer: Any) -> None:
    examples = [e for f, k in _TABLES for row in rows_of(f, k) for e in row.facts["examples"]]
    for raw in [*examples, "close", "Open", "Available on premise", "cloud", "Mask", "QCT"]:
        once = namer(raw)
        if once.known:
            assert namer(once.name) == once


@pytest.mark.parametrize(
    ("raw", "watts"),
    [
        ("NVIDIA A100-SXM4-80GB (500W)", 500),
        ("NVIDIA A100-PCIe-40GB(250W)", 250),
        ("GPU TDP:700W", 700),
        ("B300 TGP 1100W", 1100),
        ("NVIDIA H100-SXM5-80GB", None),
    ],
)
def test_a_power_limit_is_a_fact_of_its_own(raw: str, watts: int | None) -> None:
    assert names.power_limit("", raw) == watts


@pytest.mark.parametrize(
    ("raw", "name"), [("close", "closed"), ("Closed", "closed"), ("Open", "open")]
)
def test_divisions(raw: str, name: str) -> None:
    assert names.division(raw) == names.Named(name, known=True)


@pytest.mark.parametrize(
    ("raw", "name", "place"),
    [
        ("onprem", "available", "on-premise"),
        ("on-premise", "available", "on-premise"),
        ("Available on-premise", "available", "on-premise"),
        ("available on premise", "available", "on-premise"),
        ("Available in cloud", "available", "cloud"),
        ("Available Cloud", "available", "cloud"),
        ("Cloud", "available", "cloud"),
        ("available", "available", ""),
        ("Preview", "preview", ""),
        ("research", "research", ""),
        ("Research, Development, or Internal (RDI)", "research", ""),
    ],
)
def test_categories_and_places(raw: str, name: str, place: str) -> None:
    assert names.category(raw) == names.Named(name, known=True)
    assert names.place(raw) == place


@pytest.mark.parametrize(
    ("raw", "number"),
    [("16", 16), (" 8 ", 8), (1.0, 1), ("2.0", 2), (4, 4), ("0", 0)],
)
def test_counts_that_are_text_or_floats(raw: object, number: int) -> None:
    assert names.count(raw) == number


@pytest.mark.parametrize(
    "raw", ["", "many", "1.5", 1.5, True, None, "-2", -2, "8 (HGX)", "2x4", "1-8", "N/A", [8], 1e30]
)
def test_what_is_no_count(raw: object) -> None:
    assert names.count(raw) is None


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("SUPERMICRO", "Supermicro"),
        ("nettrix", "Nettrix"),
        ("Dell EMC", "Dell"),
        ("Quanta_Cloud_Technology", "Quanta Cloud Technology"),
        ("QCT", "Quanta Cloud Technology"),
        ("IBM+CoreWeave+NVIDIA", "CoreWeave + IBM + NVIDIA"),
        ("NVIDIA_CoreWeave", "NVIDIA + CoreWeave"),
        ("smc-dc-power", "Sustainable Metal Cloud"),
        ("Habana", "HabanaLabs"),
        ("GIGABYTE", "GIGABYTE"),
        ("GigaComputing", "GigaComputing"),
        ("Somebody New", "Somebody New"),
    ],
)
def test_spellings_of_a_submitter(raw: str, name: str) -> None:
    assert names.submitter(raw).name == name


def test_no_spelling_of_a_submitter_belongs_to_two() -> None:
    spelt: dict[str, str] = {}
    for row in table("submitters")["submitter"]:
        for spelling in row["spellings"]:
            assert spelt.setdefault(spelling.casefold(), row["name"]) == row["name"]


@pytest.mark.parametrize(
    ("raw", "name"),
    [("mask", "maskrcnn"), ("ResNet", "resnet"), ("ssd", "ssd"), ("llama31_8b", "llama31_8b")],
)
def test_benchmarks(raw: str, name: str) -> None:
    assert names.benchmark(raw) == names.Named(name, known=True)


@pytest.mark.parametrize(
    ("benchmark", "round_name", "task"),
    [
        ("ssd", "0.5", "ssd"),
        ("ssd", "1.1", "ssd"),
        ("ssd", "2.0", "retinanet"),
        ("ssd", "4.1", "retinanet"),
        ("ssd", None, "retinanet"),
        ("retinanet", "5.0", "retinanet"),
        ("gnn", "4.0", "rgat"),
        ("rgat", "5.1", "rgat"),
        ("bert", "1.0", "bert"),
        ("resnet50_desk", None, "resnet50_desk"),
    ],
)
def test_a_task_is_what_a_benchmark_trained_in_its_round(
    benchmark: str, round_name: str | None, task: str
) -> None:
    assert names.task(benchmark, round_name) == task


def test_every_benchmark_has_a_title() -> None:
    assert names.title("unet3d") == "3D U-Net"
    assert names.title("resnet50_desk") == "resnet50_desk"
    assert len(set(names.benchmarks())) == len(names.benchmarks()) == 23


def test_interconnects() -> None:
    assert names.interconnect("NVLINK Gen4 900 GB/s + NVSWITCH Gen3").name == "NVLink 4 + NVSwitch"
    assert names.interconnect("24x 100Gb/s Ethernet").name == "Ethernet"
    assert names.interconnect("TODO") == names.Named("", known=True)
