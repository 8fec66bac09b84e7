"""``trainmark workloads``: what can be run, and with which settings."""

import click

__all__ = ["command"]


@click.command("workloads")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the workloads that can be run; with NAME, its settings at each scale."""
    import orjson

    from trainmark.training import plugins
    from trainmark.training.settings import describe

    if name:
        found, broken = [plugins.workload(name)], []
    else:
        listed = [plugin for plugin in plugins.plugins() if plugin.kind == "workload"]
        found = [plugin.loaded for plugin in listed if not plugin.problem]
        broken = [plugin for plugin in listed if plugin.problem]
    rows = [
        {
            "name": workload.name,
            "title": workload.title,
            "framework": workload.framework,
            "scales": {scale: describe(kind) for scale, kind in workload.scales.items()},
        }
        for workload in found
    ]
    if as_json:
        click.echo(orjson.dumps({"workloads": rows}, option=orjson.OPT_INDENT_2))
        return
    for row in rows:
        click.echo(f"{row['name']}: {row['title']} ({row['framework']})")
        for scale, settings in row["scales"].items():
            click.echo(f"  --scale {scale}")
            for one in settings if name else ():
                closed = "; fixed in the Closed division" if one["fixed"] else ""
                click.echo(
                    f"    --set {one['name']}={one['default']}  {one['help']} "
                    f"(allowed: {one['allowed']}{closed})"
                )
    for plugin in broken:
        click.echo(f"{plugin.name}: broken; trainmark plugins says why", err=True)
