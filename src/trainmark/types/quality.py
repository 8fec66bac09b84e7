"""A quality for people: in the unit of its target."""

from trainmark.types.text import printable
from trainmark.types.workload import Target

__all__ = ["goal", "is_share", "quality"]

_ACCURACY = "eval_accuracy"  # the metric of a target without a name that is a share of 1


def quality(value: float, target: Target | None = None) -> str:
    """A quality in the unit of its target; a share of 1 as per cent.

    Args:
        value: What was measured.
        target: What was to be reached, None where nothing says.
    """
    if target is not None and target.unit:
        return f"{value:#.4g}".rstrip(".") + f" {printable(target.unit)}"
    if target is not None and is_share(target):
        return f"{value * 100:.2f} %"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def goal(target: Target) -> str:
    """The quality to be reached with as few digits as it was set with: ``97.5 %``, ``0.24 eV``."""
    if target.unit:
        return f"{target.value:.10g} {printable(target.unit)}"
    return f"{target.value * 100:.10g} %" if is_share(target) else f"{target.value:.10g}"


def is_share(target: Target) -> bool:
    """Whether the quality is a share of 1, to be shown as per cent.

    A target with a name says so by having no unit. One without is an accuracy up to 1: what older
    logs call accuracy may be anything.
    """
    if target.name:
        return not target.unit
    return target.metric == _ACCURACY and 0 <= target.value <= 1
