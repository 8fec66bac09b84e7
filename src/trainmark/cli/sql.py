"""``trainmark sql``: questions to the catalogue in SQL."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.shared_options import catalogue_folder, formats, own_figures

if TYPE_CHECKING:
    from trainmark.catalogue.sql import Answer

__all__ = ["command"]

_LARGEST_STATEMENT = 1_000_000
_USUAL_WIDTH = 100
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL")


@click.command("sql")
@click.argument("statement", required=False)
@formats
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the statement may take; 0 for no limit.",
)
@own_figures
@catalogue_folder
def command(
    *,
    statement: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
    timeout: float,
    prices: Path | None,
    where: Path | None,
) -> None:
    """Ask the catalogue in SQL (DuckDB's), for reading only.

    STATEMENT is one SELECT; "-" reads it from standard input. Without it, the tables and the
    meaning of each column are shown.

    Exit status: 0 done, 1 it took too long, 2 the statement is wrong.
    """
    from trainmark.types import UsageError

    style = "json" if as_json else form
    if out is not None and style != "parquet":
        raise UsageError(
            "--out is for Parquet", hint="Add --format parquet, or send the output to a file."
        )
    if statement is None:
        _print_schema(style)
        return
    if statement == "-":
        statement = _from_standard_input()
    if style == "parquet" and out is None:
        from trainmark.cli.parquet import refuse_terminal

        refuse_terminal()
    from trainmark.catalogue.sql import asked
    from trainmark.cli.damaged import warn

    with asked(statement, where=where, prices=prices, seconds=timeout or None) as answer:
        warn(answer.findings)
        _print(_begun(answer), style, out)


def _from_standard_input() -> str:
    from trainmark.types import UsageError

    text = sys.stdin.buffer.read(_LARGEST_STATEMENT + 1)
    if len(text) > _LARGEST_STATEMENT:
        raise UsageError(
            f"the statement is longer than {_LARGEST_STATEMENT:,} bytes", hint="Shorten it."
        )
    return text.decode("utf-8", "replace")


def _begun(answer: "Answer") -> "Answer":
    """The same once its first rows are there: what fails until then fails before any output."""
    from trainmark.cli.told import told

    with told("asking the catalogue; Ctrl-C ends it ..."):
        first = next(answer.blocks, None)
    blocks = answer.blocks if first is None else chain([first], answer.blocks)
    return replace(answer, blocks=blocks)


def _print(answer: "Answer", style: str, out: Path | None) -> None:
    names = _unlike([name for name, _ in answer.columns])
    if style == "json":
        _print_json(answer, names)
    elif style == "csv":
        _print_csv(answer, names)
    elif style == "parquet":
        from trainmark.cli.parquet import send

        kinds = ["INTEGER" if kind == '"NULL"' else kind for _, kind in answer.columns]
        send(list(zip(names, kinds, strict=True)), answer.blocks, out)
    elif names == ["explain_key", "explain_value"]:
        _print_plan(answer)
    else:
        _print_table(answer)


def _print_plan(answer: "Answer") -> None:
    """What EXPLAIN gives: drawings of many lines."""
    from trainmark.types import printable

    for block in answer.blocks:
        for _, drawing in block:
            click.echo("\n".join(map(printable, str(drawing).splitlines())))


def _print_table(answer: "Answer") -> None:
    """Blocks of rows, each with its heading: a long answer is shown as it comes."""
    from trainmark.cli import plain_table
    from trainmark.types import printable

    columns = [
        plain_table.Column(printable(name), right=any(n in kind for n in _NUMBERS))
        for name, kind in answer.columns
    ]
    rows = 0
    for block in _at_least_one(answer.blocks):
        rows += len(block)
        texts = [[_text(value) or " " for value in row] for row in block]
        heading, *lines = plain_table.table_lines(columns, texts)
        click.secho(heading, bold=True)
        click.echo("".join(f"{line}\n" for line in lines), nl=False)
    click.secho(f"\n{rows:,} row{'' if rows == 1 else 's'}", dim=True)


def _print_csv(answer: "Answer", names: Sequence[str]) -> None:
    import csv

    from trainmark.types import printable

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(printable, names))
    for block in answer.blocks:
        writer.writerows(
            ["" if value is None else printable(_text(value)) for value in row] for row in block
        )


def _print_json(answer: "Answer", names: Sequence[str]) -> None:
    """``{"columns": [...], "rows": [...]}``, a row on each line."""
    import json

    columns = [
        {"name": name, "type": kind} for name, (_, kind) in zip(names, answer.columns, strict=True)
    ]
    click.echo(f'{{"columns": {json.dumps(columns)},\n"rows": [', nl=False)
    before = "\n"
    for block in answer.blocks:
        lines = (json.dumps(dict(zip(names, map(_plain, row), strict=True))) for row in block)
        click.echo(before + ",\n".join(lines), nl=False)
        before = ",\n"
    click.echo("\n]}")


def _at_least_one(blocks: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    empty = True
    for block in blocks:
        empty = False
        yield block
    if empty:
        yield ()


def _unlike(names: Sequence[str]) -> list[str]:
    """The names, with a number behind one that is there already."""
    found: list[str] = []
    for name in names:
        spelt, number = name, 1
        while spelt.lower() in {one.lower() for one in found}:
            number += 1
            spelt = f"{name}_{number}"
        found.append(spelt)
    return found


def _text(value: Any) -> str:
    """A value for people and for CSV."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | dict | tuple):
        import json

        return json.dumps(_plain(value), ensure_ascii=False)
    return str(value)


def _plain(value: Any) -> Any:
    """A value as JSON has it; a number that is none, and one beyond all, is null."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal):
        return _plain(float(value))
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def _print_schema(style: str) -> None:
    """The tables with the meaning of each column."""
    from trainmark.catalogue.sql_tables import TABLES

    if style == "json":
        import json

        found = {
            table.name: {
                "meaning": table.meaning,
                "columns": [
                    {"name": c.name, "type": c.kind, "meaning": c.meaning} for c in table.columns()
                ],
            }
            for table in TABLES.values()
        }
        click.echo(json.dumps(found, indent=2))
        return
    import textwrap

    from trainmark.cli.plain_table import terminal_width

    width = terminal_width() or _USUAL_WIDTH
    for table in TABLES.values():
        click.secho(f"{table.name}: {table.meaning}", bold=True)
        for column in table.columns():
            kind = "LIST" if column.kind.startswith("STRUCT") else column.kind
            head = f"  {column.name:22} {kind:9} "
            for line in textwrap.wrap(column.meaning, max(20, width - len(head))) or [""]:
                click.echo(f"{head}{line}".rstrip())
                head = " " * len(head)
        click.echo()
    click.echo('trainmark sql "SELECT submitter, count(*) AS n FROM results GROUP BY ALL"')
