"""What the parent and a worker process say to each other: one JSON object a line."""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trainmark.training.log_observer import Submission
from trainmark.types import WorkloadSpec

__all__ = ["MODES", "Request", "send"]

MODES = ("check", "probe", "train")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a worker is asked to do.

    Attributes:
        mode: "check" (look at settings and data, measure nothing), "probe" (decide settings,
            measure the peak) or "train" (one run).
        workload: The workload's name.
        scale: "desk" or "full".
        assignments: The user's ``name=value`` settings, for a check and a probe.
        variants: For a check: each is one more ``name=value``, looked at by itself.
        division: "closed" or "open", for a check and a probe.
        settings: Every setting by name, decided by the probe, for a run.
        spec: The workload's numbers as the probe found them, for a run.
        data: The user's data folder, None for packaged data.
        seed: The run's seed.
        log: The result log to create.
        submission: Who runs it.
        matmul_peak: Measured by the probe, FLOP/s.
    """

    mode: str
    workload: str
    scale: str
    assignments: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    division: str = "open"
    settings: dict[str, Any] = field(default_factory=dict)
    spec: WorkloadSpec | None = None
    data: Path | None = None
    seed: int = 0
    log: Path | None = None
    submission: Submission | None = None
    matmul_peak: float | None = None

    def encode(self) -> bytes:
        """The request as one line."""
        return orjson.dumps(dataclasses.asdict(self), default=str) + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> "Request":
        """The request that ``encode`` wrote."""
        fields = orjson.loads(line)
        for name, build in _BUILD.items():
            if fields[name] is not None:
                fields[name] = build(fields[name])
        return cls(**fields)


_BUILD: dict[str, Any] = {
    "assignments": tuple,
    "variants": tuple,
    "spec": WorkloadSpec.from_dict,
    "data": Path,
    "log": Path,
    "submission": lambda fields: Submission(**fields),
}


def send(stream: BinaryIO, kind: str, **fields: Any) -> None:
    """Write one message and flush it.

    Args:
        stream: Where to.
        kind: What the message is; stands under "kind".
        fields: What it says.
    """
    stream.write(orjson.dumps({"kind": kind, **fields}, default=str) + b"\n")
    stream.flush()
