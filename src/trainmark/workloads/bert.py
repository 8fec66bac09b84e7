"""BERT: masked-language-model and next-sentence pre-training, at desk and at full scale.

Model: Devlin, Chang, Lee, Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
Language Understanding", 2018 (arXiv:1810.04805), by the library transformers. Several sequences
share a row (Krell et al. 2021, arXiv:2107.02027) unless ``packing=false``; the gradient is the
same.

Full scale is the MLPerf Training benchmark "bert" (rounds 0.7 to 5.0), phase 2 of the pre-training
of BERT-Large: 24 layers of width 1,024, 16 heads, vocabulary 30,522, 336,226,108 parameters with
both heads; Wikipedia of 2020-01-01 in sequences of up to 512 tokens, from the reference's published
checkpoint of phase 1, target 0.72 masked-LM accuracy on 10,000 held-out sequences, evaluated every
floor(0.05 (230.23 batch + 3,000,000) / 25,000) x 25,000 samples. The default is the reference
point of batch 448 of the official reference convergence tables: LAMB (You et al. 2019,
arXiv:1904.00962), rate 4.25e-4, 6,700 steps without warm-up; it converges in 2.4 million samples.
A folder of another size is not that data: the same run is then labelled with an own target.

Desk scale is the same code with one layer of width 128 from its own first weights, on three English
translations of the Bible (packages of pythonbible) with a WordPiece vocabulary of 1,000 pieces
learnt from them. Ruth, Ecclesiastes, Daniel, Hebrews and James are held out in all three.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from trainmark.training.data import bert_folder
from trainmark.training.data.wordpiece import WordPiece
from trainmark.training.settings import Settings
from trainmark.training.task import Task, TaskRequest, Tell
from trainmark.types import Finding, Needs, Target, UsageError, WorkloadSpec
from trainmark.workloads.bert_needs import NEEDS, check_folder, is_official
from trainmark.workloads.bert_schedule import evaluation_interval
from trainmark.workloads.bert_settings import DeskSettings, FullSettings, parameter_count
from trainmark.workloads.bert_vocabulary import prepare_vocabulary

__all__ = ["DESK_EVAL", "WORKLOAD", "Bert"]

_OFFICIAL_TARGET = 0.72
# Sequences to train on and held out (as published logs say), pieces in the vocabulary.
_OFFICIAL_NUMBERS = (156_725_653, 10_000, 30_522)
_REFERENCE_SAMPLES = 2_408_448  # to the target at batch 448, median of 23 reference runs
DESK_TRAIN, DESK_EVAL, DESK_TARGET = 58_100, 800, 0.36
_DESK_TYPICAL = 48_000
_DESK_EVERY = 4_000


def _desk_spec(settings: DeskSettings) -> WorkloadSpec:
    limit = settings.training_steps * settings.global_batch_size
    return WorkloadSpec(
        name="bert",
        scale="desk",
        title="BERT, one layer of width 128",
        task="masked-language-model pre-training",
        dataset="three English translations of the Bible, five books held out",
        target=Target(metric="eval_accuracy", value=DESK_TARGET, name="masked-LM accuracy"),
        train_samples=DESK_TRAIN,
        eval_samples=DESK_EVAL,
        evaluate_every_samples=min(_DESK_EVERY, limit),
        max_samples=limit,
        mlperf_name=None,
        parameters=parameter_count(settings, settings.vocabulary),
        chance=0.058,
        typical_samples=_DESK_TYPICAL,
    )


def _full_spec(settings: FullSettings, data: Path | None) -> WorkloadSpec:
    if data is None:
        raise UsageError(
            "bert at full scale trains on Wikipedia, which cannot be shipped",
            hint=f"Give its folder: --data DIR with {bert_folder.LAYOUT}. "
            "Without data: --scale desk.",
        )
    folder = bert_folder.scan(data)
    vocabulary = WordPiece.read(folder.vocabulary).size
    samples, held_out = folder.train_samples(), folder.eval_samples()
    official = is_official(folder, vocabulary, held_out)
    where = "" if official else f"about {samples:,} sequences in {data}"
    return _full_numbers(settings, samples, held_out, vocabulary, where)


def _full_numbers(
    settings: FullSettings, samples: int, held_out: int, vocabulary: int, where: str
) -> WorkloadSpec:
    """Full scale; on the data of the benchmark where nothing says on what else."""
    limit = settings.training_steps * settings.global_batch_size
    every = min(evaluation_interval(settings.global_batch_size), limit)
    return WorkloadSpec(
        name="bert",
        scale="full",
        title="BERT-Large",
        task="masked-language-model pre-training",
        dataset=where or "Wikipedia, 2020-01-01",
        target=Target(metric="eval_accuracy", value=_OFFICIAL_TARGET, name="masked-LM accuracy"),
        train_samples=samples,
        eval_samples=held_out,
        evaluate_every_samples=every,
        # The last evaluation that the schedule of the rules has: one at the limit would break it.
        max_samples=limit - limit % every,
        mlperf_name=None if where else "bert",
        ruleset="own" if where else "5.0",
        parameters=parameter_count(settings, vocabulary),
        chance=0.1,
        typical_samples=_REFERENCE_SAMPLES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bert:
    """The workload ``bert``."""

    name: str = "bert"
    title: str = "BERT"
    framework: str = "torch"
    scales: Mapping[str, type[Settings]] = dataclasses.field(
        default_factory=lambda: {"desk": DeskSettings, "full": FullSettings}
    )
    needs: Mapping[str, Needs] = dataclasses.field(default_factory=lambda: NEEDS)
    published: Mapping[str, WorkloadSpec] = dataclasses.field(
        default_factory=lambda: {"full": _full_numbers(FullSettings(), *_OFFICIAL_NUMBERS, "")}
    )

    def check_data(self, scale: str, data: Path) -> Iterator[Finding]:
        """Files that are missing or damaged, and numbers that are not the benchmark's."""
        if scale == "full":
            yield from check_folder(data)

    def prepare(self, scale: str, settings: Settings, data: Path | None, tell: Tell) -> None:
        """The vocabulary of the desk scale; at full scale it is published."""
        if scale == "desk":
            prepare_vocabulary(cast(DeskSettings, settings), tell)

    def spec(self, scale: str, settings: Settings, data: Path | None) -> WorkloadSpec:
        """The workload's numbers; at full scale those of the data folder."""
        if scale == "desk":
            return _desk_spec(cast(DeskSettings, settings))
        return _full_spec(cast(FullSettings, settings), data)

    def task(self, request: TaskRequest) -> Task:
        """Make the task of one run."""
        from trainmark.workloads.bert_torch import DeskTask, FullTask

        return DeskTask(request) if request.scale == "desk" else FullTask(request)


WORKLOAD = Bert()
