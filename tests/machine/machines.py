"""Small /proc and /sys trees of several kinds of machine, and a stand-in for NVML."""

from pathlib import Path
from typing import Any, Self


def plant(root: Path, files: dict[str, str]) -> Path:
    """Make files below a root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def link(root: Path, name: str, target: str) -> None:
    """Make a link below a root to a path below the same root."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(root / target)


def _x86(model: str, sockets: int, cores: int, threads_per_core: int, flags: str) -> dict[str, str]:
    """cpuinfo and topology; the second threads of all cores come after the first ones."""
    files, blocks = {}, []
    count = sockets * cores
    for cpu in range(count * threads_per_core):
        core = cpu % count
        socket = core // cores
        siblings = ",".join(str(core + count * t) for t in range(threads_per_core))
        topology = f"sys/devices/system/cpu/cpu{cpu}/topology"
        files[f"{topology}/physical_package_id"] = f"{socket}\n"
        files[f"{topology}/thread_siblings_list"] = f"{siblings}\n"
        blocks.append(
            f"processor\t: {cpu}\nmodel name\t: {model}\ncpu MHz\t\t: 2500.000\n"
            f"physical id\t: {socket}\ncore id\t\t: {core % cores}\nflags\t\t: {flags}\n"
        )
    return files | {"proc/cpuinfo": "\n".join(blocks)}


def intel_two_sockets(root: Path) -> Path:
    """Two Xeons of 4 cores, hyper-threading, NUMA, a RAID of NVMe disks, two networks."""
    cpu0, cache = "sys/devices/system/cpu/cpu0", "sys/devices/system/cpu/cpu0/cache"
    files = _x86("Intel(R) Xeon(R) Platinum 8480+  CPU @ 2.00GHz", 2, 4, 2, "fpu avx512f amx_bf16")
    files |= {
        f"{cpu0}/cpufreq/base_frequency": "2000000\n",
        f"{cpu0}/cpufreq/cpuinfo_max_freq": "3800000\n",
        f"{cache}/index0/level": "1\n",
        f"{cache}/index0/type": "Data\n",
        f"{cache}/index0/size": "48K\n",
        f"{cache}/index0/shared_cpu_list": "0,8\n",
        f"{cache}/index3/level": "3\n",
        f"{cache}/index3/type": "Unified\n",
        f"{cache}/index3/size": "107520K\n",
        f"{cache}/index3/shared_cpu_list": "0-3,8-11\n",
        "sys/devices/system/node/node0/distance": "10 21\n",
        "sys/devices/system/node/node1/distance": "21 10\n",
        "proc/meminfo": "MemTotal:       1056413184 kB\nMemFree: 5 kB\n",
        "proc/sys/kernel/osrelease": "6.8.0-40-generic\n",
        "etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
        "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
        "sys/class/dmi/id/product_name": "PowerEdge R760\n",
        "proc/self/mountinfo": (
            "22 1 9:0 / / rw,relatime shared:1 - ext4 /dev/md0 rw\n"
            "23 22 0:40 / /data\\040sets rw - nfs4 server:/export rw\n"
            "24 22 0:41 / /dev/shm rw - tmpfs tmpfs rw\n"
        ),
        "sys/class/net/eno1/type": "1\n",
        "sys/class/net/eno1/speed": "1000\n",
        "sys/class/net/eno1/device/vendor": "0x8086\n",
        "sys/class/net/ens2/type": "1\n",
        "sys/class/net/ens2/speed": "-1\n",
        "sys/class/net/ens2/device/vendor": "0x8086\n",
        "sys/class/net/lo/type": "772\n",
        "sys/class/net/docker0/type": "1\n",
        "sys/class/net/docker0/speed": "10000\n",
    }
    for disk in ("nvme0n1", "nvme1n1"):
        files[f"sys/class/block/md0/slaves/{disk}/size"] = "1\n"
        files[f"sys/class/block/{disk}/device/model"] = "SAMSUNG MZQL2  \n"
        files[f"sys/class/block/{disk}/queue/rotational"] = "0\n"
    for number in range(8):
        port = f"sys/class/infiniband/mlx5_{number}/ports/1"
        files[f"{port}/rate"] = "400 Gb/sec (4X NDR)\n"
        files[f"{port}/link_layer"] = "InfiniBand\n"
        files[f"{port}/state"] = "4: ACTIVE\n"
    files["sys/class/infiniband/mlx5_8/ports/1/state"] = "1: DOWN\n"
    return plant(root, files)


def amd_virtual(root: Path) -> Path:
    """A virtual EPYC of 8 CPUs of which a container may use two and a half."""
    files = _x86("AMD EPYC 7742 64-Core Processor", 1, 8, 1, "fpu hypervisor avx2")
    plant(
        root,
        files
        | {
            "proc/meminfo": "MemTotal:       24683656 kB\n",
            "proc/self/status": "Name:\tx\nCpus_allowed_list:\t0-5\n",
            "sys/fs/cgroup/cpu.max": "250000 100000\n",
            ".dockerenv": "",
            "proc/self/mountinfo": "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n",
            "sys/devices/virtio1/block/vda/vda1/partition": "1\n",
            "sys/devices/virtio1/block/vda/queue/rotational": "1\n",
        },
    )
    link(root, "sys/class/block/vda1", "sys/devices/virtio1/block/vda/vda1")
    return root


def graviton(root: Path) -> Path:
    """An Arm machine of Amazon: no model name, no socket number."""
    block = "processor\t: {}\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"
    return plant(
        root,
        {
            "proc/cpuinfo": "\n".join(block.format(cpu) for cpu in range(4)),
            "proc/meminfo": "MemTotal:        7900000 kB\n",
            "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
            "sys/class/dmi/id/product_name": "c7g.xlarge\n",
        },
    )


def amd_accelerators(root: Path) -> Path:
    """Four MI300X behind one CPU node, as the kernel driver shows them."""
    nodes = "sys/class/kfd/kfd/topology/nodes"
    files = {
        f"{nodes}/0/properties": "cpu_cores_count 96\nsimd_count 0\n",
        "sys/module/amdgpu/version": "6.8.5\n",
        "opt/rocm/.info/version": "6.2.0-66\n",
    }
    for node in range(1, 5):
        files[f"{nodes}/{node}/properties"] = (
            "cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\ndevice_id 29857\n"
            f"max_engine_clk_fcompute 2100\ndrm_render_minor {127 + node}\n"
        )
        files[f"{nodes}/{node}/mem_banks/0/properties"] = (
            "heap_type 1\nsize_in_bytes 206141652992\n"
        )
        files[f"{nodes}/{node}/io_links/0/properties"] = "type 2\n"
        for link in range(1, 4):
            files[f"{nodes}/{node}/io_links/{link}/properties"] = "type 11\n"
    return plant(root, files)


def pci(root: Path, *devices: tuple[str, str, str, str]) -> Path:
    """Devices on the bus: (vendor, device, class, subsystem device)."""
    files: dict[str, str] = {}
    for number, (vendor, device, kind, subsystem) in enumerate(devices):
        folder = f"sys/bus/pci/devices/0000:{number:02x}:00.0"
        files |= {
            f"{folder}/vendor": f"{vendor}\n",
            f"{folder}/device": f"{device}\n",
            f"{folder}/class": f"{kind}\n",
            f"{folder}/subsystem_device": f"{subsystem}\n",
            f"{folder}/max_link_speed": "32.0 GT/s PCIe\n",
            f"{folder}/max_link_width": "16\n",
        }
    return plant(root, files)


class _Memory:
    total = 85520809984


class FakeNvml:
    """NVML with devices of the given names; what is in ``unsupported`` raises."""

    NVML_CLOCK_SM = 1
    NVML_FEATURE_ENABLED = 1
    NVML_NVLINK_MAX_LINKS = 18

    class NVMLError(Exception):
        """As pynvml's."""

    def __init__(
        self, *names: str | bytes, links: int = 18, unsupported: tuple[str, ...] = ()
    ) -> None:
        self.names, self.links, self.unsupported = names, links, unsupported
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml"):
            self.calls.append(name)
            if name in self.unsupported:
                return self._refuse
        return object.__getattribute__(self, name)

    def _refuse(self, *_: Any) -> Self:
        raise FakeNvml.NVMLError("Not Supported")

    def nvmlInit(self) -> None: ...  # noqa: N802 - NVML's names

    def nvmlShutdown(self) -> None: ...  # noqa: N802

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.names)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetName(self, handle: int) -> str | bytes:  # noqa: N802
        return self.names[handle]

    def nvmlDeviceGetMaxClockInfo(self, handle: int, kind: int) -> int:  # noqa: N802
        return 1980

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> _Memory:  # noqa: N802
        return _Memory()

    def nvmlDeviceGetPowerManagementLimit(self, handle: int) -> int:  # noqa: N802
        return 700_000

    def nvmlDeviceGetMaxPcieLinkGeneration(self, handle: int) -> int:  # noqa: N802
        return 5

    def nvmlDeviceGetMaxPcieLinkWidth(self, handle: int) -> int:  # noqa: N802
        return 16

    def nvmlDeviceGetNvLinkState(self, handle: int, link: int) -> int:  # noqa: N802
        return int(link < self.links)

    def nvmlDeviceGetNvLinkVersion(self, handle: int, link: int) -> int:  # noqa: N802
        return 6

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "550.90.07"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:  # noqa: N802
        return 12040
