"""Accelerators: NVIDIA through NVML, AMD through the kernel driver, others by their PCI ids."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from trainmark.machine.reading import children, fields, number, text

__all__ = ["Accelerators", "read_accelerators", "read_amd", "read_nvidia", "read_pci"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """The accelerators of one node, all of one model.

    Attributes:
        model: The model's name, "" when there are none.
        count: How many.
        frequency: Highest clock, in words.
        memory: Memory of each, for example "80 GB".
        host_interconnect: How they hang on the host, for example "PCIe gen 5 x16".
        interconnect: How they hang together, for example "18 NVLink 4.0 links each".
        software: Driver versions by name.
        notes: What else is to be said, for example that no driver is loaded.
    """

    model: str = ""
    count: int = 0
    frequency: str = ""
    memory: str = ""
    host_interconnect: str = ""
    interconnect: str = ""
    software: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_accelerators(root: Path, nvml: Any = None) -> Accelerators:
    """The accelerators of the machine.

    Args:
        root: Where its file system starts.
        nvml: The module pynvml, or what stands in for it; imported without it when the root is
            this machine's.
    """
    if nvml is None and root == Path("/"):
        nvml = import_module("pynvml")
    found = Accelerators() if nvml is None else read_nvidia(nvml)
    if not found.count:
        found = read_amd(root)
    return found if found.count else read_pci(root)


def read_nvidia(nvml: Any) -> Accelerators:
    """NVIDIA accelerators; none when the driver is absent, which is normal.

    Args:
        nvml: The module pynvml, or what stands in for it.
    """
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return Accelerators()
    try:
        devices = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
        return _nvidia(nvml, devices) if devices else Accelerators()
    finally:
        nvml.nvmlShutdown()


def _nvidia(nvml: Any, devices: list[Any]) -> Accelerators:
    def ask(function: Callable[..., Any], *arguments: Any) -> Any:
        """The answer, None where this device or driver does not support the question."""
        try:
            return function(*arguments)
        except nvml.NVMLError:
            return None

    models = Counter(_decoded(ask(nvml.nvmlDeviceGetName, device)) for device in devices)
    model, count = models.most_common(1)[0]
    first = next(d for d in devices if _decoded(ask(nvml.nvmlDeviceGetName, d)) == model)
    clock = ask(nvml.nvmlDeviceGetMaxClockInfo, first, nvml.NVML_CLOCK_SM)
    memory = ask(nvml.nvmlDeviceGetMemoryInfo, first)
    power = ask(nvml.nvmlDeviceGetPowerManagementLimit, first)
    generation = ask(nvml.nvmlDeviceGetMaxPcieLinkGeneration, first)
    width = ask(nvml.nvmlDeviceGetMaxPcieLinkWidth, first)
    driver = ask(nvml.nvmlSystemGetDriverVersion)
    cuda = ask(nvml.nvmlSystemGetCudaDriverVersion_v2)
    notes = [f"also {n}x {name}" for name, n in models.most_common()[1:]]
    if power:
        notes.append(f"accelerator power limit {power / 1000:.0f} W")
    return Accelerators(
        model=model,
        count=count,
        frequency=f"{clock / 1000:.2f} GHz maximum" if clock else "",
        memory=f"{memory.total / 2**30:.0f} GB" if memory else "",
        host_interconnect=f"PCIe gen {generation} x{width}" if generation and width else "",
        interconnect=_nvlink(nvml, first, ask),
        software={
            **({"nvidia_driver": _decoded(driver)} if driver else {}),
            **({"cuda_driver": f"{cuda // 1000}.{cuda % 1000 // 10}"} if cuda else {}),
        },
        notes=tuple(notes),
    )


def _nvlink(nvml: Any, device: Any, ask: Callable[..., Any]) -> str:
    """NVLink of one device, as far as NVML tells; "" without it."""
    active = [
        link
        for link in range(nvml.NVML_NVLINK_MAX_LINKS)
        if ask(nvml.nvmlDeviceGetNvLinkState, device, link) == nvml.NVML_FEATURE_ENABLED
    ]
    if not active:
        return ""
    version = _NVLINK_VERSIONS.get(ask(nvml.nvmlDeviceGetNvLinkVersion, device, active[0]), "")
    return f"NVLink{f' {version}' if version else ''}, {len(active)} links each"


# NVML numbers the versions; the names are those of its header's enumeration.
_NVLINK_VERSIONS: Mapping[int | None, str] = {
    1: "1.0",
    2: "2.0",
    3: "2.2",
    4: "3.0",
    5: "3.1",
    6: "4.0",
    7: "5.0",
    8: "6.0",
}


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


# The kernel driver names few products itself. Ids: Linux and the public list of PCI ids.
_AMD: Mapping[int, str] = {
    0x738C: "AMD Instinct MI100",
    0x738E: "AMD Instinct MI100",
    0x7408: "AMD Instinct MI250X",
    0x740C: "AMD Instinct MI250X/MI250",
    0x740F: "AMD Instinct MI210",
    0x74A1: "AMD Instinct MI300X",
    0x74A5: "AMD Instinct MI325X",
}
_XGMI = "11"  # the type of a link between two AMD accelerators in the driver's topology


def read_amd(root: Path) -> Accelerators:
    """AMD accelerators, from the topology that the kernel driver shows under /sys/class/kfd."""
    found = []
    for node in children(root / "sys/class/kfd/kfd/topology/nodes", "[0-9]*"):
        properties = dict(fields(text(node / "properties") or ""))
        if properties.get("simd_count", "0") != "0":  # 0: a CPU
            found.append((node, properties))
    if not found:
        return Accelerators()
    names = Counter(_amd_name(root, properties) for _, properties in found)
    model, count = names.most_common(1)[0]
    node, properties = next((n, p) for n, p in found if _amd_name(root, p) == model)
    clock = properties.get("max_engine_clk_fcompute", "")
    banks = (text(bank / "properties") or "" for bank in children(node / "mem_banks", "[0-9]*"))
    memory = sum(int(dict(fields(bank)).get("size_in_bytes", "0")) for bank in banks)
    links = sum(
        dict(fields(text(link / "properties") or "")).get("type") == _XGMI
        for link in children(node / "io_links", "[0-9]*")
    )
    versions = {
        "amdgpu_driver": text(root / "sys/module/amdgpu/version"),
        "rocm": text(root / "opt/rocm/.info/version"),
    }
    return Accelerators(
        model=model,
        count=count,
        frequency=f"{int(clock) / 1000:.2f} GHz maximum" if clock.isdigit() else "",
        memory=f"{memory / 2**30:.0f} GB" if memory else "",
        interconnect=f"Infinity Fabric, {links} links each" if links else "",
        software={name: version for name, version in versions.items() if version},
        notes=tuple(f"also {n}x {name}" for name, n in names.most_common()[1:]),
    )


def _amd_name(root: Path, properties: Mapping[str, str]) -> str:
    """The driver's own product name, else the name of the device id."""
    minor = properties.get("drm_render_minor", "")
    name = text(root / f"sys/class/drm/renderD{minor}/device/product_name") if minor else None
    device = int(properties.get("device_id", "0"))
    return name or _AMD.get(device) or _listed(root, 0x1002, device) or f"AMD 1002:{device:04x}"


# Accelerators without a management library that we use, by (vendor, device) on the PCI bus.
_PCI: Mapping[tuple[int, int], str] = {
    (0x1AE0, 0x005E): "TPU-v4",
    (0x1AE0, 0x0062): "TPU-v5p",
    (0x1AE0, 0x0063): "TPU-v5e",
    (0x1AE0, 0x006F): "TPU-v6e",
    (0x1AE0, 0x0076): "TPU7x",
    (0x1DA3, 0x1000): "Habana Gaudi",
    (0x1DA3, 0x1010): "Habana Gaudi",
    (0x1DA3, 0x1020): "Intel Gaudi 2",
    (0x1DA3, 0x1030): "Intel Gaudi 2",
    (0x1DA3, 0x1060): "Intel Gaudi 3",
    (0x1DA3, 0x1063): "Intel Gaudi 3",
    (0x1D0F, 0x7064): "AWS Inferentia",
    (0x1D0F, 0x7164): "AWS Trainium",
    (0x1D0F, 0x7264): "AWS Inferentia2",
    (0x19E5, 0xD801): "Huawei Ascend 910",
    (0x19E5, 0xD802): "Huawei Ascend 910B",
    (0x8086, 0x0BD5): "Intel Data Center GPU Max 1550",
    (0x8086, 0x0BDA): "Intel Data Center GPU Max 1100",
}
# TPU v2 and v3 share a device; the subsystem tells them apart.
_PCI_BY_SUBSYSTEM: Mapping[tuple[int, int, int], str] = {
    (0x1AE0, 0x0027, 0x004E): "TPU-v2",
    (0x1AE0, 0x0027, 0x004F): "TPU-v3",
}
# Of these makers any device of the two classes below is an accelerator for training; others put
# compression engines and programmable logic there as well.
_VENDORS: Mapping[int, str] = {
    0x1002: "AMD",
    0x10DE: "NVIDIA",
    0x1AE0: "Google",
    0x1D95: "Graphcore",
    0x1DA3: "Habana",
}
_PROCESSING_ACCELERATOR = 0x12
_COMPUTE_GRAPHICS = 0x0302  # a "3D controller": a data-centre GPU without a display


def read_pci(root: Path) -> Accelerators:
    """Accelerators by what the PCI bus says, with a driver or without."""
    found: Counter[str] = Counter()
    links: dict[str, str] = {}
    for device in children(root / "sys/bus/pci/devices"):
        name = _pci_name(root, device)
        if name:
            found[name] += 1
            links.setdefault(name, _pci_link(device))
    if not found:
        return Accelerators()
    (model, count), *others = found.most_common()
    notes = [f"also {n}x {name}" for name, n in others]
    if "NVIDIA" in model:
        notes.append("no NVIDIA driver is loaded")
    return Accelerators(
        model=model, count=count, host_interconnect=links[model], notes=tuple(notes)
    )


def _pci_name(root: Path, folder: Path) -> str:
    """The accelerator's name, "" for a device that is none."""
    vendor, device = number(folder / "vendor"), number(folder / "device")
    kind = (number(folder / "class") or 0) >> 8
    if vendor is None or device is None:
        return ""
    subsystem = number(folder / "subsystem_device") or 0
    name = _PCI_BY_SUBSYSTEM.get((vendor, device, subsystem)) or _PCI.get((vendor, device))
    maker = _VENDORS.get(vendor)
    of_kind = kind >> 8 == _PROCESSING_ACCELERATOR or kind == _COMPUTE_GRAPHICS
    if name or maker is None or not of_kind:
        return name or ""
    listed = _listed(root, vendor, device)
    return f"{maker} {listed}" if listed else f"{maker} {vendor:04x}:{device:04x}"


def _pci_link(folder: Path) -> str:
    """The link to the host; the speed in GT/s tells the generation."""
    speed = re.match(r"[\d.]+", text(folder / "max_link_speed") or "")
    generation = _PCIE_GENERATIONS.get(float(speed.group())) if speed else None
    width = number(folder / "max_link_width")
    return f"PCIe gen {generation} x{width}" if generation and width else ""


_PCIE_GENERATIONS: Mapping[float, int] = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}


def _listed(root: Path, vendor: int, device: int) -> str:
    """The device's name in the system's own list of PCI ids, "" without one."""
    for path in ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids"):
        content = text(root / path) or ""
        match = re.search(
            rf"^{vendor:04x}  [^\n]*\n(?:[\t#][^\n]*\n)*?\t{device:04x}  ([^\n]+)",
            content,
            re.MULTILINE,
        )
        if match:
            short = re.search(r"\[([^\]]+)\]", match[1])
            return short[1] if short else match[1].strip()
    return ""
