"""What stands around a benchmark folder: its submission and the description of its system."""

from dataclasses import dataclass, field
from pathlib import Path

from trainmark.rules.submission.systems_fields import division
from trainmark.rules.submission.systems_json import Description, read_description

__all__ = ["Surroundings", "surroundings_of"]

_SCALING_FOLDERS = ("strong", "weak")  # HPC: results/<system>/strong/<benchmark>


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the place of a benchmark folder says of its logs.

    Attributes:
        submitter: The name of the submitter's folder, None outside of a submission.
        description: The system's description, None if there is none that can be read.
    """

    submitter: str | None = None
    description: Description | None = field(default=None, repr=False)

    @property
    def division(self) -> str | None:
        """The division that the description names: "closed" or "open", None if it names none."""
        text = None if self.description is None else self.description.text("division")
        return None if text is None else division(text)

    @property
    def nodes(self) -> int | None:
        """The number of nodes in the description."""
        return None if self.description is None else self.description.count("number_of_nodes")


def surroundings_of(folder: Path) -> Surroundings:
    """Find what stands around ``<submitter>/results/<system>/<benchmark>``.

    The description is ``<submitter>/systems/<system>.json``; a link that leads out of the
    submitter's folder is not followed.

    Args:
        folder: The benchmark folder.
    """
    place = folder.absolute()
    system = place.parent
    if system.name in _SCALING_FOLDERS:
        system = system.parent
    if system.parent.name != "results":
        return Surroundings()
    root = system.parent.parent
    file = root / "systems" / f"{system.name}.json"
    try:
        inside = file.resolve().is_relative_to(root.resolve()) and file.is_file()
    except (OSError, RuntimeError, ValueError):
        inside = False
    return Surroundings(
        submitter=root.name,
        description=read_description(file).description if inside else None,
    )
