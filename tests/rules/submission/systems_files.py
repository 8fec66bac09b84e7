"""A good system description for tests, and a way to write changed ones."""

import json
from pathlib import Path
from typing import Any

from trainmark.rules.submission.systems_fields import FIELDS, Kind

GOOD: dict[str, Any] = {
    field.name: "2" if field.kind is Kind.COUNT else f"some {field.name}" for field in FIELDS
} | {
    "submitter": "Example Labs Inc.",
    "division": "closed",
    "status": "Available on-premise",
    "system_name": "testbox",
    "accelerators_per_node": "8",
    "other_software_stack": {"cuda_version": "12.6"},
}


def write(folder: Path, /, *without: str, **changes: Any) -> Path:
    """A description on disk: the good one with other values, and without some fields."""
    fields = {name: value for name, value in (GOOD | changes).items() if name not in without}
    return write_text(folder, json.dumps(fields, indent=2))


def write_text(folder: Path, text: str | bytes) -> Path:
    """A file of that content."""
    path = folder / "testbox.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path
