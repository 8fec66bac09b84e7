"""Numbers and text for people: units, rounding, and text from outside made harmless."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from trainmark.types import printable
from trainmark.types.quality import goal, is_share, quality

__all__ = [
    "change",
    "count",
    "flop_rate",
    "goal",
    "is_share",
    "join",
    "minutes",
    "moment",
    "quality",
    "rate",
    "share",
    "value_text",
]

_SI = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def minutes(value: float) -> str:
    """Minutes to three decimals, as they are published; fewer from a hundred on."""
    magnitude = abs(value)
    decimals = 1 if magnitude >= 1000 else 2 if magnitude >= 100 else 3
    return f"{value:,.{decimals}f}"


def count(value: float) -> str:
    """A whole number with thousands separated; other numbers to four digits."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def rate(value: float) -> str:
    """Samples a second."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def share(value: float) -> str:
    """A share of 1 as per cent."""
    return f"{value * 100:.1f} %"


def change(value: float) -> str:
    """A relative change as signed per cent: 0.031 is ``+3.1 %``."""
    rounded = round(value * 100, 1)
    return f"{rounded + 0.0:+.1f} %" if rounded else "0.0 %"


def flop_rate(value: float) -> str:
    """FLOP/s with an SI prefix: ``143 GFLOP/s``."""
    if not math.isfinite(value):
        return "not a number"
    for factor, prefix in _SI:
        if abs(value) >= factor:
            return f"{f'{value / factor:#.3g}'.rstrip('.')} {prefix}FLOP/s"
    return f"{value:.3g} FLOP/s"


def join(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    listed = list(words)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def moment(iso: str) -> str:
    """``2026-11-30T13:15:13+00:00`` as ``2026-11-30 13:15 UTC``; other text as it stands."""
    try:
        when = datetime.fromisoformat(iso)
    except ValueError:
        return printable(iso)
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def value_text(value: Any) -> str:
    """One setting or one field of a system description, as text on one line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return printable("; ".join(f"{name} {value_text(item)}" for name, item in value.items()))
    if isinstance(value, list | tuple):
        return printable(", ".join(value_text(item) for item in value))
    return printable(value)
