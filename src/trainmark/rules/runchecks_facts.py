"""What the checks of a run are given: the log, and what is already known about it."""

from dataclasses import dataclass

from trainmark.rules.engine import Outcome
from trainmark.rules.rulesets import Ruleset
from trainmark.rules.subjects import named
from trainmark.types import Event, Finding, Run, RunLog, Severity

__all__ = ["Facts"]

# What these train is judged from checkpoints after the clock has stopped; the run_stop is then
# dated back to the first checkpoint that passes, as the written rules have it.
_JUDGED_LATER = frozenset({"minigo", "stable_diffusion"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a log when the rule tables have been run.

    Attributes:
        log: The log, each record once.
        ranks: How many ranks wrote it.
        run: Its numbers.
        start: The run_start that counts, None without one.
        stop: The run_stop that counts, None without one.
        outcome: What the rule tables say.
        ruleset: The rules that it was held to, None if nothing tells.
    """

    log: RunLog
    ranks: int
    run: Run
    start: Event | None
    stop: Event | None
    outcome: Outcome
    ruleset: Ruleset | None = None

    @property
    def judged_later(self) -> bool:
        """Whether the benchmark evaluates its checkpoints after the clock has stopped."""
        return self.run.benchmark in _JUDGED_LATER

    def finding(
        self,
        rule: str,
        message: str,
        fix: str,
        *,
        event: Event | None = None,
        severity: Severity = Severity.ERROR,
        expected: str = "",
        found: str = "",
    ) -> Finding:
        """A finding about this log."""
        return Finding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            path=self.log.source,
            line_no=None if event is None else event.line_no,
            expected=expected,
            found=found,
        )

    def quality(self) -> str:
        """The last quality and the target, in words; "" if the log has none."""
        targets = " and ".join(
            named(target.constraint, target.key) for target in self.outcome.targets
        )
        last = "" if self.run.quality is None else f"the last quality is {self.run.quality:g}"
        wanted = f"the target is that {targets}" if targets else ""
        return "; ".join(part for part in (last, wanted) if part)
