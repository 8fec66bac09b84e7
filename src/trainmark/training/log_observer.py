"""The observer that writes the result log: every key that the closed rules ask for."""

from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any

from trainmark.mllog import LogWriter, keys
from trainmark.training.moments import (
    BlockStarted,
    BlockStopped,
    Built,
    Evaluated,
    EvaluationStarted,
    InitStarted,
    InitStopped,
    Moment,
    Position,
    RunStarted,
    RunStopped,
    Stepped,
)

__all__ = ["LogObserver", "Submission"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Who runs it, as the log's submission keys say.

    Attributes:
        org: The organisation.
        platform: The system's name.
        division: "closed" or "open".
        status: "onprem", "cloud", "preview" or "research".
        ruleset: The round whose rules the log follows, or "own".
        seed: The run's seed.
    """

    org: str
    platform: str
    division: str
    status: str
    ruleset: str
    seed: int


class LogObserver:
    """Writes one run's moments as records.

    Args:
        writer: The open log.
        submission: Who runs it.
    """

    def __init__(self, writer: LogWriter, submission: Submission) -> None:
        self._log = writer
        self._submission = submission
        self._metric = keys.EVAL_ACCURACY
        self._start_of_block: Position | None = None

    def __call__(self, moment: Moment) -> None:
        """Write what the moment says."""
        self._write(moment)

    @singledispatchmethod
    def _write(self, moment: Moment) -> None:
        raise AssertionError(f"no record for {type(moment).__name__}")

    @_write.register
    def _(self, moment: InitStarted) -> None:
        self._log.start(keys.INIT_START)

    @_write.register
    def _(self, moment: Built) -> None:
        spec, who, point = moment.spec, self._submission, self._log.point
        self._metric = spec.target.metric
        point(keys.CACHE_CLEAR, moment.caches_flushed)
        point(keys.SUBMISSION_BENCHMARK, spec.benchmark)
        point(keys.SUBMISSION_DIVISION, who.division)
        point(keys.SUBMISSION_ORG, who.org)
        point(keys.SUBMISSION_PLATFORM, who.platform)
        point(keys.SUBMISSION_STATUS, who.status)
        point(keys.SEED, who.seed)
        for key, value in moment.hyperparameters.items():
            point(key, value)
        for tensor in moment.initialized_tensors:
            point(keys.WEIGHTS_INITIALIZATION, tensor=tensor)
        point(keys.TRAIN_SAMPLES, spec.train_samples)
        point(keys.EVAL_SAMPLES, spec.eval_samples)
        point(keys.OWN_RULESET, who.ruleset)
        point(keys.OWN_TARGET, spec.target.to_dict())
        point(keys.OWN_SETTINGS, moment.settings)
        point(keys.OWN_ENVIRONMENT, moment.environment)

    @_write.register
    def _(self, moment: InitStopped) -> None:
        self._log.stop(keys.INIT_STOP)

    @_write.register
    def _(self, moment: RunStarted) -> None:
        self._log.start(keys.RUN_START)

    @_write.register
    def _(self, moment: BlockStarted) -> None:
        self._start_of_block = moment.at
        epochs = moment.samples / moment.at.train_samples
        self._log.start(
            keys.BLOCK_START,
            first_epoch_num=moment.at.epoch,
            epoch_count=round(epochs) if epochs == round(epochs) else epochs,
            samples_count=moment.at.samples,
        )

    @_write.register
    def _(self, moment: Stepped) -> None:
        pass  # a record for each step would be the log's largest part and tell nothing

    @_write.register
    def _(self, moment: BlockStopped) -> None:
        assert self._start_of_block is not None
        self._log.stop(
            keys.BLOCK_STOP,
            first_epoch_num=self._start_of_block.epoch,
            samples_count=moment.at.samples,
        )
        self._log.point(
            keys.TRACKED_STATS,
            {
                "throughput": moment.samples / moment.seconds,
                "input_wait_share": moment.input_wait_seconds / moment.seconds,
                **moment.statistics,
            },
            **_where(moment.at),
        )

    @_write.register
    def _(self, moment: EvaluationStarted) -> None:
        self._log.start(keys.EVAL_START, **_where(moment.at))

    @_write.register
    def _(self, moment: Evaluated) -> None:
        self._log.point(self._metric, moment.quality, **_where(moment.at))
        self._log.stop(keys.EVAL_STOP, **_where(moment.at))

    @_write.register
    def _(self, moment: RunStopped) -> None:
        metadata: dict[str, Any] = {keys.STATUS: moment.status, **_where(moment.at)}
        if moment.reason:
            metadata["reason"] = moment.reason
        self._log.stop(keys.RUN_STOP, **metadata)
        if moment.efficiency:
            self._log.point(keys.OWN_EFFICIENCY, moment.efficiency)


def _where(at: Position) -> dict[str, Any]:
    return {keys.EPOCH_NUM: at.epoch, keys.SAMPLES_COUNT: at.samples}
