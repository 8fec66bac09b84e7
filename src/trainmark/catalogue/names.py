"""One spelling for each thing that submitters spell in many ways.

Tables of (pattern, name): a value that no row knows stays as it was written and is counted by
the build, so that nothing is guessed silently. Every normalised value keeps the raw one beside
it (``Result.raw``). Widening to another round means adding rows.
"""

import re
from dataclasses import dataclass

__all__ = [
    "ACCELERATORS",
    "BENCHMARKS",
    "Named",
    "accelerator",
    "benchmark",
    "category",
    "count",
    "division",
    "submitter",
]


@dataclass(frozen=True, slots=True)
class Named:
    """A normalised value: the name, and whether a table row knew the raw one."""

    name: str
    known: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """Raw values that ``pattern`` finds are called ``name`` (a template for the match)."""

    pattern: re.Pattern[str]
    name: str


def _rows(*pairs: tuple[str, str]) -> tuple[_Row, ...]:
    return tuple(_Row(re.compile(pattern, re.IGNORECASE), name) for pattern, name in pairs)


# Power limits (400 W, 500 W) are not part of a name: two of them share one, as published.
ACCELERATORS = _rows(
    (r"^(n/?a|none|-)?$", ""),
    (r"\ba100[ -]?sxm4?[ -](\d+) ?gb\b", r"A100-SXM-\1GB"),
    (r"\ba100[ -]?pcie[ -](\d+) ?gb\b", r"A100-PCIe-\1GB"),
    (r"^(nvidia )?(tesla )?a30$", "A30"),
    (r"^(nvidia )?rtx[ -]a5000$", "RTX-A5000"),
    (r"\bbow\b.*\bipu\b|\bbow-ipu\b", "Bow-IPU"),
    (r"\bgc200\b", "GC200-IPU"),
    (r"\bgaudi ?2\b", "Gaudi2"),
    (r"\bgaudi( hl-205)?$", "Gaudi"),
    (r"^tpu-v(\d+)$", r"TPU-v\1"),
    (r"\bascend ?910\b", "Ascend910"),
)
# Where the accelerator field itself leaves the generation open, the system's name has it.
_BY_SYSTEM = {"tpu": _rows((r"\btpu-v(\d+)\b", r"TPU-v\1"))}

BENCHMARKS = _rows((r"^resnet(50)?$", "resnet"), (r"^bert$", "bert"))

_DIVISIONS = _rows((r"^closed?$", "closed"), (r"^open$", "open"))

_CATEGORIES = _rows(
    (r"^(available )?(on-?prem(ise)?s?|on premises?|in cloud|cloud)$", "available"),
    (r"^available$", "available"),
    (r"^preview$", "preview"),
    (r"^(research|rdi|rdo)\b.*$", "research"),
)

_SUBMITTERS = _rows((r"^supermicro$", "Supermicro"), (r"^nettrix$", "Nettrix"))


def accelerator(raw: str, system: str = "") -> Named:
    """The accelerator's name; "" when the system has none.

    Args:
        raw: accelerator_model_name as written.
        system: The system's name and folder, asked when the raw value leaves it open.
    """
    found = _look_up(_BY_SYSTEM.get(raw.strip().lower(), ()), system)
    return found if found.known else _look_up(ACCELERATORS, raw)


def benchmark(raw: str) -> Named:
    """The benchmark's official name."""
    return _look_up(BENCHMARKS, raw)


def division(raw: str) -> Named:
    """The division, "closed" or "open"."""
    return _look_up(_DIVISIONS, raw)


def category(raw: str) -> Named:
    """The category ("available", "preview", "research") that a status field means."""
    return _look_up(_CATEGORIES, raw)


def submitter(raw: str) -> Named:
    """The organisation in one spelling; always known, for any name is possible."""
    return Named(_look_up(_SUBMITTERS, raw).name, known=True)


def count(raw: object) -> int | None:
    """A whole number that may be written as text or as a float; None if it is none."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() else None
    if isinstance(raw, int):
        return raw
    if isinstance(raw, str) and re.fullmatch(r"\s*[0-9]{1,9}(\.0+)?\s*", raw):
        return int(float(raw))
    return None


def _look_up(rows: tuple[_Row, ...], raw: str) -> Named:
    value = raw.strip()
    for row in rows:
        match = row.pattern.search(value)
        if match:
            return Named(match.expand(row.name), known=True)
    return Named(value, known=False)
