"""Memory, storage, network and what is around the machine, from /proc and /sys."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainmark.machine.reading import children, fields, number, text

__all__ = ["Storage", "read_memory", "read_network", "read_storage", "read_surroundings"]

_NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "gpfs", "lustre", "nfs", "nfs4", "smb3"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where a folder is stored.

    Attributes:
        kind: In words, for example "NVMe SSD (Samsung PM9A3), ext4".
        capacity: The size of its file system, for example "1.9 TB".
    """

    kind: str = ""
    capacity: str = ""


def read_memory(root: Path) -> str:
    """The memory that the kernel has, for example "24 GB" (binary units, rounded)."""
    memory = dict(fields(text(root / "proc/meminfo") or "", ":"))
    match = re.match(r"(\d+) kB", memory.get("MemTotal", ""))
    if match is None:
        return ""
    gigabytes = int(match[1]) / 2**20
    return f"{gigabytes:.0f} GB" if gigabytes >= 2 else f"{gigabytes:.1f} GB"


def read_storage(root: Path, folder: Path) -> Storage:
    """The storage of a folder.

    Args:
        root: Where the file system of the machine starts.
        folder: An absolute path on that machine.
    """
    mount = _mount(root, folder)
    if mount is None:
        return Storage()
    numbers, file_system, source = mount
    if file_system in _NETWORK_FILE_SYSTEMS:
        kind = f"network file system {file_system}"
    elif file_system in ("tmpfs", "ramfs"):
        kind = f"memory ({file_system})"
    else:
        kind = ", ".join(filter(None, (_device(root, numbers, source), file_system)))
    return Storage(kind=kind, capacity=_capacity(root, folder))


def read_network(root: Path) -> str:
    """Network interfaces with their speeds, equal ones counted: "8x InfiniBand 400 Gb/s"."""
    found: Counter[str] = Counter()
    for port in children(root / "sys/class/infiniband", "*/ports/*"):
        rate = re.match(r"([\d.]+) Gb/sec", text(port / "rate") or "")
        layer = text(port / "link_layer") or "InfiniBand"
        if (text(port / "state") or "").endswith("ACTIVE") and layer == "InfiniBand":
            device = port.parents[1].name.rstrip("0123456789").rstrip("_")
            found[f"InfiniBand{f' {rate[1]} Gb/s' if rate else ''} ({device})"] += 1
    for interface in children(root / "sys/class/net"):
        if not (interface / "device").exists() or number(interface / "type") != 1:
            continue  # software interfaces have no device; type 1 is Ethernet
        driver = (interface / "device/driver").resolve().name
        speed = number(interface / "speed")
        rate_text = f" {_rate(speed)}" if speed and speed > 0 else ""
        known = driver if driver != "driver" else ""
        found[f"Ethernet{rate_text}{f' ({known})' if known else ''}"] += 1
    return ", ".join(f"{count}x {name}" for name, count in found.items())


def read_surroundings(root: Path, is_virtual: bool) -> tuple[str, ...]:
    """What is around: the product, a virtual machine, a container; each as one phrase.

    Args:
        root: Where the file system starts.
        is_virtual: Whether the CPU says that a hypervisor is below.
    """
    dmi = root / "sys/class/dmi/id"
    product = " ".join(filter(None, (text(dmi / "sys_vendor"), text(dmi / "product_name"))))
    if not product:
        product = text(root / "proc/device-tree/model") or ""
    hypervisor = text(root / "sys/hypervisor/type")
    notes = [product]
    if is_virtual or hypervisor:
        notes.append(f"virtual machine{f' ({hypervisor})' if hypervisor else ''}")
    marks: Mapping[str, str] = {".dockerenv": "Docker", "run/.containerenv": "Podman"}
    notes += [f"container ({name})" for path, name in marks.items() if (root / path).exists()]
    return tuple(note for note in notes if note)


def _mount(root: Path, folder: Path) -> tuple[str, str, str] | None:
    """(major:minor, file system, source) of the mount that holds a folder."""
    best: tuple[int, tuple[str, str, str]] | None = None
    for line in (text(root / "proc/self/mountinfo") or "").splitlines():
        before, dash, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if not dash or len(left) < 5 or len(right) < 2:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), left[4])
        if folder.is_relative_to(point) and (best is None or len(point) >= best[0]):
            best = (len(point), (left[2], right[0], right[1]))
    return None if best is None else best[1]


def _device(root: Path, numbers: str, source: str) -> str:
    """The disk below a mount, in words; "" when there is none to be seen."""
    link = root / "sys/dev/block" / numbers
    name = link.resolve().name if link.exists() else Path(source).name
    block = root / "sys/class/block" / name
    if not block.exists():
        return ""
    block = block.resolve()
    disks = Counter(  # below a logical volume or a software RAID: its disks
        _disk(root, below.name) for below in children(block / "slaves") or [block]
    )
    return ", ".join(f"{n}x {disk}" if n > 1 else disk for disk, n in disks.items())


def _disk(root: Path, name: str) -> str:
    block = (root / "sys/class/block" / name).resolve()
    if (block / "partition").exists():
        block = block.parent
    model = " ".join((text(block / "device/model") or "").split())
    if block.name.startswith("nvme"):
        kind = "NVMe SSD"
    elif block.name.startswith(("vd", "xvd")):
        kind = "virtual disk"
    else:
        rotational = number(block / "queue/rotational")
        kind = "disk" if rotational is None else "hard disk" if rotational else "SSD"
    return f"{kind} ({model})" if model else kind


def _capacity(root: Path, folder: Path) -> str:
    """The size of the file system; of the nearest folder that exists."""
    path = root / os.fspath(folder).lstrip("/")
    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        total = shutil.disk_usage(path).total
    except OSError:
        return ""
    return f"{total / 1e12:.1f} TB" if total >= 1e12 else f"{total / 1e9:.0f} GB"


def _rate(megabits: int) -> str:
    return f"{megabits / 1000:g} Gb/s" if megabits >= 1000 else f"{megabits} Mb/s"
