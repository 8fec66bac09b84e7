"""The total that some submitters file beside the power logs of a run: ``total_power.txt``."""

import re
import stat
from collections.abc import Iterator
from pathlib import Path

from trainmark.rules.submission.power_energy import RunEnergy
from trainmark.types import Finding, Severity

__all__ = ["check_total"]

_TOTAL = re.compile(rb"(\d{1,9}(?:\.\d{1,9})?)[ \t]{0,8}kWh")
_MOST_BYTES = 4096
_ACCURACY = 0.05  # the accuracy that the rules ask of a power meter


def check_total(file: Path, energy: RunEnergy) -> Iterator[Finding]:
    """Whether a stated total is what the readings come to, within 5 %.

    With or without the switches: the published ones are without.

    Args:
        file: Where a total would stand; read only if it is a plain file.
        energy: What the readings of the run come to.
    """
    stated = _stated(file)
    if stated is None or energy.kwh is None:
        return
    either = (energy.kwh, (energy.node_joules or 0.0) / 3.6e6)
    if all(abs(stated - kwh) > _ACCURACY * max(stated, kwh) for kwh in either):
        yield Finding(
            rule="power.total",
            severity=Severity.WARNING,
            message=f"the file says {stated:g} kWh; the readings between run_start and run_stop "
            f"come to {energy.kwh:.2f} kWh",
            fix="Reckon the total from the readings of this run, nodes and switches together.",
            path=str(file),
            expected=f"{energy.kwh:.2f} kWh",
            found=f"{stated:g} kWh",
        )


def _stated(file: Path) -> float | None:
    """The kilowatt-hours in the file, None if there is no such file or no such number."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return None
        with file.open("rb") as stream:
            match = _TOTAL.search(stream.read(_MOST_BYTES))
    except OSError:
        return None
    return None if match is None else float(match[1])
