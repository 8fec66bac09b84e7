"""Samples and quality, as the logs of each benchmark count and write them.

Progress is counted in samples everywhere, but the logs count it in epochs, steps, tokens,
evaluations or samples, some of them under the name of another. Each benchmark has a row in
``COUNTINGS``: how a log's count becomes samples, and which of its numbers is the quality. Where the
unit cannot be known there are no samples; ``UNKNOWN`` says why. docs/log-facts.md has the table.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trainmark.mllog import run_interval, summarize
from trainmark.mllog.keys import EPOCH_NUM, EVAL_ACCURACY, SAMPLES_COUNT, TRAIN_SAMPLES
from trainmark.mllog.summary import Counting, Scale, number
from trainmark.types import Evaluation, Run, RunLog

__all__ = ["COUNTINGS", "TRAIN_BATCH_SIZE", "UNKNOWN", "summarize_as"]

TRAIN_BATCH_SIZE = "train_batch_size"  # what minigo calls the global batch size
_IMAGENET_SAMPLES = 1_281_167
_COCO_SAMPLES = 117_266  # images of the training set with annotations: what an epoch goes through
_COCO_IMAGES = 118_287  # all of them; some logs count these
_OPEN_IMAGES_SAMPLES = 1_170_301  # likewise, of the classes that the benchmark uses
_CRITEO_SAMPLES = 4_195_197_692
_UNET3D_SAMPLES = 168
_GPT3_SEQUENCE = 2_048  # tokens in a sample

_MOST_EPOCHS = 10_000  # of unet3d by its rules; larger numbers are samples
_LEAST_TOKENS = 10_000_000  # no run of gpt3 takes so many sequences, and each takes more tokens
_LEAST_STEPS, _LEAST_SAMPLES = 50, 100_000  # of bert: see _bert_samples
_MOST_SSD_STEPS = 100_000

_LEAST_SHARE = 0.85  # of its samples that a run's stated throughput must account for

_FID_TARGET, _CLIP_TARGET = 90.0, 0.15

UNKNOWN: Mapping[str, str] = {
    "gnmt": "logs of round 0.6 count epochs and do not say how many samples one has",
    "minigo": "logs count iterations of self-play, whose samples vary",
    "ncf": "the logs count epochs, some from 0 and some from 1",
    "transformer": "logs of round 0.6 count epochs and do not say how many samples one has",
}
"""Why a benchmark's logs give no samples, all or some of them."""


def summarize_as(log: RunLog, benchmark: str) -> Run:
    """The numbers of one log, counted as the logs of its benchmark mean them.

    Args:
        log: The log as read.
        benchmark: The benchmark's official name; for any other, "epochs and one number".
    """
    run = summarize(log, COUNTINGS.get(benchmark, _DEFAULT))
    correction = _CORRECTIONS.get(benchmark)
    return _with_plain_rate(run if correction is None else correction(log, run))


def _with_plain_rate(run: Run) -> Run:
    """The run without a throughput that is too small for its samples: it has another unit.

    RetinaNet logs of rounds 2.1 to 5.1 state that of one accelerator or of one step. A large one
    is no fault: evaluation takes its share of the time.
    """
    rate, minutes, samples = run.samples_per_second, run.minutes, run.samples_to_target
    if rate is None or minutes is None or samples is None:
        return run
    enough = rate * minutes * 60 >= _LEAST_SHARE * samples
    return run if enough else replace(run, samples_per_second=None)


def _quality(value: Any) -> float | None:
    """A number; round 0.6 wrote some as text."""
    if isinstance(value, str):
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)


def _bleu(value: Any) -> float | None:
    """BLEU as a fraction, as from round 0.7 on; before, it was written in points."""
    score = _quality(value)
    return score / 100 if score is not None and score > 1 else score


def _box_precision(value: Any) -> float | None:
    """Average precision of boxes, the first of the two qualities of Mask R-CNN."""
    if isinstance(value, dict):
        return _box_precision(value.get("accuracy", value.get("BBOX")))
    if isinstance(value, list):
        return _quality(value[0]) if value else None
    return _quality(value)


def _stated(metadata: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The samples, and the count called epoch_num."""
    return number(metadata.get(SAMPLES_COUNT)), number(metadata.get(EPOCH_NUM))


def _epochs(default: float | None = None) -> Callable[[Mapping[str, Any], Scale], float | None]:
    """Epochs of as many samples as the log says, or else as the data set has."""

    def samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
        counted, epochs = _stated(metadata)
        size = scale.train_samples or default
        if counted is not None or epochs is None or size is None:
            return counted
        return epochs * size

    return samples


def _epochs_of(size: float, *others: float) -> Callable[..., float | None]:
    """Epochs of a data set of known size, where train_samples often says something else.

    Args:
        size: Its samples.
        others: What train_samples may also be, to be believed.
    """

    def samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
        counted, epochs = _stated(metadata)
        if counted is not None or epochs is None:
            return counted
        return epochs * (scale.train_samples if scale.train_samples in others else size)

    return samples


def _ssd_samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
    """SSD300 says its images, RetinaNet (from round 2.0) mostly the steps of an epoch."""
    stated = scale.train_samples
    if stated is not None and stated < _MOST_SSD_STEPS:
        return _epochs_of(_OPEN_IMAGES_SAMPLES)(metadata, scale)
    return _epochs(_COCO_SAMPLES)(metadata, scale)


def _unet3d_samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
    """Epochs up to round 3.1, samples from 3.1 on."""
    counted, epochs = _stated(metadata)
    if counted is not None or epochs is None:
        return counted
    return epochs * _UNET3D_SAMPLES if epochs <= _MOST_EPOCHS else epochs


def _dlrm_samples(metadata: Mapping[str, Any], _: Scale) -> float | None:
    """A fraction of the one epoch, counted from 1; train_samples is often the run's total.

    Whole numbers (one submitter in round 0.7) are numbers of evaluations.
    """
    counted, epochs = _stated(metadata)
    if counted is not None or epochs is None:
        return counted
    if epochs == int(epochs) or not 0 < epochs < 2:
        return None
    return (epochs - 1 if epochs > 1 else epochs) * _CRITEO_SAMPLES


def _gpt3_samples(metadata: Mapping[str, Any], _: Scale) -> float | None:
    """Tokens; a sample is a sequence of 2,048 of them."""
    counted, tokens = _stated(metadata)
    count = tokens if counted is None else counted
    return count / _GPT3_SEQUENCE if count is not None and count >= _LEAST_TOKENS else count


def _gpt3(_: RunLog, run: Run) -> Run:
    """The throughput too is in tokens: 2,048 times what the samples of the run come to."""
    rate, minutes, samples = run.samples_per_second, run.minutes, run.samples_to_target
    if rate is None or minutes is None or samples is None:
        return replace(run, samples_per_second=None)
    in_tokens = rate * minutes * 60 > _GPT3_SEQUENCE * _LEAST_SHARE * samples
    return replace(run, samples_per_second=rate / _GPT3_SEQUENCE) if in_tokens else run


def _bert_samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
    """Samples under the name epoch_num, or steps (round 0.7), or the number 1.

    In round 0.7 evaluations came every 500,000 samples, and these counts come out so as steps
    of the batch. Smaller ones are epochs or evaluations and say nothing.
    """
    begun = number(metadata.get("train_samples_since_beginning"))
    counted, epochs = _stated(metadata)
    if begun is not None or counted is not None:
        return begun if begun is not None else counted
    if epochs is None or epochs >= _LEAST_SAMPLES:
        return epochs
    if epochs >= _LEAST_STEPS and scale.global_batch_size is not None:
        return epochs * scale.global_batch_size
    return 0.0 if epochs == 0 else None


def _bert(log: RunLog, run: Run) -> Run:
    """Where epoch_num is 1 throughout, the last train_samples, written at the end, is the total."""
    _, stop = run_interval(log)
    counted = [
        event.metadata.get(EPOCH_NUM)
        for event in log.all(EVAL_ACCURACY)
        if (stop is None or event.line_no <= stop.line_no) and SAMPLES_COUNT not in event.metadata
    ]
    last = log.last(TRAIN_SAMPLES)
    total = None if last is None else number(last.value)
    if not run.evaluations or run.evaluations[-1].samples is not None or total is None:
        return run
    if any(count != 1 for count in counted):
        return run
    *earlier, final = run.evaluations
    return replace(
        run,
        samples_to_target=total if run.succeeded else None,
        evaluations=(*earlier, replace(final, samples=total)),
    )


def _diffusion_samples(metadata: Mapping[str, Any], scale: Scale) -> float | None:
    """Samples, in round 3.1 steps."""
    counted, steps = number(metadata.get(SAMPLES_COUNT)), number(metadata.get("step_num"))
    if counted is not None or steps is None or scale.global_batch_size is None:
        return counted
    return steps * scale.global_batch_size


def _diffusion(log: RunLog, run: Run) -> Run:
    """Stable Diffusion has two qualities for each checkpoint, measured when the run may be over.

    The run's quality is the FID, and its samples are those of the first checkpoint that meets
    both targets; without one it has none of either, but its last FID.
    """
    scale = Scale(run.train_samples, run.global_batch_size)
    start, stop = run_interval(log)
    measured: dict[str, dict[float, float]] = {"FID": {}, "CLIP": {}}
    fids: list[Evaluation] = []
    for event in log.all(EVAL_ACCURACY):
        if stop is not None and event.line_no > stop.line_no:
            break
        metric, quality = event.metadata.get("metric"), _quality(event.value)
        samples = _diffusion_samples(event.metadata, scale)
        if metric not in ("FID", "CLIP") or quality is None:
            continue
        if samples is not None:
            measured[metric][samples] = quality
        if metric == "FID":
            since = math.nan if start is None else (event.time_ms - start.time_ms) / 60_000
            fids.append(Evaluation(minutes=since, samples=samples, quality=quality))
    met = min((s for s, fid in measured["FID"].items() if _meets(fid, measured, s)), default=None)
    quality = fids[-1].quality if fids else None
    return replace(
        run,
        evaluations=tuple(fids),
        quality=quality if met is None else measured["FID"][met],
        samples_to_target=met if run.succeeded else None,
    )


def _meets(fid: float, measured: Mapping[str, Mapping[float, float]], samples: float) -> bool:
    return fid <= _FID_TARGET and measured["CLIP"].get(samples, 0.0) >= _CLIP_TARGET


def _minigo(log: RunLog, run: Run) -> Run:
    """The batch has a name of its own in many logs."""
    batch = number(log.value(TRAIN_BATCH_SIZE))
    return run if run.global_batch_size is not None else replace(run, global_batch_size=batch)


def _none(_: Mapping[str, Any], __: Scale) -> float | None:
    return None


_DEFAULT = Counting(samples=_epochs(), quality=_quality)
COUNTINGS: Mapping[str, Counting] = {
    "bert": Counting(samples=_bert_samples, quality=_quality),
    "dlrm": Counting(samples=_dlrm_samples, quality=_quality),
    "dlrm_dcnv2": Counting(samples=_epochs_of(_CRITEO_SAMPLES), quality=_quality),
    "gnmt": Counting(samples=_epochs(), quality=_bleu),
    "gpt3": Counting(samples=_gpt3_samples, quality=_quality),
    "maskrcnn": Counting(samples=_epochs_of(_COCO_SAMPLES, _COCO_IMAGES), quality=_box_precision),
    "minigo": Counting(samples=_none, quality=_quality),
    "ncf": Counting(samples=_none, quality=_quality),
    "resnet": Counting(samples=_epochs(_IMAGENET_SAMPLES), quality=_quality),
    "retinanet": Counting(samples=_epochs_of(_OPEN_IMAGES_SAMPLES), quality=_quality),
    "ssd": Counting(samples=_ssd_samples, quality=_quality),
    "stable_diffusion": Counting(samples=_diffusion_samples, quality=_quality),
    "transformer": Counting(samples=_epochs(), quality=_bleu),
    "unet3d": Counting(samples=_unet3d_samples, quality=_quality),
}
"""How the logs of a benchmark count; those of others count epochs, or samples_count."""

_CORRECTIONS: Mapping[str, Callable[[RunLog, Run], Run]] = {
    "bert": _bert,
    "gpt3": _gpt3,
    "minigo": _minigo,
    "stable_diffusion": _diffusion,
}
