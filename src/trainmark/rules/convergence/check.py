"""Check a benchmark folder's convergence against the references of its round."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainmark.rules.convergence.measured import Measured
from trainmark.rules.convergence.points import FIRST_ROUND, References, references
from trainmark.rules.convergence.procedure import FAILED_RUN, Judgement, envelope, judge, prune
from trainmark.rules.convergence.table import amount, submission_lines
from trainmark.rules.convergence.wording import (
    Situation,
    below_slack,
    judged_otherwise,
    missing,
    scaled,
    too_fast,
)
from trainmark.types import Finding, Severity

if TYPE_CHECKING:
    from trainmark.rules.rulesets import Ruleset

__all__ = ["Convergence", "check_convergence", "is_checked"]

_NOT_CHECKED = frozenset({"minigo"})  # the official package checker leaves it out
_SAME = 1e-9  # relative; a smaller difference from 1 is rounding, no scaling


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """What reference convergence says of one benchmark folder.

    Attributes:
        folder: The folder.
        batch_size: The global batch size of its runs, None if they have none or several.
        judgement: The verdict by the references that decide; None if there is none.
        full: The verdict by all references, none pruned; None as ``judgement``.
        findings: What is wrong, and what else there is to know.
        table: The submission beside its reference, as lines of plain text; () without a verdict.
        scales: Whether the round's scores were multiplied with the factor (from 2.1 on).
    """

    folder: str
    batch_size: float | None = None
    judgement: Judgement | None = None
    full: Judgement | None = None
    findings: tuple[Finding, ...] = field(default=())
    table: tuple[str, ...] = ()
    scales: bool = True

    @property
    def factor(self) -> float | None:
        """Reference mean over submission mean, 1 if that is less; None unless it passed."""
        if self.judgement is None or not self.judgement.passed:
            return None
        return 1.0 if self.judgement.factor <= 1 + _SAME else self.judgement.factor


def is_checked(ruleset: "Ruleset", *, benchmark: str, division: str) -> bool:
    """Whether results of that kind are held to references: closed ones, from round 1.0 on.

    Args:
        ruleset: The round.
        benchmark: The benchmark.
        division: The division as written; every spelling of "closed" counts.
    """
    closed = division.strip().lower() in ("closed", "close")
    known = ruleset.official and ruleset.round >= FIRST_ROUND
    return known and closed and benchmark not in _NOT_CHECKED


def check_convergence(
    folder: str,
    logs: Sequence[Measured],
    *,
    ruleset: "Ruleset",
    benchmark: str,
    division: str,
    pruned: bool = True,
    bypass: bool = False,
) -> Convergence:
    """Check how fast the runs of a benchmark folder converged.

    Args:
        folder: The folder, for findings.
        logs: What was measured of each of its logs.
        ruleset: The round that they are held to.
        benchmark: The benchmark that they are held to.
        division: Their division; only closed results are checked.
        pruned: Whether the pruned references decide, as in the official package checker.
        bypass: Whether the submitter has asked for ``rcp-bypass``: what would be an error of
            convergence is a warning then.

    Raises:
        TrainmarkError: The installed references cannot be read.
    """
    nothing = Convergence(folder=folder)
    if not logs or not is_checked(ruleset, benchmark=benchmark, division=division):
        return nothing
    table = references(ruleset, benchmark)
    if table is None:
        return replace(nothing, findings=(_no_references(folder, ruleset, benchmark),))
    batch_size = _common_batch_size(logs)
    findings = [*_batch_sizes(folder, logs), *_amounts(logs), *_runs(folder, logs, table)]
    if findings or batch_size is None:
        return replace(nothing, batch_size=batch_size, findings=_weighed(findings, table))
    return _judged(folder, logs, batch_size, table, pruned=pruned, bypass=bypass)


def _judged(
    folder: str,
    logs: Sequence[Measured],
    batch_size: float,
    table: References,
    *,
    pruned: bool,
    bypass: bool,
) -> Convergence:
    """The verdict on a folder whose logs tell all that it takes."""
    told = [log.amount if log.converged else None for log in logs]
    amounts = [FAILED_RUN if value is None else value for value in told]
    by_pruned, full, written = (
        judge(table, points, batch_size, amounts)
        for points in (prune(table.points), table.points, envelope(table.points))
    )
    verdict, other = (by_pruned, full) if pruned else (full, by_pruned)
    case = Situation(folder=folder, references=table, judgement=verdict, batch_size=batch_size)
    findings: list[Finding] = []
    if not verdict.passed:
        found = too_fast(case) if _is_too_fast(verdict) else missing(case)
        findings.append(_let_through(found) if bypass else found)
    elif verdict.factor > 1 + _SAME:
        findings.append(scaled(case))
    findings += below_slack(case)
    findings += judged_otherwise(case, other=other, written=written, pruned=pruned)
    return Convergence(
        folder=folder,
        batch_size=batch_size,
        judgement=verdict,
        full=full,
        findings=_weighed(findings, table, folder),
        table=submission_lines(table, verdict, batch_size=batch_size, amounts=told),
        scales=table.scales,
    )


def _is_too_fast(judgement: Judgement) -> bool:
    """Whether there is a reference for that very batch size, and the runs are faster."""
    return judgement.match in (judgement.match.EXACT, judgement.match.BETWEEN)


def _let_through(finding: Finding) -> Finding:
    return replace(
        finding,
        severity=Severity.WARNING,
        message=f"{finding.message} (let through by rcp-bypass)",
    )


def _weighed(
    findings: Sequence[Finding], table: References, folder: str | None = None
) -> tuple[Finding, ...]:
    """The findings, as warnings for a benchmark that the official checker cannot judge."""
    if table.judged or (not findings and folder is None):
        return tuple(findings)
    note = Finding(
        rule="rcp.unjudged",
        severity=Severity.NOTE,
        message=f"the official checker cannot judge the convergence of {table.benchmark}: its list "
        f"of runs lacks it (it ends with a KeyError). What is said here is by the same procedure "
        f"with {table.runs} runs a submission",
        fix="",
        path=folder or findings[0].path,
    )
    softened = (
        replace(finding, severity=Severity.WARNING) if finding.is_error else finding
        for finding in findings
    )
    return (*softened, note)


def _no_references(folder: str, ruleset: "Ruleset", benchmark: str) -> Finding:
    where = ruleset.title.removeprefix("the rules of ")
    return Finding(
        rule="rcp.no_references",
        severity=Severity.NOTE,
        message=f"{where} has no reference points for {benchmark:.40}: how fast the runs converge "
        "is not checked",
        fix="If the round is a new one: pip install -U mlperf-logging",
        path=folder,
    )


def _common_batch_size(logs: Sequence[Measured]) -> float | None:
    sizes = {log.batch_size for log in logs if log.batch_size is not None}
    return sizes.pop() if len(sizes) == 1 else None


def _batch_sizes(folder: str, logs: Sequence[Measured]) -> Iterator[Finding]:
    """Batch sizes that differ, or that a log lacks (a run cut short may)."""
    sizes = Counter(log.batch_size for log in logs if log.batch_size is not None)
    if len(sizes) > 1:
        shown = ", ".join(f"{amount(size)} ({count})" for size, count in sizes.most_common(5))
        yield _error(
            "rcp.batch_size",
            f"the logs have different global batch sizes: {shown}; there is no one reference for "
            "them",
            "Keep only runs of one configuration in a folder.",
            path=folder,
            expected="one global_batch_size in all logs",
            found=shown,
        )
    for log in logs:
        if log.batch_size is not None or not (log.converged or not sizes):
            continue
        said = f"is {log.batch_found}" if log.batch_found else "is missing"
        yield _error(
            "rcp.batch_size",
            f"global_batch_size {said}: without it there is no reference to compare with",
            "Log global_batch_size as a number of samples, once, before run_start.",
            path=log.path,
            line_no=log.batch_line,
            expected="a positive number",
            found=log.batch_found,
        )


def _amounts(logs: Sequence[Measured]) -> Iterator[Finding]:
    """Converged runs that do not tell how much they have trained."""
    for log in logs:
        if log.converged and log.amount is None:
            yield _error(
                "rcp.samples",
                f"how much was trained until the target is not told: {log.problem}",
                "Log with every evaluation how much was trained until then: epoch_num or, for the "
                "newer benchmarks, samples_count in the metadata of eval_accuracy.",
                path=log.path,
                line_no=log.line_no,
            )


def _runs(folder: str, logs: Sequence[Measured], table: References) -> Iterator[Finding]:
    """Too many runs that did not converge; too few to leave some out."""
    failed = sum(not log.converged for log in logs)
    allowed, least = table.left_out, 2 * table.left_out + 1
    if failed > allowed:
        yield _error(
            "rcp.insufficient",
            f"{failed} of {len(logs)} runs did not converge (no run_stop with status success); "
            f"{allowed} may fail",
            "Run those again until the target is met.",
            path=folder,
            expected=f"at most {allowed} failed",
            found=f"{failed} failed",
        )
    elif len(logs) < least:
        yield Finding(
            rule="rcp.runs",
            severity=Severity.NOTE,
            message=f"how fast the runs converge is judged from {least} runs on; there "
            f"{'is' if len(logs) == 1 else 'are'} {len(logs)}",
            fix=f"{table.benchmark} asks for {table.runs} runs.",
            path=folder,
        )


def _error(
    rule: str,
    message: str,
    fix: str,
    *,
    path: str,
    line_no: int | None = None,
    expected: str = "",
    found: str = "",
) -> Finding:
    return Finding(
        rule=rule,
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        path=path,
        line_no=line_no,
        expected=expected,
        found=found,
    )
