from pathlib import Path

import pytest

from tests.machine.machines import FakeNvml, amd_accelerators, pci, plant
from trainmark.machine.accelerators import (
    Accelerators,
    read_accelerators,
    read_amd,
    read_nvidia,
    read_pci,
)

H100 = "NVIDIA H100 80GB HBM3"


def test_nvidia(tmp_path: Path) -> None:
    nvml = FakeNvml(*[H100] * 8)
    found = read_accelerators(tmp_path, nvml)
    assert (found.model, found.count) == (H100, 8)
    assert found.frequency == "1.98 GHz maximum"
    assert found.memory == "80 GB"
    assert found.host_interconnect == "PCIe gen 5 x16"
    assert found.interconnect == "NVLink 4.0, 18 links each"
    assert found.software == {"nvidia_driver": "550.90.07", "cuda_driver": "12.4"}
    assert found.notes == ("accelerator power limit 700 W",)
    assert nvml.calls[-1] == "nvmlShutdown"


def test_without_an_nvidia_driver_there_are_none() -> None:
    nvml = FakeNvml(H100, unsupported=("nvmlInit",))
    assert read_nvidia(nvml) == Accelerators()
    assert nvml.calls == ["nvmlInit"]


def test_what_a_device_does_not_support_stays_empty() -> None:
    unsupported = (
        "nvmlDeviceGetNvLinkState",
        "nvmlDeviceGetPowerManagementLimit",
        "nvmlDeviceGetMaxPcieLinkWidth",
        "nvmlDeviceGetMemoryInfo",
        "nvmlSystemGetCudaDriverVersion_v2",
    )
    found = read_nvidia(FakeNvml(b"GeForce", unsupported=unsupported))
    assert (found.model, found.memory, found.host_interconnect) == ("GeForce", "", "")
    assert (found.interconnect, found.notes) == ("", ())
    assert found.software == {"nvidia_driver": "550.90.07"}


def test_mixed_devices_are_the_most_frequent_and_a_note() -> None:
    found = read_nvidia(FakeNvml("Display", H100, H100, links=0))
    assert (found.model, found.count, found.interconnect) == (H100, 2, "")
    assert found.notes[0] == "also 1x Display"


def test_another_error_than_nvmls_is_not_swallowed() -> None:
    class Broken(FakeNvml):
        def nvmlDeviceGetName(self, handle: int) -> str:  # noqa: N802 - NVML's name
            raise ZeroDivisionError

    nvml = Broken(H100)
    with pytest.raises(ZeroDivisionError):
        read_nvidia(nvml)
    assert nvml.calls[-1] == "nvmlShutdown"


def test_the_installed_nvml_finds_none_or_some() -> None:
    """On a machine without a driver the real library says so by its own error."""
    assert read_accelerators(Path("/")).count >= 0


def test_amd(tmp_path: Path) -> None:
    found = read_accelerators(amd_accelerators(tmp_path))
    assert (found.model, found.count) == ("AMD Instinct MI300X", 4)
    assert (found.frequency, found.memory) == ("2.10 GHz maximum", "192 GB")
    assert found.interconnect == "Infinity Fabric, 3 links each"
    assert found.software == {"amdgpu_driver": "6.8.5", "rocm": "6.2.0-66"}


def test_the_amd_drivers_own_name_comes_first(tmp_path: Path) -> None:
    root = amd_accelerators(tmp_path)
    for minor in range(128, 132):
        plant(root, {f"sys/class/drm/renderD{minor}/device/product_name": "MI300X OAM\n"})
    assert read_amd(root).model == "MI300X OAM"


def test_no_amd(tmp_path: Path) -> None:
    assert read_amd(tmp_path) == Accelerators()


@pytest.mark.parametrize(
    ("device", "name"),
    [
        (("0x1ae0", "0x005e", "0x120000", "0x0"), "TPU-v4"),
        (("0x1ae0", "0x0027", "0x120000", "0x004f"), "TPU-v3"),
        (("0x1da3", "0x1020", "0x120000", "0x0"), "Intel Gaudi 2"),
        (("0x1d0f", "0x7164", "0x088000", "0x0"), "AWS Trainium"),
        (("0x19e5", "0xd801", "0x120000", "0x0"), "Huawei Ascend 910"),
        (("0x1d95", "0x0003", "0x120000", "0x0"), "Graphcore 1d95:0003"),
        (("0x10de", "0x2330", "0x030200", "0x0"), "NVIDIA 10de:2330"),
    ],
)
def test_others_by_their_pci_ids(
    tmp_path: Path, device: tuple[str, str, str, str], name: str
) -> None:
    found = read_accelerators(pci(tmp_path, device, device))
    assert (found.model, found.count) == (name, 2)
    assert found.host_interconnect == "PCIe gen 5 x16"
    assert found.notes == (("no NVIDIA driver is loaded",) if "NVIDIA" in name else ())


@pytest.mark.parametrize(
    "device",
    [
        ("0x1ae0", "0x0042", "0x020000", "0x0"),  # Google's network card
        ("0x19e5", "0xa250", "0x120000", "0x0"),  # a compression engine
        ("0x10de", "0x1b80", "0x030000", "0x0"),  # a display card without a driver
        ("garbage", "0x0", "0x120000", "0x0"),
    ],
)
def test_what_is_no_accelerator(tmp_path: Path, device: tuple[str, str, str, str]) -> None:
    assert read_pci(pci(tmp_path, device)) == Accelerators()


def test_the_systems_own_list_of_ids_names_an_unknown_device(tmp_path: Path) -> None:
    listing = (
        "# comment\n1d94  Somebody\n\t0003  Wrong one\n"
        "1d95  Graphcore Ltd\n\t0001  Colossus GC2 [C2]\n\t\t1d95 0001  Sub\n\t0003  Chip [GC200]\n"
        "1d96  Next\n"
    )
    root = pci(tmp_path, ("0x1d95", "0x0003", "0x120000", "0x0"))
    plant(root, {"usr/share/misc/pci.ids": listing})
    assert read_pci(root).model == "Graphcore GC200"
