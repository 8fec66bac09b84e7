from pathlib import Path

import pytest

from tests.machine.machines import amd_virtual, graviton, intel_two_sockets, plant
from trainmark.machine.cpu import read_cpu, usable_cpus


def test_two_intel_sockets_with_hyper_threading(tmp_path: Path) -> None:
    cpu = read_cpu(intel_two_sockets(tmp_path))
    assert cpu.model == "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz"
    assert (cpu.sockets, cpu.cores_per_socket, cpu.threads, cpu.usable) == (2, 4, 16, 16)
    assert cpu.frequency == "2.00 GHz base, 3.80 GHz maximum"
    assert cpu.caches == "L1d 48K for 2 CPUs, L3 107520K for 8 CPUs"
    assert cpu.interconnect == "2 NUMA nodes, distances 10, 21"
    assert not cpu.is_virtual


def test_a_virtual_machine_with_a_quota(tmp_path: Path) -> None:
    cpu = read_cpu(amd_virtual(tmp_path))
    assert (cpu.sockets, cpu.cores_per_socket, cpu.threads, cpu.usable) == (1, 8, 8, 3)
    assert cpu.frequency == "2.50 GHz now"
    assert (cpu.caches, cpu.interconnect, cpu.is_virtual) == ("", "", True)


def test_an_arm_core_is_named_and_on_amazon_the_product(tmp_path: Path) -> None:
    root = graviton(tmp_path)
    cpu = read_cpu(root)
    assert cpu.model == "AWS Graviton3 (Arm Neoverse-V1)"
    assert (cpu.sockets, cpu.cores_per_socket, cpu.threads) == (1, 4, 4)
    plant(root, {"sys/class/dmi/id/sys_vendor": "Somebody\n"})
    assert read_cpu(root).model == "Arm Neoverse-V1"


def test_an_unknown_arm_core_keeps_its_numbers(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/cpuinfo": "processor: 0\nCPU implementer: 0x99\nCPU part: 0x123\n"})
    assert read_cpu(tmp_path).model == "Arm implementer 0x99 part 0x123"


def test_without_topology_cpuinfo_counts(tmp_path: Path) -> None:
    block = "processor: {}\nmodel name: X\nphysical id: {}\ncore id: {}\n"
    places = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0), (1, 1)]
    text = "\n".join(block.format(n, *place) for n, place in enumerate(places))
    cpu = read_cpu(plant(tmp_path, {"proc/cpuinfo": text}))
    assert (cpu.sockets, cpu.cores_per_socket, cpu.threads) == (2, 2, 8)


def test_nothing_to_be_seen_is_one_unknown_cpu(tmp_path: Path) -> None:
    cpu = read_cpu(tmp_path)
    assert (cpu.model, cpu.sockets, cpu.cores_per_socket, cpu.usable) == ("", 1, 1, 1)
    assert cpu.frequency == ""


@pytest.mark.parametrize(
    ("files", "usable"),
    [
        ({}, 16),
        ({"proc/self/status": "Cpus_allowed_list:\t0-1,8\n"}, 3),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, 16),
        ({"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        (
            {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            16,
        ),
    ],
)
def test_affinity_and_quota_limit_the_cpus(
    tmp_path: Path, files: dict[str, str], usable: int
) -> None:
    assert usable_cpus(plant(tmp_path, files), 16) == usable
