from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.training.moments import MadeTask
from trainmark.training.division import breaches, require_closed
from trainmark.training.settings import Settings, change
from trainmark.training.task import Task
from trainmark.types import Target, UsageError, WorkloadSpec
from trainmark.workloads.resnet50 import WORKLOAD, DeskSettings, FullSettings
from trainmark.workloads.resnet50_torch import hyperparameters, official_tensor_names

IMAGES = 1_281_167


def desk(settings: Settings) -> tuple[WorkloadSpec, Task]:
    assert isinstance(settings, DeskSettings)
    return as_task(WORKLOAD.spec("desk", settings, None), settings)


def full(settings: Settings) -> tuple[WorkloadSpec, Task]:
    """ResNet-50 on ImageNet, without the pictures."""
    assert isinstance(settings, FullSettings)
    spec = replace(
        WORKLOAD.spec("desk", DeskSettings(), None),
        scale="full",
        mlperf_name="resnet",
        ruleset="4.0",
        target=Target(metric="eval_accuracy", value=0.759),
        train_samples=IMAGES,
        eval_samples=50_000,
        evaluate_every_samples=min(4, settings.epochs) * IMAGES,
        max_samples=settings.epochs * IMAGES,
    )
    return as_task(spec, settings)


def as_task(spec: WorkloadSpec, settings: DeskSettings | FullSettings) -> tuple[WorkloadSpec, Task]:
    task = MadeTask([])
    task.spec = spec
    steps = settings.schedule_steps(spec.train_samples)
    task.hyperparameters = hyperparameters(settings, *steps)
    task.initialized_tensors = official_tensor_names()
    return spec, task


Make = Callable[[Settings], tuple[WorkloadSpec, Task]]


@pytest.mark.parametrize(
    ("settings", "make", "assignments"),
    [
        (DeskSettings(), desk, []),
        (DeskSettings(), desk, ["learning_rate=0.3", "global_batch_size=80", "optimizer=lars"]),
        (FullSettings(), full, []),
        (FullSettings(), full, ["global_batch_size=408", "learning_rate=3", "weight_decay=2e-4"]),
        (FullSettings(), full, ["optimizer=sgd", "precision=bf16", "threads=3"]),
    ],
)
def test_what_the_rules_leave_free_is_free(
    settings: DeskSettings, make: Make, assignments: list[str]
) -> None:
    require_closed(change(settings, assignments), make)


@pytest.mark.parametrize(
    ("assignment", "rule", "text", "advice"),
    [
        (
            "end_learning_rate=0.001",
            "rules.lars_opt_end_learning_rate.value",
            "the value is 0.0001; the value is 0.001",
            "end_learning_rate=0.0001",
        ),
        (
            "decay_power=3",
            "rules.lars_opt_learning_rate_decay_poly_power.value",
            "the value is 2",
            "decay_power=2.0",
        ),
        (
            "weight_decay=3e-5",
            "rules.lars_opt_weight_decay.whole",
            "0.0001 times a power of two",
            "weight_decay=5e-05",
        ),
        (
            "label_smoothing=0.2",
            "closed.fixed",
            "label_smoothing; it is 0.2, allowed is 0.1",
            "label_smoothing=0.1",
        ),
    ],
)
def test_what_the_closed_rules_of_the_round_forbid_is_refused_with_the_rule(
    assignment: str, rule: str, text: str, advice: str
) -> None:
    # Another changed setting, which is allowed, gets no blame.
    settings = change(FullSettings(), ["learning_rate=5", assignment, "epochs=40"])
    (breach,) = breaches(settings, full)[1]
    assert (breach.rule, breach.setting) == (rule, advice)
    assert text in breach.text
    with pytest.raises(UsageError) as caught:
        require_closed(settings, full)
    assert "the rules of MLPerf Training round 4.0" in caught.value.message
    assert f"{rule}: " in caught.value.message
    assert f"put back {advice}" in caught.value.message
    assert "Open division" in caught.value.hint


def test_every_breach_is_told_at_once() -> None:
    settings = change(FullSettings(), ["decay_power=3", "weight_decay=3e-5", "momentum=0.8"])
    found = [breach.setting for breach in breaches(settings, full)[1]]
    assert found == ["decay_power=2.0", "weight_decay=5e-05"]


def test_a_desk_scale_variant_is_fixed_by_our_own_rules() -> None:
    settings = change(DeskSettings(), ["width=8"])
    with pytest.raises(UsageError, match=r"closed.fixed: the Closed division fixes width; it is 8"):
        require_closed(settings, desk)


def test_a_target_of_its_own_is_refused_though_no_setting_is_to_blame() -> None:
    def easier(settings: Settings) -> tuple[WorkloadSpec, Task]:
        spec, task = desk(settings)
        spec = replace(spec, target=replace(spec.target, value=0.9))
        return spec, task

    found = breaches(DeskSettings(), easier)[1]
    assert {breach.setting for breach in found} == {""}
    assert any("target" in breach.rule for breach in found)


def test_an_evaluation_schedule_of_its_own_is_refused() -> None:
    def often(settings: Settings) -> tuple[WorkloadSpec, Task]:
        spec, task = full(settings)
        spec = replace(spec, evaluate_every_samples=IMAGES)
        return spec, task

    assert [breach.rule for breach in breaches(FullSettings(), often)[1]] == ["run.eval_schedule"]
