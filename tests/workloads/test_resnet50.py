from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import torch

from tests.cli.commands import trainmark
from tests.training.images import write_tree
from tests.workloads.full_shaped import judged, write_full_shaped_log
from trainmark.mllog import read, summarize
from trainmark.training import plugins
from trainmark.training.probe import probe
from trainmark.training.settings import change
from trainmark.training.task import TaskRequest
from trainmark.types import UsageError
from trainmark.workloads.resnet50 import WORKLOAD, DeskSettings, FullSettings, ResNetSettings
from trainmark.workloads.resnet50_torch import (
    Bottleneck,
    DeskTask,
    hyperparameters,
    official_tensor_names,
    resnet50,
)

FIXED = ("precision=fp32", "memory_format=contiguous", "threads=2")


def parameters(model: torch.nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def desk_task(*assignments: str, seed: int = 1) -> DeskTask:
    settings = change(DeskSettings(), [*FIXED, *assignments])
    plugins.framework("torch").prepare(settings, seed)
    spec = WORKLOAD.spec("desk", settings, None)
    task = WORKLOAD.task(
        TaskRequest(scale="desk", spec=spec, settings=settings, seed=seed, data=None)
    )
    assert isinstance(task, DeskTask)
    task.build()
    return task


def test_the_full_network_has_the_published_number_of_parameters() -> None:
    full = resnet50(width=64, in_channels=3, classes=1000, small=False)
    assert parameters(full) == 25_557_032
    assert full(torch.zeros(1, 3, 64, 64)).shape == (1, 1000)


def test_the_desk_network_is_as_large_as_its_spec_says() -> None:
    desk = resnet50(width=16, in_channels=1, classes=10, small=True)
    assert parameters(desk) == WORKLOAD.spec("desk", DeskSettings(), None).parameters


def test_every_tensor_has_an_official_name() -> None:
    full = resnet50(width=64, in_channels=3, classes=1000, small=False)
    assert len(set(official_tensor_names())) == len(list(full.parameters())) == 161


def test_v1_5_strides_in_the_3x3_convolution() -> None:
    block = Bottleneck(8, 4, stride=2)
    assert block.conv1.stride == (1, 1)
    assert block.conv2.stride == (2, 2)


def test_every_bottleneck_starts_as_its_shortcut() -> None:
    model = resnet50(width=16, in_channels=1, classes=10, small=True)
    blocks = [m for m in model.modules() if isinstance(m, Bottleneck)]
    assert len(blocks) == 16
    assert all(not block.bn3.weight.any() for block in blocks)


def test_the_operations_are_those_of_the_paper() -> None:
    """4.09 billion multiply-adds forward at 224 x 224; twice that backward, but for the input."""
    from trainmark.training.frameworks.torch import count_flop

    model = resnet50(width=64, in_channels=3, classes=1000, small=False)
    image = torch.zeros(2, 3, 224, 224)
    forward = count_flop(lambda: model(image))
    assert forward / 2 == pytest.approx(2 * 4.09e9, rel=0.005)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    def weight(seed: int) -> torch.Tensor:
        first: torch.Tensor = next(desk_task(seed=seed).model.parameters())
        return first.detach()

    assert torch.equal(weight(1), weight(1))
    assert not torch.equal(weight(1), weight(2))


def test_the_clock_meets_no_shape_that_the_warm_up_has_not_seen() -> None:
    """A compiled model is compiled anew for a new shape: never within the clock."""
    task = desk_task("width=4")
    seen: list[tuple[bool, torch.Size]] = []
    model = task.model

    def forward(images: torch.Tensor) -> torch.Tensor:
        seen.append((model.training, images.shape))
        return cast(torch.Tensor, model(images))

    task.forward = forward
    task.warm_up()
    known = set(seen)
    seen.clear()
    task.forward_backward(next(task.batches()))
    task.evaluate()
    assert seen
    assert set(seen) <= known


def test_a_few_steps_learn() -> None:
    task = desk_task("width=4", "learning_rate=0.05", "warmup_epochs=0")
    batches = task.batches()
    before = task.evaluate()
    for step in range(60):
        task.forward_backward(next(batches))
        task.update(step * task.settings.global_batch_size)
    assert before < 0.3
    assert task.evaluate() > before + 0.2


def test_accumulated_micro_batches_add_up_to_the_gradient_of_the_batch() -> None:
    def gradient(*assignments: str) -> torch.Tensor:
        task = desk_task("global_batch_size=8", *assignments)
        task.model.eval()  # batch statistics differ between micro-batches by design
        images, labels = task.synthetic_batch(8)
        micro = task.settings.micro_batch
        for part in zip(images.split(micro), labels.split(micro), strict=True):
            task.forward_backward(part)
        found: torch.Tensor | None = next(task.model.parameters()).grad
        assert found is not None
        return found

    torch.manual_seed(0)
    whole = gradient()
    torch.manual_seed(0)
    assert torch.allclose(gradient("micro_batch_size=2"), whole, rtol=1e-4, atol=1e-6)


def test_full_scale_asks_for_data() -> None:
    with pytest.raises(UsageError, match="trains on ImageNet") as caught:
        WORKLOAD.spec("full", FullSettings(), None)
    assert "--data DIR" in caught.value.hint


def test_missing_desk_data_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = change(DeskSettings(), ["dataset=fashion-mnist"])
    monkeypatch.setattr("trainmark.training.probe._rate", lambda *_: pytest.fail("measured"))
    with pytest.raises(UsageError, match="lacks train-images"):
        probe(WORKLOAD, plugins.framework("torch"), "desk", settings, tmp_path)


def test_a_folder_of_another_size_is_not_the_official_benchmark(tmp_path: Path) -> None:
    spec = WORKLOAD.spec("full", FullSettings(), write_tree(tmp_path))
    assert (spec.benchmark, spec.ruleset) == ("resnet50_full", "own")
    assert spec.label == "unverified; MLPerf procedure, own target"
    assert (spec.train_samples, spec.evaluate_every_samples) == (12, 48)


def test_imagenet_is_the_official_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in (("TRAIN", 12), ("EVAL", 6), ("CLASSES", 3)):
        monkeypatch.setattr(f"trainmark.workloads.imagenet.{name}", number)
    spec = WORKLOAD.spec("full", FullSettings(), write_tree(tmp_path))
    assert (spec.benchmark, spec.ruleset, spec.label) == ("resnet", "4.0", "unverified")


def test_classes_of_train_and_val_must_agree(tmp_path: Path) -> None:
    root = write_tree(tmp_path)
    (root / "val/n01440764").rename(root / "val/n99999999")
    with pytest.raises(UsageError, match="different classes, 'n01440764'"):
        WORKLOAD.spec("full", FullSettings(), root)


@pytest.mark.parametrize(
    "settings",
    [
        FullSettings(),
        replace(FullSettings(), optimizer="sgd", learning_rate=0.8, weight_decay=1e-4),
    ],
)
@pytest.mark.parametrize("ruleset", ["1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0"])
@pytest.mark.parametrize("quality", [0.7591, 0.7589])
def test_a_full_scale_log_gets_the_official_checkers_verdict(
    tmp_path: Path, settings: ResNetSettings, ruleset: str, quality: float
) -> None:
    path = tmp_path / "result_0.txt"
    write_full_scale_log(path, settings, quality)
    verdict, official = judged(path, ruleset)
    assert verdict.official_compliant == official == (quality >= 0.759)
    assert verdict.ok == official, verdict.findings


def write_full_scale_log(path: Path, settings: ResNetSettings, quality: float) -> None:
    spec = WORKLOAD.published["full"]
    made = hyperparameters(settings, *settings.schedule_steps(spec.train_samples))
    tensors = official_tensor_names()
    write_full_shaped_log(path, spec, made, [0.7, quality], initialized_tensors=tensors)


def test_full_scale_runs_on_a_folder_of_real_pictures(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "data", train=2, val=1)
    settings = {
        "global_batch_size": "4",
        "micro_batch_size": "2",
        "epochs": "1",
        "workers": "1",
        "threads": "2",
        "precision": "fp32",
        "memory_format": "channels_last",
    }
    options = [f"--set={name}={value}" for name, value in settings.items()]
    done = trainmark(
        "run", "resnet50", "--scale", "full", "--data", root, "--out", tmp_path / "o", *options
    )
    assert done.returncode == 1, done.stderr  # two images a class teach nothing
    assert "aborted" in done.stderr
    (path,) = (tmp_path / "o").rglob("result_0.txt")
    run = summarize(read(path))
    assert (run.benchmark, run.status) == ("resnet50_full", "aborted")
    assert len(run.evaluations) == 1
    assert run.efficiency["flop_per_sample"] == pytest.approx(24.3e9, rel=0.02)


@pytest.mark.long
def test_the_desk_target_is_reached(tmp_path: Path) -> None:
    done = trainmark("run", "resnet50", "--seed", "1", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
