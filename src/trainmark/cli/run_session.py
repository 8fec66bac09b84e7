"""One session of ``trainmark run``: carried out, kept, shown."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from trainmark.cli.error_text import error_text
from trainmark.report import SessionReport, load, print_session, session_to_dict, write_html
from trainmark.report.session import Entry
from trainmark.training.progress import ProgressLine
from trainmark.training.session import Order, Session, run_session
from trainmark.types import InterruptedRunError, System, TrainmarkError, UsageError, printable

__all__ = ["Asked", "Attempt", "attempt", "carry_out", "print_json", "run", "tell_error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What all sessions of one command have in common.

    Attributes:
        scale: "desk" or "full".
        runs: Runs of each session.
        seed: Seed of the first run of each, None to draw them.
        assignments: ``name=value`` settings.
        data: The data folder, None for packaged data.
        out: The folder asked for, None for one made of time and names.
        division: "closed" or "open".
        system: The machine.
        command: The command line.
        catalogue: Where own results are kept, None for the user's data folder.
        started: When the command began.
    """

    scale: str
    runs: int
    seed: int | None
    assignments: tuple[str, ...]
    data: Path | None
    out: Path | None
    division: str
    system: System
    command: tuple[str, ...]
    catalogue: Path | None
    started: datetime

    def folder(self, name: str) -> Path:
        """Where the command puts its results: as asked for, or named by time and ``name``."""
        return self.out or Path("runs") / f"{self.started:%Y%m%dT%H%M%S}-{name}-{self.scale}"

    def order(self, workload: str, out: Path, *assignments: str) -> Order:
        """The order of one session.

        Args:
            workload: The workload's name.
            out: The session's folder.
            assignments: Further ``name=value`` settings.
        """
        return Order(
            workload=workload,
            scale=self.scale,
            runs=self.runs,
            seed=self.seed,
            assignments=(*self.assignments, *assignments),
            data=self.data,
            out=out,
            system=self.system,
            command=self.command,
            division=self.division,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A session as one of several, which does not stop the others.

    Attributes:
        order: What was asked for.
        entry: Its runs, None where none was begun.
        error: What went wrong, None where nothing did.
    """

    order: Order
    entry: Entry | None
    error: TrainmarkError | None


def run(workload: str, asked: Asked, console: Console, *, as_json: bool) -> int:
    """Carry out one session and show it in full; the exit status.

    Args:
        workload: The workload's name.
        asked: What is asked for.
        console: Where progress goes.
        as_json: Whether to print the report as JSON.

    Raises:
        TrainmarkError: Something went wrong; what was measured is kept and shown before.
    """
    order = asked.order(workload, asked.folder(workload))
    report, problem = carry_out(order, asked.catalogue, console)
    if as_json:
        print_json(session_to_dict(report))
    else:
        _show(report, order.out)
    if problem is not None:
        raise problem
    return 0 if _is_fine(report) else 1


def carry_out(
    order: Order, catalogue: Path | None, console: Console
) -> tuple[SessionReport, TrainmarkError | None]:
    """Run a session, write its page, add it to the catalogue.

    Args:
        order: What is asked for.
        catalogue: Where own results are kept, None for the user's data folder.
        console: Where progress goes.

    Returns:
        The session as read back from its folder, and what could not be kept of it.

    Raises:
        TrainmarkError: A run failed, or the order cannot be carried out.
    """
    with ProgressLine(console) as progress:
        session = run_session(order, progress, lambda: datetime.now(UTC))
    report = load(session.folder, own_results=catalogue)
    return report, _keep(order, session, report, catalogue)


def attempt(order: Order, catalogue: Path | None, console: Console) -> Attempt:
    """Carry out one session of several; an error is told and kept, not raised.

    Args:
        order: What is asked for.
        catalogue: Where own results are kept, None for the user's data folder.
        console: Where progress and errors go.

    Raises:
        InterruptedRunError: Somebody stopped it: the others are not wanted either.
    """
    try:
        report, problem = carry_out(order, catalogue, console)
    except InterruptedRunError:
        raise
    except TrainmarkError as error:
        tell_error(console, error)
        return Attempt(order=order, entry=_what_is_there(order), error=error)
    if problem is not None:
        tell_error(console, problem)
    return Attempt(order=order, entry=report.entries[0], error=problem)


def tell_error(console: Console, error: TrainmarkError) -> None:
    """Say on the console what went wrong, as the end of a command would."""
    console.print(error_text(error), markup=False, highlight=False, soft_wrap=True)


def print_json(data: dict[str, object]) -> None:
    """Print one JSON object on standard output."""
    import orjson

    click.echo(orjson.dumps(data, option=orjson.OPT_INDENT_2))


def _what_is_there(order: Order) -> Entry | None:
    """The runs that a failed session has left."""
    try:
        return load(order.out).entries[0]
    except UsageError:  # no folder, or no log in it
        return None


def _keep(
    order: Order, session: Session, report: SessionReport, catalogue: Path | None
) -> TrainmarkError | None:
    """Write the page and add the session to the catalogue; the first thing that went wrong.

    What was measured is shown in any case, so a full disk is told after it.
    """
    from trainmark.catalogue import record
    from trainmark.training.outcome import result_of

    entry = report.entries[0]
    result = result_of(session, entry.runs, entry.score, order.system)
    problem = None
    for keep in (
        lambda: write_html(report, session.folder / "report.html"),
        lambda: record(result, entry.runs, catalogue),
    ):
        try:
            keep()
        except TrainmarkError as error:
            problem = problem or error
    return problem


def _show(report: SessionReport, folder: Path) -> None:
    from trainmark.cli.screen import Screen

    print_session(report, Screen())
    click.echo(f"Result logs, system description and page: {printable(folder)}")
    click.echo(f"Open {printable(folder / 'report.html')} in a browser.")


def _is_fine(report: SessionReport) -> bool:
    """Whether every run met its target and the checker found nothing that decides a verdict."""
    return all(run.succeeded for entry in report.entries for run in entry.runs) and all(
        verdict.ok for entry in report.entries for verdict in entry.verdicts
    )
