import math
from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, Text, desk_target, write_desk, write_resnet
from trainmark.mllog import keys, read, run_interval, summarize
from trainmark.mllog.summary import number
from trainmark.types import Run, Target


@pytest.fixture
def text(tmp_path: Path) -> Text:
    return Text.read(write_desk(tmp_path / "result_0.txt"))


def summary(text: Text) -> Run:
    return summarize(read(text.write()))


@pytest.mark.parametrize("value", [10**400, -(10**400), math.inf, math.nan, True, "1", None, [1]])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert number(value) is None


def test_a_whole_number_beyond_any_float_is_no_batch_size(text: Text) -> None:
    text.find(keys.GLOBAL_BATCH_SIZE)["value"] = 10**400
    text.find(keys.EVAL_ACCURACY, -1)["metadata"] = {"samples_count": 10**400}
    run = summary(text)
    assert (run.global_batch_size, run.samples_to_target) == (None, None)
    assert run.minutes == pytest.approx(12.0)


def test_a_run_in_numbers(text: Text) -> None:
    run = summary(text)
    assert run.benchmark == "resnet50_desk"
    assert (run.division, run.submitter, run.platform) == ("closed", "tester", "testbox")
    assert run.minutes == pytest.approx(12.0)
    assert run.init_minutes == pytest.approx(1.0)
    assert (run.status, run.succeeded) == ("success", True)
    assert run.quality == pytest.approx(desk_target() + 0.01)
    assert run.target == Target(metric="eval_accuracy", value=desk_target())
    assert run.samples_to_target == 16_000
    assert (run.global_batch_size, run.seed) == (64, 1)
    assert (run.train_samples, run.eval_samples) == (4000, 1000)
    assert [e.quality for e in run.evaluations] == pytest.approx(
        [0.80, 0.93, desk_target() - 0.01, desk_target() + 0.01]
    )
    assert [e.minutes for e in run.evaluations] == pytest.approx([3, 6, 9, 12])
    assert [e.samples for e in run.evaluations] == [4000, 8000, 12_000, 16_000]
    assert run.samples_per_second == pytest.approx(22.2)
    assert run.settings["learning_rate"] == 0.4
    assert run.environment["device"] == "cpu"


def test_the_training_loss_is_that_of_the_block_before_the_evaluation(text: Text) -> None:
    at = text.records.index(text.find(keys.EVAL_ACCURACY, 1))
    stats = {**text.find(keys.TRACKED_STATS), "value": {keys.TRAIN_LOSS: 0.5}}
    text.records.insert(at, stats)
    assert [one.train_loss for one in summary(text).evaluations] == [None, 0.5, None, None]
    stats["value"] = {keys.TRAIN_LOSS: "low"}
    assert {one.train_loss for one in summary(text).evaluations} == {None}


def test_a_run_that_fails_has_no_samples_to_target(tmp_path: Path) -> None:
    path = write_desk(tmp_path / "x.txt", RunShape(status="aborted", qualities=(0.5, 0.6)))
    run = summarize(read(path))
    assert (run.status, run.succeeded, run.samples_to_target) == ("aborted", False, None)
    assert run.quality == 0.6


def test_a_log_cut_short_has_no_time_but_its_evaluations(text: Text) -> None:
    text.records = text.records[: text.line_of("eval_stop", 1)]
    run = summary(text)
    assert (run.minutes, run.status, run.quality) == (None, None, 0.93)
    assert len(run.evaluations) == 2


def test_the_last_start_before_the_first_stop_counts(text: Text) -> None:
    """As the official summarizer has it; check reports such a log."""
    text.repeat("run_start", time_ms=text.find("run_start")["time_ms"] + 60_000)
    text.records.append(dict(text.find("run_stop"), time_ms=9e12))
    run = summary(text)
    assert run.minutes == pytest.approx(11.0)


def test_a_stop_before_the_start_is_no_stop(text: Text) -> None:
    text.move("run_stop", after="init_stop")
    log = read(text.write())
    start, stop = run_interval(log)
    assert start is not None
    assert stop is None
    assert summarize(log).minutes is None


def test_evaluations_after_the_stop_do_not_count(text: Text) -> None:
    late = dict(text.find("eval_accuracy", -1), value=0.999)
    text.records.append(late)
    assert summary(text).quality == pytest.approx(desk_target() + 0.01)


@pytest.mark.parametrize("value", [None, True, "0.99", [0.99], {"BBOX": 0.4}, math.nan])
def test_what_is_no_number_is_no_quality(value: object, text: Text) -> None:
    text.find("eval_accuracy", -1)["value"] = value
    assert summary(text).quality == pytest.approx(desk_target() - 0.01)


@pytest.mark.parametrize(
    ("metadata", "samples"),
    [
        ({"samples_count": 8000, "epoch_num": 1}, 8000),
        ({"epoch_num": 2}, 8000),
        ({"epoch_num": 2.5}, 10_000),
        ({"epoch_num": 2_550_000}, 2_550_000),  # BERT logs samples under this name
        ({"epoch_num": "two"}, None),
        ({}, None),
    ],
)
def test_samples_of_an_evaluation(
    metadata: dict[str, Any], samples: float | None, text: Text
) -> None:
    text.find("eval_accuracy", -1)["metadata"] = metadata
    assert summary(text).evaluations[-1].samples == samples


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("submission_org", 7),
        ("seed", "x"),
        ("seed", True),
        ("global_batch_size", "64"),
        ("global_batch_size", math.inf),
        ("train_samples", None),
        ("trainmark_target", [1]),
        ("trainmark_settings", "x"),
    ],
)
def test_values_of_the_wrong_kind_are_left_out(key: str, value: object, text: Text) -> None:
    text.find(key)["value"] = value
    run = summary(text)
    fields = {
        "submission_org": run.submitter,
        "seed": run.seed,
        "trainmark_target": run.target,
        "global_batch_size": run.global_batch_size,
        "train_samples": run.train_samples,
    }
    assert fields.get(key) is None
    assert key != "trainmark_settings" or run.settings == {}


def test_throughput_is_the_writers_own_or_the_median(tmp_path: Path) -> None:
    text = Text.read(write_resnet(tmp_path / "x.txt"))
    for place, record in enumerate(text.all("tracked_stats")):
        record["value"] = {"throughput": 100 + 10 * place}
    assert summary(text).samples_per_second == 120
    text.drop(keys.TRACKED_STATS)
    assert summary(text).samples_per_second is None
    path = write_desk(
        tmp_path / "y.txt",
        RunShape(
            more={keys.OWN_EFFICIENCY: {keys.EFFICIENCY_RATE: 512.5, keys.EFFICIENCY_SHARE: 0.4}}
        ),
    )
    run = summarize(read(path))
    assert run.samples_per_second == 512.5
    assert run.efficiency["share_of_peak"] == 0.4


def test_an_empty_log_is_a_run_without_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("", encoding="utf-8")
    run = summarize(read(path))
    assert run == Run(source=str(path))
    assert run.to_dict()["minutes"] is None
