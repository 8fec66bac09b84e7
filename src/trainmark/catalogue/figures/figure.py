"""A number from outside the results - a price, a size, a peak - with where it comes from.

Nothing here is measured by trainmark: each figure says who stated it, when, on which basis, and how
far that can be trusted.
"""

import datetime
import re
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["BASES", "CONFIDENCES", "Figure", "is_date"]

# How far a figure can be trusted, best first.
CONFIDENCES: dict[str, str] = {
    "high": "the primary document was read",
    "medium": "a secondary source, or several that agree",
    "low": "trade press or recollection, not confirmed",
}

BASES: dict[str, str] = {
    "list": "a list price of the vendor",
    "cloud on demand per hour": "what a cloud asks for an hour, without commitment",
    "vendor report": "stated by a vendor, also about a competitor's product",
    "datasheet": "the vendor's datasheet or documentation",
    "quote": "an offer to one buyer",
    "estimate": "nobody's published number",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number with its provenance.

    Attributes:
        value: The number, in ``unit``.
        unit: "USD", "USD/hour", "U", "W", "TFLOP/s", "GB", "GB/s".
        source: Title of the document that states it.
        address: Where that can be found, "" if nowhere public.
        date: ISO date of the document, or of the day when it was read; year and month may stand
            alone.
        basis: A key of ``BASES``.
        confidence: A key of ``CONFIDENCES``.
        note: What else must be known, "".
        own: Whether it is from the user's own file.
    """

    value: float
    unit: str
    source: str
    address: str
    date: str
    basis: str
    confidence: str
    note: str = ""
    own: bool = False

    @property
    def citation(self) -> str:
        """Title, date and address on one line."""
        return f"{self.source} ({self.date}){f', {self.address}' if self.address else ''}"

    @property
    def marks(self) -> tuple[str, ...]:
        """What must stand beside any number that is derived from this one."""
        found = []
        if self.own:
            found.append(f"your own figure: {self.source}")
        if self.basis == "estimate":
            found.append(f"an estimate: {self.source}")
        if self.confidence == "low":
            found.append(f"low confidence: {CONFIDENCES['low']} ({self.source})")
        if self.note:
            found.append(self.note)
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain data for ``--json``."""
        return asdict(self)


def is_date(text: str) -> bool:
    """Whether a text is a day, a month or a year of the calendar: 2021-06-30, 2021-06, 2021."""
    if not re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", text):
        return False
    try:
        datetime.date.fromisoformat(f"{text}-01-01"[:10] if len(text) < 10 else text)
    except ValueError:
        return False
    return True
