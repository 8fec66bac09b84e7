"""``trainmark data``: is the data of a workload's full scale there, whole and laid out right?"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainmark.training.data_files import FileState
    from trainmark.training.task import Workload
    from trainmark.types import Finding

__all__ = ["check", "command", "list_all"]


_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("data", invoke_without_command=True)
@_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """The data that workloads need at full scale: where from, and whether it is whole.

    Without a subcommand: list. `trainmark workloads show NAME` says how to lay it out.
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_all)


@command.command("list")
@_JSON
@click.pass_obj
def list_all(group_json: bool, *, as_json: bool = False) -> None:
    """List the data sets: where from, how much, which licence."""
    import orjson

    from trainmark.cli.workload_facts import size_words
    from trainmark.training import plugins

    found = [p.loaded for p in plugins.plugins() if p.kind == "workload" and not p.problem]
    needs = {one.name: one.needs["full"] for one in found if "full" in one.needs}
    if as_json or group_json:
        data = [{"workload": name, **one.to_dict()["data"]} for name, one in needs.items()]
        click.echo(orjson.dumps({"data": data}, option=orjson.OPT_INDENT_2))
        return
    for name, one in needs.items():
        click.echo(f"{name}: {one.data.name}, {size_words(one.data.size_bytes)} to download")
        click.echo(f"  {one.data.url}")
        click.echo(f"  {one.data.licence}")
    click.echo("\nDesk scale needs none. How to lay it out: trainmark workloads show NAME")


@command.command("check")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--scale", help="The scale that the data is for; full where there is one.")
@_JSON
@click.pass_obj
def check(group_json: bool, name: str, folder: Path, scale: str | None, *, as_json: bool) -> None:
    """Check the data of the workload NAME in the folder DIR.

    Size and checksum of every published file, then what the workload itself sees in the folder:
    layout, counts, the first records.

    Exit status: 0 nothing is wrong (there may be warnings), 1 something is, 2 a wrong request.
    """
    from trainmark.cli.import_progress import ImportProgress
    from trainmark.training import plugins
    from trainmark.training.data_files import check_files
    from trainmark.types import unknown_name

    workload = plugins.workload(name)
    scale = scale or ("full" if "full" in workload.scales else next(iter(workload.scales)))
    if scale not in workload.scales:
        raise unknown_name("scale", scale, workload.scales)
    _reach(folder)
    line = ImportProgress()

    def told(read: int, whole: int) -> None:
        line.step(f"checksums: {read / 1e9:,.1f} of {whole / 1e9:,.1f} GB")

    try:
        states = list(check_files(workload.needs[scale].data, folder, told))
        line.step(f"looking at what is in {folder}")
        seen = list(_seen(workload, scale, folder))
    finally:
        line.clear()
    findings = [state.finding for state in states if state.finding is not None] + seen
    if as_json or group_json:
        _print_json(name, scale, folder, states, findings)
    else:
        _print(name, scale, folder, states, findings)
    sys.exit(1 if any(finding.is_error for finding in findings) else 0)


def _seen(workload: "Workload", scale: str, folder: Path) -> "Iterator[Finding]":
    """What the workload finds, and what keeps it from looking."""
    from trainmark.training.extras import missing_package
    from trainmark.types import Finding, Severity

    try:
        yield from workload.check_data(scale, folder)
    except ModuleNotFoundError as error:
        who = f"to look into these files {workload.name}"
        raise missing_package(who, error, workload.name) from error
    except OSError as error:
        where = str(error.filename or folder)
        yield Finding(
            rule="data.unreadable",
            severity=Severity.ERROR,
            message=f"{where} cannot be read: {error.strerror or error}",
            fix="Make it readable, or copy it again.",
            path=where,
        )


def _reach(folder: Path) -> None:
    from trainmark.types import UsageError

    try:
        there = folder.is_dir()
    except OSError as error:  # a name longer than any
        raise UsageError(f"{folder} cannot be reached: {error.strerror}") from error
    if not there:
        raise UsageError(
            f"{folder} is no folder",
            hint="Give the folder that holds the data: trainmark workloads show NAME says how.",
        )


def _print(
    name: str, scale: str, folder: Path, states: "list[FileState]", findings: "list[Finding]"
) -> None:
    from trainmark.cli.plain_table import terminal_width, wrapped
    from trainmark.types import printable

    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    width = terminal_width()
    for finding in findings:
        head = click.style(str(finding.severity), fg=colours[str(finding.severity)])
        click.echo(f"{head} {finding.rule}: {printable(finding.message)}")
        if finding.path:
            click.echo(f"    {printable(finding.where)}")
        for word, text in (
            ("expected", finding.expected),
            ("found", finding.found),
            ("fix", finding.fix.replace("NAME", name)),
        ):
            for one in wrapped(text, width=width, first=f"    {word:<9}", rest=" " * 13):
                click.echo(one)
    click.echo(
        f"{name} at {scale} scale, {printable(folder)}: {_verified(states)}{_verdict(findings)}"
    )


def _verdict(findings: "list[Finding]") -> str:
    """``1 error, 2 warnings``, or that there is nothing to say."""
    weights = [str(finding.severity) for finding in findings]
    told = [_count(weights.count(word), word) for word in ("error", "warning") if word in weights]
    return ", ".join(told) or "nothing is wrong"


def _verified(states: "list[FileState]") -> str:
    """``2 files by checksum, 1 by size; `` or nothing."""
    how = [(word, sum(s.verified == word for s in states)) for word in _HOW]
    told = [f"{_count(number, 'file')} by {word}" for word, number in how if number]
    return f"checked {', '.join(told)}; " if told else ""


_HOW = ("checksum", "size", "presence")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print_json(
    name: str, scale: str, folder: Path, states: "list[FileState]", findings: "list[Finding]"
) -> None:
    import orjson

    files: list[dict[str, Any]] = [
        {
            "path": state.file.path,
            "size_bytes": state.file.size_bytes,
            "digest": state.file.digest,
            "optional": state.file.optional,
            "verified": state.verified,
        }
        for state in states
    ]
    told = {
        "workload": name,
        "scale": scale,
        "folder": _unicode(str(folder)),
        "ok": not any(finding.is_error for finding in findings),
        "files": files,
        "findings": [
            {key: _unicode(value) for key, value in finding.to_dict().items()}
            for finding in findings
        ],
    }
    click.echo(orjson.dumps(told, option=orjson.OPT_INDENT_2))


def _unicode(value: Any) -> Any:
    """A text that JSON can hold: the name of a file may be any bytes."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
