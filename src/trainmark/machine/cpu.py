"""The host processors, from /proc/cpuinfo and /sys/devices/system/cpu."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainmark.machine.reading import children, cpu_list, fields, number, text

__all__ = ["Cpu", "read_cpu", "usable_cpus"]

# Arm cores are numbers in /proc/cpuinfo: (implementer, part) as the Arm architecture's MIDR has
# them, with the names that Linux's arch/arm64/include/asm/cputype.h uses.
_ARM_CORES: Mapping[tuple[int, int], str] = {
    (0x41, 0xD08): "Arm Cortex-A72",
    (0x41, 0xD0B): "Arm Cortex-A76",
    (0x41, 0xD0C): "Arm Neoverse-N1",
    (0x41, 0xD40): "Arm Neoverse-V1",
    (0x41, 0xD49): "Arm Neoverse-N2",
    (0x41, 0xD4F): "Arm Neoverse-V2",
    (0x46, 0x001): "Fujitsu A64FX",
    (0x48, 0xD01): "HiSilicon Kunpeng-920",
    (0xC0, 0xAC3): "Ampere-1",
}
# On Amazon EC2 the core tells the product.
_GRAVITON: Mapping[str, str] = {
    "Arm Cortex-A72": "AWS Graviton (Arm Cortex-A72)",
    "Arm Neoverse-N1": "AWS Graviton2 (Arm Neoverse-N1)",
    "Arm Neoverse-V1": "AWS Graviton3 (Arm Neoverse-V1)",
    "Arm Neoverse-V2": "AWS Graviton4 (Arm Neoverse-V2)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """The processors of one node.

    Attributes:
        model: The model's name, "" if the kernel does not say.
        sockets: Number of processors.
        cores_per_socket: Physical cores of one processor.
        threads: Logical CPUs that are online.
        usable: Logical CPUs that this process may use at once, by affinity and by quota.
        frequency: Clock, in words.
        caches: Caches of one core, in words.
        interconnect: NUMA nodes, in words; "" for a single one.
        is_virtual: Whether the CPU itself says that a hypervisor is below.
    """

    model: str
    sockets: int
    cores_per_socket: int
    threads: int
    usable: int
    frequency: str
    caches: str
    interconnect: str
    is_virtual: bool


def read_cpu(root: Path) -> Cpu:
    """The processors of the machine whose file system starts at ``root``."""
    blocks = _blocks(text(root / "proc/cpuinfo") or "")
    places = _places(root, blocks)
    sockets = len({socket for socket, _ in places}) or 1
    threads = len(places) or 1
    cores = len(set(places)) or 1
    return Cpu(
        model=_model(root, blocks),
        sockets=sockets,
        cores_per_socket=max(1, cores // sockets),
        threads=threads,
        usable=usable_cpus(root, threads),
        frequency=_frequency(root, blocks),
        caches=_caches(root),
        interconnect=_numa(root),
        is_virtual=any("hypervisor" in block.get("flags", "").split() for block in blocks[:1]),
    )


def usable_cpus(root: Path, threads: int) -> int:
    """Logical CPUs that this process may use at once.

    Args:
        root: Where the file system starts.
        threads: Logical CPUs that are online.
    """
    status = dict(fields(text(root / "proc/self/status") or "", ":"))
    allowed = len(cpu_list(status.get("Cpus_allowed_list", ""))) or threads
    quota, period = 0.0, 0.0
    limit = (text(root / "sys/fs/cgroup/cpu.max") or "").split()  # control groups, version 2
    if len(limit) == 2 and limit[0].isdigit() and limit[1].isdigit():
        quota, period = float(limit[0]), float(limit[1])
    else:  # version 1; -1 stands for no limit
        quota = number(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us") or 0
        period = number(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us") or 0
    by_quota = math.ceil(quota / period) if quota > 0 and period > 0 else threads
    return max(1, min(threads, allowed, by_quota))


def _blocks(cpuinfo: str) -> list[dict[str, str]]:
    """One dictionary for each logical CPU; Arm kernels may add one without "processor"."""
    return [dict(fields(block, ":")) for block in re.split(r"\n\s*\n", cpuinfo) if block.strip()]


def _places(root: Path, blocks: list[dict[str, str]]) -> list[tuple[int, int]]:
    """(socket, core) of each logical CPU; Arm and virtual machines may have no socket number."""
    found = []
    for cpu in children(root / "sys/devices/system/cpu", "cpu[0-9]*"):
        socket = number(cpu / "topology/physical_package_id")
        siblings = text(cpu / "topology/thread_siblings_list")
        if socket is not None and siblings:
            found.append((max(socket, 0), min(cpu_list(siblings))))
    if found:
        return found
    for index, block in enumerate(b for b in blocks if "processor" in b):
        core = block.get("core id", "")
        socket_text = block.get("physical id", "")
        found.append(
            (
                int(socket_text) if socket_text.isdigit() else 0,
                int(core) if core.isdigit() else index,
            )
        )
    return found


def _model(root: Path, blocks: list[dict[str, str]]) -> str:
    first = next((block for block in blocks if "processor" in block), {})
    name = first.get("model name") or next(
        (block["cpu"] for block in blocks if "cpu" in block), ""
    )  # POWER has "cpu"
    if not name:
        try:
            core = (int(first["CPU implementer"], 16), int(first["CPU part"], 16))
        except (KeyError, ValueError):
            core = (-1, -1)
        name = _ARM_CORES.get(core, "")
        if not name and core[0] >= 0:
            name = f"Arm implementer {core[0]:#x} part {core[1]:#x}"
        if text(root / "sys/class/dmi/id/sys_vendor") == "Amazon EC2":
            name = _GRAVITON.get(name, name)
    return " ".join(name.split())


def _frequency(root: Path, blocks: list[dict[str, str]]) -> str:
    folder = root / "sys/devices/system/cpu/cpu0/cpufreq"
    base, most = number(folder / "base_frequency"), number(folder / "cpuinfo_max_freq")
    known = [
        f"{khz / 1e6:.2f} GHz {word}" for word, khz in (("base", base), ("maximum", most)) if khz
    ]
    if known:
        return ", ".join(known)
    try:
        return f"{float(blocks[0]['cpu MHz']) / 1e3:.2f} GHz now"
    except (IndexError, KeyError, ValueError):
        return ""


def _caches(root: Path) -> str:
    found = []
    letters = {"Data": "d", "Instruction": "i", "Unified": ""}
    for index in children(root / "sys/devices/system/cpu/cpu0/cache", "index[0-9]*"):
        level, size = number(index / "level"), text(index / "size")
        letter = letters.get(text(index / "type") or "", "")
        shared = len(cpu_list(text(index / "shared_cpu_list") or ""))
        if level is not None and size:
            among = f" for {shared} CPUs" if shared > 1 else ""
            found.append(f"L{level}{letter} {size}{among}")
    return ", ".join(found)


def _numa(root: Path) -> str:
    nodes = children(root / "sys/devices/system/node", "node[0-9]*")
    if len(nodes) < 2:
        return ""
    distances = (text(nodes[0] / "distance") or "").replace(" ", ", ")
    return f"{len(nodes)} NUMA nodes" + (f", distances {distances}" if distances else "")
