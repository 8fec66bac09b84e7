"""``trainmark rules``: the rules of a round as sentences, and what changed between rounds."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from trainmark.rules.differences import Change, RoundDifference
    from trainmark.rules.sentences import KeySentences, RuleSheet

__all__ = ["command", "diff", "list_rounds", "show"]

_INDENT = "    "
_ONE_OF = " is one of "
_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
_DIVISION = click.option(
    "--division",
    default="closed",
    show_default=True,
    metavar="NAME",
    help="The division: closed or open.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("rules", invoke_without_command=True)
@_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """The rules of a round as sentences, and what changed between rounds.

    They are those of the installed mlperf-logging, as trainmark check applies them. Without a
    subcommand: list.

    Exit status: 0 fine, 2 a wrong request.
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_rounds)


@command.command("list")
@_JSON
@click.pass_obj
def list_rounds(group_json: bool, *, as_json: bool = False) -> None:
    """List the rounds that have rules, with their divisions and benchmarks."""
    from trainmark.rules import known_rulesets
    from trainmark.rules.sentences import DIVISIONS, benchmarks

    rounds = {
        name: {division: list(benchmarks(ruleset, division)) for division in DIVISIONS}
        for name, ruleset in known_rulesets().items()
    }
    if as_json or group_json:
        _print_json({"rounds": rounds})
        return
    for name, by_division in rounds.items():
        closed = by_division["closed"]
        _print_row(name, ", ".join(closed), width=8)
        others = [one for one in by_division["open"] if one not in closed]
        lacking = [one for one in closed if one not in by_division["open"]]
        for text, names in (("only open", others), ("not open", lacking)):
            if names:
                _print_row("", f"{text}: {', '.join(names)}", width=8)
    click.echo("\nThe rules themselves: trainmark rules show ROUND BENCHMARK [--division open]")


@command.command("show")
@click.argument("round_name", metavar="ROUND")
@click.argument("benchmark")
@_DIVISION
@_JSON
@click.pass_obj
def show(
    group_json: bool, *, round_name: str, benchmark: str, division: str, as_json: bool
) -> None:
    """Show what a round asks of the logs of a benchmark, key by key.

    Where several rule tables speak of a key, the last one counts: the benchmark's own rules come
    before those of its division, and those before the common ones.
    """
    from trainmark.rules import ruleset_named
    from trainmark.rules.sentences import rule_sheet

    sheet = rule_sheet(ruleset_named(round_name), benchmark, division)
    if as_json or group_json:
        _print_json(sheet.to_dict())
    else:
        _print_sheet(sheet)


@command.command("diff")
@click.argument("round_a", metavar="ROUND_A")
@click.argument("round_b", metavar="ROUND_B")
@click.argument("benchmark", required=False)
@_DIVISION
@_JSON
@click.pass_obj
def diff(
    group_json: bool,
    *,
    round_a: str,
    round_b: str,
    benchmark: str | None,
    division: str,
    as_json: bool,
) -> None:
    """Show what changed in the rules from one round to another.

    Without BENCHMARK: for every benchmark, changes that all of them share once.
    """
    from trainmark.rules import ruleset_named
    from trainmark.rules.differences import round_difference

    found = round_difference(
        ruleset_named(round_a), ruleset_named(round_b), division=division, benchmark=benchmark
    )
    if as_json or group_json:
        _print_json(found.to_dict())
    else:
        _print_difference(found, benchmark)


def _print_json(data: Any) -> None:
    import json

    click.echo(json.dumps(data, indent=2))


def _print_sheet(sheet: "RuleSheet") -> None:
    _print(_bold(f"{_capital(sheet.ruleset.title)}: {sheet.benchmark}, {sheet.division}"))
    _print(f"Tables, the last one counts: {', '.join(sheet.tables)}")
    group: tuple[str, str] | None = None
    for row in sheet.keys:
        if (row.when, row.table) != group:
            group = row.when, row.table
            _print("")
            _print(_bold(f"{row.table}, when {row.when}" if row.when else row.table))
        _print_key(row)
    if sheet.end:
        _print("")
        _print(_bold("at the end of the log"))
        for table, sentence in sheet.end:
            _print_text(f"{sentence}  ({table})", _INDENT)


def _print_key(row: "KeySentences") -> None:
    _print(f"  {click.style(_clean(row.key), fg='cyan')}")
    for line in row.lines() or ("no condition",):
        _print_text(line, _INDENT)


def _print_difference(found: "RoundDifference", benchmark: str | None) -> None:
    what = f" for {benchmark}" if benchmark else ""
    _print(
        _bold(f"From {found.before.title} to {found.after.title}, {found.division} division{what}")
    )
    for text, names, only in (
        ("new", found.added, found.after),
        ("gone", found.removed, found.before),
    ):
        if names and benchmark:
            division = "" if found.division == "closed" else f" --division {found.division}"
            command = f"trainmark rules show {only.name} {benchmark}{division}"
            _print(f"Only round {only.name} has {benchmark}: {command}")
        elif names:
            _print(f"benchmarks that are {text}: {', '.join(names)}")
    if found.everywhere:
        _print("")
        _print(_bold("in every benchmark of both rounds"))
        for change in found.everywhere:
            _print_change(change)
    same = []
    for one in found.benchmarks:
        if not one.changes:
            same.append(one.benchmark)
            continue
        _print("")
        _print(_bold(f"{one.benchmark}: {_counts(one.changes)}"))
        for change in one.changes:
            _print_change(change)
    if same:
        _print("")
        more = " beyond that" if found.everywhere else ""
        _print(f"no change{more}: {', '.join(same)}")


def _print_change(change: "Change") -> None:
    sign, colour = _SIGNS[change.kind]
    when = f"  (when {change.when})" if change.when else ""
    _print(click.style(f"  {sign} {_clean(change.key)}{_clean(when)}", fg=colour))
    choices = list(_choices(change.before, change.after))
    for text, _, _ in choices:
        _print_text(text, f"{_INDENT}  ")
    told = {line for _, *lines in choices for line in lines}
    before = [line for line in change.before if line not in told]
    after = [line for line in change.after if line not in told]
    for mark, lines in (("- ", before), ("+ ", after)):
        mark = mark if change.kind == "changed" else ""
        for line in lines:
            _print_text(line, f"{_INDENT}  {mark}")


def _choices(before: "Sequence[str]", after: "Sequence[str]") -> "Iterator[tuple[str, str, str]]":
    """Lists of allowed values that have changed: what is gone and new, and both sentences."""
    later = {line.partition(_ONE_OF)[0]: line for line in after if _ONE_OF in line}
    for old in before:
        subject, _, values = old.partition(_ONE_OF)
        new = later.get(subject)
        if not values or new is None:
            continue
        was, now = values.split(", "), new.partition(_ONE_OF)[2].split(", ")
        gone = ", ".join(value for value in was if value not in now)
        come = ", ".join(value for value in now if value not in was)
        parts = [f"no longer allowed: {gone}"] if gone else []
        parts += [f"newly allowed: {come}"] if come else []
        yield f"{subject}: {'; '.join(parts) or 'the same in another order'}", old, new


def _counts(changes: "Sequence[Change]") -> str:
    parts: Iterator[tuple[str, int]] = (
        (kind, sum(change.kind == kind for change in changes)) for kind in _SIGNS
    )
    return ", ".join(f"{count} {kind}" for kind, count in parts if count)


def _print_row(name: str, text: str, *, width: int) -> None:
    _print_text(text, f"{name:<{width}}")


def _print_text(text: str, indent: str) -> None:
    """A text on as many lines as the terminal needs; in a pipe on one."""
    from trainmark.cli.check_output import wrapped

    for line in wrapped(_clean(text), indent, " " * len(indent)):
        _print(line)


def _print(text: str) -> None:
    click.echo(text)


def _bold(text: str) -> str:
    return click.style(_clean(text), bold=True)


def _clean(text: str) -> str:
    from trainmark.types import printable

    return printable(text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
