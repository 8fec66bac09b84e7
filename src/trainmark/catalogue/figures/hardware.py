"""What one accelerator can do by its datasheet: dense peaks, memory, bandwidth, power."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainmark.catalogue.figures.figure import Figure

__all__ = ["PRECISIONS", "UNITS", "Hardware"]

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")

# The figures of an accelerator and their units; a peak is dense, never with structured sparsity.
UNITS: dict[str, str] = {
    **dict.fromkeys(PRECISIONS, "TFLOP/s"),
    "memory_gb": "GB",
    "bandwidth_gbs": "GB/s",
    "watts": "W",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """One accelerator.

    Attributes:
        name: Its name in the catalogue's vocabulary, ``Result.accelerator``.
        vendor: Who makes it.
        architecture: Its architecture or generation, "Hopper".
        year: Year of the announcement.
        figures: The known figures by the keys of ``UNITS``.
    """

    name: str
    vendor: str
    architecture: str
    year: int
    figures: Mapping[str, Figure]

    def peak(self, precision: str) -> Figure | None:
        """The dense peak, TFLOP/s; None where it is not known.

        Args:
            precision: One of ``PRECISIONS``.
        """
        assert precision in PRECISIONS, precision
        return self.figures.get(precision)

    @property
    def peak_16_bit(self) -> tuple[str, Figure] | None:
        """The precision and dense peak that training mostly uses: bf16, else fp16."""
        for precision in ("bf16", "fp16"):
            if precision in self.figures:
                return precision, self.figures[precision]
        return None

    @property
    def memory(self) -> Figure | None:
        """Memory of one accelerator, GB."""
        return self.figures.get("memory_gb")

    @property
    def bandwidth(self) -> Figure | None:
        """Bandwidth of that memory, GB/s."""
        return self.figures.get("bandwidth_gbs")

    @property
    def watts(self) -> Figure | None:
        """Rated power of the accelerator alone, W: a datasheet's number, never a measurement."""
        return self.figures.get("watts")

    def to_dict(self) -> dict[str, Any]:
        """The accelerator as plain data for ``--json``."""
        return {
            "id": self.name,
            "kind": "hardware",
            "vendor": self.vendor,
            "architecture": self.architecture,
            "year": self.year,
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
        }
