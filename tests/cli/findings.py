"""Verdicts for tests of how they are printed."""

from pathlib import Path

import click
from click.testing import CliRunner
from hypothesis import strategies as st

from trainmark.cli.check_output import Block, Output, Tally
from trainmark.rules import Verdict, known_rulesets
from trainmark.types import Finding, Severity

# Anything that a name on disk or a text from a log may hold, lone surrogates included.
ANY = st.text(max_size=30) | st.binary(max_size=30).map(
    lambda b: b.decode("utf-8", "surrogateescape")
)
NAMES = ANY.map(lambda text: text.replace("/", "_").replace("\0", "_") or "_")
FINDINGS = st.builds(
    Finding,
    rule=st.sampled_from(["run.status", "rules.seed.missing", "rules.\x1b.value", "x"]),
    severity=st.sampled_from(Severity),
    message=ANY.filter(bool),
    fix=ANY,
    path=NAMES,
    line_no=st.none() | st.integers(1, 10**9),
    line=ANY,
    expected=ANY,
    found=ANY,
)


def printed(output: Output, *blocks: Block) -> str:
    """What an output prints for these blocks."""

    @click.command()
    def command() -> None:
        tally = Tally()
        output.begin()
        for one in blocks:
            tally.add(one)
            output.add(one)
        output.end(tally)

    result = CliRunner().invoke(command, [], catch_exceptions=False)
    return result.stdout


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
