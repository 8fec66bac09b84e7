import pytest

from tests.catalogue.described import described, kinds
from trainmark.catalogue.naming.describe import Described

_SEVERAL = "NGC MXNet 22.04 , NGC PyTorch 22.04 , NGC TensorFlow 22.04-tf1"


def _framework(found: Described) -> tuple[str, str]:
    return found.fields["framework_name"], found.fields["framework_version"]


@pytest.mark.parametrize(
    ("benchmark", "name", "version"),
    [
        ("resnet", "MXNet", "NGC 22.04"),
        ("bert", "PyTorch", "NGC 22.04"),
        ("minigo", "TensorFlow", "NGC 22.04-tf1"),
    ],
)
def test_of_several_the_one_of_nvidias_implementation(
    benchmark: str, name: str, version: str
) -> None:
    found = described({"framework": _SEVERAL}, benchmark=benchmark)
    assert _framework(found) == (name, version)
    assert kinds(found, resolved=True) == ["framework chosen among several"]
    assert found.fields["framework"] == _SEVERAL


def test_of_several_the_one_that_the_folder_names() -> None:
    found = described({"framework": _SEVERAL}, system="XE8545_tensorflow", benchmark="bert")
    assert _framework(found) == ("TensorFlow", "NGC 22.04-tf1")
    assert kinds(found, resolved=True) == ["framework chosen among several"]


def test_of_several_the_one_that_the_field_framework_name_names() -> None:
    changes = {"framework": _SEVERAL, "framework_name": "ngc22.04_mxnet"}
    assert _framework(described(changes, benchmark="bert")) == ("MXNet", "NGC 22.04")


def test_nvidias_implementations_say_nothing_of_other_vendors_machines() -> None:
    changes = {"framework": _SEVERAL, "accelerator_model_name": "AMD Instinct MI355X"}
    found = described(changes, system="box", benchmark="bert")
    assert _framework(found) == ("", "")
    assert kinds(found, resolved=False) == ["unknown framework"]


def test_the_submitters_code_tells_where_the_list_does_not() -> None:
    found = described({"framework": _SEVERAL}, benchmark="dlrm", implementations=["box", "hugectr"])
    assert _framework(found) == ("HugeCTR", "")
    assert kinds(found, resolved=True) == ["framework chosen among several"]


def test_code_of_the_systems_own_name_is_surer_than_other_code() -> None:
    code = ["hugectr_other", "mxnet_4xXE8545x4A100-SXM-80GB"]
    found = described({"framework": ""}, benchmark="resnet", implementations=code)
    assert _framework(found) == ("MXNet", "")
    assert kinds(found, resolved=True) == ["framework taken from a name"]


def test_code_without_a_framework_for_this_system_leaves_it_open() -> None:
    changes = {"framework": "ROCm 6.4.0-47", "accelerator_model_name": "AMD Instinct MI325X"}
    code = ["4xXE8545x4A100-SXM-80GB", "h200_nemo"]
    found = described(changes, benchmark="llama2_70b_lora", implementations=code)
    assert _framework(found) == ("", "")
    assert found.fields["software"]["ROCm"] == "6.4.0-47"
    assert kinds(found, resolved=False) == ["unknown framework"]


def test_nvidias_containers_without_a_framework_have_the_usual_one() -> None:
    found = described({"framework": "NGC MLPerf Training v3.0"}, benchmark="unet3d")
    assert _framework(found) == ("MXNet", "")
    assert kinds(found, resolved=True) == ["framework taken from a name"]
    bare = described({"framework": "CUDA 12.0"}, benchmark="unet3d")
    assert _framework(bare) == ("", "")


def test_a_framework_in_the_folders_name_alone() -> None:
    found = described({"framework": ""}, system="nf5488_mxnet")
    assert _framework(found) == ("MXNet", "")
    assert kinds(found, resolved=True) == ["framework taken from a name"]


def test_a_version_in_the_folders_name() -> None:
    found = described({"framework": "NVIDIA NEMO"}, system="dgxb200_ngc24.10_nemo")
    assert _framework(found) == ("NeMo", "NGC 24.10")
    assert kinds(found, resolved=True) == ["framework's version taken from elsewhere"]


@pytest.mark.parametrize(
    ("framework", "stack", "version"),
    [
        ("pytorch", {"pytorch_version": "2.1.0a0+32f93b1"}, "2.1.0a0+32f93b1"),
        (
            "JAX",
            {"JAX_commit": "https://example.org/jax/commit/2bc92f5593c0aabbccdd"},
            "commit 2bc92f5593c0",
        ),
        ("hugectr", {"merlin_hugectr_version": "v2.1_a100"}, "2.1_a100"),
    ],
)
def test_a_version_in_the_other_software(
    framework: str, stack: dict[str, str], version: str
) -> None:
    found = described({"framework": framework, "other_software_stack": stack}, system="box")
    assert found.fields["framework_version"] == version
    assert kinds(found, resolved=True) == ["framework's version taken from elsewhere"]


def test_two_versions_stay_open() -> None:
    found = described({"framework": "PyTorch NVIDIA Release 22.09 or 22.04"}, system="box")
    assert _framework(found) == ("PyTorch", "")
    assert kinds(found, resolved=False) == ["framework's version left open"]
    settled = described({"framework": "PyTorch NVIDIA Release 22.09 or 22.04"}, system="x_ngc22.04")
    assert _framework(settled) == ("PyTorch", "NGC 22.04")


@pytest.mark.parametrize(
    ("stack", "software"),
    [
        ("POD-SW 2.0.0, V-IPU 1.12.6", {"other_software_stack": "POD-SW 2.0.0, V-IPU 1.12.6"}),
        ([{"cuda_version": "11.8"}, {"nccl": "2.1"}], {"cuda_version": "11.8", "nccl": "2.1"}),
        (["CUDA 11", "NCCL 2"], {"other_software_stack": "CUDA 11, NCCL 2"}),
        ({"cuda_version": "N/A", "dali": "", "inner": {"a": 1}, "n": 5}, {"n": "5"}),
        ("TODO", {}),
    ],
)
def test_other_software_in_every_form(stack: object, software: dict[str, str]) -> None:
    found = described({"other_software_stack": stack, "operating_system": ""})
    assert found.fields["software"] == software
