"""Options that several verbs have, each said once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = ["catalogue_folder", "own_figures", "pricing"]

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


def pricing(verb: _Verb) -> _Verb:
    """The options that say what a run costs by: ``price``, ``years``, ``prices`` and ``date``.

    Args:
        verb: The function that the verb calls, below its ``click.command``.
    """
    for option in (_DATE, own_figures, _YEARS, _PRICE):
        verb = option(verb)
    return verb
