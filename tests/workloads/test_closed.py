"""The official benchmarks as they stand, on their published data, are closed runs."""

from typing import Any, cast

import pytest

from tests.training.moments import MadeTask
from trainmark.training.division import Make, require_closed
from trainmark.training.settings import Settings, change
from trainmark.training.task import Task
from trainmark.types import UsageError, WorkloadSpec
from trainmark.workloads import bert, bert_schedule, imagenet, resnet50, resnet50_torch, rnnt
from trainmark.workloads import rnnt_torch as rnnt_task
from trainmark.workloads.bert_settings import FullSettings as BertSettings


def as_task(
    spec: WorkloadSpec, hyperparameters: dict[str, Any], tensors: tuple[str, ...] = ()
) -> tuple[WorkloadSpec, Task]:
    task = MadeTask([])
    task.spec, task.hyperparameters, task.initialized_tensors = spec, hyperparameters, tensors
    return spec, task


def make_bert(settings: Settings) -> tuple[WorkloadSpec, Task]:
    full, known = cast(BertSettings, settings), bert.WORKLOAD.published["full"]
    spec = bert._full_numbers(full, known.train_samples, known.eval_samples, 30_522, "")
    return as_task(spec, bert_schedule.hyperparameters(full))


def make_resnet50(settings: Settings) -> tuple[WorkloadSpec, Task]:
    full = cast(resnet50.FullSettings, settings)
    spec = resnet50._full_spec(full, imagenet.WHOLE)
    steps = full.schedule_steps(spec.train_samples)
    tensors = resnet50_torch.official_tensor_names()
    return as_task(spec, resnet50_torch.hyperparameters(full, *steps), tensors)


def make_rnnt(settings: Settings) -> tuple[WorkloadSpec, Task]:
    full = cast(rnnt.FullSettings, settings)
    spec = rnnt.WORKLOAD.published["full"]
    return as_task(spec, rnnt_task.hyperparameters(full))


@pytest.mark.parametrize(
    ("make", "settings", "ruleset"),
    [
        (make_bert, BertSettings(), "5.0"),
        (make_resnet50, resnet50.FullSettings(), "4.0"),
        (make_rnnt, rnnt.FullSettings(), "3.1"),
    ],
)
def test_the_defaults_are_a_closed_run(make: Make, settings: Settings, ruleset: str) -> None:
    spec, _ = make(settings)
    assert (spec.ruleset, spec.mlperf_name is not None) == (ruleset, True)
    require_closed(settings, make)


@pytest.mark.parametrize(
    "assignments",
    [
        ["training_steps=13400"],
        ["global_batch_size=896"],
        ["global_batch_size=3072", "micro_batch_size=48", "training_steps=1271"],
    ],
)
def test_bert_gives_up_at_an_evaluation_that_the_rules_have(assignments: list[str]) -> None:
    settings = change(BertSettings(), assignments)
    spec, _ = make_bert(settings)
    limit = settings.training_steps * settings.global_batch_size
    assert limit - spec.evaluate_every_samples < spec.max_samples <= limit
    require_closed(settings, make_bert)


def test_a_bert_that_ends_before_its_first_evaluation_is_not_one() -> None:
    with pytest.raises(UsageError, match=r"run.eval_schedule.*put back training_steps=6700"):
        require_closed(change(BertSettings(), ["training_steps=300"]), make_bert)
