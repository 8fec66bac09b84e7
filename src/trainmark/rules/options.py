"""What a user lays down about a check, beside the paths."""

from dataclasses import dataclass
from enum import StrEnum

from trainmark.rules.rulesets import Ruleset, ruleset_named

__all__ = ["CheckOptions", "SeedRule"]


class SeedRule(StrEnum):
    """For which closed results the seeds are looked at."""

    RULE = "rule"  # as the written rules have it: from round 4.1 on
    ALWAYS = "always"  # as the official package checker has it: from round 1.0 on


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """How to check.

    Attributes:
        ruleset: The rules for every log, None for those that each log follows.
        division: Taken instead of what the logs say.
        benchmark: Taken instead of what the logs say.
        seeds: For which results the seeds are looked at.
        strict: Whether every warning is an error.
        jobs: Processes to use; None for as many as the machine has when there is enough to do.
    """

    ruleset: Ruleset | None = None
    division: str | None = None
    benchmark: str | None = None
    seeds: SeedRule = SeedRule.RULE
    strict: bool = False
    jobs: int | None = 1

    @classmethod
    def of(
        cls,
        *,
        ruleset: Ruleset | str | None = None,
        division: str | None = None,
        benchmark: str | None = None,
    ) -> "CheckOptions":
        """Options with the round by name.

        Raises:
            UsageError: There is no such round.
        """
        named = ruleset_named(ruleset) if isinstance(ruleset, str) else ruleset
        return cls(ruleset=named, division=division, benchmark=benchmark)
