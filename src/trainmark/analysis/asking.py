"""Words about a result as questions to the catalogue, all of them with one opening of it."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainmark.catalogue import Filters
from trainmark.catalogue.search import OnFinding, queries, similar_ids
from trainmark.types import Result, UsageError, unknown_name

__all__ = ["KEYS", "Catalogue", "filters_of", "parsed"]


class Catalogue:
    """The catalogue, asked as few times as can be: opening it is what takes time.

    Args:
        benchmark: Only results of this benchmark; all without it.
        where: The folder of own results instead of the user's.
        on_finding: As for ``catalogue.query``.
    """

    def __init__(
        self,
        *,
        benchmark: str | None = None,
        where: Path | None = None,
        on_finding: OnFinding | None = None,
    ) -> None:
        self.benchmark = benchmark
        self._where, self._on_finding = where, on_finding
        self._answers: dict[Filters, list[Result]] = {}

    def prepare(self, asked: Sequence[Filters]) -> None:
        """Ask several questions at once.

        Raises:
            UsageError: As ``catalogue.query``; or a question names another benchmark.
        """
        new = [self._narrowed(one) for one in dict.fromkeys(asked)]
        new = [one for one in new if one not in self._answers]
        if new:
            found = queries(new, where=self._where, on_finding=self._on_finding)
            self._answers |= zip(new, found, strict=True)

    def ask(self, filters: Filters) -> list[Result]:
        """The results that match, fastest first."""
        self.prepare([filters])
        return self._answers[self._narrowed(filters)]

    def similar(self, text: str) -> list[str]:
        """The ids that are spelt most like a text, for messages."""
        return similar_ids(text, where=self._where, limit=3)

    def _narrowed(self, filters: Filters) -> Filters:
        if self.benchmark is None:
            return filters
        if filters.benchmark not in (None, self.benchmark):
            raise UsageError(
                f"benchmark={filters.benchmark} is asked for beside --benchmark {self.benchmark}",
                hint="Leave one of them out.",
            )
        return replace(filters, benchmark=self.benchmark)


def parsed(text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The key=value words and the free ones; quotes keep a value with spaces together.

    Raises:
        UsageError: There is no such key.
    """
    try:
        parts = shlex.split(text)
    except ValueError:  # a quote that is none, as in O'Brien
        parts = text.split()
    asked, words = {}, []
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            words.append(part)
        elif key.lower() not in KEYS:
            raise unknown_name("key", key, KEYS)
        else:
            asked[key.lower()] = value
    return asked, tuple(words)


def filters_of(asked: dict[str, str], words: tuple[str, ...]) -> Filters:
    """The question that key=value words and free words are.

    Raises:
        UsageError: A number of accelerators is none.
    """
    fields: dict[str, Any] = {"words": words}
    for key, value in asked.items():
        fields |= KEYS[key](value)
    return Filters(**fields)


def _chips(value: str) -> dict[str, Any]:
    match = re.fullmatch(r"([0-9]{1,9})(?:(-)([0-9]{0,9}))?", value)
    if match is None:
        raise UsageError(
            f"chips={value:.80} is no number of accelerators",
            hint="Write chips=16, or chips=16-64.",
        )
    least = int(match[1])
    most = least if match[2] is None else int(match[3]) if match[3] else None
    return {"chips_min": least, "chips_max": most}


def _field(name: str) -> Callable[[str], dict[str, Any]]:
    return lambda value: {name: value}


# The keys of a query, and what filters their values are.
KEYS: dict[str, Callable[[str], dict[str, Any]]] = {
    **{
        name: _field(name)
        for name in (
            "benchmark",
            "task",
            "submitter",
            "system",
            "accelerator",
            "framework",
            "division",
            "category",
            "origin",
        )
    },
    "round": lambda value: {"rounds": (value,)},
    "chips": _chips,
}
