from pathlib import Path

from tests.catalogue.repositories import write_bert
from tests.logs import write_resnet
from trainmark.catalogue.samples import summarize_as
from trainmark.mllog import read, summarize
from trainmark.types import Run


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


def test_another_benchmark_is_left_alone(tmp_path: Path) -> None:
    log = read(write_resnet(tmp_path / "log"))
    assert summarize_as(log, "resnet") == summarize(log)
