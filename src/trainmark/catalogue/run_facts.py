"""The facts of one result log: what the catalogue keeps of it."""

from typing import BinaryIO

from trainmark.catalogue.samples import correct_samples
from trainmark.mllog import read_bytes, summarize
from trainmark.types import Finding, Run

__all__ = ["read_run"]


def read_run(
    stream: BinaryIO, source: str, *, benchmark: str, round_name: str
) -> tuple[Run, tuple[Finding, ...]]:
    """Read one log.

    Args:
        stream: The log, opened in binary.
        source: The name that the run and the findings carry.
        benchmark: The benchmark's official name in that round, as the folder has it.
        round_name: The round, "2.0".

    Returns:
        The run, with samples counted as the logs of that benchmark and round mean them, and what
        could not be read. Nothing that a file can hold raises.
    """
    del round_name  # the units of a benchmark do not depend on it yet
    log = read_bytes(stream.read(), source)
    return correct_samples(log, summarize(log), benchmark), log.findings
