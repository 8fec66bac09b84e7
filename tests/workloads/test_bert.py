import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cli.commands import trainmark
from tests.training.data.bert_data import PIECES, write_folder
from tests.workloads.bert_baselines import SHOWN, baselines
from tests.workloads.full_shaped import judged, write_full_shaped_log
from trainmark.mllog import read, summarize
from trainmark.training import plugins
from trainmark.training.data.sequences import MaskedSequence, Recipe, masked
from trainmark.training.data.wordpiece import SYNTHETIC
from trainmark.training.prepared import quiet
from trainmark.training.settings import change
from trainmark.training.task import TaskRequest
from trainmark.types import Target, UsageError, WorkloadSpec
from trainmark.workloads import bert_needs
from trainmark.workloads.bert import WORKLOAD
from trainmark.workloads.bert_checkpoint import reference_names
from trainmark.workloads.bert_model import PackedBert
from trainmark.workloads.bert_needs import OFFICIAL, check_folder
from trainmark.workloads.bert_schedule import (
    evaluation_interval,
    hyperparameters,
    learning_rate,
    mask_shares,
)
from trainmark.workloads.bert_settings import DeskSettings, FullSettings
from trainmark.workloads.bert_torch import Batch, FullTask

TINY = (
    "global_batch_size=4",
    "micro_batch_size=2",
    "training_steps=3",
    "sequence_length=16",
    "layers=1",
    "width=16",
    "heads=2",
    "inner=16",
    "shuffle_buffer=3",
    "threads=1",
    "precision=fp32",
)


NAMES = reference_names(
    PackedBert(
        vocabulary=10, length=16, layers=24, width=16, heads=2, inner=16, dropout=0.0
    ).network
)


def full_task(root: Path, *assignments: str, seed: int = 1) -> FullTask:
    settings = change(FullSettings(), [*TINY, *assignments])
    plugins.framework("torch").prepare(settings, seed)
    spec = WORKLOAD.spec("full", settings, root)
    task = WORKLOAD.task(
        TaskRequest(scale="full", spec=spec, settings=settings, seed=seed, data=root)
    )
    assert isinstance(task, FullTask)
    task.build()
    return task


def sequences(lengths: Sequence[int]) -> Iterator[MaskedSequence]:
    """Noise of those lengths."""
    recipe = Recipe(length=16, vocabulary=len(PIECES), special=SYNTHETIC)
    random = np.random.default_rng(1)
    for length in lengths:
        text = random.integers(5, len(PIECES), length - 3).astype(np.int32)
        yield masked(text[: length // 2], text[length // 2 :], False, recipe, random)


@pytest.mark.parametrize(
    ("batch", "samples"),
    [(256, 150_000), (1024, 150_000), (2048, 150_000), (3072, 175_000), (4096, 175_000)],
)
def test_the_evaluation_interval_is_the_published_one(batch: int, samples: int) -> None:
    """The table in the README of the MLPerf reference."""
    assert evaluation_interval(batch) == samples


def test_the_learning_rate_is_that_of_the_reference() -> None:
    plain = FullSettings()
    assert learning_rate(plain, 0) == 4.25e-4
    assert learning_rate(plain, 3350) == pytest.approx(4.25e-4 / 2)
    assert learning_rate(plain, 6700) == learning_rate(plain, 9999) == 0
    early = dataclasses.replace(plain, warmup_steps=300, start_warmup_step=-100, training_steps=500)
    assert learning_rate(early, 0) == pytest.approx(4.25e-4 / 3)
    assert learning_rate(early, 199) == pytest.approx(4.25e-4 * 299 / 300)
    assert learning_rate(early, 200) == pytest.approx(4.25e-4 * 0.6)


def test_fewer_tokens_are_hidden_in_the_second_half() -> None:
    settings = DeskSettings(training_steps=10, mask_share=0.4, last_mask_share=0.2)
    shares = list(itertools.islice(mask_shares(settings), 200))  # 160 sequences and more
    assert shares[:81] == [0.4] * 81
    assert shares[120] == pytest.approx(0.3)
    assert shares[159:] == pytest.approx([0.2025] + [0.2] * 40)


@pytest.mark.parametrize("ruleset", ["1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0"])
@pytest.mark.parametrize("quality", [0.7201, 0.7199])
def test_a_full_scale_log_gets_the_official_checkers_verdict(
    tmp_path: Path, ruleset: str, quality: float
) -> None:
    path = tmp_path / "result_0.txt"
    spec = WorkloadSpec(
        name="bert",
        scale="full",
        title="BERT-Large",
        task="masked-language-model pre-training",
        dataset="Wikipedia",
        target=Target(metric="eval_accuracy", value=0.72),
        train_samples=156_725_653,
        eval_samples=10_000,
        evaluate_every_samples=evaluation_interval(448),
        max_samples=448 * 6700,
        mlperf_name="bert",
        ruleset=ruleset,
        parameters=336_226_108,
    )
    qualities, made = [0.7, 0.71, quality], hyperparameters(FullSettings())
    write_full_shaped_log(path, spec, made, qualities, initialized_tensors=NAMES)
    verdict, official = judged(path, ruleset)
    assert official == (quality >= 0.72)
    assert verdict.official_compliant == official
    assert verdict.ok == official, verdict.findings


def test_full_scale_asks_for_data() -> None:
    with pytest.raises(UsageError, match="trains on Wikipedia") as caught:
        WORKLOAD.spec("full", FullSettings(), None)
    assert "DIR/vocab.txt" in caught.value.hint


def test_another_folder_is_not_the_official_benchmark(tmp_path: Path) -> None:
    spec = WORKLOAD.spec("full", FullSettings(), write_folder(tmp_path))
    assert (spec.benchmark, spec.ruleset, spec.train_samples) == ("bert_full", "own", 12)


def test_the_published_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_folder(tmp_path)
    size = sum(file.stat().st_size for file in root.glob("tfrecord/*"))
    numbers = dict(zip(OFFICIAL, (size, 2, 5, len(PIECES)), strict=True))
    monkeypatch.setattr(bert_needs, "OFFICIAL", numbers)
    assert WORKLOAD.spec("full", FullSettings(), root).mlperf_name is None, "no checkpoint"
    (root / "checkpoint").mkdir()
    spec = WORKLOAD.spec("full", FullSettings(), root)
    assert (spec.benchmark, spec.ruleset, spec.label) == ("bert", "5.0", "unverified")
    assert spec.evaluate_every_samples == 150_000


@pytest.mark.long
def test_full_scale_runs_on_a_folder_of_records(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "data")
    options = [f"--set={assignment}" for assignment in TINY]
    done = trainmark(
        "run", "bert", "--scale", "full", "--data", root, "--out", tmp_path / "o", *options
    )
    assert done.returncode == 1, done.stderr  # three steps do not reach 72 %
    (path,) = (tmp_path / "o").rglob("result_0.txt")
    run = summarize(read(path))
    assert (run.benchmark, run.status) == ("bert_full", "aborted")
    assert len(run.evaluations) == 1


def test_full_scale_trains_on_plain_text_shards(tmp_path: Path) -> None:
    task = full_task(write_folder(tmp_path, records=False))
    batches = task.batches()
    for step in range(2):
        for _ in range(2):
            batch = next(batches)
            assert len(batch.starts) == 2
            assert torch.isfinite(task.forward_backward(batch))
        task.update(4 * step)
    assert 0 <= task.evaluate() <= 1


def test_every_batch_holds_exactly_its_samples_and_the_seed_decides(tmp_path: Path) -> None:
    root = write_folder(tmp_path)

    def first(seed: int) -> list[Batch]:
        task = full_task(root, seed=seed)
        return list(itertools.islice(task.batches(), 6))

    once, again, other = first(1), first(1), first(2)
    assert [len(batch.starts) for batch in once] == [2] * 6
    assert all(
        torch.equal(a, b)
        for x, y in zip(once, again, strict=True)
        for a, b in zip(x, y, strict=True)
    )
    assert any(not torch.equal(a.tokens, b.tokens) for a, b in zip(once, other, strict=True))


def test_packing_does_not_change_what_is_evaluated(tmp_path: Path) -> None:
    root = write_folder(tmp_path)
    qualities = set()
    for packing in ("true", "false"):
        task = full_task(root, f"packing={packing}")
        next(task.batches())
        qualities.add(task.evaluate())
    assert len(qualities) == 1


@pytest.mark.parametrize("micro_batch", [pytest.param(1, marks=pytest.mark.long), 2])
def test_no_batch_is_compiled_within_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, micro_batch: int
) -> None:
    """Not even one that packs into a single row, or hides a single token."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    task = full_task(write_folder(tmp_path), "compile=true", f"micro_batch_size={micro_batch}")
    torch._dynamo.reset()
    task.warm_up()
    for lengths in [(16, 15), (5, 6), (4, 12), (16, 16)]:
        (batch,) = task._batches(sequences(lengths[:micro_batch]), micro_batch)
        with torch._dynamo.config.patch(error_on_recompile=True):
            task.forward_backward(batch)
            task._correct([batch])
        task.model.eval()
        words, follows, on_device = task._heads(task.model, batch)
        wanted = task.model(*on_device.inputs)
        task.model.train()
        assert torch.allclose(words, wanted[0], atol=1e-6)
        assert torch.allclose(follows, wanted[1], atol=1e-6)


def test_the_padding_share_is_told(tmp_path: Path) -> None:
    task = full_task(write_folder(tmp_path))
    batch = next(task.batches())
    task.forward_backward(batch)
    assert task.statistics()["padding_share"] == pytest.approx(
        (batch.owners < 0).float().mean().item()
    )


def test_noise_is_as_long_as_the_real_sequences(tmp_path: Path) -> None:
    task = full_task(write_folder(tmp_path), "sequence_length=512")
    batch = task.synthetic_batch(64)
    assert (batch.owners >= 0).sum() / (64 * 512) == pytest.approx(0.5, abs=0.01)
    assert task.flop_per_sample() == pytest.approx(task.flop_per_sample())


@pytest.mark.parametrize("optimizer", ["lamb", "adamw"])
def test_steps_learn_a_batch_by_heart(tmp_path: Path, optimizer: str) -> None:
    task = full_task(
        write_folder(tmp_path),
        f"optimizer={optimizer}",
        "learning_rate=0.01",
        "dropout=0",
        "training_steps=200",
    )
    batch = next(task.batches())
    losses = []
    for step in range(60):
        losses.append(float(task.forward_backward(batch)))
        task.forward_backward(batch)
        task.update(step * 4)
    assert losses[-1] < losses[0] - 1


def test_damage_within_the_clock_is_a_users_mistake(tmp_path: Path) -> None:
    root = write_folder(tmp_path)
    task = full_task(root)
    shard = root / "tfrecord/part-00000-of-00002"
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(UsageError, match=r"part-00000-of-00002: byte .* ends within a record"):
        list(itertools.islice(task.batches(), 20))


def test_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    root = write_folder(tmp_path)
    assert [finding.rule for finding in check_folder(root)] == ["data.checkpoint", "data.count"]
    (root / "tfrecord/part-00001-of-00002").write_bytes(b"no record")
    found = {finding.rule: finding for finding in check_folder(root)}
    assert "part-00001-of-00002: byte 0" in found["data.format"].message
    (root / "eval_10k").unlink()
    (finding,) = check_folder(root)
    assert (finding.rule, finding.is_error) == ("data.folders", True)


def test_heads_must_share_the_width() -> None:
    with pytest.raises(UsageError, match="heads=3 does not fit width=128"):
        change(DeskSettings(), ["heads=3"])


@pytest.mark.long
def test_what_counting_neighbours_reaches() -> None:
    settings = DeskSettings()
    WORKLOAD.prepare("desk", settings, None, quiet)
    target = WORKLOAD.spec("desk", settings, None).target.value
    found = baselines(settings)
    assert found["the token before (bigram)"] == pytest.approx(0.154, abs=0.01)
    better = {name for name, reached in found.items() if reached > target - 0.01}
    # What the page says: three tables are beyond three minutes of training.
    assert better == {
        f"both neighbours together{SHOWN}",
        "two on each side, as if independent",
        f"two on each side, as if independent{SHOWN}",
    }


@pytest.mark.long
def test_the_desk_target_is_reached(tmp_path: Path) -> None:
    done = trainmark("run", "bert", "--seed", "1", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
