"""The official reference points: how fast the reference implementation converged, by batch size.

They are the JSON files beside the official checker in the installed package ``mlperf-logging``
(that checker itself is not imported: it takes scipy).
"""

import functools
import importlib.util
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainmark.rules.convergence.statistics import (
    deviation,
    least_acceptable_mean,
    trimmed_mean,
)
from trainmark.types import TrainmarkError

if TYPE_CHECKING:  # the module reads YAML, which this one has no need of
    from trainmark.rules.rulesets import Ruleset

__all__ = [
    "FIRST_ROUND",
    "Point",
    "References",
    "left_out",
    "make_points",
    "parse_records",
    "references",
    "references_of_round",
]

FIRST_ROUND = (1, 0)  # for training; every HPC round with tables has references
_PACKAGE = "mlperf_logging"
_NAME = re.compile(r"[a-z0-9_]+")
_AMOUNTS = ("Epochs to converge", "samples to converge")
_LEFT_OUT = {"unet3d": 4}
# Closed DLRM of rounds 1.0 to 2.1 has references, but is missing in the official checker's list of
# runs, so that it ends in a KeyError.
_UNJUDGED = frozenset({"dlrm"})
# What the official checker allows beyond the t-test: one evaluation, written for round 5.0 alone.
_SLACK = {"llama31_405b": ((5, 0), 46_080.0)}
# No result of an earlier round has a scaling.json that the checker wrote.
_SCALED_FROM = (2, 1)
_WHOLE_SAMPLES = 10_000  # the amounts in tables are epochs below this and samples, or tokens, above


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The reference's convergence at one batch size.

    Attributes:
        batch_size: Samples (tokens for none) in a global batch.
        amounts: Epochs or samples of each run, ascending; () for an interpolated point.
        mean: Their mean without the smallest and the largest.
        deviation: The standard deviation of all of them.
        least: The smallest mean that a submission may have.
    """

    batch_size: float
    amounts: tuple[float, ...]
    mean: float
    deviation: float
    least: float


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The references of one benchmark in one round.

    Attributes:
        benchmark: The benchmark.
        title: The round, for people.
        points: Every point, ascending by batch size.
        runs: How many runs a submission has.
        left_out: How many runs are left out at each end of a mean.
        slack: By how much less than the t-test says a mean may be.
        unit: What is counted, for example "epochs".
        judged: Whether the official checker can judge this benchmark.
        scales: Whether the round's scores were multiplied with the factor.
    """

    benchmark: str
    title: str
    points: tuple[Point, ...]
    runs: int
    left_out: int
    slack: float
    unit: str
    judged: bool = True
    scales: bool = True


def left_out(benchmark: str) -> int:
    """How many runs are left out at each end, and so how many may fail to converge."""
    return _LEFT_OUT.get(benchmark, 1)


def references(ruleset: "Ruleset", benchmark: str) -> References | None:
    """The reference points of a benchmark in a round, None if that has none.

    Args:
        ruleset: The round.
        benchmark: The benchmark as logs name it.

    Raises:
        TrainmarkError: The installed file cannot be read.
    """
    if not ruleset.official or not _NAME.fullmatch(benchmark):
        return None
    return _load(ruleset.first_table.split("/")[0], benchmark, ruleset.round)


def references_of_round(name: str, benchmark: str) -> References | None:
    """The same by a training round's name alone, without the rule tables, which cost time to load.

    Args:
        name: The round, "2.0".
        benchmark: The benchmark as logs name it.

    Raises:
        TrainmarkError: The installed file cannot be read.
    """
    if not re.fullmatch(r"[0-9]+\.[0-9]+", name) or not _NAME.fullmatch(benchmark):
        return None
    return _load(f"training_{name}.0", benchmark, tuple(map(int, name.split("."))))


@functools.cache
def _load(folder: str, benchmark: str, number: tuple[int, ...]) -> References | None:
    usage = folder.partition("_")[0]
    runs = _submission_runs(usage).get(benchmark)
    text = _text(folder, benchmark) if runs is not None else None
    if runs is None or text is None:
        return None
    since, slack = _SLACK.get(benchmark, ((0,), 0.0))
    points = make_points(
        parse_records(text, f"{folder}/{benchmark}"), benchmark=benchmark, runs=runs
    )
    return References(
        benchmark=benchmark,
        title=f"{'HPC ' if usage == 'hpc' else ''}round {'.'.join(map(str, number))}",
        points=points,
        runs=runs,
        left_out=left_out(benchmark),
        slack=slack if number >= since else 0.0,
        unit=_unit(benchmark, folder, points[0].mean),
        judged=benchmark not in _UNJUDGED,
        scales=number >= _SCALED_FROM and benchmark not in _UNJUDGED,
    )


def make_points(
    records: Mapping[float, Sequence[float]], *, benchmark: str, runs: int
) -> tuple[Point, ...]:
    """Reference points from runs of the reference, ascending by batch size.

    Args:
        records: Epochs or samples of each run, by batch size; more than are left out.
        benchmark: The benchmark, for how many runs are left out of a mean.
        runs: How many runs a submission has.
    """
    end = left_out(benchmark)
    points = []
    for batch_size, amounts in sorted(records.items()):
        mean, spread = trimmed_mean(amounts, end), deviation(amounts)
        least = least_acceptable_mean(
            mean, spread, reference_runs=len(amounts) - 2 * end, submission_runs=runs - 2
        )
        points.append(
            Point(
                batch_size=batch_size,
                amounts=tuple(sorted(amounts)),
                mean=mean,
                deviation=spread,
                least=least,
            )
        )
    return tuple(points)


def _text(folder: str, benchmark: str) -> str | None:
    """The installed file of a benchmark's references, None if there is none."""
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        file = Path(place) / "rcp_checker" / folder / f"rcps_{benchmark}.json"
        try:
            return file.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(file.name, str(error)) from error
    return None


def parse_records(text: str, name: str) -> dict[float, list[float]]:
    """Epochs or samples of each run of the reference by batch size, as a file has them.

    Args:
        text: The file's JSON.
        name: Its name for messages, which ends in a slash and the benchmark.

    Raises:
        TrainmarkError: It is no such file.
    """
    found: dict[float, list[float]] = {}
    try:
        content: Any = json.loads(text)
        for record in content.values():
            amounts = next(record[field] for field in _AMOUNTS if field in record)
            found.setdefault(float(record["BS"]), [float(amount) for amount in amounts])
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise _unreadable(name, f"{type(error).__name__}: {error}") from error
    for batch_size, amounts in found.items():
        if len(amounts) <= 2 * left_out(name.rpartition("/")[2]) or not all(
            map(math.isfinite, (batch_size, *amounts))
        ):
            raise _unreadable(name, f"the point at batch size {batch_size:g} is no set of runs")
    if not found:
        raise _unreadable(name, "there are none in it")
    return found


def _unreadable(name: str, reason: str) -> TrainmarkError:
    return TrainmarkError(
        f"cannot read the reference points {name}: {reason}",
        hint="Reinstall the package mlperf-logging.",
    )


@functools.cache
def _submission_runs(usage: str) -> dict[str, int]:
    """Runs of a submission by benchmark, as the installed official tools have them."""
    from mlperf_logging.benchmark_meta import get_result_file_counts

    return dict(get_result_file_counts(usage))


def _unit(benchmark: str, folder: str, mean: float) -> str:
    """What the amounts of a benchmark's references count."""
    if benchmark == "gpt3":
        return "tokens"
    if benchmark == "stable_diffusion" and folder == "training_3.1.0":
        return "steps"
    return "samples" if mean >= _WHOLE_SAMPLES or benchmark in _SMALL_SAMPLES else "epochs"


# Fine-tuning: a few thousand samples are enough.
_SMALL_SAMPLES = frozenset({"llama2_70b_lora", "qwen35_397b_grpo"})
