"""What a reader would otherwise have to find out: which missing record stands in a broken line."""

import re
from collections.abc import Sequence
from dataclasses import replace

from trainmark.types import Finding

__all__ = ["with_hints"]

_MISSING = re.compile(r"rules\.(?P<key>.+)\.missing")
_BROKEN = frozenset({"log.json", "log.record", "log.torn"})


def with_hints(findings: Sequence[Finding]) -> list[Finding]:
    """The findings about one log; a key that is missing for a broken line says so.

    Args:
        findings: Those about one log.
    """
    broken = [one for one in findings if one.rule in _BROKEN and one.line]
    return [_found_broken(one, broken) for one in findings] if broken else list(findings)


def _found_broken(finding: Finding, broken: Sequence[Finding]) -> Finding:
    match = _MISSING.fullmatch(finding.rule)
    if match is None:
        return finding
    at = next((one for one in broken if f'"{match["key"]}"' in one.line), None)
    if at is None:
        return finding
    return replace(
        finding,
        message=f"{finding.message}; one stands on line {at.line_no}, which cannot be read",
        fix=f"Repair line {at.line_no}; this follows from it.",
    )
