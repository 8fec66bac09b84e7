from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.commands import trainmark
from tests.training.images import write_tree
from trainmark.mllog import read, summarize
from trainmark.training import plugins
from trainmark.training.settings import change
from trainmark.training.task import TaskRequest
from trainmark.types import UsageError
from trainmark.workloads.efficientnet_b4 import (
    WORKLOAD,
    DeskSettings,
    FullSettings,
    learning_rate,
)
from trainmark.workloads.efficientnet_b4_torch import DeskTask, average, hyperparameters

FIXED = ("precision=fp32", "memory_format=channels_last", "threads=1")
SMALL = (*FIXED, "width=0.25", "warmup_epochs=0", "dropout=0", "augment_count=0")


def desk_task(*assignments: str, seed: int = 1) -> DeskTask:
    settings = change(DeskSettings(), assignments)
    plugins.framework("torch").prepare(settings, seed)
    spec = WORKLOAD.spec("desk", settings, None)
    task = WORKLOAD.task(
        TaskRequest(scale="desk", spec=spec, settings=settings, seed=seed, data=None)
    )
    assert isinstance(task, DeskTask)
    task.build()
    return task


def test_the_network_is_as_large_as_its_spec_says() -> None:
    task = desk_task(*FIXED)
    assert sum(p.numel() for p in task.model.parameters()) == task.spec.parameters == 663_242


def test_full_scale_is_the_published_network() -> None:
    spec = WORKLOAD.published["full"]
    assert (spec.parameters, spec.target.value) == (19_341_616, 0.829)
    assert (spec.benchmark, spec.ruleset) == ("efficientnet_b4_full", "own")
    assert spec.label == "unverified; MLPerf procedure, own target"
    assert spec.max_samples == 350 * 1_281_167


def test_the_rate_climbs_then_falls_by_steps() -> None:
    settings, samples = FullSettings(), 1_281_167

    def at(epochs: float) -> float:
        return learning_rate(settings, round(epochs * samples), samples)

    assert settings.base_rate == pytest.approx(0.128)  # 0.016 x 2048 / 256
    assert at(0) == pytest.approx(0.128 * 2048 / samples / 5)
    assert at(2.5) == pytest.approx(0.064, rel=2e-3)
    assert at(5.1) == pytest.approx(0.128 * 0.97**2)  # counted from the start of the run
    assert at(7.1) == at(5.1)
    assert at(7.3) == pytest.approx(0.128 * 0.97**3)
    assert at(349) == pytest.approx(0.128 * 0.97**145)


@given(samples=st.integers(0, 28_000), batch=st.integers(1, 400))
def test_the_desk_rate_never_leaves_its_range(samples: int, batch: int) -> None:
    settings = change(DeskSettings(), [f"global_batch_size={batch}"])
    assert 0 < learning_rate(settings, samples, 4_000) <= settings.base_rate


def test_the_average_starts_near_the_weights_and_holds_the_statistics() -> None:
    """Decay min(0.9, (1 + n) / (10 + n)) after n steps, running statistics included."""
    model = torch.nn.BatchNorm1d(1)
    averaged: Any = average(model, 0.9)
    expected = 0.0
    for step in range(1, 40):
        model.running_mean = torch.tensor([float(step)])
        model.weight.data.fill_(float(step))
        averaged.update_parameters(model)
        if step == 1:  # the first is a copy
            expected = 1.0
        else:
            kept = min(0.9, (1 + step - 1) / (10 + step - 1))
            expected = kept * expected + (1 - kept) * step
        assert averaged.module.running_mean.item() == pytest.approx(expected, rel=1e-5)
        assert averaged.module.weight.item() == pytest.approx(expected, rel=1e-5)


def test_without_average_the_weights_are_evaluated() -> None:
    task = desk_task(*SMALL, "average_decay=0")
    assert task.evaluated_model is task.model
    assert desk_task(*SMALL).evaluated_model is not task.model


def test_kernels_decay_and_vectors_do_not() -> None:
    groups = desk_task(*FIXED, "weight_decay=0.5").optimizer.param_groups
    decays = {group["weight_decay"]: {p.ndim for p in group["params"]} for group in groups}
    assert decays == {0.5: {2, 4}, 0.0: {1}}


def test_a_few_steps_learn() -> None:
    task = desk_task(*SMALL, "learning_rate=0.03", "average_decay=0.3", "decay_factor=1")
    batch = next(task.batches())
    losses = []
    for _ in range(15):
        losses.append(float(task.forward_backward(batch)))
        task.update(0)
    assert losses[0] == pytest.approx(2.3, abs=0.4)
    assert losses[-1] < losses[0] - 0.8
    assert 0 <= task.evaluate() <= 1


@pytest.mark.parametrize("normalisation", ["group", "proxy"])
def test_the_variant_learns_and_accumulates_to_the_same_gradient(normalisation: str) -> None:
    """Without the batch in it, the gradient of two halves is that of the whole."""

    def gradient(*assignments: str) -> torch.Tensor:
        task = desk_task(
            *SMALL,
            f"normalisation={normalisation}",
            "group_size=16",
            "global_batch_size=8",
            *assignments,
        )
        torch.manual_seed(2)
        images, labels = task.synthetic_batch(8)
        micro = task.settings.micro_batch
        for part in zip(images.split(micro), labels.split(micro), strict=True):
            task.forward_backward(part)
        found = next(task.model.parameters()).grad
        assert found is not None
        return found

    whole = gradient()
    assert whole.abs().max() > 0
    assert torch.allclose(gradient("micro_batch_size=4"), whole, rtol=1e-3, atol=1e-5)


def test_the_same_seed_gives_the_same_pictures_and_loss() -> None:
    def loss(seed: int) -> float:
        task = desk_task(*FIXED, "width=0.25", seed=seed)
        return float(task.forward_backward(next(task.batches())))

    assert loss(1) == loss(1) != loss(2)


def test_a_group_of_another_size_is_refused() -> None:
    with pytest.raises(UsageError, match="group_size=8") as caught:
        change(FullSettings(), ["group_size=8"])
    assert "1, 16" in caught.value.hint


def test_the_log_says_how_it_was_trained() -> None:
    made = hyperparameters(FullSettings())
    assert (made["opt_name"], made["opt_base_learning_rate"]) == ("rmsprop", pytest.approx(0.128))
    assert made["gradient_accumulation_steps"] == 32


def test_full_scale_runs_on_a_folder_of_real_pictures(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "data", train=2, val=1)
    settings = {
        "global_batch_size": "4",
        "micro_batch_size": "2",
        "side": "32",
        "epochs": "1",
        "workers": "1",
        "threads": "1",
        "precision": "fp32",
        "memory_format": "channels_last",
    }
    options = [f"--set={name}={value}" for name, value in settings.items()]
    done = trainmark(
        "run",
        "efficientnet_b4",
        "--scale",
        "full",
        "--data",
        root,
        "--out",
        tmp_path / "o",
        *options,
    )
    assert done.returncode == 1, done.stderr  # two images a class teach nothing
    assert "aborted" in done.stderr
    (path,) = (tmp_path / "o").rglob("result_0.txt")
    run = summarize(read(path))
    assert (run.benchmark, run.status) == ("efficientnet_b4_full_custom", "aborted")
    assert len(run.evaluations) == 1


@pytest.mark.long
def test_the_desk_target_is_reached(tmp_path: Path) -> None:
    done = trainmark("run", "efficientnet_b4", "--seed", "1", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
