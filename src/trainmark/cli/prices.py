"""``trainmark prices``: the figures of hardware, prices, space and power, and one's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.shared_options import own_figures

if TYPE_CHECKING:
    from trainmark.catalogue.figures.hardware import Hardware
    from trainmark.catalogue.figures.prices import Product
    from trainmark.catalogue.figures.tables import Tables
    from trainmark.catalogue.figures.writing import Value

__all__ = ["add", "check", "command", "list_entries", "show"]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("prices", invoke_without_command=True)
@_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """Hardware, prices, space and power: where each figure comes from, and your own.

    What is derived from them, per dollar and the like, is in trainmark compare. Without a
    subcommand: list. docs/prices.md describes the file of your own figures.

    Exit status: 0 fine, 1 nothing found (list) or a file that is wrong (check), 2 a wrong request.
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_entries)


@command.command("list")
@click.argument("text", required=False)
@click.option(
    "--kind",
    type=click.Choice(["hardware", "price", "space", "power"]),
    help="Only these.",
)
@own_figures
@_JSON
@click.pass_obj
def list_entries(
    group_json: bool,
    *,
    text: str | None = None,
    kind: str | None = None,
    prices: Path | None = None,
    as_json: bool = False,
) -> None:
    """List the figures; with TEXT, those in whose names it is found."""
    from trainmark.cli.prices_text import kind_of, list_lines
    from trainmark.types import TrainmarkError

    tables = _tables(prices)
    products = [
        row
        for row in tables.products.values()
        if kind in (None, kind_of(row))
        and _found(text, row.id, row.product, row.rule.accelerator, *row.rule.system)
    ]
    hardware = [
        one
        for one in (tables.accelerators.values() if kind in (None, "hardware") else ())
        if _found(text, one.name, one.vendor, one.architecture)
    ]
    if as_json or group_json:
        entries = [*(row.to_dict() for row in products), *(one.to_dict() for one in hardware)]
        _print_json({"entries": entries})
    elif products or hardware:
        _print(list_lines(products, hardware))
    if not products and not hardware:
        raise TrainmarkError(
            f"nothing is named like {text!r}", hint="All there is: trainmark prices list."
        )


@command.command("show")
@click.argument("name", metavar="ID")
@own_figures
@_JSON
@click.pass_obj
def show(group_json: bool, *, name: str, prices: Path | None, as_json: bool) -> None:
    """Show one figure or accelerator: source, date, basis, and the results it is about."""
    from trainmark.cli.prices_text import entry_lines

    tables = _tables(prices)
    entry = _entry(tables, name)
    about = _about(tables, entry)
    if as_json or group_json:
        _print_json({"entry": entry.to_dict(), "results": about})
    else:
        _print(entry_lines(entry, about))


@command.command("add")
@click.option(
    "--product", required=True, help="What it is: a system or an instance.", metavar="TEXT"
)
@click.option("--amount", type=float, metavar="USD", help="Its price.")
@click.option("--rack-units", type=float, metavar="U", help="Its height in a rack.")
@click.option("--watts", type=float, metavar="W", help="The greatest power it is rated at.")
@click.option(
    "--basis",
    type=click.Choice(["list", "hour", "quote", "estimate"]),
    default="list",
    show_default=True,
    help="What kind of price: to buy by list or offer, or of an hour.",
)
@click.option("--currency", default="USD", show_default=True, help="Only USD.", metavar="TEXT")
@click.option(
    "--accelerator", required=True, metavar="NAME", help="Its accelerator, or none; as results do."
)
@click.option(
    "--accelerators", type=int, required=True, metavar="N", help="How many are in it; 0 for none."
)
@click.option(
    "--system",
    multiple=True,
    metavar="TEXT",
    help="Results are about it whose system or folder has this in its name (several: any).",
)
@click.option("--submitter", multiple=True, metavar="NAME", help="Only results of these.")
@click.option("--multiples", is_flag=True, help="Several of it cost as many times as much.")
@click.option("--source", required=True, help="Who says so: a document, an offer.", metavar="TEXT")
@click.option("--address", default="", help="Where that can be found.", metavar="TEXT")
@click.option("--date", metavar="DATE", help="Of when it is, 2026-01-31. [default: today]")
@click.option(
    "--confidence",
    type=click.Choice(["high", "medium", "low"]),
    default="medium",
    show_default=True,
)
@click.option("--note", default="", help="What else must be known.", metavar="TEXT")
@click.option("--provider", default="", help="Of an hour: the cloud.", metavar="TEXT")
@click.option("--region", default="", help="Of an hour: where.", metavar="TEXT")
@click.option("--term", default="", help="Of an hour: on demand, a year, spot.", metavar="TEXT")
@click.option("--id", "name", metavar="ID", help="Its name here. [default: from the product]")
@own_figures
@_JSON
@click.pass_obj
def add(group_json: bool, /, *, prices: Path | None, as_json: bool, **given: Any) -> None:
    """Add a figure of your own: a price, a height or a rated power.

    It is written to your own file. One with the id of a packaged figure replaces that.
    """
    from trainmark.catalogue.figures.tables import own_file
    from trainmark.catalogue.figures.writing import add_row
    from trainmark.cli.prices_text import entry_lines

    kind, row = _row(given)
    path = prices or own_file()
    added = add_row(path, kind, row)
    tables = _tables(path)
    about = _about(tables, added)
    notes = _notes(tables, [added])
    if as_json or group_json:
        _print_json({"file": str(path), "entry": added.to_dict(), "results": about, "notes": notes})
        return
    _print([f"Added to {path}:", *entry_lines(added, about)])
    _print((f"note: {note}" for note in notes), err=True)


@command.command("check")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="FILE")
@_JSON
@click.pass_obj
def check(group_json: bool, /, *, path: Path | None, as_json: bool) -> None:
    """Check a file of figures; your own without FILE."""
    import os

    from trainmark.catalogue.figures.reading import parse_table, read_text
    from trainmark.catalogue.figures.tables import own_file
    from trainmark.types import TrainmarkError, UsageError

    if path is None:
        path = own_file()
        if not os.path.lexists(path):
            raise UsageError(
                f"there are no figures of your own to check: {path} is not there",
                hint="trainmark prices add writes it; trainmark prices check FILE checks another.",
            )
    text = read_text(path)
    try:
        found = parse_table(path, text, own=True)
    except UsageError as error:  # the request was right, the file is not
        if not (as_json or group_json):
            raise TrainmarkError(error.message, hint=error.hint) from error
        _print_json({"file": str(path), "ok": False, "problem": error.message, "notes": []})
        raise click.exceptions.Exit(1) from error
    notes = _notes(_tables(path), list(found.products.values()))
    if as_json or group_json:
        _print_json({"file": str(path), "ok": True, "problem": "", "notes": notes})
        return
    counts = f"figures of products: {len(found.products)}, accelerators: {len(found.hardware)}"
    _print([f"{path}: fine; {counts}", *(f"note: {note}" for note in notes)])


def _row(given: dict[str, Any]) -> "tuple[str, dict[str, Value]]":
    """The kind of the row that the options describe, and its keys."""
    import datetime

    from trainmark.catalogue.figures.writing import slug
    from trainmark.catalogue.naming import names
    from trainmark.types import UsageError

    numbers = {
        key: given[key] for key in ("amount", "rack_units", "watts") if given[key] is not None
    }
    if len(numbers) != 1:
        raise UsageError(
            "give one number: --amount, --rack-units or --watts",
            hint="Each figure is a row of its own: call the command again for another one.",
        )
    key = next(iter(numbers))
    hourly = given["basis"] == "hour"
    kind = {"amount": "cloud" if hourly else "list", "rack_units": "space", "watts": "power"}[key]
    alone = given["accelerator"].lower() in ("", "none", "n/a")
    if (kind != "cloud" or alone) and not given["system"]:
        raise UsageError(
            "say which systems it is about: --system TEXT, a part of their names",
            hint="trainmark results --accelerator NAME shows what they are called.",
        )
    known = names.accelerator("" if alone else given["accelerator"])
    accelerator = known.name if known.known else given["accelerator"]
    suffix = {"space": "-space", "power": "-power"}.get(kind, "")
    row: dict[str, Value] = {
        "id": given["name"] or slug(given["product"]) + suffix,
        "product": given["product"],
        key: numbers[key],
        **({"currency": given["currency"]} if key == "amount" else {}),
        "accelerator": accelerator,
        "accelerators": given["accelerators"],
        "system": given["system"],
        "submitters": given["submitter"],
        "multiples": given["multiples"],
        "source": given["source"],
        "address": given["address"],
        "date": given["date"] or datetime.date.today().isoformat(),
        "confidence": given["confidence"],
        "note": given["note"],
        **({k: given[k] for k in ("provider", "region", "term")} if hourly else {}),
    }
    if given["basis"] in ("quote", "estimate"):
        row["basis"] = given["basis"]
    kept = ("accelerator", "accelerators")
    return kind, {
        k: value
        for k, value in row.items()
        if k in kept or (value is not False and value not in ("", ()))
    }


def _notes(tables: "Tables", rows: "Sequence[Product]") -> list[str]:
    """What may be a mistake in one's own rows, and need not be."""
    known = sorted(tables.accelerators)
    notes = []
    for row in rows:
        name = row.rule.accelerator
        if name and tables.hardware(name) is None:
            near = [one for one in known if name.lower() in one.lower()][:4]
            hint = f"; known: {', '.join(near)}" if near else ""
            notes.append(f"{row.id}: no accelerator is called {name!r} here{hint}")
    return notes


def _entry(tables: "Tables", name: str) -> "Product | Hardware":
    import difflib

    from trainmark.types import UsageError

    found = tables.products.get(name) or tables.hardware(name)
    if found is not None:
        return found
    known = [*tables.products, *tables.accelerators]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"Near it: {', '.join(near)}. " if near else ""
    raise UsageError(
        f"there is no figure or accelerator {name!r}", hint=f"{hint}All: trainmark prices list."
    )


def _about(tables: "Tables", entry: "Product | Hardware") -> list[str]:
    """The ids of the published results that an entry is about."""
    from trainmark.catalogue import Filters, query
    from trainmark.catalogue.figures.hardware import Hardware
    from trainmark.catalogue.figures.prices import Price

    name = entry.name if isinstance(entry, Hardware) else entry.rule.accelerator
    results = query(Filters(origin="published", accelerator=name or None), sort="round")
    if isinstance(entry, Hardware):
        return [result.id for result in results if tables.hardware(result.accelerator) is entry]
    if isinstance(entry, Price) and entry.hourly:
        return [
            result.id
            for result in results
            if (price := entry.let(result, tables.name_of(result.accelerator))) and price.exact
        ]
    return [result.id for result in results if entry.of(result, tables.name_of(result.accelerator))]


def _tables(path: Path | None) -> "Tables":
    from trainmark.catalogue.figures.tables import load_tables

    return load_tables(path)


def _found(text: str | None, *names: str) -> bool:
    return text is None or any(text.lower() in name.lower() for name in names)


def _print_json(data: Any) -> None:
    import json

    click.echo(json.dumps(data, indent=2))


def _print(lines: Any, *, err: bool = False) -> None:
    from trainmark.types import printable

    for line in lines:
        click.echo(printable(line), err=err)
