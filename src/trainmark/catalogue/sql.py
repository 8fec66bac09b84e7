"""The catalogue opened to SQL, for reading only.

The tables are copied into a database in memory; then DuckDB's access to files, networks and
extensions is switched off and the switch is locked, before any statement of the user's is run.
What such a statement can do to the disk is therefore nothing, whatever it says; that it must be
a SELECT is only the clearer answer.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainmark.catalogue import engine
from trainmark.catalogue.opening import broken
from trainmark.catalogue.sql_tables import TABLES, fill, named_in
from trainmark.types import Finding, TrainmarkError, UsageError

__all__ = ["Answer", "asked"]

BLOCK = 2_000
MEMORY = "2GB"
BEYOND = 4 << 30  # bytes: texts and lists in the making are not among what DuckDB counts
_TRIES = 20
_READS = frozenset({"SELECT", "EXPLAIN", "MULTI"})  # a PIVOT is several statements in one


@dataclass(frozen=True, slots=True)
class Answer:
    """What a statement gives.

    Attributes:
        columns: Name and DuckDB's type of each column.
        blocks: The rows, some at a time, as they come.
        findings: Damaged files that were left out.
    """

    columns: tuple[tuple[str, str], ...]
    blocks: Iterator[Sequence[tuple[Any, ...]]]
    findings: tuple[Finding, ...]


@contextmanager
def asked(
    statement: str,
    *,
    where: Path | None = None,
    prices: Path | None = None,
    seconds: float | None = None,
) -> Iterator[Answer]:
    """Run one statement; the rows can be read until the context ends.

    Args:
        statement: A SELECT over ``sql_tables.TABLES``.
        where: The catalogue's folder instead of the user's.
        prices: The user's file of prices instead of the usual one.
        seconds: How long DuckDB may work on it in all; no limit without it.

    Raises:
        UsageError: The statement is wrong, or does not only read.
        TrainmarkError: It took too long or too much memory; the packaged catalogue is damaged.
    """
    statement = statement.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    with _limited_memory():
        yield from _answer(statement, where, prices, seconds)


def _answer(
    statement: str, where: Path | None, prices: Path | None, seconds: float | None
) -> Iterator[Answer]:
    database = _connected()
    worker = None
    try:
        _check(database, statement)
        try:
            findings = fill(database, named_in(statement), where=where, prices=prices)
        except engine.Error as error:
            raise broken(error) from error
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
        worker = _Worker(database, statement, seconds)
        first = next(worker.parts())
        yield Answer(first, worker.parts(), tuple(findings))
    finally:
        if worker is None or worker.stop():
            database.close()


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Let this process grow by ``BEYOND`` and no more, where the system can do that."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + BEYOND
    most = min(one for one in (wanted, soft, hard) if one != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _connected() -> engine.Database:
    return engine.connect(
        config={
            "threads": 1,  # filling the tables takes twice as long with two
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": MEMORY,
            "python_enable_replacements": False,  # or a name could stand for a variable of ours
            "temp_directory": "",  # nothing is laid down on disk; it would stay open to reading
        }
    )


def _check(database: engine.Database, statement: str) -> None:
    """Raise unless it is one statement that reads."""
    try:
        found = database.extract_statements(statement)
    except engine.Error as error:
        raise _wrong(error) from error
    if not found:
        raise UsageError(
            "there is no statement",
            hint='For example: trainmark sql "SELECT round, count(*) FROM results GROUP BY ALL"',
        )
    if len(found) > 1:
        raise UsageError(f"these are {len(found)} statements", hint="Give one at a time.")
    kind = str(found[0].type).rpartition(".")[2]
    if kind not in _READS:
        raise UsageError(
            f"the catalogue is for reading only: {kind} is not done",
            hint="Give a SELECT. For a copy of the rows: --format csv or parquet.",
        )


def _wrong(error: engine.Error | MemoryError) -> TrainmarkError:
    """A mistake in a statement, with DuckDB's words and place, and what there is."""
    text = str(error).strip().replace("\n\n", "\n")
    if isinstance(error, engine.OutOfMemoryException | MemoryError):
        first = text.partition("\n")[0] or "an allocation failed"
        return TrainmarkError(
            f"the statement needs more than {MEMORY} of memory: {first}",
            hint="Ask for less at a time, for example with LIMIT.",
        )
    if isinstance(error, engine.PermissionException):
        return UsageError(text, hint="Only the tables of the catalogue can be read: trainmark sql")
    if not isinstance(error, engine.CatalogException | engine.BinderException):
        return UsageError(text, hint="The tables and their columns: trainmark sql")
    listed = "\n".join(
        f"  {name}: {', '.join(column.name for column in table.columns())}"
        for name, table in TABLES.items()
    )
    return UsageError(text, hint=f"Tables and columns:\n{listed}\n  Meanings: trainmark sql")


class _Worker:
    """Runs a statement beside the main thread, so that Ctrl-C and a time limit can end it."""

    def __init__(self, database: engine.Database, statement: str, seconds: float | None) -> None:
        self._database, self._statement = database, statement
        limited = seconds is not None and seconds < threading.TIMEOUT_MAX  # neither inf nor nan
        self._seconds = seconds if limited else None
        self._waited = 0.0
        self._stopped = threading.Event()
        self._made: queue.Queue[Any] = queue.Queue(maxsize=2)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def parts(self) -> Iterator[Any]:
        """The columns, then blocks of rows."""
        while (part := self._next()) is not None:
            if isinstance(part, engine.Error | MemoryError):
                raise _wrong(part) from part
            if isinstance(part, BaseException):
                raise part
            yield part

    def stop(self) -> bool:
        """End the statement; whether it has ended.

        Within one call of a function (of a text of a gigabyte, say) DuckDB hears nothing. The
        thread is left to it then, and ends with the process.
        """
        self._stopped.set()
        for _ in range(_TRIES):
            self._database.interrupt()
            self._thread.join(0.05)
            if not self._thread.is_alive():
                return True
        return False

    def _next(self) -> Any:
        """The next part, or an error when DuckDB has worked too long."""
        began = time.monotonic()
        left = None if self._seconds is None else max(0.0, self._seconds - self._waited)
        try:
            part = self._made.get(timeout=left)
        except queue.Empty:
            return TrainmarkError(
                f"the statement was stopped after {self._seconds:g} seconds",
                hint="Ask for less, or allow more with --timeout SECONDS (0: no limit).",
            )
        self._waited += time.monotonic() - began
        return part

    def _work(self) -> None:
        try:
            cursor = self._database.execute(self._statement)
            self._put(tuple((column[0], str(column[1])) for column in cursor.description or ()))
            while not self._stopped.is_set():
                block = cursor.fetchmany(BLOCK)
                if not block:
                    break
                self._put(block)
            self._put(None)
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            self._put(error)

    def _put(self, part: Any) -> None:
        while not self._stopped.is_set():
            try:
                self._made.put(part, timeout=0.1)
            except queue.Full:
                continue
            return
