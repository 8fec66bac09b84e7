"""What stands around a benchmark folder: its submission and the description of its system."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainmark.rules.submission.systems_agree import agree
from trainmark.rules.submission.systems_claims import Claims
from trainmark.rules.submission.systems_fields import division
from trainmark.rules.submission.systems_json import Description, Reading, read_description
from trainmark.rules.submission.tree_logs import flags_in
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding

__all__ = ["Surroundings", "Systems", "surroundings_of"]

_PLACEHOLDERS = frozenset({"system.placeholder_org", "system.placeholder_platform"})
_SCALING_FOLDERS = ("strong", "weak")  # HPC: results/<system>/strong/<benchmark>


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the place of a benchmark folder says of its logs.

    Attributes:
        submitter: The name of the submitter's folder, None outside of a submission.
        description: The system's description, None if there is none that can be read.
        flags: The checks that the submitter asks to be let through: "rcp-bypass",
            "seed-checker-bypass".
    """

    submitter: str | None = None
    description: Description | None = field(default=None, repr=False)
    flags: frozenset[str] = frozenset()

    @property
    def division(self) -> str | None:
        """The division that the description names: "closed" or "open", None if it names none."""
        text = None if self.description is None else self.description.text("division")
        return None if text is None else division(text)

    @property
    def nodes(self) -> int | None:
        """The number of nodes in the description."""
        return None if self.description is None else self.description.count("number_of_nodes")


def surroundings_of(
    folder: Path, read: Callable[[Path], Reading] = read_description
) -> Surroundings:
    """Find what stands around ``<submitter>/results/<system>/<benchmark>``.

    The description is ``<submitter>/systems/<system>.json``; a link that leads out of the
    submitter's folder is not followed.

    Args:
        folder: The benchmark folder.
        read: What reads a description, which belongs to many folders.
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
        description=read(_as_given(file, folder)).description if inside else None,
        flags=flags_in(place) | flags_in(system),
    )


def _as_given(file: Path, folder: Path) -> Path:
    """A path below the working folder without it, if the folder was given so."""
    if folder.is_absolute() or not file.is_relative_to(Path.cwd()):
        return file
    return file.relative_to(Path.cwd())


class Systems:
    """What the logs of each system say of it, gathered over its benchmark folders."""

    def __init__(self, descriptions: Iterable[Path]) -> None:
        self._files = {_key(file): file for file in descriptions}
        self._readings: dict[str, Reading] = {}
        self._told: set[str] = set()
        self._gathered: dict[str, list[tuple[Surroundings, list[tuple[str, Claims]]]]] = {
            key: [] for key in self._files
        }

    def read(self, file: Path) -> Reading:
        """A description as read, once for all folders of its system.

        Args:
            file: The description; findings name it as it was given to be checked.
        """
        key = _key(file)
        if key not in self._readings:
            self._readings[key] = read_description(self._files.get(key, file))
        return self._readings[key]

    def add(self, around: Surroundings, verdicts: Sequence[Verdict]) -> list[Finding]:
        """Keep what the logs of a folder say of their system.

        Args:
            around: What stands around the folder.
            verdicts: Those on its logs.

        Returns:
            What contradicts a description that is not itself among those to be checked.
        """
        if around.description is None:
            return []
        claims = [(one.path, one.facts.claims) for one in verdicts if one.facts is not None]
        self._told.update(one.path for one in verdicts if _tells_placeholders(one))
        gathered = self._gathered.get(_key(around.description.path))
        if gathered is None:
            return self._not_told(agree(around.description, claims, submitter=around.submitter))
        gathered.append((around, claims))
        return []

    def disagreements(self, file: Path) -> list[Finding]:
        """What the logs say otherwise than the description of their system.

        Args:
            file: The description.
        """
        gathered = self._gathered.get(_key(file), [])
        claims = [one for _, claims in gathered for one in claims]
        around = gathered[0][0] if gathered else Surroundings()
        if around.description is None:
            return []
        return self._not_told(agree(around.description, claims, submitter=around.submitter))

    def _not_told(self, findings: Iterable[Finding]) -> list[Finding]:
        """What no log says of itself: a placeholder is told once."""
        return [
            one for one in findings if one.rule not in _PLACEHOLDERS or one.path not in self._told
        ]


def _tells_placeholders(verdict: Verdict) -> bool:
    return any(finding.rule == "run.placeholder" for finding in verdict.findings)


def _key(file: str | Path) -> str:
    return str(Path(file).absolute())
