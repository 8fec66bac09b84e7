"""Logs in the shape of a full-scale run, without the run: what loop and writer make of them.

The official checker judges them as it would judge a real run's.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.rules.official import official_verdict
from tests.training.moments import MadeTask
from trainmark import rules
from trainmark.mllog import LogWriter, read
from trainmark.rules import Verdict
from trainmark.training import loop
from trainmark.training.log_observer import LogObserver, Submission
from trainmark.training.moments import Built
from trainmark.types import WorkloadSpec

START_MS = 1_700_000_000_000


def write_full_shaped_log(
    path: Path,
    spec: WorkloadSpec,
    hyperparameters: Mapping[str, Any],
    qualities: Sequence[float],
    *,
    initialized_tensors: tuple[str, ...] = (),
    seed: int = 1,
) -> None:
    """Write the log of a run that says success at its last quality, whatever that is.

    Args:
        path: The log.
        spec: The full-scale workload with its official name.
        hyperparameters: What the task would log.
        qualities: One for each evaluation; the target that the run itself goes by is the last.
        initialized_tensors: What the task would log.
        seed: The run's seed.
    """
    task = MadeTask(list(qualities))
    task.spec = replace(
        spec,
        target=replace(spec.target, value=qualities[-1]),
        max_samples=len(qualities) * spec.evaluate_every_samples,
    )
    assert not any(task.spec.target.reached(early) for early in qualities[:-1])
    task.hyperparameters = hyperparameters
    who = Submission(
        org="Us",
        platform="a box",
        division="closed",
        status="onprem",
        ruleset=spec.ruleset,
        seed=seed,
    )

    def built() -> Built:
        return Built(
            spec=task.spec,
            settings={},
            hyperparameters=dict(hyperparameters),
            environment={},
            caches_flushed=True,
            initialized_tensors=initialized_tensors,
        )

    seconds = itertools.count(START_MS, 1000)
    with LogWriter(path, now_ms=seconds.__next__) as writer:
        moments = loop.train(
            task,
            global_batch_size=spec.evaluate_every_samples,  # one step a block: the log is the same
            micro_batches=1,
            synchronize=lambda: None,
            built=built,
            matmul_peak=None,
        )
        loop.record(moments, [LogObserver(writer, who)])


def judged(path: Path, ruleset: str) -> tuple[Verdict, bool]:
    """Our verdict on a log, and the official checker's, by the rules of a round such as "4.0"."""
    verdict = rules.check_log(read(path), ruleset=rules.ruleset_named(ruleset))
    return verdict, official_verdict(path, ruleset)
