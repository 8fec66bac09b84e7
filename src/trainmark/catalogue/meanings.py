"""What each column of the catalogue means: the sentences that its type is documented with."""

import inspect
import re
from functools import lru_cache

from trainmark.types import Evaluation, Result, Run

__all__ = ["meanings", "result_meanings", "run_meanings"]

_ENTRY = re.compile(r"^(\w+): (.*)$")


def meanings(kind: type) -> dict[str, str]:
    """The text of each attribute in a type's docstring; {} where Python left docstrings out.

    Args:
        kind: A class with an "Attributes:" section in Google's style.
    """
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2].splitlines():
        if line.startswith("    ") and not line.startswith("     "):
            match = _ENTRY.match(line.strip())
            if match is None:
                break
            name, found[match[1]] = match[1], match[2]
        elif line.startswith("     ") and name:
            found[name] += " " + line.strip()
        elif line.strip():
            break
    return {name: re.sub(r"`+", "", text) for name, text in found.items()}


@lru_cache(maxsize=1)
def result_meanings() -> dict[str, str]:
    """The columns of results."""
    return meanings(Result)


@lru_cache(maxsize=1)
def run_meanings() -> dict[str, str]:
    """The columns of runs."""
    parts = "; ".join(f"{name}: {text.rstrip('.')}" for name, text in meanings(Evaluation).items())
    found = meanings(Run)
    return {
        "result_id": "The result that the run belongs to: results.id.",
        "run_index": "Its place among the result's runs, from 0.",
        **found,
        "evaluations": f"{found.get('evaluations', '')} A list of ({parts})",
    }
