"""``trainmark run``: train workloads to their targets and prove the time."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from trainmark.cli.run_session import Asked

__all__ = ["command"]


@click.command("run")
@click.argument("workloads", nargs=-1, required=True, metavar="WORKLOAD...")
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
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME=VALUE,VALUE...",
    help="A session for each value of a setting; table and chart against it.",
)
@click.option(
    "--division",
    type=click.Choice(["open", "closed"]),
    default="open",
    show_default=True,
    help="closed refuses settings that the closed rules of the round forbid.",
)
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
    workloads: tuple[str, ...],
    runs: int,
    seed: int | None,
    scale: str,
    data: Path | None,
    out: Path | None,
    assignments: tuple[str, ...],
    precision: str | None,
    compiled: bool,
    sweeps: tuple[str, ...],
    division: str,
    submitter: str,
    system_name: str,
    status: str,
    catalogue: Path | None,
    as_json: bool,
) -> None:
    """Train each WORKLOAD to its quality target and prove the time.

    `trainmark workloads` lists the workloads and their settings; `all` stands for all of them.
    A session's folder holds the result logs in the layout of a submission, session.json and
    report.html. Several workloads, and the values of a sweep, have a folder each below one.

    Exit status: 0 every run met its target and the checker is content, 1 otherwise,
    2 a wrong request, 130 or 143 stopped by a signal.
    """
    from datetime import UTC, datetime

    from rich.console import Console

    from trainmark.cli.run_session import Asked
    from trainmark.machine import describe, describe_short

    extra = [f"precision={precision}"] if precision else []
    extra += ["compile=true"] if compiled else []
    asked = Asked(
        scale=scale,
        runs=runs,
        seed=seed,
        assignments=(*assignments, *extra),
        data=data,
        out=out,
        division=division,
        system=describe(
            submitter=submitter, system_name=system_name, status=status, division=division
        ),
        command=("trainmark", *sys.argv[1:]),
        catalogue=catalogue,
        started=datetime.now(UTC),
    )
    console = Console(stderr=True)
    if not as_json:
        console.print(f"This machine: {describe_short(asked.system)}", markup=False)
    sys.exit(_carry_out(workloads, sweeps, asked, console, as_json=as_json))


def _carry_out(
    workloads: tuple[str, ...],
    sweeps: tuple[str, ...],
    asked: "Asked",
    console: "Console",
    *,
    as_json: bool,
) -> int:
    """One session, several, or a sweep; the exit status."""
    from trainmark.cli import run_session, run_several, run_sweep

    names = run_several.expand(workloads)
    if sweeps:
        return run_sweep.run(names, sweeps, asked, console, as_json=as_json)
    if len(names) > 1:
        return run_several.run(names, asked, console, as_json=as_json)
    return run_session.run(names[0], asked, console, as_json=as_json)
