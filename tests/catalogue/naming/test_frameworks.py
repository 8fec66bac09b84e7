import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.frameworks import (
    chosen,
    frameworks,
    other_software,
    usual_frameworks,
)
from trainmark.catalogue.naming.name_tables import rows_of, table


def _told(raw: str) -> dict[str, str]:
    return {one.name: " or ".join(one.versions) for one in frameworks(raw)}


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("PyTorch NVIDIA Release 23.04", {"PyTorch": "NGC 23.04"}),
        ("PyTorch NVIDIA Release 23.04 N8", {"PyTorch": "NGC 23.04"}),
        ("Pytorch 24.09", {"PyTorch": "NGC 24.09"}),
        ("MXNet NGC20.06", {"MXNet": "NGC 20.06"}),
        ("NGC MXNet 20211013", {"MXNet": "NGC 20211013"}),
        ("Merlin HugeCTR with NVIDIA DL Frameworks Release 21.05", {"HugeCTR": "NGC 21.05"}),
        ("NVIDIA NeMo Multimodal Release 23.09 (EA)", {"NeMo": "NGC 23.09"}),
        ("TensorFlow 1.14 commit hash = faf9db515c4bf550da", {"TensorFlow": "1.14"}),
        ("TensorFlow 1.15 Poplar SDK 2.5.1", {"TensorFlow": "1.15"}),
        ("PopART Poplar SDK 2.5.1", {"PopART": "2.5.1"}),
        ("PaddlePaddle (branch: develop, commitID: b2d8f6d)", {"PaddlePaddle": "commit b2d8f6d"}),
        ("tinygrad, branch mlperf_training_v5.0", {"tinygrad": "branch mlperf_training_v5.0"}),
        ("PyTorch v1.11.0+cu113 and MosaicML composer v0.7.0", {"PyTorch": "1.11.0+cu113"}),
        ("PyTorch 2.6.0, ROCm 6.4", {"PyTorch": "2.6.0"}),
        ("PyTorch, ROCm 7.0.1", {"PyTorch": ""}),
        ("Mindspore v1.2.1", {"MindSpore": "1.2.1"}),
        ("tensorflow-1.15.0", {"TensorFlow": "1.15.0"}),
        ("TenorFLow 2.2", {"TensorFlow": "2.2"}),
        ("tf2.0", {"TensorFlow": "2.0"}),
        ("research-tf", {"TensorFlow": ""}),
        ("TF-research", {"TensorFlow": ""}),
        ("maxtext", {"JAX": ""}),
        ("PyTorch NVIDIA Release 22.09 or 22.04", {"PyTorch": "NGC 22.09 or NGC 22.04"}),
        (
            "NGC MXNet 22.04 , NGC PyTorch 22.04 , NGC TensorFlow 22.04-tf1",
            {"MXNet": "NGC 22.04", "PyTorch": "NGC 22.04", "TensorFlow": "NGC 22.04-tf1"},
        ),
        (
            "NVIDIA Release 24.09 MxNet, pytorch, dgl and 23.09 pytorch",
            {"MXNet": "NGC 24.09", "PyTorch": "NGC 24.09 or NGC 23.09", "DGL": "NGC 24.09"},
        ),
        (
            "NVIDIA Release 22.04/22.09 Tensorflow, hugectr",
            {"TensorFlow": "NGC 22.04 or NGC 22.09", "HugeCTR": "NGC 22.04 or NGC 22.09"},
        ),
        (
            "DGL, Merlin HugeCTR NVIDIA Release 25.03; "
            "PyTorch, NeMo Framework NVIDIA Release 25.04",
            {
                "DGL": "NGC 25.03",
                "HugeCTR": "NGC 25.03",
                "PyTorch": "NGC 25.04",
                "NeMo": "NGC 25.04",
            },
        ),
        (
            "NeMo 2.1.0, Megatron-LM, PyTorch NVIDIA Release 25.09",
            {"NeMo": "2.1.0", "PyTorch": "NGC 25.09"},
        ),
        ("CUDA 12.0", {}),
        ("NGC MLPerf Training v3.0", {}),
        ("", {}),
    ],
)
def test_names_and_versions_as_published(raw: str, told: dict[str, str]) -> None:
    assert _told(raw) == told


def test_a_library_on_a_framework_is_named() -> None:
    (jax,) = frameworks("maxdiffusion")
    assert (jax.name, jax.package) == ("JAX", "MaxDiffusion")
    (tensorflow,) = frameworks(
        "Lingvo-TF, https://github.com/tensorflow/lingvo.git, branch lingvo_mlperf_1.1"
    )
    assert (tensorflow.name, tensorflow.versions, tensorflow.package) == (
        "TensorFlow",
        (),
        "Lingvo",
    )


def test_other_software_keeps_its_own_versions() -> None:
    assert other_software("TensorFlow 1.15 Poplar SDK 2.5.1") == {"Poplar SDK": "2.5.1"}
    assert other_software("LLMBoost 1.2.0 and ROCm 7.0.1") == {"ROCm": "7.0.1"}
    assert other_software("NGC MLPerf v2.1/2.0") == {"NGC containers for MLPerf": "2.1 or 2.0"}
    assert other_software("maxtext") == {"MaxText": ""}
    assert other_software("PyTorch 2.8.0+rocm7.0.0") == {}


def test_every_example_is_read_as_its_framework() -> None:
    for row in rows_of("frameworks", "framework"):
        for example in row.facts["examples"]:
            assert row.name in _told(example), example
    for row in rows_of("frameworks", "other"):
        for example in row.facts["examples"]:
            assert row.name in other_software(example), example


def test_a_frameworks_own_name_is_read_as_itself() -> None:
    for name in {row.name for row in rows_of("frameworks", "framework")}:
        assert [one.name for one in frameworks(name)] == [name]


@given(st.text(max_size=80))
def test_any_text_is_read(raw: str) -> None:
    for one in frameworks(raw):
        assert one.name
        assert all(one.versions)


def test_the_usual_framework_of_a_benchmark_and_round() -> None:
    assert usual_frameworks("ssd", "1.1") == ("MXNet",)
    assert usual_frameworks("ssd", "2.0") == ("PyTorch",)
    assert usual_frameworks("ssd", "0.7") == ()  # NVIDIA filed both
    assert usual_frameworks("llama2_70b_lora", "4.0") == ("NeMo", "PyTorch")
    assert usual_frameworks("resnet50_desk", "2.0") == ()


def test_usual_rows_name_what_the_vocabulary_knows() -> None:
    known = {row.name for row in rows_of("frameworks", "framework")}
    for row in table("frameworks")["usual"]:
        assert set(row["benchmarks"]) <= set(names.benchmarks())
        assert set(row["frameworks"]) <= known


def test_the_first_usual_framework_among_those_named_is_chosen() -> None:
    named = frameworks("PyTorch, NeMo Framework NVIDIA Release 25.04")
    one = chosen(named, ("NeMo", "PyTorch"))
    assert one is not None
    assert one.name == "NeMo"
    assert chosen(named, ("DGL",)) is None
