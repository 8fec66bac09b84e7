"""The words for what a description leaves open, and the list that they are gathered in."""

from enum import StrEnum

from trainmark.catalogue.naming.name_tables import LONGEST
from trainmark.types import Doubt, printable

__all__ = ["Doubts", "Kind", "many", "shown"]

_SHOWN = 80  # characters of a value in a sentence


class Kind(StrEnum):
    """Every kind of doubt about the description of a system."""

    NO_FILE = "no system file"
    OTHER_FILE = "system file of another name"
    BAD_FILE = "unreadable system file"
    DAMAGED_FILE = "damaged system file"
    OLD_FORM = "system file in an old form"
    REPEATED = "field twice in the system file"
    MISSPELT = "misspelt field in the system file"
    ACCELERATOR = "unknown accelerator"
    ACCELERATOR_OPEN = "accelerator not stated exactly"
    ACCELERATOR_SETTLED = "accelerator completed by other fields"
    ACCELERATOR_MIXED = "several kinds of accelerators"
    ACCELERATOR_FOLDER = "folder named after another accelerator"
    ACCELERATOR_COUNT = "accelerator and its number disagree"
    NODES = "unknown number of nodes"
    PER_NODE = "unknown number of accelerators"
    CORRECTED = "number corrected from the submission's code"
    CORES = "cores counted as accelerators"
    HOSTS = "hosts counted apart"
    HOSTS_OPEN = "unknown number of hosts"
    NAME_COUNT = "system's name contradicts its counts"
    LOG_ACCELERATOR = "log named another accelerator"
    LOG_COUNT = "log counted other accelerators"
    DIVISION = "unknown division"
    DIVISION_LOGS = "division differs in the logs"
    DIVISION_TOLD = "division taken from the logs"
    CATEGORY = "unknown category"
    SUBMITTER = "submitter differs from the folder"
    FRAMEWORK = "unknown framework"
    FRAMEWORK_CHOSEN = "framework chosen among several"
    FRAMEWORK_TOLD = "framework taken from a name"
    VERSION_TOLD = "framework's version taken from elsewhere"
    FRAMEWORK_VERSION = "framework's version left open"
    HOST_PROCESSOR = "host processor not named"
    INTERCONNECT = "unknown interconnect"


class Doubts:
    """The doubts about one result, in the order in which they came up."""

    def __init__(self) -> None:
        self._found: list[Doubt] = []

    def settled(self, kind: Kind, text: str) -> None:
        """Something that a rule settled."""
        self._found.append(Doubt(kind=str(kind), text=text, resolved=True))

    def left_open(self, kind: Kind, text: str) -> None:
        """Something that nothing settled: the value stays as written or unknown."""
        self._found.append(Doubt(kind=str(kind), text=text, resolved=False))

    def all(self) -> tuple[Doubt, ...]:
        """Each once."""
        return tuple(dict.fromkeys(self._found))


def shown(value: object) -> str:
    """A value of a file in quotes, short and fit to be shown."""
    text = printable(str(value)[:LONGEST].strip())
    return f'"{text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."}"'


def many(number: int | None, what: str) -> str:
    """A number of things in words: "1 node", "8 nodes", "an unknown number of nodes"."""
    if number is None:
        return f"an unknown number of {what}s"
    return f"{number} {what}{'' if number == 1 else 's'}"
