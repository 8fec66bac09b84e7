"""Verdicts for tests of how they are printed."""

from pathlib import Path

from trainmark.cli.check_output import Block
from trainmark.rules import Verdict, known_rulesets
from trainmark.types import Finding, Severity


def finding(
    rule: str = "run.status", message: str = "the run did not succeed", **more: object
) -> Finding:
    """A finding, an error unless said otherwise."""
    fields = {"severity": Severity.ERROR, "fix": "Run it again."} | more
    return Finding(rule=rule, message=message, **fields)  # type: ignore[arg-type]


def verdict(
    path: str, *findings: Finding, kind: str = "log", table: tuple[str, ...] = ()
) -> Verdict:
    """A verdict by the rules of round 4.0."""
    return Verdict(
        path=path,
        kind=kind,
        ruleset=known_rulesets()["4.0"],
        chosen="by the folder v4.0",
        benchmark="bert",
        division="closed",
        findings=findings,
        table=table,
    )


def block(folder: str, logs: "list[list[Finding]]", *whole: Finding, **more: object) -> Block:
    """A folder with a log for each list of findings, result_0.txt and so on."""
    verdicts = [
        verdict(str(Path(folder) / f"result_{number}.txt"), *findings)
        for number, findings in enumerate(logs)
    ]
    about = verdict(folder, *whole, kind="folder", **more)  # type: ignore[arg-type]
    return Block(folder, files=verdicts, whole=[about])
