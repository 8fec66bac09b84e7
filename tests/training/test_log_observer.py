from pathlib import Path

from tests.training.moments import MadeTask, built
from trainmark.mllog import LogWriter, keys, read, summarize
from trainmark.training import loop
from trainmark.training.log_observer import LogObserver, Submission

WHO = Submission(
    org="Us", platform="a box", division="closed", status="onprem", ruleset="own", seed=7
)


def write(path: Path, task: MadeTask) -> None:
    with LogWriter(path) as writer:
        loop.record(
            loop.train(
                task,
                global_batch_size=50,
                micro_batches=1,
                synchronize=lambda: None,
                built=built(task),
                matmul_peak=1.0,
            ),
            [LogObserver(writer, WHO)],
        )


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    write(tmp_path / "result_0.txt", MadeTask([0.5, 0.95]))
    log = read(tmp_path / "result_0.txt")
    run = summarize(log)
    assert log.findings == ()
    assert (run.benchmark, run.submitter, run.platform) == ("made_desk", "Us", "a box")
    assert (run.status, run.quality, run.samples_to_target) == ("success", 0.95, 200)
    assert (run.seed, run.global_batch_size, run.train_samples) == (7, 50, 100)
    assert [e.samples for e in run.evaluations] == [100, 200]
    assert run.target is not None
    assert run.target.value == 0.9
    assert run.efficiency["flop_per_sample"] == 3.0


def test_the_order_of_the_records_is_that_of_the_rules(tmp_path: Path) -> None:
    write(tmp_path / "log", MadeTask([0.95]))
    found = [event.key for event in read(tmp_path / "log").events]
    order = [
        keys.INIT_START,
        keys.CACHE_CLEAR,
        keys.SUBMISSION_BENCHMARK,
        keys.INIT_STOP,
        keys.RUN_START,
        keys.BLOCK_START,
        keys.BLOCK_STOP,
        keys.EVAL_START,
        keys.EVAL_ACCURACY,
        keys.EVAL_STOP,
        keys.RUN_STOP,
        keys.OWN_EFFICIENCY,
    ]
    assert [key for key in found if key in order] == order


def test_an_aborted_run_says_why(tmp_path: Path) -> None:
    write(tmp_path / "log", MadeTask([0.1] * 4))
    stop = read(tmp_path / "log").first(keys.RUN_STOP)
    assert stop is not None
    assert stop.metadata["status"] == "aborted"
    assert stop.metadata["reason"] == "the target was not met within 400 samples"


def test_there_is_no_record_for_each_step(tmp_path: Path) -> None:
    write(tmp_path / "log", MadeTask([0.1] * 4))
    assert len(read(tmp_path / "log").events) < 60
