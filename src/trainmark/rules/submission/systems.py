"""System descriptions of a submission: find them, read them, check them."""

from pathlib import Path

from trainmark.rules.rulesets import Ruleset
from trainmark.rules.submission.systems_checks import WORDS_ASKED, check_description
from trainmark.rules.submission.systems_fields import (
    CATEGORIES_OF_4_1,
    FIELD_NAMES,
    FIELDS,
    division,
)
from trainmark.rules.submission.systems_json import Description, Form, Reading, read_description
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Severity

__all__ = ["check_description", "check_system", "find_descriptions", "read_system"]

_SEVERITIES = tuple(Severity)


def check_system(
    path: str | Path, *, ruleset: Ruleset | None = None, reading: Reading | None = None
) -> Verdict:
    """Check one system description.

    Args:
        path: The JSON file.
        ruleset: The round's rules; without them what holds in every round is checked.
        reading: What was read of it before; it is read without.
    """
    reading = reading or read_description(path)
    description = reading.description
    findings = list(reading.findings)
    if description is not None:
        findings += check_description(description, ruleset=ruleset)
    said = None if description is None else description.text("division")
    official = ruleset is not None and ruleset.official
    return Verdict(
        path=str(path),
        kind="system",
        ruleset=ruleset,
        chosen="",
        benchmark=None,
        division=said if said is None else division(said) or said,
        findings=tuple(sorted(findings, key=_weight)),
        official_compliant=_official(reading, ruleset) if official and ruleset else None,
    )


def read_system(path: str | Path) -> Description | None:
    """A system description as data; None if the file holds none. Faults are left unsaid."""
    return read_description(path).description


def find_descriptions(folder: str | Path) -> tuple[list[Path], list[Finding]]:
    """The descriptions in a systems folder, and what else lies there.

    Args:
        folder: The folder; those below it are not searched.

    Returns:
        The ``*.json`` files by name, and a finding for each other file, for a link that leads out
        of the folder, and for a folder that cannot be listed.
    """
    try:
        there = sorted(Path(folder).iterdir())
        inside = Path(folder).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return [], [
            _at(
                folder,
                "unreadable",
                Severity.ERROR,
                f"the folder cannot be listed: {reason}",
                "Make it a folder that you may read.",
            )
        ]
    files, findings = [], []
    for file in there:
        if file.is_dir() and not file.is_symlink():
            continue
        if not file.name.endswith(".json") or file.name.startswith("."):
            findings.append(_not_a_description(file))
        elif _leads_out(file, inside):
            findings.append(
                _at(
                    file,
                    "link",
                    Severity.WARNING,
                    "the file is a link that leads out of the folder; it was not read",
                    "Copy the description into the folder.",
                )
            )
        else:
            files.append(file)
    return files, findings


def _official(reading: Reading, ruleset: Ruleset) -> bool:
    """What the official system_desc_checker says of the file; where it crashes it says no."""
    description = reading.description
    if description is None or any(finding.is_error for finding in reading.findings):
        return False
    if description.form is not Form.JSON or not description.fields.keys() >= set(FIELD_NAMES):
        return False
    if not all(isinstance(description.fields[f.name], str) for f in FIELDS if f.joined):
        return False
    asked = "-" not in ruleset.name and ruleset.round >= WORDS_ASKED  # Training only
    return not asked or description.fields["status"] in CATEGORIES_OF_4_1.values()


def _weight(finding: Finding) -> tuple[int, int]:
    """The order of findings: severity, then line."""
    return _SEVERITIES.index(finding.severity), finding.line_no or 0


def _leads_out(file: Path, inside: Path) -> bool:
    """Whether a link leads out of the folder; one that leads nowhere does not."""
    try:
        return not file.resolve().is_relative_to(inside)
    except (OSError, RuntimeError):  # a ring of links: reading it says so
        return False


def _not_a_description(file: Path) -> Finding:
    return _at(
        file,
        "other_file",
        Severity.NOTE,
        "this is no system description (its name does not end in .json, or begins with a dot); it "
        "was not read",
        "Remove it before submitting, if it is left over.",
    )


def _at(path: str | Path, rule: str, severity: Severity, message: str, fix: str) -> Finding:
    return Finding(
        rule=f"system.{rule}", severity=severity, message=message, fix=fix, path=str(path)
    )
