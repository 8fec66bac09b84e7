"""``trainmark plugins``: every plug-in, and why one is broken."""

import sys

import click

__all__ = ["command"]


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List workloads, frameworks and observers, and why one is broken.

    Exit status: 0 none is broken (one may lack a package), 1 one is.
    """
    import orjson

    from trainmark.training.plugins import plugins

    found = plugins()
    if as_json:
        rows = [
            {
                "kind": p.kind,
                "name": p.name,
                "target": p.target,
                "package": p.package,
                "problem": p.problem,
                "missing": p.missing,
            }
            for p in found
        ]
        click.echo(orjson.dumps({"plugins": rows}, option=orjson.OPT_INDENT_2))
    else:
        for p in found:
            fault = "not installed" if p.missing else "broken"
            state = f"{fault}: {p.problem}" if p.problem else "sound"
            click.echo(f"{p.kind:<10} {p.name:<14} {p.target}  [{p.package}]  {state}")
    sys.exit(1 if any(p.problem and not p.missing for p in found) else 0)
