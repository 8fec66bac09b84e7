"""Questions to the catalogue: published results from the package, imported and own ones.

    query(Filters(benchmark="resnet", rounds=("2.0",)), sort="minutes", limit=10)

What can be asked is in ``filters``; where the answers come from, in ``opening``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from trainmark.catalogue import engine
from trainmark.catalogue.filters import Filters, condition, resolved
from trainmark.catalogue.opening import broken, open_results, open_runs, packaged_files
from trainmark.catalogue.schema import RESULT_COLUMNS, result_from_row, run_from_row
from trainmark.catalogue.store import connect, rows
from trainmark.types import Finding, Result, Run, unknown_name

__all__ = [
    "SORTS",
    "Filters",
    "OnFinding",
    "Page",
    "choices",
    "opened_once",
    "own_results",
    "page",
    "published",
    "queries",
    "query",
    "runs_by_result",
    "runs_of",
    "similar_ids",
]

PUBLISHED_RESULTS, PUBLISHED_RUNS = packaged_files()

OnFinding = Callable[[Finding], None]

# A missing value sorts last, and the id settles what is equal: the same order every time.
# Beside the fields of a result, the short names that tables use.
_SHORT = {
    "chips": "accelerators",
    "batch": "global_batch_size",
    "samples": "samples_to_target",
}
_SORTABLE = ("VARCHAR", "INTEGER", "DOUBLE", "BOOLEAN")


def _sorts() -> dict[str, str]:
    found = {}
    for column in RESULT_COLUMNS:
        quoted = f'"{column.name}"'
        if column.name not in ("raw", "software") and column.sql in _SORTABLE:
            found[column.name] = f"lower({quoted})" if column.sql == "VARCHAR" else quoted
    found["round"] = "TRY_CAST(round AS DOUBLE)"
    found["task"] = "coalesce(nullif(task, ''), benchmark)"
    return found | {short: found[name] for short, name in _SHORT.items()}


SORTS: dict[str, str] = _sorts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Results, and how many there are.

    Attributes:
        results: Those that were asked for, in order.
        total: How many match.
    """

    results: list[Result]
    total: int


def query(
    filters: Filters | None = None,
    *,
    sort: str = "minutes",
    descending: bool = False,
    limit: int = 0,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> list[Result]:
    """The results that match, sorted.

    Args:
        filters: What is asked for; everything without it.
        sort: A name in ``SORTS``.
        descending: Whether the greatest comes first.
        limit: At most so many, 0 for all.
        where: The catalogue's folder instead of the user's.
        on_finding: What to do with a finding about a damaged file; logs a warning without it.

    Raises:
        UsageError: An unknown benchmark, task, round, category, division, origin or sort key.
        TrainmarkError: The packaged catalogue is damaged.
    """
    return page(
        filters,
        sort=sort,
        descending=descending,
        limit=limit,
        where=where,
        on_finding=on_finding,
    ).results


def queries(
    asked: Sequence[Filters], *, where: Path | None = None, on_finding: OnFinding | None = None
) -> list[list[Result]]:
    """The answers to several questions, fastest result first, with one opening of the catalogue.

    Args:
        asked: The questions.
        where: The catalogue's folder instead of the user's.
        on_finding: As for ``query``; called once for each damaged file.

    Raises:
        UsageError: As ``query``.
        TrainmarkError: As ``query``.
    """
    answers = []
    with _opened(where, on_finding) as database:
        for filters in asked:
            matches, parameters = condition(resolved(filters, database))
            order = f"{SORTS['minutes']} ASC NULLS LAST, id"
            found = rows(database, f"FROM results WHERE {matches} ORDER BY {order}", parameters)
            answers.append([result_from_row(row) for row in found])
    return answers


def page(
    filters: Filters | None = None,
    *,
    sort: str = "minutes",
    descending: bool = False,
    limit: int = 0,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> Page:
    """The first results that match, and how many match. Arguments and errors as for ``query``."""
    if sort not in SORTS:
        raise unknown_name("sort key", sort, SORTS)
    with _opened(where, on_finding) as database:
        matches, parameters = condition(resolved(filters or Filters(), database))
        order = f"{SORTS[sort]} {'DESC' if descending else 'ASC'} NULLS LAST, id"
        found = rows(
            database,
            f"FROM results WHERE {matches} ORDER BY {order} LIMIT ?",
            [*parameters, limit or None],
        )
        total = len(found)
        if limit and total == limit:
            counted = f"SELECT count(*) FROM results WHERE {matches}"  # noqa: S608 - ours
            ((total,),) = database.execute(counted, parameters).fetchall()
    return Page(results=[result_from_row(row) for row in found], total=total)


def published(*, benchmark: str | None = None, rounds: Sequence[str] = ()) -> list[Result]:
    """Published results, fastest first; those without a score last.

    Args:
        benchmark: The benchmark's official name; all without it.
        rounds: "1.0", ...; all without it.

    Raises:
        UsageError: An unknown benchmark or round.
    """
    return query(Filters(benchmark=benchmark, rounds=tuple(rounds), origin="published"))


def own_results(
    *,
    benchmark: str | None = None,
    machine: str | None = None,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> list[Result]:
    """The user's own results, oldest first; none when nothing was recorded yet.

    Args:
        benchmark: The benchmark's name in its logs; all without it.
        machine: A machine's fingerprint; all without it.
        where: The catalogue's folder instead of the user's.
        on_finding: As for ``query``.
    """
    asked = Filters(machine=machine, origin="own")
    found = query(asked, sort="recorded", where=where, on_finding=on_finding)
    return [result for result in found if benchmark in (None, result.benchmark)]


def runs_of(
    result: Result, *, where: Path | None = None, on_finding: OnFinding | None = None
) -> list[Run]:
    """The runs of one result, in file order.

    Args:
        result: A result from the catalogue.
        where: The catalogue's folder instead of the user's.
        on_finding: As for ``query``.
    """
    return runs_by_result([result], where=where, on_finding=on_finding)[result.id]


def runs_by_result(
    results: Sequence[Result],
    *,
    evaluations: bool = True,
    where: Path | None = None,
    on_finding: OnFinding | None = None,
) -> dict[str, list[Run]]:
    """The runs of several results by the result's id, each in file order.

    Args:
        results: Results from the catalogue.
        evaluations: Whether to read them too: they are nearly all that there is to read.
        where: The catalogue's folder instead of the user's.
        on_finding: As for ``query``.
    """
    found: dict[str, list[Run]] = {result.id: [] for result in results}
    ids = list(found)
    with _opened(where, on_finding) as database:
        _report(open_runs(database, where, ids=ids), on_finding)
        wanted = "result_id = ?" if len(ids) == 1 else "result_id IN (SELECT unnest(?::VARCHAR[]))"
        columns = "*" if evaluations else "* EXCLUDE (evaluations)"
        for row in rows(
            database,
            f"SELECT {columns} FROM runs WHERE {wanted} ORDER BY result_id, run_index",  # noqa: S608
            ids if len(ids) == 1 else [ids],
        ):
            found[row["result_id"]].append(run_from_row(row))
    return found


def choices(column: str, filters: Filters | None = None, *, where: Path | None = None) -> list[str]:
    """The values of one column among the results that match, in order, for messages.

    Args:
        column: The name of a field of ``Result`` with text or a number in it.
        filters: What is asked for; everything without it.
        where: The catalogue's folder instead of the user's.
    """
    assert column in SORTS, column
    with _opened(where, lambda _: None) as database:
        matches, parameters = condition(resolved(filters or Filters(), database))
        found = rows(
            database,
            f'SELECT DISTINCT "{column}" AS value FROM results WHERE {matches}',  # noqa: S608
            parameters,
        )
    return list(map(str, sorted({value for row in found if (value := row["value"])})))


def similar_ids(text: str, *, where: Path | None = None, limit: int = 5) -> list[str]:
    """The ids of results that are spelt most like a text, for messages.

    Args:
        text: An id that there is none of.
        where: The catalogue's folder instead of the user's.
        limit: At most so many.
    """
    wanted = text.encode("utf-8", "replace").decode()
    with _opened(where, lambda _: None) as database:
        found = database.execute(
            "SELECT id FROM results WHERE jaro_winkler_similarity(lower(id), lower(?)) > 0.8 "
            "ORDER BY jaro_winkler_similarity(lower(id), lower(?)) DESC, id LIMIT ?",
            [wanted, wanted, limit],
        ).fetchall()
    return [name for (name,) in found]


# The database that questions are put to while ``opened_once`` lasts, and the folder it is of.
_OPEN: ContextVar[tuple[Path | None, engine.Database] | None] = ContextVar("open", default=None)


@contextmanager
def opened_once(where: Path | None = None, on_finding: OnFinding | None = None) -> Iterator[None]:
    """While it lasts, all questions of this thread are put to the catalogue as it is now.

    Opening it takes longer than most questions. What is written meanwhile is not seen.

    Args:
        where: The catalogue's folder instead of the user's; questions to another open their own.
        on_finding: As for ``query``; called once for each damaged file.
    """
    with _opened(where, on_finding) as database:
        before = _OPEN.set((where, database))
        try:
            yield
        finally:
            _OPEN.reset(before)


@contextmanager
def _opened(where: Path | None, on_finding: OnFinding | None) -> Iterator[engine.Database]:
    """The catalogue with its table ``results``."""
    kept = _OPEN.get()
    if kept is not None and kept[0] == where:
        yield kept[1]
        return
    with connect() as database:
        try:
            _report(open_results(database, where), on_finding)
            yield database
        except engine.Error as error:  # of the others, each was looked through
            raise broken(error) from error


def _report(findings: Sequence[Finding], on_finding: OnFinding | None) -> None:
    for finding in findings:
        (on_finding or _warn)(finding)


def _warn(finding: Finding) -> None:
    import logging  # rarely needed, and slow to load

    logging.getLogger(__name__).warning("%s: %s. %s", finding.path, finding.message, finding.fix)
