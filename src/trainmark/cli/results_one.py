"""``trainmark results ID``: one result with all that is known of it."""

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from trainmark.catalogue.filters import Filters
from trainmark.catalogue.search import query, runs_of, similar_ids
from trainmark.cli import plain_table
from trainmark.cli.damaged import warn
from trainmark.cli.results_columns import Deriving, every, text
from trainmark.cli.results_runs import COLUMNS, run_cells
from trainmark.types import Finding, Result, Run, UsageError, printable

if TYPE_CHECKING:
    from trainmark.analysis.cost import Derivations

__all__ = ["address", "show"]

_GITHUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}", re.ASCII)
_USUAL_WIDTH = 100
# Shown in parts of their own.
_APART = frozenset({"id", "run_minutes", "raw", "doubts", "software", "label"})
# Results of other origins have none of these.
_OF_ONE_ORIGIN = {"machine": "own", "recorded": "own", "samples_per_second": "own"}


def show(result_id: str, deriving: Deriving, where: Path | None, *, as_json: bool) -> None:
    """Print one result in full.

    Args:
        result_id: Its id.
        deriving: Reckons derived numbers.
        where: The catalogue's folder instead of the user's.
        as_json: Whether as JSON.

    Raises:
        UsageError: There is no result of that id.
    """
    found = query(Filters(ids=(result_id,)), where=where)
    if not found:
        found = query(Filters(ids=(_spelt(result_id, where),)), where=where)
    result = found[0]
    findings: list[Finding] = []
    runs = runs_of(result, where=where, on_finding=findings.append)
    warn(findings)
    if as_json:
        click.echo(json.dumps(_data(result, runs, deriving), indent=2, default=str))
        return
    for line in _lines(result, runs, deriving):
        click.echo(line)


def address(result: Result) -> str:
    """Where the result's folder can be looked at, "" where it is not public."""
    if result.origin != "published" or not _GITHUB_NAME.fullmatch(result.repository):
        return ""
    if not _COMMIT.fullmatch(result.commit):
        return ""
    path = quote(result.path.encode("utf-8", "replace"))
    return f"https://github.com/{result.repository}/tree/{result.commit}/{path}"


def _spelt(result_id: str, where: Path | None) -> str:
    """The id that is meant: letters in another case and a missing "v" are forgiven.

    Raises:
        UsageError: There is none.
    """
    near = similar_ids(result_id, where=where)
    wanted = result_id.strip("/").lower()
    for name in near:
        if name.lower() in (wanted, f"v{wanted}"):
            return name
    listed = "".join(f"\n    {name}" for name in near)
    nearest = f"Nearest:{listed}\n  " if near else ""
    raise UsageError(
        f"there is no result {result_id!r}",
        hint=f"{nearest}trainmark results --columns minutes,id --text WORD finds ids.",
    )


def _data(result: Result, runs: list[Run], deriving: Deriving) -> dict[str, Any]:
    return {
        "result": result.to_dict(),
        "address": address(result) or None,
        "runs": [run.to_dict() for run in runs],
        "derived": {name: number.to_dict() for name, number in _derived(result, deriving).items()},
    }


def _lines(result: Result, runs: list[Run], deriving: Deriving) -> Iterator[str]:
    """The page of a result, made printable."""
    width = plain_table.terminal_width() or _USUAL_WIDTH
    yield click.style(printable(result.id), bold=True)
    yield printable(f"{result.origin.capitalize()} result: {result.label}")
    yield ""
    yield from _pairs(_facts(result, deriving), width)
    if result.software:
        yield from _part("Software")
        yield from _pairs(list(result.software.items()), width)
    yield from _part("Runs")
    if runs:
        yield from plain_table.table_lines(
            COLUMNS,
            [[*run_cells(i, run)[:-1], Path(run.source).name] for i, run in enumerate(runs)],
            width=plain_table.terminal_width(),
        )
    else:
        yield "none is kept"
    yield from _part("Derived numbers (not official; less is better)")
    for name, number in _derived(result, deriving).items():
        yield from _pairs([(name, number.formula or f"none: {number.missing}")], width, least=24)
        for mark in number.marks:
            yield from _pairs([("", mark)], width, least=24)
    if result.doubts:
        yield from _part("Doubts")
        yield from _pairs(
            [(d.kind, f"{d.text}{'' if d.resolved else ' (not resolved)'}") for d in result.doubts],
            width,
        )
    if result.raw:
        yield from _part("As written")
        yield from _pairs(list(result.raw.items()), width)
    if address(result):
        yield from _part("Published at")
        yield address(result)


def _derived(result: Result, deriving: Deriving) -> "Derivations":
    """Its derived numbers: none, and a word about it, when the user's usual prices are wrong."""
    try:
        return deriving(result)
    except UsageError as error:
        if deriving.was_asked:
            raise
        click.echo(printable(f"trainmark: nothing is derived: {error.message}"), err=True)
        return {}


def _facts(result: Result, deriving: Deriving) -> list[tuple[str, str]]:
    """Every field with its value; what is not known says so."""
    choices = [choice for choice in every() if choice.field not in _APART]
    choices.sort(key=lambda choice: choice.field != "minutes")
    found = []
    for choice in choices:
        value = getattr(result, choice.field)
        if not value and _OF_ONE_ORIGIN.get(choice.field, result.origin) != result.origin:
            continue
        if isinstance(value, float):
            shown = f"{value:,.0f}" if value.is_integer() else plain_table.number(value, 7)
        elif choice.field == "round":
            shown = result.round or "none"
        else:
            shown = text(result, choice, deriving)
        found.append((choice.field, shown or "unknown"))
    return found


def _part(title: str) -> list[str]:
    return ["", click.style(title, bold=True)]


def _pairs(pairs: list[tuple[str, str]], width: int, *, least: int = 0) -> Iterator[str]:
    """Names and texts, the texts below one another and broken to the width."""
    names = [printable(name) for name, _ in pairs]
    indent = max(least, 2 + max(map(len, names)) if names else 0)
    for name, (_, said) in zip(names, pairs, strict=True):
        room = max(20, width - indent)
        broken = textwrap.wrap(printable(said), room, break_on_hyphens=False) or [""]
        yield f"{name:{indent}}{broken[0]}".rstrip()
        yield from (" " * indent + line for line in broken[1:])
