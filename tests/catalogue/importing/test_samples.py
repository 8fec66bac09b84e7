"""What the logs of each benchmark count, in samples."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.catalogue.repositories import write_bert
from tests.logs import write_resnet
from trainmark.catalogue.importing.samples import COUNTINGS, UNKNOWN, summarize_as
from trainmark.mllog import read, read_bytes, summarize
from trainmark.types import Run, RunLog


def log_of(*records: tuple[str, Any, dict[str, Any]]) -> RunLog:
    """A log with these records between run_start and run_stop, a minute apart."""
    stop = ("run_stop", None, {"status": "success"})
    lines = [
        ":::MLLOG "
        + json.dumps({"time_ms": 60_000 * n, "key": key, "value": value, "metadata": metadata})
        for n, (key, value, metadata) in enumerate([("run_start", None, {}), *records, stop])
    ]
    return read_bytes("\n".join(lines).encode(), "log")


def run_of(benchmark: str, value: Any, said: dict[str, Any], **sizes: Any) -> Run:
    """A run with one evaluation, of a log that states these sizes."""
    stated: list[tuple[str, Any, dict[str, Any]]] = [(key, size, {}) for key, size in sizes.items()]
    return summarize_as(log_of(*stated, ("eval_accuracy", value, said)), benchmark)


_CRITEO = 4_195_197_692


@pytest.mark.parametrize(
    ("benchmark", "said", "sizes", "samples"),
    [
        ("resnet", {"epoch_num": 61}, {}, 61 * 1_281_167),
        ("resnet", {"epoch_num": 61}, {"train_samples": 1_277_952}, 61 * 1_277_952),
        ("ssd", {"epoch_num": 50}, {}, 50 * 117_266),
        ("ssd", {"epoch_num": 50}, {"train_samples": 118_287}, 50 * 118_287),
        ("ssd", {"epoch_num": 4}, {"train_samples": 4_572}, 4 * 1_170_301),
        ("ssd", {"epoch_num": 4}, {"train_samples": 1_170_301}, 4 * 1_170_301),
        ("retinanet", {"epoch_num": 5}, {"train_samples": 3_658}, 5 * 1_170_301),
        ("maskrcnn", {"epoch_num": 14}, {"train_samples": 40_000}, 14 * 117_266),
        ("maskrcnn", {"epoch_num": 14}, {"train_samples": 360_000}, 14 * 117_266),
        ("maskrcnn", {"epoch_num": 14}, {"train_samples": 118_287}, 14 * 118_287),
        ("unet3d", {"epoch_num": 10_000}, {"train_samples": 168}, 1_680_000),
        ("unet3d", {"epoch_num": 241_920}, {"train_samples": 168}, 241_920),
        ("dlrm", {"epoch_num": 1.9}, {"train_samples": 3_775_334_400}, (1.9 - 1) * _CRITEO),
        ("dlrm", {"epoch_num": 0.9}, {}, 0.9 * _CRITEO),
        ("dlrm", {"epoch_num": 18}, {"train_samples": _CRITEO}, None),
        ("dlrm", {"epoch_num": 1}, {}, None),
        ("dlrm_dcnv2", {"epoch_num": 0.75}, {"train_samples": 4_195_155_968}, 0.75 * _CRITEO),
        ("gpt3", {"epoch_num": 1_207_959_552}, {"train_samples": 1_207_959_552}, 589_824),
        ("gpt3", {"samples_count": 589_824}, {}, 589_824),
        ("llama2_70b_lora", {"samples_count": 3_072}, {"train_samples": 3_901}, 3_072),
        ("llama31_405b", {"samples_count": 276_480}, {"train_samples": 1_574_207_408}, 276_480),
        ("llama31_8b", {"samples_count": 172_000, "epoch_num": 172_000}, {}, 172_000),
        ("flux1", {"samples_count": 8_126_464}, {"train_samples": 1_099_776}, 8_126_464),
        ("rgat", {"epoch_num": 0.85}, {"train_samples": 94_605_581}, 0.85 * 94_605_581),
        ("gnn", {"epoch_num": 2.3}, {"train_samples": 94_605_581}, 2.3 * 94_605_581),
        ("rnnt", {"epoch_num": 57}, {"train_samples": 278_528}, 57 * 278_528),
        ("rnnt", {"epoch_num": 57}, {}, None),
        ("gnmt", {"epoch_num": 4}, {"train_samples": 3_860_480}, 4 * 3_860_480),
        ("gnmt", {"epoch_num": 4}, {}, None),
        ("transformer", {"epoch_num": 4}, {}, None),
        ("minigo", {"epoch_num": 44}, {"train_samples": 8_192}, None),
        ("bert", {"epoch_num": 2_800_237}, {"train_samples": 99}, 2_800_237),
        ("bert", {"epoch_num": 0}, {}, 0),
        ("bert", {"epoch_num": 978}, {"global_batch_size": 3_072}, 978 * 3_072),
        ("bert", {"epoch_num": 978}, {}, None),
        ("bert", {"epoch_num": 6}, {"train_samples": 3_565_320, "global_batch_size": 440}, None),
        ("bert", {"epoch_num": 1, "train_samples_since_beginning": 111_001_600}, {}, 111_001_600),
    ],
)
def test_samples(
    benchmark: str, said: dict[str, Any], sizes: dict[str, Any], samples: float | None
) -> None:
    run = run_of(benchmark, 0.9, said, **sizes)
    expected = None if samples is None else pytest.approx(samples)
    assert run.samples_to_target == expected
    assert [e.samples for e in run.evaluations] == [expected]


@pytest.mark.parametrize(
    ("benchmark", "value", "quality"),
    [
        ("resnet", "0.759", 0.759),
        ("resnet", "well", None),
        ("resnet", True, None),
        ("transformer", "25.5", 0.255),
        ("gnmt", 0.243, 0.243),
        ("maskrcnn", {"BBOX": 0.378, "SEGM": 0.342}, 0.378),
        ("maskrcnn", {"accuracy": {"BBOX": 0.378, "SEGM": 0.342}}, 0.378),
        ("maskrcnn", [0.378, 0.342], 0.378),
        ("maskrcnn", [], None),
        ("maskrcnn", {"SEGM": 0.342}, None),
        ("rnnt", 0.0575, 0.0575),
    ],
)
def test_quality(benchmark: str, value: Any, quality: float | None) -> None:
    assert run_of(benchmark, value, {"epoch_num": 1}).quality == quality


def _checkpoint(metric: str, value: float, **said: Any) -> tuple[str, float, dict[str, Any]]:
    return "eval_accuracy", value, {"metric": metric, **said}


def test_stable_diffusion_converges_at_the_first_checkpoint_that_meets_both() -> None:
    log = log_of(
        _checkpoint("FID", 80.0, samples_count=3_000),  # measured in any order
        _checkpoint("FID", 95.0, samples_count=1_000),
        _checkpoint("CLIP", 0.20, samples_count=1_000),
        _checkpoint("FID", 89.0, samples_count=2_000),
        _checkpoint("CLIP", 0.14, samples_count=2_000),
        _checkpoint("CLIP", 0.16, samples_count=3_000),
        _checkpoint("FID", 70.0, samples_count=4_000),
        _checkpoint("CLIP", 0.17, samples_count=4_000),
    )
    run = summarize_as(log, "stable_diffusion")
    assert (run.samples_to_target, run.quality) == (3_000, 80.0)
    assert [(e.samples, e.quality) for e in run.evaluations] == [
        (3_000, 80.0),
        (1_000, 95.0),
        (2_000, 89.0),
        (4_000, 70.0),
    ]
    assert run.evaluations[0].minutes == 1


def test_stable_diffusion_counted_steps_at_first() -> None:
    log = log_of(
        ("global_batch_size", 512, {}),
        _checkpoint("FID", 80.0, step_num=5_000),
        _checkpoint("CLIP", 0.16, step_num=5_000),
    )
    assert summarize_as(log, "stable_diffusion").samples_to_target == 5_000 * 512


def test_stable_diffusion_that_never_meets_both_has_its_last_fid() -> None:
    log = log_of(_checkpoint("FID", 95.0, samples_count=1), _checkpoint("FID", 91.0))
    run = summarize_as(log, "stable_diffusion")
    assert (run.samples_to_target, run.quality, run.succeeded) == (None, 91.0, True)


@pytest.mark.parametrize(("rate", "kept"), [(100.0, True), (1_000.0, True), (2.0, False)])
def test_a_throughput_too_small_for_the_samples_has_another_unit(rate: float, kept: bool) -> None:
    log = log_of(
        ("tracked_stats", {"throughput": rate}, {}),
        ("eval_accuracy", 0.93, {"samples_count": 12_000}),
    )
    run = summarize_as(log, "llama2_70b_lora")  # 12,000 samples in three minutes: 67 in a second
    assert run.samples_per_second == (rate if kept else None)


@pytest.mark.parametrize(("rate", "kept"), [(4_096.0, 2.0), (3.0, 3.0)])
def test_the_throughput_of_gpt3_is_in_tokens(rate: float, kept: float) -> None:
    log = log_of(
        ("tracked_stats", {"throughput": rate}, {}),
        ("eval_accuracy", 2.69, {"samples_count": 360}),  # in three minutes: 2 in a second
    )
    assert summarize_as(log, "gpt3").samples_per_second == kept


def _run(path: Path, benchmark: str) -> Run:
    return summarize_as(read(path), benchmark)


def test_bert_with_epoch_num_1_counts_the_last_train_samples(tmp_path: Path) -> None:
    run = _run(write_bert(tmp_path / "log", [1, 1, 1], 3_000_256), "bert")
    assert run.samples_to_target == 3_000_256
    assert [e.samples for e in run.evaluations] == [None, None, 3_000_256]


def test_bert_with_sample_counts_as_epoch_num_keeps_them(tmp_path: Path) -> None:
    run = _run(write_bert(tmp_path / "log", [175_523, 350_685], 99), "bert")
    assert run.samples_to_target == 350_685
    assert [e.samples for e in run.evaluations] == [175_523, 350_685]


def test_bert_without_any_count_has_none(tmp_path: Path) -> None:
    assert _run(write_bert(tmp_path / "log", [1, 1], None), "bert").samples_to_target is None


def test_minigo_calls_its_batch_by_another_name() -> None:
    run = run_of("minigo", 0.5, {"epoch_num": 40}, train_batch_size=4_096)
    assert run.global_batch_size == 4_096
    assert run_of("minigo", 0.5, {}, global_batch_size=8).global_batch_size == 8


def test_an_own_benchmark_is_left_alone(tmp_path: Path) -> None:
    log = read(write_resnet(tmp_path / "log"))
    assert summarize_as(log, "resnet50_desk") == summarize(log)


def test_what_is_unknown_is_of_a_benchmark() -> None:
    assert UNKNOWN.keys() <= COUNTINGS.keys()
