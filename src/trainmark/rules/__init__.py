"""Rules: the official tables compiled to typed constraints; findings, verdicts, scores.

What stands here is loaded when it is first used: checking one log needs a part of it only.
"""

from typing import TYPE_CHECKING

from trainmark.types.lazy import lazily

if TYPE_CHECKING:
    from trainmark.rules.options import CheckOptions, SeedRule
    from trainmark.rules.paths import check_path, check_paths
    from trainmark.rules.rulesets import Ruleset, find_ruleset, known_rulesets, ruleset_named
    from trainmark.rules.scores import FolderScore, score_path
    from trainmark.rules.scoring import Score, failures_allowed, required_runs, score
    from trainmark.rules.verdict import Verdict, check_log

__all__ = [
    "CheckOptions",
    "FolderScore",
    "Ruleset",
    "Score",
    "SeedRule",
    "Verdict",
    "check_log",
    "check_path",
    "check_paths",
    "failures_allowed",
    "find_ruleset",
    "known_rulesets",
    "required_runs",
    "ruleset_named",
    "score",
    "score_path",
]

__getattr__ = lazily(
    __name__,
    {
        "options": ("CheckOptions", "SeedRule"),
        "paths": ("check_path", "check_paths"),
        "rulesets": ("Ruleset", "find_ruleset", "known_rulesets", "ruleset_named"),
        "scores": ("FolderScore", "score_path"),
        "scoring": ("Score", "failures_allowed", "required_runs", "score"),
        "verdict": ("Verdict", "check_log"),
    },
)
