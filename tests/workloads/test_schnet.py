from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cli.commands import trainmark
from tests.training.data.qm9_files import write_qm9
from tests.workloads.schnet_baselines import METHODS, load
from trainmark.mllog import keys
from trainmark.training import loop, plugins
from trainmark.training.data import qm9
from trainmark.training.data.molecules import Molecules
from trainmark.training.moments import Evaluated, InitStarted, RunStopped
from trainmark.training.prepared import quiet
from trainmark.training.settings import change
from trainmark.training.task import TaskRequest
from trainmark.types import UsageError
from trainmark.workloads.schnet import WORKLOAD, DeskSettings, FullSettings, full_split
from trainmark.workloads.schnet_torch import DeskTask

SMALL = (
    "precision=fp32",
    "threads=1",
    "molecules=300",
    "width=16",
    "filters=16",
    "interactions=2",
    "gaussians=16",
    "global_batch_size=20",
    "learning_rate=0.01",
)


@pytest.fixture
def bonded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Molecules whose energy is a sum over near pairs: no calculation, but something to learn."""
    generator = np.random.default_rng(0)
    sizes = generator.integers(4, 8, 300)
    positions = generator.normal(0, 1.2, (sizes.sum(), 3)).astype(np.float32)
    numbers = generator.choice([1, 6, 8], sizes.sum()).astype(np.uint8)
    ends = np.cumsum(sizes)
    energies = []
    for end, size in zip(ends, sizes, strict=True):
        place = positions[end - size : end]
        apart = np.linalg.norm(place[:, None] - place, axis=-1)
        energies.append(
            -np.exp(-apart[np.triu_indices(size, 1)]).sum() - numbers[end - size : end].sum()
        )
    file = tmp_path / "molecules.npz"
    Molecules(numbers=numbers, positions=positions, sizes=sizes, energies=np.array(energies)).save(
        file
    )
    monkeypatch.setattr(
        "trainmark.training.data.molecules_xtb.made_molecules", lambda count, tell: file
    )
    return file


def desk_task(*assignments: str, seed: int = 1) -> DeskTask:
    settings = change(DeskSettings(), [*SMALL, *assignments])
    plugins.framework("torch").prepare(settings, seed)
    spec = WORKLOAD.spec("desk", settings, None)
    task = WORKLOAD.task(
        TaskRequest(scale="desk", spec=spec, settings=settings, seed=seed, data=None)
    )
    assert isinstance(task, DeskTask)
    task.build()
    return task


@pytest.mark.usefixtures("bonded")
@pytest.mark.parametrize("loss", ["huber", "squared", "absolute"])
def test_a_few_steps_learn(loss: str) -> None:
    task = desk_task(f"loss={loss}", "epochs=12")
    batches = task.batches()
    before = task.evaluate()
    for step in range(120):
        task.forward_backward(next(batches))
        task.update(step * task.settings.global_batch_size)
    assert task.evaluate() < 0.5 * before
    assert task.statistics() == {"padding_share": 0.0}


@pytest.mark.usefixtures("bonded")
def test_an_error_is_in_electronvolts() -> None:
    """A network that says nothing errs by what the composition leaves."""
    task = desk_task()
    task.batches()
    assert task.averaged is not None
    for model in (task.model, task.averaged):
        for parameter in model.parameters():
            torch.nn.init.zeros_(parameter)
    molecules, held_out = task.load(), task.parts.held_out
    left = molecules.energies - molecules.counts() @ task.zero.energies
    assert task.evaluate() == pytest.approx(np.abs(left[held_out]).mean(), rel=1e-4)


@pytest.mark.usefixtures("bonded")
def test_accumulated_micro_batches_add_up_to_the_gradient_of_the_batch() -> None:
    def gradient(*assignments: str) -> torch.Tensor:
        task = desk_task(*assignments)
        batches = task.batches()
        for _ in range(task.settings.gradient_accumulation_steps):
            task.forward_backward(next(batches))
        found = next(task.model.parameters()).grad
        assert found is not None
        return found

    assert torch.allclose(gradient("micro_batch_size=5"), gradient(), rtol=1e-3, atol=1e-6)


@pytest.mark.usefixtures("bonded")
def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    def loss(seed: int) -> float:
        task = desk_task(seed=seed)
        return float(task.forward_backward(next(task.batches())))

    assert loss(1) == loss(1) != loss(2)


def test_the_desk_schedule_rises_and_falls() -> None:
    settings = DeskSettings()
    rates = [settings.learning_rate_after(epoch) for epoch in np.linspace(0.01, 12, 200)]
    assert max(rates) == pytest.approx(settings.learning_rate, rel=0.02)
    assert rates.index(max(rates)) < 15
    assert rates[-1] == pytest.approx(0, abs=1e-9)


def test_the_full_schedule_is_the_published_one() -> None:
    settings = FullSettings()
    assert settings.learning_rate_after(0) == 1e-3
    assert settings.learning_rate_after(100_000) == pytest.approx(0.96e-3)
    assert settings.epochs * 110_000 >= 5_000_000 * 32 > (settings.epochs - 1) * 110_000


def test_the_published_split_is_that_of_qm9() -> None:
    assert full_split(130_831) == (110_000, 10_000)
    assert full_split(12) == (10, 1)
    spec = WORKLOAD.published["full"]
    assert (spec.dataset, spec.train_samples, spec.parameters) == ("QM9", 110_000, 455_809)
    files = [file.path for file in WORKLOAD.needs["full"].data.files]
    assert files == [qm9.ARCHIVE, qm9.LEFT_OUT]


def test_full_scale_asks_for_data() -> None:
    with pytest.raises(UsageError, match="trains on QM9") as caught:
        WORKLOAD.spec("full", FullSettings(), None)
    assert "--data DIR" in caught.value.hint


def test_a_folder_is_looked_at(tmp_path: Path) -> None:
    folder = write_qm9(tmp_path / "data", 6)
    (found,) = WORKLOAD.check_data("full", folder)
    assert found.rule == "data.count"
    (folder / qm9.ARCHIVE).write_bytes(b"something else")
    _, found = WORKLOAD.check_data("full", folder)
    assert (found.rule, str(found.severity)) == ("data.format", "error")
    assert not list(WORKLOAD.check_data("desk", folder))


def test_full_scale_runs_on_a_small_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = write_qm9(tmp_path / "data", 16)
    assignments = ("global_batch_size=4", "micro_batch_size=2", "epochs=2", "threads=1", "width=8")
    settings = change(FullSettings(), assignments)
    framework = plugins.framework("torch")
    framework.prepare(settings, 1)
    WORKLOAD.prepare("full", settings, folder, quiet)
    spec = WORKLOAD.spec("full", settings, folder)
    assert (spec.benchmark, spec.train_samples, spec.eval_samples) == ("schnet_full_custom", 13, 1)
    request = TaskRequest(scale="full", spec=spec, settings=settings, seed=1, data=folder)
    moments = list(
        loop.train(
            WORKLOAD.task(request),
            global_batch_size=4,
            micro_batches=2,
            synchronize=framework.synchronize,
            built=InitStarted,
            matmul_peak=None,
        )
    )
    (evaluated,) = (moment for moment in moments if isinstance(moment, Evaluated))
    assert np.isfinite(evaluated.quality)
    assert isinstance(moments[-1], RunStopped)
    assert moments[-1].status == keys.ABORTED
    assert "not met within 26 samples" in moments[-1].reason


@pytest.mark.long
def test_no_simple_method_comes_near_the_target() -> None:
    desk = load()
    target = WORKLOAD.spec("desk", DeskSettings(), None).target.value
    errors = {title: method(desk) for title, method in METHODS.items()}
    assert all(error > 1.15 * target for error in errors.values()), errors


@pytest.mark.long
def test_the_desk_target_is_reached(tmp_path: Path) -> None:
    done = trainmark("run", "schnet", "--seed", "1", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
