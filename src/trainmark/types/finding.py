"""What a checker says: one thing, about one place, with what to do about it."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from trainmark.types.errors import TrainmarkError

__all__ = ["Finding", "Severity"]


class Severity(StrEnum):
    """How much a finding weighs: an error decides the verdict, the others inform."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One observation about a file.

    Attributes:
        rule: The rule's name, stable and greppable, for example "log.json".
        severity: Whether it decides the verdict.
        message: What was expected and what was found.
        fix: What to change, as an instruction. May be empty for a note.
        path: The file or folder.
        line_no: The line in that file counted from 1, None if no line is at fault.
        line: That line, shortened. May be empty.
        expected: What the rule allows. May be empty.
        found: What the file holds. May be empty.
    """

    rule: str
    severity: Severity
    message: str
    fix: str = ""
    path: str = ""
    line_no: int | None = None
    line: str = ""
    expected: str = ""
    found: str = ""

    def __post_init__(self) -> None:
        assert self.rule, "a finding names its rule"
        assert self.message, "a finding says something"
        assert self.line_no is None or self.line_no >= 1, self.line_no

    @classmethod
    def of_error(cls, error: TrainmarkError, *, rule: str, path: str | Path) -> "Finding":
        """What an error says of a file, as an observation that decides the verdict.

        Args:
            error: Its message and its hint, which becomes the fix.
            rule: The rule's name.
            path: The file or folder.
        """
        return cls(
            rule=rule,
            severity=Severity.ERROR,
            message=error.message,
            fix=error.hint,
            path=str(path),
        )

    @property
    def is_error(self) -> bool:
        """Whether it decides the verdict."""
        return self.severity is Severity.ERROR

    @property
    def where(self) -> str:
        """``path:line``, as editors and terminals understand it."""
        return self.path if self.line_no is None else f"{self.path}:{self.line_no}"

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data for ``--json``."""
        return asdict(self) | {"severity": str(self.severity)}
