"""Check one file: what a worker process does."""

from dataclasses import dataclass, replace
from pathlib import Path

from trainmark import mllog
from trainmark.rules.options import CheckOptions
from trainmark.rules.rulesets import NoRulesError, RoundUnknownError
from trainmark.rules.submission.systems_claims import logged_system
from trainmark.rules.tables import wanted_keys
from trainmark.rules.tree import status_of
from trainmark.rules.verdict import Verdict, check_log
from trainmark.types import Finding, Severity, UsageError
from trainmark.types.garbage import collection_paused

__all__ = ["Untold", "check_file"]

# Beyond this, records of keys without a rule (throughput, loss) are not kept.
_LARGE_BYTES = 64 << 20
_COUNTED_FROM = (4, 0)  # the first round whose logs have lines :::SYSJSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """A log of which nothing tells the round.

    Attributes:
        path: The log.
        message: What was tried.
        hint: What to do.
    """

    path: Path
    message: str
    hint: str

    def error(self) -> UsageError:
        """As the error of a request for this log alone."""
        return UsageError(self.message, hint=self.hint)

    def verdict(self) -> Verdict:
        """As a finding, where other logs go on."""
        return _only(self.path, "rules.round", self.message, self.hint)


def check_file(path: Path, options: CheckOptions) -> Verdict | Untold:
    """Check one log; whatever is wrong with it is a finding.

    Args:
        path: The file.
        options: How to check.
    """
    with collection_paused():
        result = _check(path, options)
    if isinstance(result, Untold):
        return result
    result = _with_counted(path, result)
    return result.strict() if options.strict else result


def _check(path: Path, options: CheckOptions) -> Verdict | Untold:
    try:
        size = status_of(path).st_size  # says no to a pipe, which would never end
        log = mllog.read(path, _asked_for() if size > _LARGE_BYTES else None)
    except UsageError as error:
        fix = "Make the file readable, or take it away."
        return _only(path, "log.unreadable", error.message, fix)
    try:
        return check_log(
            log, ruleset=options.ruleset, division=options.division, benchmark=options.benchmark
        )
    except NoRulesError as error:
        return _only(path, "rules.no_round", error.message, error.hint)
    except RoundUnknownError as error:
        return Untold(path=path, message=error.message, hint=error.hint)


def _asked_for() -> frozenset[str]:
    """The keys that some check looks at: all that is kept of a large log."""
    return wanted_keys() | {mllog.keys.OWN_RULESET, mllog.keys.OWN_EFFICIENCY}


def _with_counted(path: Path, verdict: Verdict) -> Verdict:
    """The verdict with what scripts on the machine have counted into the file."""
    if verdict.facts is None or verdict.ruleset is None or verdict.ruleset.round < _COUNTED_FROM:
        return verdict
    counted = logged_system(path)
    if counted is None:
        return verdict
    claims = replace(verdict.facts.claims, counted=counted)
    return replace(verdict, facts=replace(verdict.facts, claims=claims))


def _only(path: Path, rule: str, message: str, fix: str) -> Verdict:
    """The verdict on a log that was not held to any rules."""
    finding = Finding(rule=rule, severity=Severity.ERROR, message=message, fix=fix, path=str(path))
    return Verdict(
        path=str(path),
        kind="log",
        ruleset=None,
        chosen="",
        benchmark=None,
        division=None,
        findings=(finding,),
    )
