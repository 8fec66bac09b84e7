from dataclasses import replace
from typing import Any

import pytest

from trainmark.machine import default_name, describe_short, fingerprint
from trainmark.types import System

SYSTEM = System(
    host_processors_per_node=1,
    host_processor_model_name="AMD EPYC",
    host_processor_core_count=2,
    host_processor_vcpu_count=2,
    host_memory_capacity="24 GB",
)


@pytest.mark.parametrize(
    "changes",
    [
        {"framework": "PyTorch 3"},
        {"other_software_stack": {"kernel": "7"}},
        {"operating_system": "Other"},
        {"system_name": "renamed"},
        {"hw_notes": "moved"},
        {"host_memory_capacity": "23 GB"},  # the kernel set a little more aside
        {"host_processor_frequency": "2.51 GHz now"},
    ],
)
def test_the_same_machine(changes: dict[str, Any]) -> None:
    assert fingerprint(replace(SYSTEM, **changes)) == fingerprint(SYSTEM)


@pytest.mark.parametrize(
    "changes",
    [
        {"host_processor_model_name": "AMD EPYC 2"},
        {"host_processor_core_count": 4},
        {"host_processor_vcpu_count": 1},
        {"host_memory_capacity": "48 GB"},
        {"host_memory_capacity": ""},
        {"accelerator_model_name": "X", "accelerators_per_node": 1},
        {"number_of_nodes": 2},
    ],
)
def test_another_machine(changes: dict[str, Any]) -> None:
    assert fingerprint(replace(SYSTEM, **changes)) != fingerprint(SYSTEM)


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    assert fingerprint(SYSTEM) == "e149c6e15236"


def test_one_line() -> None:
    assert describe_short(SYSTEM) == "2x AMD EPYC cores, 24 GB, no accelerator"
    many = replace(
        SYSTEM, number_of_nodes=4, accelerators_per_node=8, accelerator_model_name="NVIDIA H100"
    )
    assert describe_short(many) == "4 nodes, each 2x AMD EPYC cores, 24 GB, 8x NVIDIA H100"


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (SYSTEM, "2xAMD-EPYC-cores"),
        (replace(SYSTEM, host_processor_model_name=""), "2xCPU-cores"),
        (
            replace(SYSTEM, accelerators_per_node=8, accelerator_model_name="../../NVIDIA H100\n"),
            "8xNVIDIA-H100",
        ),
    ],
)
def test_the_default_name_is_fit_for_a_file(system: System, name: str) -> None:
    assert default_name(system) == name
