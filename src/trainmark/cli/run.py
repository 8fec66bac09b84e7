"""``trainmark run``: train a workload to its target and prove the time."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.report import SessionReport
    from trainmark.training.session import Order, Session
    from trainmark.types import TrainmarkError

__all__ = ["command"]


@click.command("run")
@click.argument("workload")
@click.option("--runs", type=int, default=1, show_default=True, help="Runs, each in a process.")
@click.option("--seed", type=int, help="Seed of the first run; the next count on. Drawn without.")
@click.option("--scale", default="desk", show_default=True, help="desk or full.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Data folder, where one is needed.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="New folder for the session; runs/<time>-<workload> without it.",
)
@click.option("--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Change a setting.")
@click.option("--precision", metavar="fp32|bf16|fp16", help="Short for --set precision=...")
@click.option("--compile", "compiled", is_flag=True, help="Short for --set compile=true.")
@click.option("--submitter", default="unnamed", show_default=True, help="Your organisation.")
@click.option("--system", "system_name", default="", help="The system's name; else its hardware.")
@click.option(
    "--status",
    type=click.Choice(["onprem", "cloud", "preview", "research"]),
    default="onprem",
    show_default=True,
    help="How the system is available.",
)
@click.option(
    "--catalogue",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where own results are kept; the user's data folder without it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole outcome as JSON.")
def command(
    workload: str,
    runs: int,
    seed: int | None,
    scale: str,
    data: Path | None,
    out: Path | None,
    assignments: tuple[str, ...],
    precision: str | None,
    compiled: bool,
    submitter: str,
    system_name: str,
    status: str,
    catalogue: Path | None,
    as_json: bool,
) -> None:
    """Train WORKLOAD to its quality target and prove the time.

    `trainmark workloads` lists the workloads and their settings. The session's folder holds
    the result logs in the layout of a submission, session.json and report.html.

    Exit status: 0 every run met its target and the checker is content, 1 otherwise,
    2 a wrong request, 130 or 143 stopped by a signal.
    """
    from datetime import UTC, datetime

    from rich.console import Console

    from trainmark.machine import describe, describe_short
    from trainmark.report import load
    from trainmark.training.progress import ProgressLine
    from trainmark.training.session import Order, run_session

    def now() -> datetime:
        return datetime.now(UTC)

    extra = [f"precision={precision}"] if precision else []
    extra += ["compile=true"] if compiled else []
    order = Order(
        workload=workload,
        scale=scale,
        runs=runs,
        seed=seed,
        assignments=(*assignments, *extra),
        data=data,
        out=out or Path("runs") / f"{now():%Y%m%dT%H%M%S}-{workload}-{scale}",
        system=describe(submitter=submitter, system_name=system_name, status=status),
        command=("trainmark", *sys.argv[1:]),
    )
    console = Console(stderr=True)
    if not as_json:
        console.print(f"This machine: {describe_short(order.system)}", markup=False)
    with ProgressLine(console) as progress:
        session = run_session(order, progress, now)
    report = load(session.folder, own_results=catalogue)
    problem = _keep(order, session, report, catalogue)
    _show(report, session.folder, as_json)
    if problem is not None:
        raise problem
    sys.exit(0 if _is_fine(report) else 1)


def _keep(
    order: "Order", session: "Session", report: "SessionReport", catalogue: Path | None
) -> "TrainmarkError | None":
    """Write the page and add the session to the catalogue; the first thing that went wrong.

    What was measured is shown in any case, so a full disk is told after it.
    """
    from trainmark.catalogue import record
    from trainmark.report import write_html
    from trainmark.training.outcome import result_of
    from trainmark.types import TrainmarkError

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


def _show(report: "SessionReport", folder: Path, as_json: bool) -> None:
    import orjson

    from trainmark.cli.screen import Screen
    from trainmark.report import print_session, session_to_dict
    from trainmark.types import printable

    if as_json:
        click.echo(orjson.dumps(session_to_dict(report), option=orjson.OPT_INDENT_2))
        return
    print_session(report, Screen())
    click.echo(f"Result logs, system description and page: {printable(folder)}")
    click.echo(f"Open {printable(folder / 'report.html')} in a browser.")


def _is_fine(report: "SessionReport") -> bool:
    """Whether every run met its target and the checker found nothing that decides a verdict."""
    return all(run.succeeded for entry in report.entries for run in entry.runs) and all(
        verdict.ok for entry in report.entries for verdict in entry.verdicts
    )
