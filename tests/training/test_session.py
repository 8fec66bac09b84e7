import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from trainmark import rules
from trainmark.machine import fingerprint
from trainmark.mllog import read, summarize
from trainmark.training.outcome import result_of
from trainmark.training.session import Order, Session, check_order, run_session, safe_name
from trainmark.types import System, TrainmarkError, UsageError, WorkloadSpec

SYSTEM = System(submitter="Us & Co", system_name="../a box", host_processor_model_name="CPU")


class Silent:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, Mapping[str, Any]]] = []
        self.prepared: list[tuple[str, float]] = []

    def probing(self, order: Order) -> None:
        pass

    def preparing(self, text: str, share: float) -> None:
        self.prepared.append((text, share))

    def probed(self, spec: WorkloadSpec, answer: Mapping[str, Any]) -> None:
        self.spec, self.answer = spec, answer

    def message(self, run: int, message: Mapping[str, Any]) -> None:
        self.heard.append((run, message))


def order(out: Path, *assignments: str, **changes: Any) -> Order:
    made = Order(
        workload="toy",
        scale="desk",
        runs=1,
        seed=1,
        assignments=assignments,
        data=None,
        out=out,
        system=SYSTEM,
        command=("trainmark", "run", "toy"),
    )
    return replace(made, **changes)


def carry_out(wanted: Order, listener: Silent | None = None) -> Session:
    return run_session(wanted, listener or Silent(), lambda: datetime(2026, 1, 2, tzinfo=UTC))


pytestmark = pytest.mark.usefixtures("toy_plugin")


def test_a_session_leaves_a_submission_that_passes_the_check(tmp_path: Path) -> None:
    session = carry_out(order(tmp_path / "out", runs=3))
    assert [log.name for log in session.logs] == ["result_0.txt", "result_1.txt", "result_2.txt"]
    assert session.logs[0].parent == tmp_path / "out/Us_Co/results/a_box/toy_desk"
    runs = [summarize(read(log)) for log in session.logs]
    assert [run.seed for run in runs] == [1, 2, 3]
    assert all(run.succeeded and run.quality is not None and run.quality >= 0.9 for run in runs)
    verdicts = rules.check_path(session.folder)
    assert all(verdict.ok for verdict in verdicts), [v.findings for v in verdicts]
    score = rules.score(runs, benchmark="toy_desk")
    result = result_of(session, runs, score, SYSTEM)
    assert result.minutes == sorted(run.minutes for run in runs if run.minutes)[1]
    assert result.label == "unverified; MLPerf procedure, own target"
    assert (result.framework, result.machine) == ("plain 1.0", fingerprint(SYSTEM))
    assert result.run_minutes == tuple(run.minutes for run in runs)
    assert result.category == "available"  # the status of the system is "onprem"
    cards = replace(SYSTEM, accelerator_model_name="NVIDIA H100 80GB HBM3", status="preview")
    named = result_of(session, runs, score, cards)
    assert (named.accelerator, named.category) == ("H100-SXM-80GB", "preview")
    assert named.raw == {"accelerator": "NVIDIA H100 80GB HBM3", "status": "preview"}
    five = [replace(runs[0], samples_to_target=n) for n in (1.0, 2.0, 4.0, 6.0, 9.0)]
    assert result_of(session, five, score, SYSTEM).samples_to_target == 4.0
    five[3] = replace(five[3], samples_to_target=9.0)
    assert result_of(session, five, score, SYSTEM).samples_to_target == 5.0
    failed = [replace(runs[0], status="aborted", minutes=99.0), *runs[1:]]
    counted = result_of(session, failed, rules.score(failed, benchmark="toy_desk"), SYSTEM)
    assert counted.run_minutes == tuple(run.minutes for run in runs[1:])


def test_session_json_says_what_was_asked_and_measured(tmp_path: Path) -> None:
    carry_out(order(tmp_path / "out"))
    found = orjson.loads((tmp_path / "out/session.json").read_bytes())
    assert found["command"] == ["trainmark", "run", "toy"]
    assert found["started"] == "2026-01-02T00:00:00.000+00:00"
    assert found["target"] == {"metric": "eval_accuracy", "value": 0.9, "direction": "higher"}
    assert found["probe"]["matmul_peak_flop_per_s"] == {"fp32": 1e9}
    assert found["probe"]["unusable"] == {"bf16": "no instructions", "fp16": "no instructions"}
    assert (tmp_path / "out/Us_Co/systems/a_box.json").is_file()


def test_seeds_are_drawn_when_none_is_given_and_are_recorded(tmp_path: Path) -> None:
    session = carry_out(order(tmp_path / "out", runs=2, seed=None))
    seeds = {summarize(read(log)).seed for log in session.logs}
    assert len(seeds) == 2
    assert None not in seeds


@pytest.mark.parametrize("division", ["open", "closed"])
def test_the_division_is_the_one_asked_for(tmp_path: Path, division: str) -> None:
    session = carry_out(order(tmp_path / "out", division=division, runs=3))
    assert session.division == division
    assert summarize(read(session.logs[0])).division == division
    description = orjson.loads((tmp_path / "out/Us_Co/systems/a_box.json").read_bytes())
    assert description["division"] == division
    assert all(verdict.ok for verdict in rules.check_path(session.folder))


def test_a_changed_fixed_setting_is_for_the_open_division_only(tmp_path: Path) -> None:
    assert carry_out(order(tmp_path / "open", "target=0.8")).division == "open"
    with pytest.raises(UsageError, match=r"closed\.fixed: the Closed division fixes target; it is"):
        carry_out(order(tmp_path / "closed", "target=0.8", division="closed"))
    assert not (tmp_path / "closed").exists()


def test_data_is_prepared_once_and_told(tmp_path: Path) -> None:
    listener = Silent()
    assert carry_out(order(tmp_path / "one", "prepare_seconds=0.6"), listener).logs
    assert listener.prepared
    assert {text for text, _ in listener.prepared} == {"drawing points"}
    shares = [share for _, share in listener.prepared]
    assert shares == sorted(shares)
    again = Silent()
    carry_out(order(tmp_path / "two", "prepare_seconds=0.6"), again)
    assert not again.prepared


def test_a_check_looks_at_every_variant_and_runs_nothing(tmp_path: Path) -> None:
    wanted = order(tmp_path / "out", division="closed")
    check_order(wanted, ("epochs=1", "learning_rate=0.1"), Silent())
    with pytest.raises(UsageError, match=r"with target=0\.8: toy may not be run like this"):
        check_order(wanted, ("target=0.9", "target=0.8"), Silent())
    assert not (tmp_path / "out").exists()


def test_a_run_that_diverges_is_stopped_with_advice(tmp_path: Path) -> None:
    listener = Silent()
    session = carry_out(order(tmp_path / "out", "fail=diverge"), listener)
    stopped = listener.heard[-1][1]
    assert stopped["reason"] == "the training loss is not finite: the training has diverged"
    assert "Lower the learning rate" in stopped["hint"]
    stop = read(session.logs[0]).first("run_stop")
    assert stop is not None
    assert (stop.metadata["status"], stop.metadata["reason"]) == ("aborted", stopped["reason"])


def test_a_run_that_only_guesses_is_stopped_half_way(tmp_path: Path) -> None:
    listener = Silent()
    carry_out(order(tmp_path / "out", "learning_rate=0", "epochs=8", "chance=0.8"), listener)
    stopped = listener.heard[-1][1]
    assert stopped["samples"] == 1600  # of 3,200
    assert "no better than guessing after 1600 of at most 3200 samples" in stopped["reason"]


def test_a_package_that_is_missing_in_the_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="workload 'toy' needs the package 'a_package") as caught:
        carry_out(order(tmp_path / "out", "fail=package"))
    assert "Install" in caught.value.hint
    log = read(next((tmp_path / "out").rglob("result_0.txt")))
    assert summarize(log).status == "aborted"


def test_the_listener_hears_start_evaluations_and_end(tmp_path: Path) -> None:
    listener = Silent()
    carry_out(order(tmp_path / "out"), listener)
    kinds = [message["kind"] for _, message in listener.heard]
    assert (kinds[0], kinds[-1]) == ("started", "stopped")
    assert "evaluated" in kinds
    assert listener.answer["settings"]["precision"] == "fp32"


def test_what_a_library_prints_does_not_disturb(tmp_path: Path) -> None:
    session = carry_out(order(tmp_path / "out", "fail=chatter"))
    assert summarize(read(session.logs[0])).succeeded


def test_a_target_that_is_not_met_ends_the_log_as_aborted(tmp_path: Path) -> None:
    session = carry_out(order(tmp_path / "out", "learning_rate=0", "epochs=2"))
    run = summarize(read(session.logs[0]))
    assert run.status == "aborted"
    assert not all(verdict.ok for verdict in rules.check_path(session.folder))


def test_an_error_of_the_workload_comes_through_with_its_advice(tmp_path: Path) -> None:
    with pytest.raises(TrainmarkError, match="the toy is broken") as caught:
        carry_out(order(tmp_path / "out", "fail=error"))
    assert caught.value.hint == "Mend the toy."
    log = read(next((tmp_path / "out").rglob("result_0.txt")))
    assert summarize(log).status == "aborted"


def test_a_fault_of_the_workload_shows_where_it_happened(tmp_path: Path) -> None:
    with pytest.raises(TrainmarkError, match="a fault of the workload's code") as caught:
        carry_out(order(tmp_path / "out", "fail=crash"))
    assert "toy_workload.py" in caught.value.message
    assert "result_0.txt is readable up to its last line" in caught.value.hint


def test_a_killed_run_leaves_a_readable_log_and_the_next_is_unharmed(tmp_path: Path) -> None:
    with pytest.raises(TrainmarkError, match="killed by SIGKILL") as caught:
        carry_out(order(tmp_path / "one", "fail=kill"))
    assert "trainmark check" in caught.value.hint
    path = next((tmp_path / "one").rglob("result_0.txt"))
    log = read(path)
    assert log.findings == ()
    assert log.first("run_start") is not None
    rule_names = [f.rule for v in rules.check_path(path) for f in v.findings if f.is_error]
    assert "run.no_stop" in rule_names
    assert summarize(read(carry_out(order(tmp_path / "two")).logs[0])).succeeded


def test_results_are_never_mixed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        carry_out(order(tmp_path / "out"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder") as caught:
        carry_out(order(tmp_path / "file/out"))
    assert "--out" in caught.value.hint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workload": "toi"}, "no workload 'toi'"),
        ({"scale": "huge"}, "no scale of toy 'huge'"),
        ({"runs": 0}, "--runs 0"),
        ({"division": "close"}, "no division 'close'"),
        ({"workload": "broken"}, "cannot be imported"),
    ],
)
def test_a_wrong_order_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        carry_out(order(tmp_path / "out", **changes))


@pytest.mark.parametrize(
    ("text", "name"),
    [("../../etc", "etc"), ("a b/c", "a_b_c"), ("..", "unnamed"), ("Größe-1.0+x", "Größe-1.0+x")],
)
def test_a_name_never_leaves_its_folder(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_a_worker_that_dies_at_once_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if 'trainmark.training.worker' in sys.orig_argv:\n"
        "    print('no memory for an interpreter', file=sys.stderr, flush=True)\n"
        "    os._exit(3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(TrainmarkError, match="exit status 3") as caught:
        carry_out(order(tmp_path / "out"))
    assert "no memory for an interpreter" in caught.value.message


def test_a_refused_order_leaves_no_folder_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        carry_out(order(tmp_path / "out", "epoch=3"))
    assert not (tmp_path / "out").exists()
