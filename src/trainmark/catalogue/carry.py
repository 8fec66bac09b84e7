"""Results whose logs were filed before: the same contents under another id.

A submitter may file a result again in a later round, or twice in one. The first by round and id
counts; the others stay in lists, marked, and are left out of statistics.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from trainmark.types import Doubt, Result

__all__ = ["mark", "order"]

SAME = "same logs as an earlier result"
SHARED = "shares logs with an earlier result"


def mark(results: Iterable[Result], contents: Mapping[str, frozenset[str]]) -> dict[str, Result]:
    """The results with those marked whose logs were filed before.

    A result is carried over when each of its logs is one of an earlier result's. One that has
    some logs of its own is not, and a doubt tells with which result it shares the others.

    Args:
        results: All results, in any order; marks that they have are made anew.
        contents: What identifies the logs of each, by id; none for one with an absent log.

    Returns:
        The results by id, in the order of rounds and ids.
    """
    holders: dict[str, str] = {}  # a content and the first result that has it
    marked = {}
    for result in sorted(results, key=order):
        mine = contents.get(result.id, frozenset())
        marked[result.id] = _marked(result, mine, holders)
        for content in mine:
            holders.setdefault(content, result.id)
    return marked


def order(result: Result) -> tuple[bool, tuple[int, ...], str]:
    """Published results first, by round, then by id."""
    return result.origin != "published", _round(result.round or ""), result.id


def _round(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split(".") if part.isdigit())


def _marked(result: Result, mine: frozenset[str], holders: Mapping[str, str]) -> Result:
    own = tuple(doubt for doubt in result.doubts if doubt.kind not in (SAME, SHARED))
    common: dict[str, int] = defaultdict(int)
    for content in mine:
        if content in holders:
            common[holders[content]] += 1
    if not common:
        return replace(result, carried_over=False, doubts=own)
    earlier = max(common, key=lambda name: (common[name], name))
    carried_over = sum(common.values()) == len(mine)
    if carried_over and len(common) == 1:
        doubt = Doubt(kind=SAME, text=f"the same logs as {earlier}")
    else:
        number = sum(common.values())
        text = f"{number} of {len(mine)} different logs are those of {', '.join(sorted(common))}"
        doubt = Doubt(kind=SAME if carried_over else SHARED, text=text)
    return replace(result, carried_over=carried_over, doubts=(*own, doubt))
