"""Reference convergence: whether runs converged as fast as the published references allow.

Closed results from round 1.0 on are held to runs of the reference implementation ("reference
convergence points", RCP): runs that need clearly fewer epochs or samples than these are not
accepted, and those that need a little fewer have their score scaled.
"""

from typing import TYPE_CHECKING

from trainmark.types.lazy import lazily

if TYPE_CHECKING:
    from trainmark.rules.convergence.check import Convergence, check_convergence, is_checked
    from trainmark.rules.convergence.measured import Measured, measure
    from trainmark.rules.convergence.points import References, references
    from trainmark.rules.convergence.scaling import check_scaling
    from trainmark.rules.convergence.table import reference_data, references_table

__all__ = [
    "Convergence",
    "Measured",
    "References",
    "check_convergence",
    "check_scaling",
    "is_checked",
    "measure",
    "reference_data",
    "references",
    "references_table",
]

__getattr__ = lazily(
    __name__,
    {
        "check": ("Convergence", "check_convergence", "is_checked"),
        "measured": ("Measured", "measure"),
        "points": ("References", "references"),
        "scaling": ("check_scaling",),
        "table": ("reference_data", "references_table"),
    },
)
