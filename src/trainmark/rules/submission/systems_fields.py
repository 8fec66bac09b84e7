"""What a system description is made of: its fields, and the words that some of them allow.

Sources: the fields are those that the official system_desc_checker asks for; which of them need
an answer that means something is the table in the MLPerf submission rules, section
"<system_desc_id>.json metadata"; which words published files use was counted in rounds 0.6 to 5.0
(docs/systems.md).
"""

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "ALSO_KNOWN",
    "CATEGORIES_OF_4_1",
    "DIVISIONS",
    "FIELDS",
    "FIELD_NAMES",
    "Field",
    "Kind",
    "Need",
    "category",
    "count",
    "division",
    "is_placeholder",
    "is_text",
]


class Kind(StrEnum):
    """What a field holds."""

    TEXT = "text"
    COUNT = "count"  # a whole number, as text ("8") in every published file
    STACK = "stack"  # text, a list or an object: names of software with their versions


class Need(StrEnum):
    """How much an answer is needed."""

    IDENTITY = "identity"  # says whose result it is and of how many accelerators
    ANSWER = "answer"  # the submission rules ask for an answer that means something
    FREE = "free"  # may be empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a system description.

    Attributes:
        name: Its official name.
        kind: What it holds.
        need: Whether it may be empty.
        least: The least number that makes sense, for a count.
        joined: Whether the official checker fails on anything that is not text in it.
    """

    name: str
    kind: Kind = Kind.TEXT
    need: Need = Need.FREE
    least: int = 0
    joined: bool = False


FIELDS = (
    Field(name="submitter", need=Need.IDENTITY, joined=True),
    Field(name="division", need=Need.IDENTITY),
    Field(name="status", need=Need.IDENTITY),
    Field(name="system_name", need=Need.IDENTITY, joined=True),
    Field(name="number_of_nodes", kind=Kind.COUNT, need=Need.IDENTITY, least=1),
    Field(name="host_processors_per_node", kind=Kind.COUNT, need=Need.ANSWER, least=1),
    Field(name="host_processor_model_name", need=Need.ANSWER, joined=True),
    # One of these two counts is enough.
    Field(name="host_processor_core_count", kind=Kind.COUNT, joined=True),
    Field(name="host_processor_vcpu_count", kind=Kind.COUNT),
    Field(name="host_processor_frequency"),
    Field(name="host_processor_caches"),
    Field(name="host_processor_interconnect"),
    Field(name="host_memory_capacity", need=Need.ANSWER),
    Field(name="host_storage_type", need=Need.ANSWER),
    Field(name="host_storage_capacity", need=Need.ANSWER),
    Field(name="host_networking", need=Need.ANSWER),
    Field(name="host_networking_topology", need=Need.ANSWER),
    Field(name="host_memory_configuration", need=Need.ANSWER),
    Field(name="accelerators_per_node", kind=Kind.COUNT, need=Need.IDENTITY, joined=True),
    Field(name="accelerator_model_name", need=Need.ANSWER, joined=True),
    Field(name="accelerator_host_interconnect", need=Need.ANSWER),
    Field(name="accelerator_frequency"),
    Field(name="accelerator_on-chip_memories"),
    Field(name="accelerator_memory_configuration", need=Need.ANSWER),
    Field(name="accelerator_memory_capacity", need=Need.ANSWER),
    Field(name="accelerator_interconnect", need=Need.ANSWER),
    Field(name="accelerator_interconnect_topology"),
    Field(name="cooling", need=Need.ANSWER),
    Field(name="hw_notes"),
    Field(name="framework", need=Need.ANSWER, joined=True),
    Field(name="other_software_stack", kind=Kind.STACK, need=Need.ANSWER),
    Field(name="operating_system", need=Need.ANSWER),
    Field(name="sw_notes"),
)
FIELD_NAMES = tuple(field.name for field in FIELDS)

# Fields beyond the official ones that the submission rules name, or that several submitters use.
ALSO_KNOWN = frozenset(
    {
        "system_type",
        "system_type_detail",
        "host_network_card_count",
        "framework_name",
        "hardware",
        "notes",
        # what is asked for beside a power measurement
        "boot_firmware_version",
        "disk_controllers",
        "disk_drives",
        "filesystem",
        "management_firmware_version",
        "network_speed_mbit",
        "nics_enabled_connected",
        "nics_enabled_firmware",
        "nics_enabled_os",
        "number_of_type_nics_installed",
        "other_hardware",
        "power_management",
        "power_supply_details",
        "power_supply_quantity_and_rating_watts",
    }
)

DIVISIONS = ("closed", "open")
# The words for the category that the official checker asks for in full from round 4.1 on.
CATEGORIES_OF_4_1 = {
    "on premise": "Available on-premise",
    "cloud": "Available cloud",
    "research": "Research, Development, or Internal (RDI)",
    "preview": "Preview",
}
_CATEGORIES = (
    (re.compile(r"(available )?(on|in) ?prem(ise)?s?"), "on premise"),
    (re.compile(r"(available )?(in )?(the )?cloud"), "cloud"),
    (re.compile(r"available"), "available"),
    (re.compile(r"preview"), "preview"),
    (re.compile(r"(research|rdi|rdo|internal|development)\b.*"), "research"),
)
_DIVISIONS = {"closed": "closed", "close": "closed", "open": "open", "opened": "open"}
_COUNT = re.compile(r"[0-9]{1,9}(\.0{1,9})?")
_PLACEHOLDER = re.compile(
    r"to ?-?do|tbd|fix ?me|x{3,}|\?+|<[^<>]*>|lorem ipsum.*|.*PLACEHOLDER.*|UNKNOWN_MLPERF.*",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_WORD = 100  # characters; what is longer is no word of a vocabulary


def category(status: str) -> str | None:
    """What a status means, however it is spelt.

    Returns:
        "on premise", "cloud", "available" (of either), "preview", "research"; None for a text
        that means none of them.
    """
    words = re.sub(r"[\s_-]+", " ", status[:_LONGEST_WORD]).strip().lower()
    return next((name for pattern, name in _CATEGORIES if pattern.fullmatch(words)), None)


def division(text: str) -> str | None:
    """The division, "closed" or "open", that a text means; None if it means none."""
    return _DIVISIONS.get(text[:_LONGEST_WORD].strip().lower())


def count(value: object) -> int | None:
    """A whole number, also one written as text or as 8.0; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) <= _LONGEST_WORD and _COUNT.fullmatch(value.strip()):
        return int(float(value))
    return None


def is_placeholder(text: str) -> bool:
    """Whether a text was meant to be replaced: TODO, TBD, SUBMISSION_ORG_PLACEHOLDER, ..."""
    return _PLACEHOLDER.fullmatch(text[:_LONGEST_WORD].strip()) is not None


def is_text(value: object) -> bool:
    """Whether a value is text with something in it."""
    return isinstance(value, str) and bool(value.strip())
