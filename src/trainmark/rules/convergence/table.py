"""Reference convergence as plain text: one submission beside its reference, or all references."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trainmark.rules.convergence.points import Point, References, references
from trainmark.rules.convergence.procedure import FAILED_RUN, Judgement, Match, prune

if TYPE_CHECKING:
    from trainmark.rules.rulesets import Ruleset

__all__ = [
    "amount",
    "factor",
    "reference_data",
    "reference_lines",
    "references_table",
    "submission_lines",
]

_LABEL = 34
_WIDTH = 100
_ABSURD = 1e15
_FAR = 1000


def amount(value: float) -> str:
    """Epochs, samples or a batch size for people: no decimals where they do not matter."""
    if not abs(value) < _ABSURD:
        return f"{value:.6g}"
    decimals = 0 if value >= 10_000 or value == int(value) else 1 if value >= 1_000 else 4
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def factor(value: float) -> str:
    """A scaling factor for people."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def submission_lines(
    references: References,
    judgement: Judgement,
    *,
    batch_size: float,
    amounts: Sequence[float | None],
) -> tuple[str, ...]:
    """A submission beside the reference that it is held to.

    Args:
        references: The benchmark's references.
        judgement: What the procedure says.
        batch_size: The submission's.
        amounts: Epochs or samples of each run, None of one that did not converge.
    """
    lines = [
        f"{references.benchmark}, {references.title}: {references.unit} until the target at "
        f"batch size {amount(batch_size)}",
        *_runs(references, amounts),
        _line("their mean", amount(judgement.mean)),
    ]
    point = judgement.point
    if point is None or judgement.limit is None:
        largest = references.points[-1].batch_size
        lines.append(_line("reference", f"none: the largest batch size is {amount(largest)}"))
        return tuple(lines)
    lines.append(_line(_name(judgement, point), _described(point, judgement)))
    lines.append(_line("least acceptable mean", _limit(judgement.limit, references)))
    gap = judgement.mean - judgement.limit
    share = abs(gap) / judgement.limit
    shown = f"{share:.1%}" if share < _FAR else f"{share:.3g} times"
    said = "above it by" if gap >= 0 else "missed by"
    lines.append(_line(said, f"{amount(abs(gap))} ({shown})"))
    lines.append(_line("scaling factor", _scaling(judgement, point)))
    return tuple(lines)


def reference_lines(references: References) -> list[str]:
    """Every reference of a benchmark in a round, a line each.

    Args:
        references: The benchmark's references.
    """
    head = ("batch size", "runs", "mean", "deviation", "least acceptable", "")
    kept = prune(references.points)
    rows = [
        (
            amount(point.batch_size),
            str(len(point.amounts)),
            amount(point.mean),
            amount(point.deviation),
            amount(point.least - references.slack),
            "" if point in kept else "pruned",
        )
        for point in references.points
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    ends = "the fastest and the slowest"
    number = "" if references.left_out == 1 else f" {references.left_out}"
    lines = [
        f"{references.benchmark}, {references.title}: {references.unit} until the target",
        f"{references.runs} runs a submission; means without {ends}{number}",
        *(_row(cells, widths) for cells in (head, *rows)),
    ]
    if len(kept) < len(rows):
        lines.append("A submission is held to the points that are not pruned.")
    if references.slack:
        lines.append(
            f"Least acceptable includes {amount(references.slack)} {references.unit} that the "
            "official checker allows beyond the t-test."
        )
    if not references.judged:
        lines.append("The official checker cannot judge this benchmark; see rcp.unjudged.")
    return lines


def reference_data(references: References) -> dict[str, Any]:
    """Every reference of a benchmark in a round as plain data for ``--json``.

    Args:
        references: The benchmark's references.
    """
    kept = prune(references.points)
    return {
        "benchmark": references.benchmark,
        "unit": references.unit,
        "runs": references.runs,
        "left_out": references.left_out,
        "points": [
            {
                "batch_size": point.batch_size,
                "runs": len(point.amounts),
                "mean": point.mean,
                "deviation": point.deviation,
                "least_acceptable": point.least - references.slack,
                "pruned": point not in kept,
            }
            for point in references.points
        ],
    }


def _runs(references: References, amounts: Sequence[float | None]) -> list[str]:
    """The submission's runs in the order that counts, those left out in brackets."""
    end = references.left_out
    ascending = sorted(amounts, key=lambda value: FAILED_RUN if value is None else value)
    shown = ["failed" if value is None else amount(value) for value in ascending]
    shown[:end] = [f"({text})" for text in shown[:end]]
    shown[-end:] = [f"({text})" for text in shown[-end:]]
    label = f"{len(shown)} runs (left out)"
    rows = [""]
    for text in shown:  # textwrap would take longer to import than all of this to run
        if len(rows[-1]) + len(text) >= _WIDTH - _LABEL - 2:
            rows.append("")
        rows[-1] = f"{rows[-1]} {text}".strip()
    return [_line("" if place else label, row) for place, row in enumerate(rows)]


def _name(judgement: Judgement, point: Point) -> str:
    at = amount(point.batch_size)
    return {
        Match.EXACT: f"reference at {at}",
        Match.BETWEEN: f"reference interpolated at {at}",
        Match.BELOW: f"smallest reference, at {at}",
        Match.ABOVE: "reference",
    }[judgement.match]


def _described(point: Point, judgement: Judgement) -> str:
    basis = f"{len(point.amounts)} runs"
    if judgement.between:
        low, high = judgement.between
        basis = f"between {amount(low)} and {amount(high)}"
    return f"{amount(point.mean)} (deviation {amount(point.deviation)}, {basis})"


def _limit(limit: float, references: References) -> str:
    if not references.slack:
        return amount(limit)
    return f"{amount(limit)} ({amount(references.slack)} less than the t-test says)"


def _scaling(judgement: Judgement, point: Point) -> str:
    if not judgement.passed:
        return "none: the runs do not pass"
    if judgement.factor == 1:
        return "1: the runs are not faster than the reference"
    quotient = f"{amount(point.mean)} / {amount(judgement.mean)}"
    return f"{factor(judgement.factor)} = {quotient}"


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL}}{text}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
    padded[-1] = cells[-1]
    return ("  " + "  ".join(padded)).rstrip()


def references_table(ruleset: "Ruleset", benchmark: str) -> list[str]:
    """The reference points of a benchmark in a round as lines of text; [] if it has none.

    Args:
        ruleset: The round.
        benchmark: The benchmark as logs name it.

    Raises:
        TrainmarkError: The installed references cannot be read.
    """
    table = references(ruleset, benchmark)
    return [] if table is None else reference_lines(table)
