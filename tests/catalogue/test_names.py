import pytest

from trainmark.catalogue import names


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("A100-SXM4-40GB", "A100-SXM-40GB"),
        ("NVIDIA A100-SXM4-80GB(400W)", "A100-SXM-80GB"),
        ("NVIDIA A100-SXM4-80GB (500W)", "A100-SXM-80GB"),
        ("NVIDIA A100-SXM-80GB CTS", "A100-SXM-80GB"),
        ("NVIDIA A100-PCIE-40GB (250W)", "A100-PCIe-40GB"),
        ("NVIDIA A100-PCIe-40GB(250W)", "A100-PCIe-40GB"),
        ("NVIDIA A30", "A30"),
        ("NVIDIA RTX A5000", "RTX-A5000"),
        ("Graphcore Bow IPU", "Bow-IPU"),
        ("Graphcore IPU GC200", "GC200-IPU"),
        ("Habana Gaudi HL-205", "Gaudi"),
        ("Habana Gaudi", "Gaudi"),
        ("Habana Gaudi2", "Gaudi2"),
        ("Ascend 910 Premium A", "Ascend910"),
        ("TPU-v4", "TPU-v4"),
        ("N/A", ""),
    ],
)
def test_spellings_of_an_accelerator_make_one_name(raw: str, name: str) -> None:
    assert names.accelerator(raw) == names.Named(name, known=True)


def test_a_bare_tpu_takes_its_generation_from_the_system() -> None:
    assert names.accelerator("TPU", "tpu-v4-6912") == names.Named("TPU-v4", known=True)
    assert names.accelerator("TPU", "some pod") == names.Named("TPU", known=False)


def test_what_no_row_knows_stays_as_written_and_is_marked() -> None:
    assert names.accelerator("  Wonder Chip 9 ") == names.Named("Wonder Chip 9", known=False)
    assert names.division("ajar") == names.Named("ajar", known=False)
    assert names.benchmark("resnet_distributed").known is False


@pytest.mark.parametrize(
    ("raw", "name"), [("close", "closed"), ("Closed", "closed"), ("Open", "open")]
)
def test_divisions(raw: str, name: str) -> None:
    assert names.division(raw) == names.Named(name, known=True)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("onprem", "available"),
        ("on-premise", "available"),
        ("Available on-premise", "available"),
        ("available in cloud", "available"),
        ("cloud", "available"),
        ("available", "available"),
        ("preview", "preview"),
        ("research", "research"),
    ],
)
def test_categories(raw: str, name: str) -> None:
    assert names.category(raw) == names.Named(name, known=True)


@pytest.mark.parametrize(
    ("raw", "number"),
    [("16", 16), (" 8 ", 8), (1.0, 1), ("2.0", 2), (4, 4)],
)
def test_counts_that_are_text_or_floats(raw: object, number: int) -> None:
    assert names.count(raw) == number


@pytest.mark.parametrize("raw", ["", "many", "1.5", 1.5, True, None, "-2", "8 (HGX)"])
def test_what_is_no_count(raw: object) -> None:
    assert names.count(raw) is None


def test_spellings_of_a_submitter() -> None:
    assert names.submitter("SUPERMICRO").name == "Supermicro"
    assert names.submitter("nettrix").name == "Nettrix"
    assert names.submitter("HabanaLabs").name == "HabanaLabs"
