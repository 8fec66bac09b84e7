"""A machine in the official system-description form, from what software can see of it."""

from pathlib import Path
from typing import Any

import orjson

from trainmark.machine.accelerators import read_accelerators
from trainmark.machine.cpu import read_cpu
from trainmark.machine.host import (
    Storage,
    read_memory,
    read_network,
    read_storage,
    read_surroundings,
)
from trainmark.machine.identity import default_name
from trainmark.machine.software import read_framework, read_operating_system, read_software
from trainmark.types import System, UsageError, atomic_write, unknown_name

__all__ = ["DIVISIONS", "STATUSES", "describe", "write_system"]

DIVISIONS = ("closed", "open")
STATUSES = ("cloud", "onprem", "preview", "research")


def describe(
    *,
    root: Path = Path("/"),
    folder: Path | None = None,
    nvml: Any = None,
    submitter: str = "",
    system_name: str = "",
    division: str = "closed",
    status: str = "onprem",
    framework: str | None = None,
) -> System:
    """Describe one node. A field that software cannot see is "".

    ``host_processor_core_count`` counts the cores of one processor, as submissions have it;
    ``host_processor_vcpu_count`` the logical CPUs that this process may use.

    Args:
        root: Where the machine's file system starts.
        folder: The folder whose storage counts; the working folder without it.
        nvml: What stands in for the module pynvml.
        submitter: The organisation.
        system_name: The system's name; made of its hardware without it.
        division: "closed" or "open".
        status: "cloud", "onprem", "preview" or "research".
        framework: Framework and version; the installed ones without it.

    Raises:
        UsageError: An unknown division or status.
    """
    if division not in DIVISIONS:
        raise unknown_name("division", division, DIVISIONS)
    if status not in STATUSES:
        raise unknown_name("status", status, STATUSES)
    cpu = read_cpu(root)
    found = read_accelerators(root, nvml)
    storage = _storage(root, folder)
    notes = [*read_surroundings(root, cpu.is_virtual), *found.notes]
    if cpu.usable < cpu.threads:
        notes.append(f"limited to {cpu.usable} of {cpu.threads} CPUs")
    fields: dict[str, Any] = {
        "submitter": submitter,
        "division": division,
        "status": status,
        "host_processors_per_node": cpu.sockets,
        "host_processor_model_name": cpu.model,
        "host_processor_core_count": cpu.cores_per_socket,
        "host_processor_vcpu_count": cpu.usable,
        "host_processor_frequency": cpu.frequency,
        "host_processor_caches": cpu.caches,
        "host_processor_interconnect": cpu.interconnect,
        "host_memory_capacity": read_memory(root),
        "host_storage_type": storage.kind,
        "host_storage_capacity": storage.capacity,
        "host_networking": read_network(root),
        "accelerators_per_node": found.count,
        "accelerator_model_name": found.model,
        "accelerator_host_interconnect": found.host_interconnect,
        "accelerator_frequency": found.frequency,
        "accelerator_memory_capacity": found.memory,
        "accelerator_interconnect": found.interconnect,
        "hw_notes": "; ".join(notes),
        "framework": read_framework() if framework is None else framework,
        "other_software_stack": {**read_software(root), **found.software},
        "operating_system": read_operating_system(root),
    }
    unnamed = System(**fields)
    return System(**fields, system_name=system_name or default_name(unnamed))


def _storage(root: Path, folder: Path | None) -> Storage:
    """The storage of a folder; of none where the working folder was removed."""
    try:
        return read_storage(root, Path.cwd() if folder is None else folder.absolute())
    except FileNotFoundError:
        return Storage()


def write_system(system: System, path: Path) -> None:
    """Write a system description as JSON, whole or not at all.

    Args:
        system: The description.
        path: The file; its folder must exist.

    Raises:
        UsageError: The folder is missing or may not be written to; a text is no Unicode.
        TrainmarkError: The write failed.
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        content = orjson.dumps(system.to_dict(), option=options)
    except orjson.JSONEncodeError as error:  # a name from a command line that is not UTF-8
        raise UsageError(
            f"cannot write {path}: {error}", hint="Give names in UTF-8, for example in plain ASCII."
        ) from error
    atomic_write(path, content)
