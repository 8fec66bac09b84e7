"""``trainmark compare``: results side by side, with spread, prices and reasons."""

from pathlib import Path

import click

from trainmark.cli.shared_options import catalogue_folder, pricing

__all__ = ["command"]


@click.command("compare")
@click.argument("sides", nargs=-1, metavar="A B [C...]")
@click.option("--benchmark", metavar="NAME", help="Only this benchmark.")
@click.option("--anyway", is_flag=True, help="Also compare what does not compare; it is marked.")
@pricing
@click.option("--explain", is_flag=True, help="Every formula with its numbers, basis and source.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@catalogue_folder
@click.pass_context
def command(
    ctx: click.Context,
    *,
    sides: tuple[str, ...],
    benchmark: str | None,
    anyway: bool,
    price: str,
    years: float | None,
    prices: Path | None,
    date: str | None,
    explain: bool,
    as_json: bool,
    where: Path | None,
) -> None:
    """Compare results: A is held against each of the others.

    A side is a result's id, words that name one system ("dgxa100 nvidia v2.0", or
    "round=2.0 submitter=graphcore system=pod16"), own:last, or a folder of runs. Each benchmark
    that all sides have is compared: minutes, speed with its spread, why, and performance per
    accelerator, dollar, rack unit, watt and joule as far as the figures are known.

    Exit status: 0 compared, 1 the results do not compare or have no scores, 2 a wrong request.
    """
    from trainmark.analysis.compare import compare
    from trainmark.analysis.selection import sides as selected
    from trainmark.catalogue.figures.tables import load_tables
    from trainmark.cli.damaged import warn
    from trainmark.cli.told import told
    from trainmark.types import Finding, UsageError

    if len(sides) < 2:
        raise UsageError(
            f"a comparison needs two sides, {len(sides)} given",
            hint="For example: trainmark compare 'graphcore pod16 v2.0 resnet' own:last",
        )
    findings: list[Finding] = []
    try:
        with told(f"reading {', '.join(sides)} ..."):  # a folder of logs may take a while
            selections = selected(
                sides, benchmark=benchmark, where=where, on_finding=findings.append
            )
            tables = load_tables(prices, date=date)
            found = compare(selections, tables=tables, anyway=anyway, price=price, years=years)
    finally:  # what is damaged may be why something was not found
        warn(findings)
    if as_json:
        import json

        click.echo(json.dumps(found.to_dict(), indent=2))
    else:
        from trainmark.cli.compare_text import text

        for line in text(found, explain=explain, costs=price != "list" or years is not None):
            click.echo(line)
    ctx.exit(0 if any(one.time for versus in found.versus for one in versus.against) else 1)
