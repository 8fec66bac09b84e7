"""Options that several verbs have, each said once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["catalogue_folder", "formats", "narrowing", "own_figures", "pricing"]

_Verb = Callable[..., Any]

catalogue_folder = click.option(
    "--catalogue",
    "where",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="The folder of own and imported results, instead of the user's.",
)

own_figures = click.option(
    "--prices",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Your own prices and figures, instead of those in your settings folder.",
)

_PRICE = click.option(
    "--price",
    default="list",
    show_default=True,
    metavar="list|cloud|ID",
    help="What a run costs by: the list price spread over --years, a cloud's hourly price, or one "
    "price of `trainmark prices list`.",
)
_YEARS = click.option(
    "--years", type=float, metavar="N", help="Spread a list price over so many years of use."
)
_DATE = click.option(
    "--date", metavar="DATE", help="Prices as known on this day, 2024-12-31; the newest without."
)


_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
)
_JSON = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
_OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where Parquet goes, instead of standard output.",
)

_SUBMITTER = click.option("--submitter", metavar="TEXT", help="A part of the submitter's name.")
_FRAMEWORK = click.option("--framework", metavar="TEXT", help="A part of the framework's name.")
_DIVISION = click.option(
    "--division",
    type=click.Choice(["closed", "open"], case_sensitive=False),
    default="closed",
    show_default=True,
)


def formats(verb: _Verb) -> _Verb:
    """The options that say how rows are written: ``form``, ``as_json`` and ``out``.

    Args:
        verb: The function that the verb calls, below its ``click.command``.
    """
    for option in (_OUT, _JSON, _FORMAT):
        verb = option(verb)
    return verb


def narrowing(verb: _Verb) -> _Verb:
    """The options that narrow one accelerator's results: submitter, framework, division.

    Args:
        verb: The function that the verb calls, below its ``click.command``.
    """
    for option in (_DIVISION, _FRAMEWORK, _SUBMITTER):
        verb = option(verb)
    return verb


def pricing(verb: _Verb) -> _Verb:
    """The options that say what a run costs by: ``price``, ``years``, ``prices`` and ``date``.

    Args:
        verb: The function that the verb calls, below its ``click.command``.
    """
    for option in (_DATE, own_figures, _YEARS, _PRICE):
        verb = option(verb)
    return verb
