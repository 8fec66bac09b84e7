"""Which machine this is: a fingerprint for comparing, a line for people, a name for files."""

import hashlib
import json
import math
import re

from trainmark.types import System

__all__ = ["default_name", "describe_short", "fingerprint"]

_GIGABYTES = {"MB": 1 / 1024, "GB": 1.0, "TB": 1024.0}


def fingerprint(system: System) -> str:
    """A short hash of the hardware: equal as long as the machine is the same one.

    Processors, the CPUs that may be used, memory and accelerators count; names, notes and
    software do not, so that a gain by software alone compares on the same machine. Memory counts
    in steps of half a doubling: kernels differ in how much they set aside.

    Args:
        system: The machine.
    """
    memory = _gigabytes(system.host_memory_capacity)
    identity = [
        system.number_of_nodes,
        system.host_processor_model_name,
        system.host_processors_per_node,
        system.host_processor_core_count,
        system.host_processor_vcpu_count,
        None if memory is None else round(2 * math.log2(memory)),
        system.accelerator_model_name,
        system.accelerators_per_node,
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]


def describe_short(system: System) -> str:
    """One line for people, for example "2x AMD EPYC cores, 24 GB, no accelerator".

    Args:
        system: The machine.
    """
    cores = system.host_processors_per_node * system.host_processor_core_count
    parts = [f"{cores}x {_short_cpu(system.host_processor_model_name) or 'unknown'} cores"]
    parts += [system.host_memory_capacity] if system.host_memory_capacity else []
    count, model = system.accelerators_per_node, system.accelerator_model_name
    parts.append(f"{count}x {model}" if count else "no accelerator")
    nodes = f"{system.number_of_nodes} nodes, each " if system.number_of_nodes > 1 else ""
    return nodes + ", ".join(parts)


def default_name(system: System) -> str:
    """A name made of the hardware, fit for a file: "8xNVIDIA-H100", "2xAMD-EPYC-cores".

    Args:
        system: The machine.
    """
    count, model = system.accelerators_per_node, system.accelerator_model_name
    if not count:
        count = system.host_processors_per_node * system.host_processor_core_count
        model = f"{_short_cpu(system.host_processor_model_name) or 'CPU'} cores"
    return f"{count}x{re.sub('[^A-Za-z0-9.+]+', '-', model).strip('-.')}"


def _short_cpu(model: str) -> str:
    """The processor's name without trademark signs, clock and number of cores."""
    bare = re.sub(r"\((?:R|TM|tm|r)\)", "", model)
    bare = re.sub(r"\bCPU\b|\bProcessor\b|\b\d+-Core\b|@.*", "", bare)
    return " ".join(bare.split())


def _gigabytes(capacity: str) -> float | None:
    match = re.match(r"([\d.]+) ?(MB|GB|TB)", capacity)
    return float(match[1]) * _GIGABYTES[match[2]] if match and float(match[1]) > 0 else None
