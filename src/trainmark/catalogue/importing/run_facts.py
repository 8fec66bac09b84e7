"""The facts of one result log: what the catalogue keeps of it."""

from typing import BinaryIO

from trainmark.catalogue.importing.samples import TRAIN_BATCH_SIZE, summarize_as
from trainmark.mllog import first_rank, keys, round_0_5, run_interval, scan
from trainmark.mllog.round_0_5 import as_later
from trainmark.types import Event, Finding, Run, RunLog

__all__ = ["FACT_KEYS", "read_run", "timed_part"]

# Logged by every rank, of which the first counts, or at every step.
_SAMPLED = {keys.INIT_START: "", keys.TRACKED_STATS: keys.THROUGHPUT}
FACT_KEYS = round_0_5.KEYS | {
    keys.EVAL_ACCURACY,
    keys.EVAL_ERROR,
    keys.EVAL_SAMPLES,
    keys.GLOBAL_BATCH_SIZE,
    keys.INIT_STOP,
    keys.RUN_START,
    keys.RUN_STOP,
    keys.SEED,
    keys.SUBMISSION_BENCHMARK,
    keys.SUBMISSION_DIVISION,
    keys.SUBMISSION_ORG,
    keys.SUBMISSION_PLATFORM,
    keys.TRAIN_SAMPLES,
    TRAIN_BATCH_SIZE,
}  # fmt: skip
"""The keys of a log that facts are taken from, but for those of which a sample is enough."""


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
        The run, with samples counted as the logs of that benchmark mean them, and what could not
        be read of the records that facts are taken from. Nothing that a file can hold raises.
    """
    del round_name  # what a log means is told from its own numbers, in every round so far
    log = _scanned(stream, source)
    return summarize_as(log, benchmark), log.findings


def timed_part(stream: BinaryIO, source: str) -> tuple[Event | None, Event | None]:
    """The run_start and the run_stop between which the minutes of ``read_run`` lie.

    Args:
        stream: As for ``read_run``.
        source: Likewise.
    """
    return run_interval(first_rank(as_later(_scanned(stream, source))))


def _scanned(stream: BinaryIO, source: str) -> RunLog:
    return scan(stream, source, FACT_KEYS, sampled=_SAMPLED)
