"""``trainmark system``: what machine this is, in the official form."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trainmark.types import System

__all__ = ["command", "describe"]


@click.group("system", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """Describe this machine in the official form.

    Without a subcommand: describe.
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is None:
        ctx.invoke(describe)


@command.command("describe")
@click.option("--json", "as_json", is_flag=True, help="Print the official JSON object.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the official JSON object to a file.",
)
@click.option("--submitter", default="", metavar="NAME", help="The organisation.")
@click.option(
    "--name",
    "system_name",
    default="",
    metavar="SYSTEM",
    help="The system's name; made of its hardware without it.",
)
@click.option(
    "--division",
    type=click.Choice(["closed", "open"]),
    default="closed",
    show_default=True,
)
@click.option(
    "--status",
    type=click.Choice(["onprem", "cloud", "preview", "research"]),
    default="onprem",
    show_default=True,
)
@click.pass_obj
def describe(
    group_json: bool,
    *,
    as_json: bool = False,
    out: Path | None = None,
    submitter: str = "",
    system_name: str = "",
    division: str = "closed",
    status: str = "onprem",
) -> None:
    """Print what software can see of this machine, as a table or as the official JSON object.

    What cannot be seen from software (prices, racks, cooling, how nodes are wired) stays empty:
    fill it in before a submission.
    """
    import json

    from trainmark import machine
    from trainmark.types import printable

    system = machine.describe(
        submitter=submitter, system_name=system_name, division=division, status=status
    )
    if out is not None:
        machine.write_system(system, out)
    if as_json or group_json:
        click.echo(json.dumps(system.to_dict(), indent=2))
    else:
        _print_table(system)
        if out is not None:
            click.echo(f"\nWritten: {printable(out)}")


def _print_table(system: "System") -> None:
    from rich.table import Table
    from rich.text import Text

    from trainmark import machine
    from trainmark.cli.screen import Screen
    from trainmark.types import printable

    console = Screen()
    if not console.is_terminal:
        console.width = 100_000
    console.print(Text(printable(machine.describe_short(system)), style="bold"))
    console.print(Text(f"fingerprint {machine.fingerprint(system)}", style="dim"))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    empty = []
    for name, value in system.to_dict().items():
        title = re.sub(r"[_-]", " ", name)
        if isinstance(value, dict):
            value = ", ".join(f"{key} {version}" for key, version in value.items())
        if value == "":
            empty.append(title)
        else:
            table.add_row(Text(title), Text(printable(value)))
    console.print(table)
    console.print(Text(f"not visible from software: {', '.join(empty)}", style="dim"))
