"""The findings about a verdict of reference convergence, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainmark.rules.convergence.points import References
from trainmark.rules.convergence.procedure import Judgement, Match
from trainmark.rules.convergence.table import amount, factor
from trainmark.types import Finding, Severity

__all__ = ["Situation", "below_slack", "judged_otherwise", "missing", "scaled", "too_fast"]

_SLACK_ROUND = "5.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One folder and the verdict on it.

    Attributes:
        folder: The folder.
        references: The benchmark's references.
        judgement: The verdict.
        batch_size: The submission's.
    """

    folder: str
    references: References
    judgement: Judgement
    batch_size: float

    def finding(
        self,
        rule: str,
        severity: Severity,
        message: str,
        fix: str,
        *,
        expected: str = "",
        found: str = "",
    ) -> Finding:
        """A finding about the folder."""
        return Finding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            path=self.folder,
            expected=expected,
            found=found,
        )

    def amount(self, value: float) -> str:
        """Epochs or samples with their unit."""
        return f"{amount(value)} {self.references.unit}"


def too_fast(case: Situation) -> Finding:
    """Faster than the reference at that batch size allows."""
    verdict = case.judgement
    assert verdict.limit is not None, "without a reference nothing is too fast"
    short = 1 - verdict.mean / verdict.limit
    return case.finding(
        "rcp.too_fast",
        Severity.ERROR,
        f"the runs converge faster than the reference allows at batch size "
        f"{amount(case.batch_size)}: {case.amount(verdict.mean)} on average, {short:.1%} less "
        f"than the least acceptable {amount(verdict.limit)}",
        "Look for what makes training easier than the reference: data order, model, "
        "initialisation, hyperparameters that are not free, how samples are counted. If the "
        "reference can be as fast, give the working group runs of it at this batch size; else a "
        "result needs rcp-bypass and the committee's consent.",
        expected=f"a mean of {case.amount(verdict.limit)} or more",
        found=case.amount(verdict.mean),
    )


def missing(case: Situation) -> Finding:
    """No reference at that batch size: above all of them, or below and too fast."""
    verdict, points = case.judgement, case.references.points
    runs = 2 * case.references.runs
    size = amount(case.batch_size)
    if verdict.match is Match.ABOVE:
        message = (
            f"there is no reference for batch size {size}: the largest is at "
            f"{amount(points[-1].batch_size)}"
        )
        expected = f"a global batch size of {amount(points[-1].batch_size)} or less"
    else:
        assert verdict.point is not None
        assert verdict.limit is not None
        message = (
            f"there is no reference for batch size {size} or less, and the runs are faster than "
            f"the smallest one, at {amount(verdict.point.batch_size)}, allows: "
            f"{case.amount(verdict.mean)} on average, at least {amount(verdict.limit)} are needed"
        )
        expected = f"a mean of {case.amount(verdict.limit)} or more"
    return case.finding(
        "rcp.missing",
        Severity.ERROR,
        message,
        f"Run the reference implementation {runs} times at batch size {size} and propose the "
        "outcome as new reference points (a pull request to mlcommons/logging), or take a batch "
        "size that has some. Until then a result needs rcp-bypass.",
        expected=expected,
        found=f"batch size {size}, a mean of {case.amount(verdict.mean)}",
    )


def scaled(case: Situation) -> Finding:
    """Faster than the reference, within what is allowed."""
    verdict = case.judgement
    assert verdict.point is not None, "only a passed verdict is scaled"
    times = f"multiplied by {factor(verdict.factor)}"
    scales = case.references.scales
    return case.finding(
        "rcp.scaled",
        Severity.NOTE,
        f"the runs converge faster than the reference, within what is allowed: "
        f"{case.amount(verdict.mean)} on average, the reference {amount(verdict.point.mean)}; "
        + (f"the score is {times}" if scales else f"by the later rules the score would be {times}"),
        f'scaling.json beside the logs must hold {{"scaling_factor": {verdict.factor!r}}}.'
        if scales
        else "",
    )


def below_slack(case: Situation) -> Iterator[Finding]:
    """Passed only by what the official code allows beyond the t-test, after that round."""
    verdict, references = case.judgement, case.references
    if (
        not references.slack
        or references.title.endswith(f" {_SLACK_ROUND}")
        or verdict.point is None
        or not verdict.passed
        or verdict.mean >= verdict.point.least
    ):
        return
    yield case.finding(
        "rcp.slack",
        Severity.NOTE,
        f"the runs pass only because the official checker allows {case.amount(references.slack)} "
        f"less than the t-test says ({amount(verdict.point.least)}); the written rules allow that "
        f"in round {_SLACK_ROUND} alone",
        "Be ready to explain it in the review.",
    )


def judged_otherwise(
    case: Situation, *, other: Judgement, written: Judgement, pruned: bool
) -> Iterator[Finding]:
    """Other sets of references would give another verdict.

    Args:
        case: The folder and its verdict.
        other: The verdict by the full references, or by the pruned ones if the full ones decide.
        written: The verdict by the lower envelope, which the written rules ask for.
        pruned: Whether the pruned references decide.
    """
    passed = case.judgement.passed
    which = "all reference points, none pruned," if pruned else "the pruned reference points"
    sets = (
        (other, which),
        (written, "the lower envelope of the reference points, as the written rules have it,"),
    )
    said = [
        f"by {name} it {_outcome(verdict)}" for verdict, name in sets if verdict.passed != passed
    ]
    if said:
        used = "pruned" if pruned else "full"
        yield case.finding(
            "rcp.pruned_differs",
            Severity.NOTE,
            f"the verdict depends on how the references are pruned: by the official {used} points "
            f"the folder {_outcome(case.judgement)}; {'; '.join(said)}",
            "Nothing: the official checker's pruned points decide." if pruned else "",
        )


def _outcome(judgement: Judgement) -> str:
    limit = judgement.limit
    least = "" if limit is None else f" (least acceptable mean {amount(limit)})"
    if judgement.passed:
        return f"passes{least}"
    return f"fails{least}" if limit is not None else "fails (no reference)"
