"""Rules of a round that were changed after its results were published.

The verdict follows the installed rule tables, as the official checker's does. Some of them are
not those that the published logs were once accepted by; ``changed_after.yaml`` lists where.
"""

import functools
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

__all__ = ["LaterChange", "later_change", "later_changes"]

_FILE = Path(__file__).with_name("changed_after.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterChange:
    """One rule that is stricter today than on the day its round was published.

    Attributes:
        round_name: The ruleset's name, for example "1.1".
        published: The day of publication.
        benchmark: The benchmark that it is about, None for all.
        rules: Names of findings, ``*`` stands for any part.
        changed: When the official checker was changed.
        then: What held for the published logs, as the rest of a sentence.
        source: The commit in github.com/mlcommons/logging.
    """

    round_name: str
    published: date
    benchmark: str | None
    rules: tuple[str, ...]
    changed: date
    then: str
    source: str

    def concerns(self, round_name: str, rule: str, benchmark: str | None) -> bool:
        """Whether a finding of that rule is about what was changed."""
        return (
            round_name == self.round_name
            and self.benchmark in (None, benchmark)
            and any(fnmatchcase(rule, pattern) for pattern in self.rules)
        )

    def sentence(self) -> str:
        """The change in words."""
        return (
            f"this rule was changed on {self.changed}, after round {self.round_name} was published "
            f"({self.published}): until then {self.then} (mlcommons/logging {self.source[:7]})"
        )


def later_change(round_name: str, rule: str, benchmark: str | None = None) -> str | None:
    """What to say of a finding that logs of its round were not held to when they were published.

    Args:
        round_name: The ruleset's name, for example "1.1".
        rule: The finding's rule, for example "rules.weights_initialization.missing".
        benchmark: The log's benchmark as written.

    Returns:
        A sentence without its capital and full stop; None for a rule that is as it was.
    """
    for change in later_changes():
        if change.concerns(round_name, rule, benchmark):
            return change.sentence()
    return None


@functools.cache
def later_changes() -> tuple[LaterChange, ...]:
    """Every change that is known, in the order of the rounds."""
    import yaml  # only a log with findings needs it

    return tuple(_change(entry) for entry in yaml.safe_load(_FILE.read_text(encoding="utf-8")))


def _change(entry: dict[str, Any]) -> LaterChange:
    return LaterChange(
        round_name=entry["round"],
        published=entry["published"],
        benchmark=entry.get("benchmark"),
        rules=tuple(entry["rules"]),
        changed=entry["changed"],
        then=entry["then"],
        source=entry["source"],
    )
