"""Results whose runs were filed before: the same logs under another id.

A submitter may file a result again in a later round, or twice in one; sometimes the logs' heads
were edited for it, so that their bytes differ and every time and quality in them is the same. The
first by round and id counts; the others stay in lists, marked, and are left out of statistics.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from trainmark.catalogue import engine
from trainmark.catalogue.store import connect, literal, rows
from trainmark.types import Doubt, Result

__all__ = ["Identity", "identities", "mark", "order"]

SAME = "same logs as an earlier result"
EDITED = "same runs as an earlier result"
SHARED = "shares runs with an earlier result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What tells that two results are of the same runs.

    Attributes:
        contents: Git's object name of each log.
        runs: A number for each run that its times and qualities make.
    """

    contents: frozenset[str]
    runs: frozenset[int]


def identities(files: Sequence[Path], among: Collection[int] | None = None) -> dict[str, Identity]:
    """The identity of each result by its id; none of one with an absent log, or without times.

    Args:
        files: Parquet files of runs.
        among: Only these runs are of interest; every run without it.

    Raises:
        duckdb.Error: A file is damaged.
    """
    if not files:
        return {}
    with connect() as database:
        condition = "true"
        if among is not None:
            database.execute("CREATE TABLE among (run UBIGINT)")
            engine.insert(database, "among", [(run,) for run in among])
            condition = "run IN (FROM among)"
        sql = _IDENTITIES.format(condition)
        found = rows(database, sql, [[literal(file) for file in files]])
    return {
        row["result_id"]: Identity(contents=frozenset(row["contents"]), runs=frozenset(row["runs"]))
        for row in found
    }


# Times have milliseconds: two runs agree in all of them only if they are one.
_IDENTITIES = """
SELECT result_id, list(content) AS contents, list(run) AS runs
FROM (
    SELECT result_id, content, available, minutes,
        CASE WHEN minutes IS NULL THEN hash(content) ELSE hash(
            minutes, init_minutes, list_transform(evaluations, lambda e: [e.minutes, e.quality])
        ) END AS run
    FROM read_parquet(?, union_by_name = true)
)
WHERE {}
GROUP BY result_id HAVING bool_and(available) AND bool_or(minutes IS NOT NULL)
"""


def mark(
    results: Iterable[Result],
    known: Mapping[str, Identity],
    others: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Result]:
    """The results with those marked whose runs were filed before.

    A result is carried over when each of its runs is one of an earlier result's. One that has
    some runs of its own is not, and a doubt tells with which result it shares the others.

    Args:
        results: The results, in any order; marks that they have are made anew.
        known: The identity of each, by id, as far as there is one.
        others: Published results that may be earlier and are not to be marked: id to round.
            ``known`` has those of their runs that one of ``results`` has too.

    Returns:
        The results by id, in the order of rounds and ids.
    """
    in_order = sorted(results, key=order)
    places = {result.id: order(result) for result in in_order}
    places |= {name: _place("published", number, name) for name, number in others.items()}
    holders: dict[int, str] = {}  # a run and the first result that has it
    for name in sorted(places.keys() & known.keys(), key=places.__getitem__):
        for run in known[name].runs:
            holders.setdefault(run, name)
    return {result.id: _marked(result, holders, known) for result in in_order}


def order(result: Result) -> tuple[bool, tuple[int, ...], str]:
    """Published results first, by round, then by id."""
    return _place(result.origin, result.round or "", result.id)


def _place(origin: str, round_name: str, name: str) -> tuple[bool, tuple[int, ...], str]:
    numbers = tuple(int(part) for part in round_name.split(".") if part.isdigit())
    return origin != "published", numbers, name


def _marked(result: Result, holders: Mapping[int, str], known: Mapping[str, Identity]) -> Result:
    own = tuple(doubt for doubt in result.doubts if doubt.kind not in (SAME, EDITED, SHARED))
    mine = known.get(result.id, _NOTHING)
    common = Counter(name for run in mine.runs if (name := holders[run]) != result.id)
    if not common:
        return replace(result, carried_over=False, doubts=own)
    carried_over = common.total() == len(mine.runs)
    names = ", ".join(sorted(common))
    if not carried_over:
        text = f"{common.total()} of {len(mine.runs)} runs are those of {names}"
        return replace(result, carried_over=False, doubts=(*own, Doubt(kind=SHARED, text=text)))
    before = frozenset[str]().union(*(known[name].contents for name in common))
    if mine.contents <= before:
        doubt = Doubt(kind=SAME, text=f"the same logs as {names}")
    else:
        text = f"every time and quality is that of {names}, though the logs' bytes are not"
        doubt = Doubt(kind=EDITED, text=text)
    return replace(result, carried_over=True, doubts=(*own, doubt))


_NOTHING = Identity(contents=frozenset(), runs=frozenset())
