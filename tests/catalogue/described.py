"""System files as submitters wrote them, shortened, and a call of describe for each."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainmark.catalogue.naming.describe import Described, describe
from trainmark.rules.submission.systems_claims import LoggedSystem
from trainmark.types import Run

# The fields that today's system files all have, those that count.
FIELDS: dict[str, Any] = {
    "submitter": "Dell",
    "division": "closed",
    "status": "onprem",
    "system_name": "4xXE8545x4A100-SXM-80GB",
    "number_of_nodes": "4",
    "host_processors_per_node": "2",
    "host_processor_model_name": "AMD EPYC 7713 64-Core Processor",
    "accelerators_per_node": "4",
    "accelerator_model_name": "NVIDIA A100-SXM4-80GB (500W)",
    "accelerator_interconnect": "NVLINK 3.0 600GB/s",
    "accelerator_memory_capacity": "80 GB",
    "host_networking": "2x ConnectX-6 IB HDR 200Gb/Sec",
    "framework": "PyTorch NVIDIA Release 22.04",
    "other_software_stack": {"cuda_version": "11.6", "cudnn_version": "8.4.0"},
    "operating_system": "Ubuntu 20.04",
}


def described(
    changes: Mapping[str, Any] | None = None,
    *,
    data: bytes | None = None,
    submitter: str = "Dell",
    system: str = "4xXE8545x4A100-SXM-80GB",
    benchmark: str = "bert",
    round_name: str = "2.0",
    runs: Sequence[Run] = (),
    counted: Sequence[LoggedSystem] = (),
    implementations: Sequence[str] = (),
) -> Described:
    """Describe the system of ``FIELDS`` with changes, or of a file's bytes."""
    if data is None:
        fields = FIELDS | dict(changes or {})
        data = json.dumps(
            {key: value for key, value in fields.items() if value is not None}
        ).encode()
    return describe(
        data,
        path=f"{submitter}/systems/{system}.json",
        round_name=round_name,
        submitter=submitter,
        system=system,
        benchmark=benchmark,
        runs=runs,
        counted=counted,
        implementations=implementations,
    )


def kinds(found: Described, *, resolved: bool | None = None) -> list[str]:
    """The kinds of the doubts, of all or of those that are settled or open."""
    return [d.kind for d in found.doubts if resolved is None or d.resolved is resolved]
