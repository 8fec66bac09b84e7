"""What machine this is: described in the official form, and recognised again."""

from trainmark.machine.describe import DIVISIONS, STATUSES, describe, write_system
from trainmark.machine.identity import default_name, describe_short, fingerprint

__all__ = [
    "DIVISIONS",
    "STATUSES",
    "default_name",
    "describe",
    "describe_short",
    "fingerprint",
    "write_system",
]
