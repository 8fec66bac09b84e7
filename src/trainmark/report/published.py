"""The published results that belong beside a session, and why they stand apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from trainmark.analysis.comparability import group_of
from trainmark.types import Result

__all__ = ["KIN", "PICKED", "Kin", "comparable", "kin_of", "pick"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """An official benchmark whose published results stand beside a workload of ours.

    Attributes:
        workload: The workload's name here; a log's benchmark is it, or it and ``_<scale>``.
        benchmark: The official benchmark.
        full: What the official benchmark trains, in one clause.
        model: The model's name for a heading.
    """

    workload: str
    benchmark: str
    full: str
    model: str


KIN: tuple[Kin, ...] = (
    Kin(
        workload="resnet50",
        benchmark="resnet",
        full="ResNet-50 v1.5 with 25.6 million parameters on the 1.28 million photographs of "
        "ImageNet-1k, to 75.9 % top-1 accuracy",
        model="ResNet-50",
    ),
    Kin(
        workload="bert",
        benchmark="bert",
        full="BERT-Large with 340 million parameters on the English Wikipedia, to a masked-word "
        "accuracy of 0.72",
        model="BERT-Large",
    ),
    Kin(
        workload="rnnt",
        benchmark="rnnt",
        full="RNN-T with 49 million parameters on the 961 hours of speech of LibriSpeech, to a "
        "word error rate of 5.8 %",
        model="RNN-T",
    ),
)


def kin_of(benchmark: str) -> Kin | None:
    """The official benchmark beside a log's benchmark, None if none is.

    Args:
        benchmark: As the log names it: "resnet50_desk", "resnet".
    """
    for kin in KIN:
        if benchmark == kin.benchmark or benchmark.startswith(f"{kin.workload}_"):
            return kin
    return None


def comparable(results: Sequence[Result]) -> tuple[Result, ...]:
    """Those of the newest comparability group: an earlier one had another target or rules.

    Args:
        results: Published results of one benchmark.
    """
    newest = max(results, key=lambda result: _round_order(result.round or ""), default=None)
    group = None if newest is None else group_of(newest)
    return tuple(result for result in results if group_of(result) == group)


PICKED = "Of each round the fastest closed system, and the fastest with 8 and with 16 accelerators"
_COMMON_SIZES = (8, 16)  # accelerators of the systems that are filed most


def pick(results: Sequence[Result], *, limit: int = 12) -> tuple[Result, ...]:
    """A handful of published results by rule, as ``PICKED`` says. Newest round first.

    Only closed, scored results compete, each in the round it was first published in.

    Args:
        results: Published results of one benchmark.
        limit: How many at most; whole rounds are kept.
    """
    rounds: dict[str, list[Result]] = {}
    for result in results:
        competes = result.division.lower() == "closed" and not result.carried_over
        if competes and result.round and result.minutes is not None:
            rounds.setdefault(result.round, []).append(result)
    chosen: list[Result] = []
    for name in sorted(rounds, key=_round_order, reverse=True):
        entries = sorted(rounds[name], key=lambda result: result.minutes or 0.0)
        best = [entries[0]]
        for size in reversed(_COMMON_SIZES):
            best += [result for result in entries if result.accelerators == size][:1]
        fresh = list({result.id: result for result in best}.values())
        if len(chosen) + len(fresh) > limit:
            break
        chosen += fresh
    return tuple(chosen)


def _round_order(name: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in name.split("."))
