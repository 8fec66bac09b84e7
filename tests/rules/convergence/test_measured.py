"""What is read from a log: against the official reading, and where that one ends in an error."""

import json
from pathlib import Path
from typing import Any

import pytest

from trainmark.mllog import read
from trainmark.rules.convergence import Measured, measure
from trainmark.rules.rulesets import OWN, Ruleset, ruleset_named


def record(key: str, value: Any, **metadata: Any) -> str:
    fields = {"namespace": "", "time_ms": 1_700_000_000_000, "event_type": "POINT_IN_TIME"}
    return f":::MLLOG {json.dumps(fields | {'key': key, 'value': value, 'metadata': metadata})}"


def evaluation(value: Any = 0.7, key: str = "eval_accuracy", **metadata: Any) -> str:
    return record(key, value, **metadata)


STOP = record("run_stop", None, status="success")


def log_of(path: Path, benchmark: str, *lines: str, batch_size: Any = 4096) -> Path:
    head = [record("submission_benchmark", benchmark)]
    if batch_size is not None:
        head.append(record("global_batch_size", batch_size))
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return path


def measured(path: Path, benchmark: str, round_name: str = "4.0") -> Measured:
    found = measure(read(path), benchmark=benchmark, ruleset=ruleset_named(round_name))
    assert found is not None
    return found


def official(path: Path, round_name: str, *, bert_samples: bool = False) -> tuple[Any, ...]:
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    return tuple(checker.read_submission_file(str(path), f"{round_name}.0", bert_samples))


SAME = {
    "the last evaluation counts": (
        "resnet",
        "4.0",
        [evaluation(0.5, epoch_num=36), evaluation(0.76, epoch_num=40), STOP],
    ),
    "an epoch is rounded": ("dlrm_dcnv2", "4.0", [evaluation(epoch_num=0.70004), STOP]),
    "an error rate counts as well": (
        "maskrcnn",
        "3.0",
        [evaluation({"BBOX": 0.3}, epoch_num=13), evaluation(1, "eval_error", epoch_num=14), STOP],
    ),
    "newer benchmarks count samples": (
        "llama2_70b_lora",
        "4.0",
        [evaluation(0.92, "eval_accuracy", samples_count=3072, epoch_num=1), STOP],
    ),
    "what comes after run_stop does not count": (
        "resnet",
        "4.0",
        [evaluation(epoch_num=36), STOP, evaluation(epoch_num=40)],
    ),
    "the last run_stop decides": (
        "resnet",
        "4.0",
        [evaluation(epoch_num=36), record("run_stop", None, status="aborted"), STOP],
    ),
    "an aborted one after a success": (
        "resnet",
        "4.0",
        [evaluation(epoch_num=36), STOP, record("run_stop", None, status="aborted")],
    ),
    "no run_stop": ("resnet", "4.0", [evaluation(epoch_num=36)]),
    "the last batch size counts": (
        "resnet",
        "4.0",
        [record("global_batch_size", 8192), evaluation(epoch_num=42), STOP],
    ),
    "the first image that meets both targets": (
        "stable_diffusion",
        "4.0",
        [
            evaluation(80, "eval_error", metric="FID", samples_count=1024),
            evaluation(0.1, metric="CLIP", samples_count=1024),
            evaluation(89, "eval_error", metric="FID", samples_count=4096),
            evaluation(0.16, metric="CLIP", samples_count=2048),
            evaluation(70, "eval_error", metric="FID", samples_count=2048),
            evaluation(0.16, metric="CLIP", samples_count=4096),
            STOP,
        ],
    ),
    "and in round 3.1 by step": (
        "stable_diffusion",
        "3.1",
        [
            evaluation(80, "eval_error", metric="FID", step_num=2000),
            evaluation(0.17, metric="CLIP", step_num=2000),
            STOP,
        ],
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_it_is_the_official_reading(case: str, tmp_path: Path) -> None:
    benchmark, round_name, lines = SAME[case]
    path = log_of(tmp_path / "result_0.txt", benchmark, *lines)
    failed, amount, batch_size, _ = official(path, round_name)
    ours = measured(path, benchmark, round_name)
    assert ours.converged == (not failed)
    assert ours.amount == (None if failed else amount)
    assert ours.batch_size == batch_size


def test_a_bert_log_with_its_total_needs_no_flag(tmp_path: Path) -> None:
    path = log_of(
        tmp_path / "result_0.txt",
        "bert",
        record("train_samples", 156_725_653),
        evaluation(epoch_num=1),
        record("train_samples", 2_550_000),
        STOP,
    )
    assert measured(path, "bert").amount == 2_550_000
    assert official(path, "4.0", bert_samples=True)[1] == 2_550_000
    assert official(path, "4.0")[1] == 1


def test_a_bert_log_with_samples_as_epoch_needs_none_either(tmp_path: Path) -> None:
    path = log_of(
        tmp_path / "result_0.txt",
        "bert",
        record("train_samples", 3_600_000),
        evaluation(epoch_num=2_999_040),
        STOP,
    )
    assert measured(path, "bert").amount == 2_999_040 == official(path, "4.0")[1]


@pytest.mark.parametrize(
    ("lines", "amount"),
    [
        ([evaluation(epoch_num=1, samples_count=2_400_000), STOP], 2_400_000),
        ([record("train_samples", 2_300_000), evaluation(epoch_num=1), STOP], 2_300_000),
        ([evaluation(samples_count=2_400_000), STOP], 2_400_000),
        ([evaluation(epoch_num=1), STOP], 1),
    ],
)
def test_bert_samples_are_looked_for_elsewhere(
    lines: list[str], amount: float, tmp_path: Path
) -> None:
    assert measured(log_of(tmp_path / "log", "bert", *lines), "bert").amount == amount


CRASHES = {
    "no evaluation": ("resnet", [STOP], "no eval_accuracy or eval_error", None),
    "no epoch_num": (
        "resnet",
        [evaluation(samples_count=5), STOP],
        "the last eval_accuracy has no epoch_num",
        3,
    ),
    "text as epoch_num": (
        "resnet",
        [evaluation(epoch_num="40"), STOP],
        'epoch_num of the last eval_accuracy is "40", not a number',
        3,
    ),
    "true as samples": (
        "llama2_70b_lora",
        [evaluation(samples_count=True), STOP],
        "samples_count of the last eval_accuracy is true, not a number",
        3,
    ),
    "no number at all": (
        "llama2_70b_lora",
        [evaluation(samples_count=float("nan")), STOP],
        "samples_count of the last eval_accuracy is NaN, not a number",
        3,
    ),
    "no image meets both targets": (
        "stable_diffusion",
        [
            evaluation(91, "eval_error", metric="FID", samples_count=10),
            evaluation(0.16, metric="CLIP", samples_count=20),
            evaluation("0.16", metric="CLIP", samples_count=30),
            STOP,
        ],
        "no evaluation has both",
        4,
    ),
    "images without samples": (
        "stable_diffusion",
        [evaluation(91, "eval_error", metric="FID"), STOP],
        "the last eval_error has no samples_count",
        3,
    ),
}


@pytest.mark.parametrize("case", CRASHES)
def test_what_is_not_told_is_said(case: str, tmp_path: Path) -> None:
    benchmark, lines, problem, line_no = CRASHES[case]
    ours = measured(log_of(tmp_path / "log", benchmark, *lines), benchmark)
    assert ours.converged
    assert ours.amount is None
    assert problem in ours.problem
    assert ours.line_no == line_no


@pytest.mark.parametrize("batch_size", ["4096", True, 0, -4, [1], {}, 10**400])
def test_a_batch_size_is_a_positive_number(batch_size: Any, tmp_path: Path) -> None:
    path = log_of(tmp_path / "log", "resnet", evaluation(epoch_num=3), STOP, batch_size=batch_size)
    ours = measured(path, "resnet")
    assert ours.batch_size is None
    assert ours.batch_found
    assert ours.batch_line == 2


def test_a_log_without_batch_size_has_none(tmp_path: Path) -> None:
    ours = measured(log_of(tmp_path / "log", "resnet", STOP, batch_size=None), "resnet")
    assert (ours.batch_size, ours.batch_found, ours.batch_line) == (None, "", None)


@pytest.mark.parametrize("ruleset", [OWN, ruleset_named("0.7")], ids=lambda one: one.name)
def test_there_is_no_reference_convergence_of_our_own_or_of_old_rounds(
    ruleset: Ruleset, tmp_path: Path
) -> None:
    log = read(log_of(tmp_path / "log", "resnet", evaluation(epoch_num=3), STOP))
    assert measure(log, benchmark="resnet", ruleset=ruleset) is None


def test_benchmarks_counted_by_samples_are_those_of_the_installed_tool() -> None:
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    from trainmark.rules.convergence import measured as module

    source = Path(checker.__file__).read_text(encoding="utf-8")
    by_samples = {
        name
        for name in checker.submission_runs["training"]
        if f'"{name}"' in source and name not in ("bert", "stable_diffusion")
    }
    by_epoch = set(module._BY_EPOCH)
    known = set(checker.submission_runs["training"]) | set(checker.submission_runs["hpc"])
    assert not by_samples & by_epoch
    assert known - by_samples - {"stable_diffusion"} <= by_epoch
