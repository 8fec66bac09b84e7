"""What the official tools said of the published results, and which differences are known."""

import csv
import fnmatch
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

__all__ = ["Known", "Outcome", "by_round", "known_differences", "read_rows", "round_folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One comparison.

    Attributes:
        what: What was compared: "verdict", "minutes", "convergence", "factor", "score", ...
        round_name: The round.
        path: The log or folder, below the round's repository.
        state: "agrees", "differs", "absent" (not in the repository), "crash" (the official tool
            gave no answer), "only ours" (a log that they accept and we do not).
        theirs: The official answer.
        ours: Ours.
        reason: For a difference what we say of it, for example the rules of our findings.
    """

    what: str
    round_name: str
    path: str
    state: str
    theirs: Any = None
    ours: Any = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A difference with a reason, as docs/parity.md lists it.

    Attributes:
        what: What differs, as in ``Outcome``.
        round_name: The round.
        path: Which paths, with ``*``.
        count: How many there are in the whole repository.
        reason: Why.
    """

    what: str
    round_name: str
    path: str
    count: int
    reason: str

    def concerns(self, outcome: Outcome) -> bool:
        """Whether an outcome is one of these."""
        return (self.what, self.round_name) == (outcome.what, outcome.round_name) and (
            fnmatch.fnmatchcase(outcome.path, self.path)
        )


def known_differences(document: Path) -> list[Known]:
    """The list in a document: its ``yaml`` blocks.

    Args:
        document: A page with fenced blocks, each a list of what (or several), round, path, count,
            reason.

    Raises:
        KeyError: An entry lacks a field.
    """
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [
        Known(
            what=what,
            round_name=str(entry["round"]),
            path=entry["path"],
            count=entry["count"],
            reason=entry["reason"],
        )
        for block in blocks
        for entry in yaml.safe_load(block) or []
        for what in ([entry["what"]] if isinstance(entry["what"], str) else entry["what"])
    ]


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of an oracle: JSON lines, in xz or not, or CSV."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as table:
            yield from csv.DictReader(table)
        return
    with lzma.open(file, "rt") if file.suffix == ".xz" else file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def round_folder(rounds: Path, name: str) -> Path | None:
    """Where a round's repository lies below a folder, None if it is not there."""
    names = (f"training_results_v{name}", f"v{name}", name)
    return next((rounds / one for one in names if (rounds / one).is_dir()), None)


def by_round(outcomes: Sequence[Outcome], what: str) -> dict[str, Counter[str]]:
    """For each round how many outcomes of a kind there are in each state."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        if outcome.what == what:
            counts.setdefault(outcome.round_name, Counter())[outcome.state] += 1
    return dict(sorted(counts.items()))
