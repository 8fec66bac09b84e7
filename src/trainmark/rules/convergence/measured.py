"""What reference convergence needs of one result log: its batch size, and how much it trained."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trainmark.mllog import keys
from trainmark.rules.subjects import show
from trainmark.types import Event, RunLog

if TYPE_CHECKING:
    from trainmark.rules.rulesets import Ruleset

__all__ = ["Measured", "measure"]

_EVALUATIONS = (keys.EVAL_ACCURACY, keys.EVAL_ERROR)
# Benchmarks whose evaluations say epoch_num; the others, all newer, say samples_count. (Of some of
# these epoch_num is a number of samples or tokens: the references are then, too.)
_BY_EPOCH = frozenset(
    (
        "bert",
        "cosmoflow",
        "deepcam",
        "dlrm",
        "dlrm_dcnv2",
        "gnn",
        "gpt3",
        "maskrcnn",
        "minigo",
        "oc20",
        "openfold",
        "resnet",
        "retinanet",
        "rgat",
        "rnnt",
        "ssd",
        "unet3d",
    )
)
_BERT = "bert"
_FEWEST_BERT_SAMPLES = 10_000  # a smaller epoch_num of BERT is an epoch
_DIFFUSION = "stable_diffusion"
_DIFFUSION_BY_STEP = "3.1"
_DIFFUSION_TARGETS = (("FID", -math.inf, 90.0), ("CLIP", 0.15, math.inf))
_DECIMALS = 3  # the official checker rounds epoch_num so


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One log's part in reference convergence.

    Attributes:
        path: The log.
        benchmark: The benchmark it is held to.
        batch_size: The global batch size; None if the log has none that is a positive number.
        batch_found: What it says instead, for a message; "" if it says nothing.
        batch_line: The line of the batch size, None without one.
        converged: Whether run_stop says success.
        amount: Epochs or samples until the target; None if not converged or not told.
        problem: Why a converged run's amount is not known; "" if it is.
        line_no: The line that the amount stands on, or that lacks it; None without one.
    """

    path: str
    benchmark: str
    batch_size: float | None
    batch_found: str = ""
    batch_line: int | None = None
    converged: bool
    amount: float | None = None
    problem: str = ""
    line_no: int | None = None


class _Amount(NamedTuple):
    """Epochs or samples, or why there are none."""

    amount: float | None
    problem: str = ""
    line_no: int | None = None


def measure(log: RunLog, *, benchmark: str, ruleset: "Ruleset") -> Measured | None:
    """What reference convergence needs of a log.

    As the official checker has it: the last global_batch_size; the last run_stop decides whether
    the run converged, and the last evaluation before it how much was trained.

    Args:
        log: The log as read.
        benchmark: The benchmark it is held to.
        ruleset: The round it is held to.

    Returns:
        None where there is no reference convergence: our own benchmarks, rounds before 1.0.
    """
    if not ruleset.official or ruleset.round < (1, 0):
        return None
    batch = log.last(keys.GLOBAL_BATCH_SIZE)
    size = None if batch is None else _positive(batch.value)
    stop = log.last(keys.RUN_STOP)
    converged = stop is not None and stop.metadata.get(keys.STATUS) == keys.SUCCESS
    found = _Amount(None)
    if converged and stop is not None:
        found = _amount(log, stop.line_no, benchmark, ruleset)
    return Measured(
        path=log.source,
        benchmark=benchmark,
        batch_size=size,
        batch_found="" if batch is None or size is not None else show(batch.value),
        batch_line=None if batch is None else batch.line_no,
        converged=converged,
        amount=found.amount,
        problem=found.problem,
        line_no=found.line_no,
    )


def _amount(log: RunLog, stop_line: int, benchmark: str, ruleset: "Ruleset") -> _Amount:
    """How much was trained until the last run_stop."""
    evaluations = [
        event for key in _EVALUATIONS for event in log.all(key) if event.line_no <= stop_line
    ]
    evaluations.sort(key=lambda event: event.line_no)
    if benchmark == _DIFFUSION:
        by_step = ruleset.name == _DIFFUSION_BY_STEP
        return _first_good(evaluations, "step_num" if by_step else keys.SAMPLES_COUNT)
    if benchmark == _BERT:
        return _bert(log, evaluations, stop_line)
    field = keys.EPOCH_NUM if benchmark in _BY_EPOCH else keys.SAMPLES_COUNT
    return _last(evaluations, field)


def _last(evaluations: Sequence[Event], field: str) -> _Amount:
    """The amount at the last evaluation."""
    if not evaluations:
        return _Amount(None, "there is no eval_accuracy or eval_error before run_stop")
    event = evaluations[-1]
    amount = _number(event.metadata.get(field))
    if amount is None:
        return _Amount(None, _lacks(event, field), event.line_no)
    amount = round(amount, _DECIMALS) if field == keys.EPOCH_NUM else amount
    return _Amount(amount, line_no=event.line_no)


def _bert(log: RunLog, evaluations: Sequence[Event], stop_line: int) -> _Amount:
    """BERT's samples: in a train_samples after the last evaluation, in epoch_num, or elsewhere.

    The official checker takes the one or the other by a flag for a whole submission.
    """
    told = [event for event in log.all(keys.TRAIN_SAMPLES) if event.line_no < stop_line]
    last = evaluations[-1].line_no if evaluations else 0
    total = _number(told[-1].value) if told else None
    if told and total is not None and told[-1].line_no > last:
        return _Amount(total, line_no=told[-1].line_no)
    found = _last(evaluations, keys.EPOCH_NUM)
    if found.amount is None or found.amount < _FEWEST_BERT_SAMPLES:
        by_samples = _last(evaluations, keys.SAMPLES_COUNT)
        if by_samples.amount is not None:
            return by_samples
        if told and total is not None:
            return _Amount(total, line_no=told[-1].line_no)
    return found


def _first_good(evaluations: Sequence[Event], field: str) -> _Amount:
    """The earliest evaluation of an image generator that meets both targets.

    They are logged apart, in any order, and belong together by what was trained until then.
    """
    scores: dict[float, dict[str, float]] = {}
    lines: dict[float, int] = {}
    lacking = "there is no eval_accuracy or eval_error before run_stop"
    line_no = None
    for event in evaluations:
        at, score = _number(event.metadata.get(field)), _number(event.value)
        metric = event.metadata.get("metric")
        if at is None:
            lacking, line_no = _lacks(event, field), event.line_no
        elif isinstance(metric, str) and score is not None:
            scores.setdefault(at, {})[metric] = score
            lines[at] = event.line_no
    good = [at for at, found in scores.items() if _is_good(found)]
    if good:
        return _Amount(min(good), line_no=lines[min(good)])
    if scores:
        lacking = "no evaluation has both a FID of 90 or less and a CLIP score of 0.15 or more"
        line_no = max(lines.values())
    return _Amount(None, lacking, line_no)


def _is_good(scores: dict[str, float]) -> bool:
    return all(
        metric in scores and low <= scores[metric] <= high
        for metric, low, high in _DIFFUSION_TARGETS
    )


def _lacks(event: Event, field: str) -> str:
    """In words that a record has no usable field in its metadata."""
    if field in event.metadata:
        return f"{field} of the last {event.key} is {show(event.metadata[field])}, not a number"
    return f"the last {event.key} has no {field} in its metadata"


def _number(value: Any) -> float | None:
    """A finite number as a float, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _positive(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number > 0 else None
