"""What a rule is for: the explanations that ship beside this module, found by a rule's name.

``explanations/*.yaml`` holds one entry for each rule; a name with ``*`` stands for every rule of
that shape ("rules.*.missing").
"""

import difflib
import functools
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from trainmark.types import TrainmarkError, UsageError

__all__ = ["Explanation", "explain", "explanations", "find_explanation"]

_FOLDER = Path(__file__).parent / "explanations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a rule is for, and what to do when it is broken.

    Attributes:
        rule: The rule's name; ``*`` in it stands for a part that varies.
        title: What the rule says, in one line.
        why: What it is for.
        section: Where it is written.
        fix: What to do.
        official: Whether the official tools find it as well.
    """

    rule: str
    title: str
    why: str
    section: str
    fix: str
    official: bool

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data for ``--json``."""
        return asdict(self)


_TEXTS = tuple(f.name for f in fields(Explanation) if f.name not in ("rule", "official"))


def explain(rule: str) -> Explanation:
    """The explanation of a rule.

    Args:
        rule: A finding's rule, for example "run.two_starts" or "rules.seed.missing", or the name
            of an entry ("rules.*.missing").

    Raises:
        UsageError: There is none of that name.
        TrainmarkError: The explanations cannot be read.
    """
    found = find_explanation(rule)
    if found is not None:
        return found
    near = _near(rule)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"there is no rule {rule!r}", hint=f"{hint}{_valid(rule)}")


def find_explanation(rule: str) -> Explanation | None:
    """The explanation of a rule, None without one.

    Args:
        rule: A finding's rule.

    Raises:
        TrainmarkError: The explanations cannot be read.
    """
    known = explanations()
    if rule in known:
        return known[rule]
    fitting = [name for name, pattern in _patterns() if pattern.fullmatch(rule)]
    return known[max(fitting, key=len)] if fitting else None


@functools.cache
def explanations() -> Mapping[str, Explanation]:
    """Every explanation by the name of its rule, sorted.

    Raises:
        TrainmarkError: A file cannot be read, or an entry lacks a field.
    """
    import yaml  # 20 ms that a check without an explanation does not need

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Explanation] = {}
    for file in sorted(_FOLDER.glob("*.yaml")):
        try:
            entries = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 -- one of the two safe loaders
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise _unreadable(file, str(error)) from error
        if not isinstance(entries, dict):
            raise _unreadable(file, "it is not a mapping of rules")
        found |= {str(rule): _explanation(file, str(rule), body) for rule, body in entries.items()}
    return dict(sorted(found.items()))


def _explanation(file: Path, rule: str, body: Any) -> Explanation:
    wanted = {*_TEXTS, "official"}
    if not isinstance(body, dict) or body.keys() != wanted:
        raise _unreadable(file, f"the entry {rule} must have {', '.join(sorted(wanted))}")
    texts = {name: " ".join(str(body[name]).split()) for name in _TEXTS}
    return Explanation(rule=rule, official=body["official"] is True, **texts)


def _unreadable(file: Path, reason: str) -> TrainmarkError:
    return TrainmarkError(
        f"cannot read the explanations in {file.name}: {reason}",
        hint="Reinstall the package trainmark.",
    )


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(".+".join(map(re.escape, name.split("*"))), re.DOTALL))
        for name in explanations()
        if "*" in name
    )


def _near(rule: str) -> list[str]:
    """Names that may be meant: misspelt ones, also with the key left out."""
    area, _, rest = rule.partition(".")
    key, _, last = rest.rpartition(".")
    without_key = f"{area}.*.{last}" if key else rule
    return difflib.get_close_matches(without_key, explanations(), n=3, cutoff=0.6)


def _valid(rule: str) -> str:
    """The names of the same area; the areas for a name of none."""
    known = list(explanations())
    area = rule.partition(".")[0]
    same = [name for name in known if name.startswith(f"{area}.")]
    if same:
        return f"Valid: {', '.join(same)}."
    areas = dict.fromkeys(name.partition(".")[0] for name in known)
    return (
        f"A finding names its rule in brackets, for example {known[0]}. Areas: {', '.join(areas)}."
    )
