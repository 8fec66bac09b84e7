"""``trainmark results``: list published, imported and own results, or show one."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.results_filters import filter_options, filters_of, nothing_matches
from trainmark.cli.shared_options import catalogue_folder, formats, pricing

if TYPE_CHECKING:
    from trainmark.catalogue import Filters
    from trainmark.catalogue.search import Page
    from trainmark.cli.results_columns import Choice, Deriving
    from trainmark.types import Finding, Result

__all__ = ["command"]


@click.command("results")
@click.argument("result_id", required=False, metavar="[ID]")
@filter_options
@click.option(
    "--sort",
    default="minutes",
    show_default=True,
    metavar="COLUMN",
    help="Any column with numbers or text; missing values come last.",
)
@click.option("--reverse", is_flag=True, help="The greatest first.")
@click.option(
    "--columns",
    metavar="NAME,...",
    help="These columns, of results or derived from them; 'help' lists them.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=25,
    show_default=True,
    metavar="N",
    help="Show at most N results; 0 shows all.",
)
@click.option("--runs", "show_runs", is_flag=True, help="Every run of the results instead.")
@click.option("--quality", is_flag=True, help="What is known and what could not be resolved.")
@click.option("--explain", is_flag=True, help="Say how each derived number came about.")
@pricing
@formats
@catalogue_folder
def command(**given: Any) -> None:
    """List published results, and your own, by time to train; or show the one of an ID.

    Published results were verified by MLCommons in their round; imported and own ones are
    unverified. Text filters find any part of a name, in any case. An option given several times
    asks for any of its values.

    Exit status: 0 results were found, 1 none matches, 2 a wrong request.
    """
    from trainmark.cli.results_columns import chosen

    asked = _Asked(**{field.name: given.pop(field.name) for field in fields(_Asked)})
    _check_together(asked, given)
    if asked.columns is not None and asked.columns.strip() == "help":
        _list_columns(as_json=asked.style == "json")
        return
    choices = chosen(asked.columns)
    _check_derived(asked, choices)
    from trainmark.catalogue.search import opened_once
    from trainmark.cli.damaged import warn

    findings: list[Finding] = []
    with opened_once(asked.where, findings.append):
        warn(findings)
        _answer(asked, given, choices, damaged=bool(findings))


def _answer(
    asked: "_Asked", given: dict[str, Any], choices: "tuple[Choice, ...]", *, damaged: bool
) -> None:
    """Print what was asked for, from an open catalogue."""
    from trainmark.cli.results_columns import Deriving

    deriving = Deriving(asked.prices, asked.price, asked.years, asked.date)
    if asked.result_id is not None:
        from trainmark.cli import results_one

        as_json = asked.style == "json"
        results_one.show(asked.result_id, deriving, asked.where, as_json=as_json)
        return
    filters = filters_of(given)
    page = _found(filters, asked, deriving)
    if asked.quality:
        _print_quality(page.results, as_json=asked.style == "json")
    elif asked.show_runs:
        from trainmark.cli import results_runs

        results_runs.show(page, asked.where, style=asked.style, out=asked.out)
    else:
        _print(page, choices, deriving, asked)
    if not page.results:
        raise nothing_matches(filters, asked.where, damaged=damaged)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the options ask for beside the filters."""

    result_id: str | None
    sort: str
    reverse: bool
    columns: str | None
    limit: int
    show_runs: bool
    quality: bool
    explain: bool
    price: str
    years: float | None
    date: str | None
    prices: Path | None
    form: str
    as_json: bool
    out: Path | None
    where: Path | None

    @property
    def style(self) -> str:
        """The format that was asked for in either way."""
        return "json" if self.as_json else self.form


def _check_together(asked: _Asked, filters: dict[str, Any]) -> None:
    """Raise where options were given that do not go together."""
    from trainmark.types import UsageError

    if asked.out is not None and asked.style != "parquet":
        raise UsageError(
            "--out is for Parquet", hint="Add --format parquet, or send the output to a file."
        )
    kinds = {"ID": asked.result_id is not None, "--runs": asked.show_runs}
    kinds |= {"--quality": asked.quality, "--columns": asked.columns is not None}
    given = [name for name, is_given in kinds.items() if is_given]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} do not go together", hint="Leave out all but one.")
    if asked.result_id is not None and any(filters.values()):
        raise UsageError(
            "an ID names one result, and filters ask for several", hint="Leave out one of the two."
        )
    if (asked.result_id is not None or asked.quality) and asked.style in ("csv", "parquet"):
        raise UsageError(
            f"{given[0]} has no format {asked.style}", hint="It has table and json (--json)."
        )


def _check_derived(asked: _Asked, choices: "tuple[Choice, ...]") -> None:
    """Raise where options of derived numbers were given, and nothing is derived."""
    from trainmark.cli.results_columns import derived_name
    from trainmark.types import UsageError

    if asked.result_id is not None or derived_name(asked.sort) is not None:
        return
    if any(choice.derived for choice in choices):
        return
    given = {
        "--explain": asked.explain,
        "--price": asked.price != "list",
        "--years": asked.years is not None,
        "--date": asked.date is not None,
    }
    if without := [name for name, is_given in given.items() if is_given]:
        raise UsageError(
            f"{' and '.join(without)} without a derived number",
            hint="Ask for one, for example --columns minutes,run_cost; --columns help lists them.",
        )


def _list_columns(*, as_json: bool) -> None:
    """Print what can stand in --columns and --sort."""
    from trainmark.cli.results_columns import described

    found = described()
    if as_json:
        import json

        click.echo(json.dumps(dict(found), indent=2))
        return
    formatter = click.HelpFormatter(max_width=100)
    formatter.write_dl(found)
    click.echo(formatter.getvalue(), nl=False)


def _found(filters: "Filters", asked: _Asked, deriving: "Deriving") -> "Page":
    """What matches; a derived number sorts here, for the catalogue does not know it."""
    from trainmark.catalogue.search import Page, page
    from trainmark.cli.results_columns import derived_name

    limit = 0 if asked.quality else asked.limit
    by = derived_name(asked.sort)
    if by is None:
        return page(
            filters,
            sort=asked.sort,
            descending=asked.reverse,
            limit=limit,
            where=asked.where,
        )
    everything = page(filters, sort="id", where=asked.where)
    numbers = {r.id: deriving.number(r, by).value for r in everything.results}
    known = [r for r in everything.results if numbers[r.id] is not None]
    known.sort(key=lambda r: numbers[r.id] or 0.0, reverse=asked.reverse)
    found = known + [r for r in everything.results if numbers[r.id] is None]
    return Page(results=found[:limit] if limit else found, total=everything.total)


def _print(
    page: "Page", choices: "tuple[Choice, ...]", deriving: "Deriving", asked: _Asked
) -> None:
    """Print the results in the format that was asked for."""
    from trainmark.cli import results_table
    from trainmark.cli.results_columns import every

    shown = choices if asked.columns is not None else every()
    if asked.style == "json":
        named = choices if asked.columns is not None else None
        results_table.print_json(page, named, deriving, explain=asked.explain)
    elif asked.style == "csv":
        results_table.print_csv(page.results, shown, deriving)
    elif asked.style == "parquet":
        results_table.print_parquet(page.results, shown, deriving, asked.out)
    elif page.results:
        by_minutes = asked.sort == "minutes"
        results_table.print_tables(page, choices, deriving, by_minutes=by_minutes)
        if asked.explain:
            for line in results_table.explanations(page.results, choices, deriving):
                click.echo(line)


def _print_quality(results: "list[Result]", *, as_json: bool) -> None:
    """Print what is known of the results, and what could not be resolved."""
    from trainmark.catalogue import quality

    found = quality.quality(results)
    if as_json:
        import json

        click.echo(json.dumps(found.to_dict(), indent=2))
        return
    from trainmark.cli.plain_table import terminal_width
    from trainmark.types import printable

    for line in quality.lines(found, terminal_width()):
        click.echo(printable(line))
