"""``trainmark workloads``: what can be run, and what one needs to know before running it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from trainmark.training.plugins import Plugin

__all__ = ["command", "list_all", "show"]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NAME_WIDTH = 12


class _NameAsVerb(click.Group):
    """A group in which a workload's name stands for ``show NAME``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["show", *args])


@click.group("workloads", cls=_NameAsVerb, invoke_without_command=True)
@_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """What can be run, and what each workload needs.

    Without a subcommand: list. `trainmark workloads NAME` is short for show NAME.
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_all)


@command.command("list")
@_JSON
@click.pass_obj
def list_all(group_json: bool, *, as_json: bool = False) -> None:
    """List the workloads with their desk and full scale."""
    from trainmark.cli.workload_facts import facts_of, summary
    from trainmark.training.plugins import plugins

    listed = [plugin for plugin in plugins() if plugin.kind == "workload"]
    found = [facts_of(plugin.loaded) for plugin in listed if not plugin.problem]
    if as_json or group_json:
        _print_json([*found, *map(_lacking, [one for one in listed if one.problem])])
        return
    for facts in found:
        click.echo(f"{facts['name']}: {facts['title']} ({facts['framework']})")
        for scale in facts["scales"]:
            click.echo(f"  --scale {scale:<5} {summary(facts, scale)}")
    for plugin in listed:
        if plugin.problem:
            how = "needs a package that is not installed" if plugin.missing else "broken"
            click.echo(f"{plugin.name}: {how}; trainmark plugins says more", err=True)
    click.echo("\nData, memory, time and every setting: trainmark workloads show NAME")


@command.command("show")
@click.argument("name")
@_JSON
@click.pass_obj
def show(group_json: bool, name: str, *, as_json: bool) -> None:
    """Show what one needs to know of a workload.

    Model, target, data (where from, licence, checksums, how to lay it out), memory, time, and the
    settings of each scale.
    """
    from trainmark.cli.workload_facts import facts_of
    from trainmark.training.plugins import workload

    facts = facts_of(workload(name))
    if as_json or group_json:
        _print_json([facts])
        return
    for line in _lines(facts):
        click.echo(line)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['name']}: {facts['title']} ({facts['framework']})"
    yield from facts["about"].splitlines()[1:]
    for scale, one in facts["scales"].items():
        yield ""
        yield f"--scale {scale}"
        yield from _scale_lines(facts["name"], scale, one)


def _scale_lines(name: str, scale: str, one: dict[str, Any]) -> Iterator[str]:
    from trainmark.cli.workload_facts import file_words, goal, size_words

    spec, needs = one["spec"], one["needs"]
    if spec is None:
        yield from _fact("numbers", one["problem"])
    else:
        yield from _fact("model", f"{spec['title']}, {spec['parameters']:,} parameters")
        yield from _fact("learns", f"{spec['task']}: {spec['dataset']}")
        yield from _fact("target", goal(spec))
        yield from _fact("result", spec["label"])
        yield from _fact("rules", f"trainmark rules show {spec['ruleset']} {spec['benchmark']}")
    data = needs["data"]
    fetched = f"{size_words(data['size_bytes'])} to download" if data["size_bytes"] else "at hand"
    yield from _fact("data", f"{data['name']}, {fetched}")
    yield from _fact("from", data["url"])
    yield from _fact("licence", data["licence"])
    yield from _fact("layout", data["layout"])
    for file in data["files"]:
        yield from _fact("file", file_words(file))
    if data["size_bytes"]:
        yield from _fact("check it", f"trainmark data check {name} DIR")
    yield from _fact("memory", f"{size_words(needs['memory_bytes'])} ({needs['memory_basis']})")
    yield from _fact("time", needs["time"])
    yield from _fact("run it", _run_words(name, scale, one))
    yield "  settings"
    for setting in one["settings"]:
        closed = "; fixed in the Closed division" if setting["fixed"] else ""
        default = setting["default"]
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        yield (
            f"    --set {setting['name']}={shown}  {setting['help']} "
            f"(allowed: {setting['allowed']}{closed})"
        )


def _run_words(name: str, scale: str, one: dict[str, Any]) -> str:
    if scale == "desk":
        return f"trainmark run {name}"
    data = " --data DIR" if one["needs"]["data"]["size_bytes"] else ""
    return f"trainmark run {name} --scale {scale}{data}"


def _fact(name: str, text: str) -> Iterator[str]:
    """A named fact, the names in one column."""
    from trainmark.cli.plain_table import terminal_width, wrapped

    return iter(
        wrapped(
            text,
            width=terminal_width(),
            first=f"  {name:<{_NAME_WIDTH}}",
            rest=" " * (_NAME_WIDTH + 2),
        )
    )


def _lacking(plugin: "Plugin") -> dict[str, Any]:
    """A workload that cannot be used, for ``--json``."""
    return {"name": plugin.name, "problem": plugin.problem, "missing": plugin.missing}


def _print_json(workloads: list[dict[str, Any]]) -> None:
    import orjson

    click.echo(orjson.dumps({"workloads": workloads}, option=orjson.OPT_INDENT_2))
