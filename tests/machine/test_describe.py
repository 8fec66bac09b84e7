import json
from pathlib import Path

import pytest

from tests.machine.machines import (
    FakeNvml,
    amd_accelerators,
    amd_virtual,
    graviton,
    intel_two_sockets,
)
from trainmark.machine import describe, describe_short, write_system
from trainmark.types import UsageError


def test_a_dgx_like_machine_in_the_official_form(tmp_path: Path) -> None:
    system = describe(
        root=intel_two_sockets(tmp_path),
        folder=Path("/home"),
        nvml=FakeNvml(*["NVIDIA H100 80GB HBM3"] * 8),
        submitter="House",
        status="cloud",
        framework="PyTorch 2.6.0",
    )
    official = system.to_dict()
    assert official["host_processors_per_node"] == "2"
    assert official["host_processor_core_count"] == "4"
    assert official["host_processor_vcpu_count"] == "16"
    assert official["host_memory_capacity"] == "1007 GB"
    assert official["accelerators_per_node"] == "8"
    assert official["accelerator_model_name"] == "NVIDIA H100 80GB HBM3"
    assert official["accelerator_on-chip_memories"] == ""
    assert official["system_name"] == "8xNVIDIA-H100-80GB-HBM3"
    assert official["operating_system"] == "Ubuntu 24.04.1 LTS"
    assert official["other_software_stack"]["nvidia_driver"] == "550.90.07"
    assert official["hw_notes"] == "Dell Inc. PowerEdge R760; accelerator power limit 700 W"
    assert (official["submitter"], official["status"]) == ("House", "Available cloud")
    assert system.accelerators == 8


def test_limits_stand_in_the_notes(tmp_path: Path) -> None:
    system = describe(root=amd_virtual(tmp_path))
    assert system.host_processor_vcpu_count == 3
    assert system.hw_notes.endswith("container (Docker); limited to 3 of 8 CPUs")


@pytest.mark.parametrize(
    ("plant_machine", "line"),
    [
        (intel_two_sockets, "8x Intel Xeon Platinum 8480+ cores, 1007 GB, no accelerator"),
        (amd_virtual, "8x AMD EPYC 7742 cores, 24 GB, no accelerator"),
        (graviton, "4x AWS Graviton3 (Arm Neoverse-V1) cores, 8 GB, no accelerator"),
        (amd_accelerators, "1x unknown cores, 4x AMD Instinct MI300X"),
    ],
)
def test_each_kind_of_machine_in_one_line(tmp_path: Path, plant_machine: object, line: str) -> None:
    assert callable(plant_machine)
    assert describe_short(describe(root=plant_machine(tmp_path))) == line


def test_this_machine_can_be_described(tmp_path: Path) -> None:
    system = describe(folder=tmp_path)
    assert system.host_processor_core_count >= 1
    assert system.host_memory_capacity.endswith("GB")
    assert system.other_software_stack["kernel"]
    assert system.system_name


@pytest.mark.parametrize(
    ("field", "message"), [("division", "there is no division"), ("status", "there is no status")]
)
def test_unknown_words_list_the_valid_ones(tmp_path: Path, field: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        describe(root=tmp_path, **{field: "ajar"})  # type: ignore[arg-type]
    assert caught.value.hint.startswith("Valid: c")


def test_write_system(tmp_path: Path) -> None:
    system = describe(root=intel_two_sockets(tmp_path / "root"), system_name="box")
    write_system(system, tmp_path / "box.json")
    assert json.loads((tmp_path / "box.json").read_text()) == system.to_dict()
    with pytest.raises(UsageError, match="cannot create"):
        write_system(system, tmp_path / "absent" / "box.json")


def test_a_working_folder_that_was_removed_has_no_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, gone = graviton(tmp_path / "root"), tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    official = describe(root=root).to_dict()
    assert (official["host_storage_type"], official["host_storage_capacity"]) == ("", "")
    assert official["host_processor_model_name"]


def test_a_name_that_is_no_unicode_is_not_written(tmp_path: Path) -> None:
    system = describe(root=graviton(tmp_path / "root"), folder=Path("/"), submitter="a\udcff")
    with pytest.raises(UsageError, match="not valid UTF-8"):
        write_system(system, tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()
