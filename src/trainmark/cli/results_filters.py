"""The filters of ``trainmark results`` as options, and what to say when nothing matches."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trainmark.catalogue import Filters
    from trainmark.types import TrainmarkError

__all__ = ["described", "filter_options", "filters_of", "nothing_matches"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
Span = tuple[int | None, int | None]

_SPAN = re.compile(r"([0-9]{1,9})|([0-9]{0,9})-([0-9]{0,9})")
_MOST_CHOICES = 12


def _apart(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given one by one or with commas between them."""
    _not_empty(ctx, param, values)
    return tuple(name for value in values for name in value.split(",") if name)


def _not_empty(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """An empty value is a script's mistake: it would find everything."""
    if any(not value.strip(" ,") for value in values):
        raise click.BadParameter("the value is empty; leave the option out for all", ctx, param)
    return values


def _spans(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Span, ...]:
    """``16``, ``16-64``, ``16-`` or ``-64``, one by one or with commas, as (least, greatest)."""
    return tuple(_span(part, ctx, param) for value in values for part in value.split(","))


def _span(value: str, ctx: click.Context, param: click.Parameter) -> Span:
    match = _SPAN.fullmatch(value)
    if match is not None and match[1]:
        return int(match[1]), int(match[1])
    least = int(match[2]) if match and match[2] else None
    greatest = int(match[3]) if match and match[3] else None
    neither = least is None and greatest is None
    if neither or (least is not None and greatest is not None and least > greatest):
        raise click.BadParameter(
            f"{value!r} is neither a number (16) nor a range (16-64, 16-, -64)", ctx, param
        )
    return least, greatest


def _several(option: str, name: str, metavar: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(
        option, name, multiple=True, metavar=metavar, callback=_not_empty, help=text
    )


def _exact(option: str, name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(option, name, multiple=True, metavar="NAME", callback=_apart, help=text)


def _numbers(option: str, name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(
        option, name, multiple=True, metavar="N|MIN-MAX", callback=_spans, help=text
    )


def _choice(option: str, *names: str) -> Callable[[_Command], _Command]:
    return click.option(option, type=click.Choice(names, case_sensitive=False))


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    _exact("--benchmark", "benchmark", "A benchmark, for example resnet or bert."),
    _exact("--task", "task", "What is trained, whatever it was called: retinanet, rgat."),
    _exact("--round", "rounds", "A round, 2.0, or a range: 1.0-2.1, 4.0-."),
    _several("--submitter", "submitter", "TEXT", "A part of the submitter's name."),
    _several("--system", "system", "TEXT", "A part of the system's name or folder."),
    _several("--accelerator", "accelerator", "TEXT", "A part of the accelerator's name."),
    _several("--framework", "framework", "TEXT", "A part of the framework's name or version."),
    _choice("--division", "closed", "open"),
    _exact("--category", "category", "available, preview or research."),
    _numbers("--chips", "chips", "Number of accelerators."),
    _numbers("--hosts", "hosts", "Number of host servers."),
    _choice("--origin", "published", "imported", "own"),
    _several("--text", "text", "TEXT", "Anything that a result says; each TEXT must be found."),
    click.option("--scored", is_flag=True, help="Only results with a score."),
    click.option("--energy", is_flag=True, help="Only results with measured energy."),
    click.option(
        "--no-carried-over",
        "not_carried_over",
        is_flag=True,
        help="Without results whose logs were published before.",
    ),
)


def filter_options(command: _Command) -> _Command:
    """Add the options of all filters to a command; several values of one mean any of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def filters_of(asked: dict[str, Any]) -> "Filters":
    """The filters that the options ask for."""
    from trainmark.catalogue import Filters

    return Filters(**{name: value for name, value in asked.items() if value not in (None, (), "")})


# Each option with the field of the filters that it fills, and the column that it is about.
_ABOUT = {
    "--benchmark": ("benchmark", "benchmark"),
    "--task": ("task", "task"),
    "--round": ("rounds", "round"),
    "--submitter": ("submitter", "submitter"),
    "--system": ("system", "system"),
    "--accelerator": ("accelerator", "accelerator"),
    "--framework": ("framework", "framework"),
    "--division": ("division", "division"),
    "--category": ("category", "category"),
    "--chips": ("chips", "accelerators"),
    "--hosts": ("hosts", "hosts"),
    "--origin": ("origin", "origin"),
    "--text": ("text", ""),
    "--scored": ("scored", ""),
    "--energy": ("energy", ""),
    "--no-carried-over": ("not_carried_over", ""),
}


def described(filters: "Filters") -> str:
    """The filters as options with their values, "" for none."""
    return ", ".join(
        f"{option} {_written(getattr(filters, name))}".strip()
        for option, (name, _) in _ABOUT.items()
        if name in filters.given()
    )


def nothing_matches(filters: "Filters", where: Path | None, *, damaged: bool) -> "TrainmarkError":
    """That no result matches, and what there is when one filter is left out.

    Args:
        filters: What was asked for.
        where: The catalogue's folder instead of the user's.
        damaged: Whether files of it were left out.
    """
    from trainmark.catalogue import Filters, choices, query
    from trainmark.types import TrainmarkError, printable

    hints = []
    for option, (name, column) in _ABOUT.items():
        if name not in filters.given():
            continue
        values = choices(column, filters.without(name), where=where) if column else []
        if values:
            left_out = len(values) - _MOST_CHOICES
            more = f" and {left_out} more" if left_out > 0 else ""
            hints.append(f"{option} could be {', '.join(values[:_MOST_CHOICES])}{more}.")
    own = Filters(origin="own")
    if filters.origin == "own" and not query(own, limit=1, where=where, on_finding=lambda _: None):
        hints = ["Nothing was recorded on this machine yet. Next: trainmark run resnet50"]
        if damaged:
            hints = ["Files of own results are damaged: the lines above name them."]
    return TrainmarkError(
        printable(
            f"no result matches {asked}"
            if (asked := described(filters))
            else "the catalogue is empty"
        ),
        hint=printable(" ".join(hints) or "Leave out one of the filters."),
    )


def _written(value: Any) -> str:
    """What an option was given, as a user writes it."""
    if value is True:
        return ""
    if isinstance(value, str):
        return value
    return " ".join(one if isinstance(one, str) else _span_text(one) for one in value)


def _span_text(span: Span) -> str:
    least, greatest = ("" if end is None else str(end) for end in span)
    return least if least == greatest else f"{least}-{greatest}"
