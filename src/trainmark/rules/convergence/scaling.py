"""Compare a folder's scaling.json with the factor that reference convergence gives."""

import math

from trainmark.rules.convergence.check import Convergence
from trainmark.rules.convergence.table import factor
from trainmark.types import Finding, Severity

__all__ = ["check_scaling"]

_TOLERANCE = 1e-4  # relative
_FILE = "scaling.json"


def check_scaling(folder_factor: float | None, convergence: Convergence) -> list[Finding]:
    """Whether ``scaling.json`` holds the factor that is due.

    Args:
        folder_factor: The number in the file, None without a file.
        convergence: What reference convergence says of the folder.
    """
    verdict, due = convergence.judgement, convergence.factor
    if verdict is None:
        return []
    if due is None:
        return [] if folder_factor is None else _of_a_failed(folder_factor, convergence)
    if folder_factor is None:
        return [] if due == 1 or not convergence.scales else [_absent(due, convergence)]
    if _same(folder_factor, due):
        return []
    full = convergence.full
    if full is not None and _same(folder_factor, full.factor):
        return [
            _wrong(
                f"scaling_factor is {factor(folder_factor)}, which is right by all reference "
                f"points; by the pruned ones, which decide, {_expected(due)}",
                convergence,
                due,
                folder_factor,
                severity=Severity.WARNING,
            )
        ]
    return [
        _wrong(
            f"scaling_factor is {factor(folder_factor)}; by the runs beside it {_expected(due)}",
            convergence,
            due,
            folder_factor,
            severity=Severity.ERROR if convergence.scales else Severity.WARNING,
        )
    ]


def _of_a_failed(folder_factor: float, convergence: Convergence) -> list[Finding]:
    """A file where the runs did not pass: the committee may have decided so."""
    assert convergence.judgement is not None
    to_reference = convergence.judgement.factor
    unknown = convergence.judgement.point is None or not math.isfinite(to_reference)
    if unknown or _same(folder_factor, 1.0) or _same(folder_factor, to_reference):
        return []
    return [
        _wrong(
            f"scaling_factor is {factor(folder_factor)}; the runs do not pass, and to make them as "
            f"slow as the reference {factor(to_reference)} would be right",
            convergence,
            to_reference,
            folder_factor,
        )
    ]


def _absent(due: float, convergence: Convergence) -> Finding:
    return Finding(
        rule="rcp.scaling_absent",
        severity=Severity.ERROR,
        message=f"there is no scaling.json, but the runs converge faster than the reference: the "
        f"score must be multiplied by {factor(due)}",
        fix=_write(due),
        path=convergence.folder,
        expected=f"scaling_factor {due!r}",
        found="no scaling.json",
    )


def _wrong(
    message: str,
    convergence: Convergence,
    due: float,
    found: float,
    *,
    severity: Severity = Severity.ERROR,
) -> Finding:
    what = f"Take {_FILE} away" if due == 1 else _write(due).removesuffix(".")
    return Finding(
        rule="rcp.scaling_wrong",
        severity=severity,
        message=message,
        fix=f"{what}, unless the review committee has decided on this factor.",
        path=f"{convergence.folder.rstrip('/')}/{_FILE}",
        expected=f"{due!r}",
        found=f"{found!r}",
    )


def _expected(due: float) -> str:
    return "none is due" if due == 1 else f"{factor(due)} is due"


def _write(due: float) -> str:
    return f'Write {{"scaling_factor": {due!r}}} to {_FILE} beside the logs.'


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TOLERANCE)
