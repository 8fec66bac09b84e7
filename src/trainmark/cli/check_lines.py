"""The lines of a log that findings are about: read once more, for those findings only."""

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainmark.rules import Verdict

__all__ = ["with_lines"]

_MOST_LINES = 1000
_OTHER_BYTES = "log.encoding"  # a line of UTF-16 shows nothing


def with_lines(verdict: "Verdict") -> "Verdict":
    """The verdict on a log, whose findings show the lines that they are about.

    Args:
        verdict: A finding in it that has a line already, or no number of one, stays as it is; so
            does every finding where the log cannot be read any more.
    """
    lacking = {
        finding.line_no
        for finding in verdict.findings
        if finding.line_no is not None
        and not finding.line
        and finding.path == verdict.path
        and finding.rule != _OTHER_BYTES
    }
    if verdict.kind != "log" or not lacking:
        return verdict
    from trainmark.mllog import excerpts

    lines = excerpts(verdict.path, sorted(lacking)[:_MOST_LINES])
    findings = tuple(
        replace(finding, line=lines[finding.line_no])
        if finding.line_no in lines
        and not finding.line
        and finding.path == verdict.path
        and finding.rule != _OTHER_BYTES
        else finding
        for finding in verdict.findings
    )
    return replace(verdict, findings=findings)
