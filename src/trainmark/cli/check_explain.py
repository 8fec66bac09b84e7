"""``trainmark check --explain RULE`` and ``--rcp-table BENCHMARK``: questions about the rules."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from trainmark.cli.check_output import clean
from trainmark.types import UsageError, unknown_name

if TYPE_CHECKING:
    from trainmark.rules.explain import Explanation
    from trainmark.rules.sentences import KeySentences

__all__ = ["print_explanation", "print_references"]

_WIDTH = 90


def print_explanation(
    rule: str,
    *,
    round_name: str | None,
    benchmark: str | None,
    division: str | None,
    as_json: bool,
) -> None:
    """Print what a rule is for; of a round and benchmark also what they ask of the rule's key.

    Args:
        rule: The rule's name as a finding has it.
        round_name: The round as a user writes it.
        benchmark: The benchmark.
        division: The division; closed without one.
        as_json: As JSON.

    Raises:
        UsageError: There is no such rule, round, division or benchmark.
    """
    from trainmark.rules.explain import explain

    found = explain(rule)
    rows = _rows(rule, round_name, benchmark, division or "closed")
    if as_json:
        import json

        data: dict[str, Any] = found.to_dict() | {"asked_for": rule}
        if round_name and benchmark:
            data["rules"] = [row.to_dict() for row in rows]
        click.echo(json.dumps(data, indent=2))
        return
    _print_explanation(rule, found)
    if round_name and benchmark and not rows and _key(rule) not in ("", "*"):
        where = f"Round {round_name}, {division or 'closed'} {benchmark}"
        click.echo(f"\n{clean(f'{where}: no rule about {_key(rule)}')}")
    for row in rows:
        when = f", when {row.when}" if row.when else ""
        head = f"Round {round_name}, {division or 'closed'} {benchmark} ({row.table}{when}):"
        click.echo(f"\n{clean(head)}")
        for line in row.lines():
            click.echo(f"  {clean(line)}")


def _print_explanation(rule: str, found: "Explanation") -> None:
    click.echo(click.style(clean(rule), bold=True))
    _print_paragraph(found.title)
    click.echo()
    _print_paragraph(found.why)
    click.echo()
    _print_paragraph(found.fix, "What to do: ")
    _print_paragraph(found.section, "Source: ")
    finder = "find this as well." if found.official else "do not look for this."
    _print_paragraph(f"The official tools {finder}")


def _print_paragraph(text: str, head: str = "") -> None:
    for line in textwrap.wrap(clean(head + text), _WIDTH, break_long_words=False):
        click.echo(f"  {line}")


def _rows(
    rule: str, round_name: str | None, benchmark: str | None, division: str
) -> "Sequence[KeySentences]":
    """What the round asks of the key that a rule's name holds."""
    if not round_name or not benchmark:
        return ()
    from trainmark.rules import ruleset_named
    from trainmark.rules.sentences import rule_sheet

    sheet = rule_sheet(ruleset_named(round_name), benchmark, division)
    return [row for row in sheet.keys if row.key == _key(rule)]


def _key(rule: str) -> str:
    """The key in the name of a rule, "seed" of "rules.seed.missing"; "" without one."""
    area, _, rest = rule.partition(".")
    return rest.rpartition(".")[0] if area == "rules" else ""


def print_references(benchmark: str, *, round_name: str | None, as_json: bool) -> None:
    """Print the reference convergence points of a benchmark in a round.

    Args:
        benchmark: The benchmark.
        round_name: The round as a user writes it.
        as_json: As JSON.

    Raises:
        UsageError: No round is named, or it has no such benchmark.
    """
    if round_name is None:
        raise UsageError(
            "--rcp-table needs a round: the references differ from round to round",
            hint=f"For example: trainmark check --rcp-table {benchmark} --round 5.0",
        )
    from trainmark.rules import ruleset_named
    from trainmark.rules.convergence import reference_data, references, references_table
    from trainmark.rules.sentences import benchmarks

    ruleset = ruleset_named(round_name)
    if benchmark not in benchmarks(ruleset):
        unknown = unknown_name("benchmark", benchmark, benchmarks(ruleset))
        raise UsageError(f"{unknown.message} in {ruleset.title}", hint=unknown.hint)
    lines = references_table(ruleset, benchmark)
    if not lines:
        raise UsageError(
            f"there are no reference convergence points of {benchmark} in {ruleset.title}",
            hint="The official package has them for closed results from round 1.0 on.",
        )
    if as_json:
        import json

        found = references(ruleset, benchmark)
        assert found is not None, "there are lines"
        data = {"round": ruleset.name} | reference_data(found) | {"table": lines}
        click.echo(json.dumps(data, indent=2))
        return
    for line in lines:
        click.echo(clean(line).rstrip())
