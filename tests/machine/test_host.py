from pathlib import Path

import pytest

from tests.machine.machines import amd_virtual, graviton, intel_two_sockets, link, plant
from trainmark.machine.host import (
    read_memory,
    read_network,
    read_storage,
    read_surroundings,
)


@pytest.mark.parametrize(
    ("total", "shown"),
    [("1056413184 kB", "1007 GB"), ("24683656 kB", "24 GB"), ("1572864 kB", "1.5 GB"), ("?", "")],
)
def test_memory(tmp_path: Path, total: str, shown: str) -> None:
    assert read_memory(plant(tmp_path, {"proc/meminfo": f"MemTotal: {total}\n"})) == shown


def test_memory_unknown(tmp_path: Path) -> None:
    assert read_memory(tmp_path) == ""


def test_a_raid_of_nvme_disks(tmp_path: Path) -> None:
    storage = read_storage(intel_two_sockets(tmp_path), Path("/home/me/runs"))
    assert storage.kind == "2x NVMe SSD (SAMSUNG MZQL2), ext4"
    assert storage.capacity.endswith(("GB", "TB"))


def test_the_longest_mount_point_counts_and_spaces_are_unescaped(tmp_path: Path) -> None:
    root = intel_two_sockets(tmp_path)
    assert read_storage(root, Path("/data sets/imagenet")).kind == "network file system nfs4"
    assert read_storage(root, Path("/data sets2")).kind == "2x NVMe SSD (SAMSUNG MZQL2), ext4"
    assert read_storage(root, Path("/dev/shm/x")).kind == "memory (tmpfs)"


def test_a_virtual_disk_is_not_called_by_its_rotation(tmp_path: Path) -> None:
    assert read_storage(amd_virtual(tmp_path), Path("/home")).kind == "virtual disk, ext4"


@pytest.mark.parametrize(
    ("rotational", "kind"), [("0\n", "SSD"), ("1\n", "hard disk"), (None, "disk")]
)
def test_the_kind_of_a_plain_disk(tmp_path: Path, rotational: str | None, kind: str) -> None:
    """/dev/sda1 as the kernel shows it: links into the devices' tree."""
    device = "sys/devices/pci0/block/sda"
    files = {f"{device}/sda1/partition": "1\n", f"{device}/device/model": "WDC  X\n"}
    if rotational is not None:
        files[f"{device}/queue/rotational"] = rotational
    files["proc/self/mountinfo"] = "22 1 8:1 / / rw - xfs /dev/root rw\n"
    plant(tmp_path, files)
    link(tmp_path, "sys/dev/block/8:1", f"{device}/sda1")
    link(tmp_path, "sys/class/block/sda1", f"{device}/sda1")
    assert read_storage(tmp_path, Path("/")).kind == f"{kind} (WDC X), xfs"


def test_storage_unknown(tmp_path: Path) -> None:
    assert read_storage(tmp_path, Path("/x")).kind == ""
    plant(tmp_path, {"proc/self/mountinfo": "garbage\n22 1 0:30 / / rw - overlay overlay rw\n"})
    assert read_storage(tmp_path, Path("/x")).kind == "overlay"


def test_network(tmp_path: Path) -> None:
    assert read_network(intel_two_sockets(tmp_path)) == (
        "8x InfiniBand 400 Gb/s (mlx5), 1x Ethernet 1 Gb/s, 1x Ethernet"
    )


def test_no_network(tmp_path: Path) -> None:
    assert read_network(tmp_path) == ""


def test_surroundings(tmp_path: Path) -> None:
    assert read_surroundings(intel_two_sockets(tmp_path / "a"), is_virtual=False) == (
        "Dell Inc. PowerEdge R760",
    )
    assert read_surroundings(amd_virtual(tmp_path / "b"), is_virtual=True) == (
        "virtual machine",
        "container (Docker)",
    )
    assert read_surroundings(graviton(tmp_path / "c"), is_virtual=False) == (
        "Amazon EC2 c7g.xlarge",
    )


def test_a_board_without_dmi(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/device-tree/model": "Jetson Orin\0", "sys/hypervisor/type": "xen\n"})
    assert read_surroundings(tmp_path, is_virtual=False) == (
        "Jetson Orin",
        "virtual machine (xen)",
    )
