"""Fields that a system description lacks, and fields that it should not have."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainmark.rules.rulesets import Ruleset
from trainmark.rules.subjects import show
from trainmark.rules.submission.systems_fields import ALSO_KNOWN, FIELD_NAMES
from trainmark.rules.submission.systems_json import Description
from trainmark.types import Finding, Severity

__all__ = ["FIELDS_FIXED", "Context", "missing", "unknown_fields"]

FIELDS_FIXED = (0, 7)  # the round from which all descriptions have these fields
_NEAR = 0.8
_LONGEST_NAME = 100  # characters that are compared
_MOST_UNKNOWN = 20  # unknown fields that are looked at one by one


@dataclass(frozen=True, slots=True)
class Context:
    """A description and the round that it is held to."""

    description: Description
    ruleset: Ruleset | None

    def round(self) -> tuple[int, ...]:
        """The Training round, () without one (own rules, HPC, none given)."""
        training = (
            self.ruleset is not None and self.ruleset.official and "-" not in self.ruleset.name
        )
        return self.ruleset.round if training and self.ruleset is not None else ()

    def is_before(self, round_: tuple[int, ...]) -> bool:
        """Whether the Training round is known and earlier."""
        return bool(self.round()) and self.round() < round_

    def value(self, name: str) -> Any:
        """The field's value as it stands in the file; None if it is missing."""
        return self.description.fields.get(name)

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        fix: str,
        *,
        field: str | None = None,
        expected: str = "",
    ) -> Finding:
        """A finding about the file, or about one of its fields."""
        known = field is not None and field in self.description.fields
        return Finding(
            rule=f"system.{rule}",
            severity=severity,
            message=message,
            fix=fix,
            path=self.description.path,
            line_no=None if field is None else self.description.lines.get(field),
            line=f"{show(field)}: {show(self.value(field))}" if known and field is not None else "",
            expected=expected,
            found=show(self.value(field)) if known and field is not None else "",
        )


def missing(context: Context) -> Iterator[Finding]:
    """Fields that are not there."""
    if not context.description.complete:
        return
    early = context.is_before(FIELDS_FIXED)
    severity = Severity.WARNING if early else Severity.ERROR
    since = "; descriptions have it since round 0.7" if early else ""
    meant = _meant(context)
    lacking = [name for name in FIELD_NAMES if name not in context.description.fields]
    for name in lacking:
        if name in meant:
            yield context.finding(
                "missing",
                severity,
                f"the field {name} is missing; {show(meant[name])} may be meant for it{since}",
                f"Rename {show(meant[name])} to {name}.",
                field=meant[name],
                expected=name,
            )
    others = [name for name in lacking if name not in meant]
    if others:
        are = "the field" if len(others) == 1 else f"{len(others)} fields are missing:"
        yield context.finding(
            "missing",
            severity,
            f"{are} {', '.join(others)}{' is missing' if len(others) == 1 else ''}{since}",
            'Add what is missing; where there is nothing to say, with "" or "N/A".',
            expected=", ".join(others),
        )


def _unknown(context: Context) -> list[str]:
    known = {*FIELD_NAMES, *ALSO_KNOWN}
    return [name for name in context.description.fields if name not in known]


def _meant(context: Context) -> dict[str, str]:
    """For each missing field the unknown one that looks like it."""
    unknown = _unknown(context)[:_MOST_UNKNOWN]
    lacking = [name for name in FIELD_NAMES if name not in context.description.fields]
    return {name: near for name in lacking if (near := _near(name, unknown)) is not None}


def unknown_fields(context: Context) -> Iterator[Finding]:
    """Fields that no rule names."""
    if context.is_before(FIELDS_FIXED):  # every submitter had fields of his own
        return
    meant = set() if not context.description.complete else {*_meant(context).values()}
    unknown = [name for name in _unknown(context) if name not in meant]
    for place, name in enumerate(unknown):
        near = _near(name, (*FIELD_NAMES, *ALSO_KNOWN))
        there = near in context.description.fields
        more = len(unknown) - place - 1
        yield context.finding(
            "unknown_field",
            Severity.WARNING,
            f"there is no field {show(name)}"
            + (f"; {near} {'is there too' if there else 'may be meant'}" if near else "")
            + (f" (and {more} more such fields)" if place + 1 == _MOST_UNKNOWN and more else ""),
            f"Rename it to {near}, or remove it."
            if near and not there
            else "Remove it, or put what it says into hw_notes or sw_notes.",
            field=name,
        )
        if place + 1 == _MOST_UNKNOWN:
            return


def _near(name: str, names: list[str] | tuple[str, ...]) -> str | None:
    """The name that may have been meant."""
    short = {_plain(other): other for other in names}
    found = difflib.get_close_matches(_plain(name), short, n=1, cutoff=_NEAR)
    return short[found[0]] if found else None


def _plain(name: str) -> str:
    return name[:_LONGEST_NAME].lower().replace("-", "_").replace(" ", "_")
