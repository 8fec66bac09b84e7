"""Rounds of another kind: 0.6 (another form, seconds), 6.1 (formulas), HPC (another usage)."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rules.test_differential import official_checker
from trainmark.mllog import read
from trainmark.rules import known_rulesets
from trainmark.rules.engine import Outcome, run_tables
from trainmark.types import RunLog

Records = list[tuple[str, Any, dict[str, Any]]]


def _submission(benchmark: str, **more: str) -> Records:
    values = {
        "submission_org": "tester",
        "submission_platform": "box",
        "submission_division": "closed",
        "submission_status": "onprem",
        "submission_benchmark": benchmark,
    }
    return [(key, value, {}) for key, value in (values | more).items()]


def _run(headers: dict[str, Any], evaluation: tuple[str, float], **counted: int) -> Records:
    """The records of a run in order; ``counted`` is the progress that its records carry."""
    return [
        ("cache_clear", True, {}),
        ("init_start", None, {}),
        *((key, value, {}) for key, value in headers.items()),
        ("init_stop", None, {}),
        ("run_start", None, {}),
        ("block_start", None, {"first_epoch_num": 1, "epoch_count": 1}),
        ("epoch_start", None, {"epoch_num": 1, **counted}),
        ("epoch_stop", None, {"epoch_num": 1, **counted}),
        ("eval_start", None, {"epoch_num": 1, **counted}),
        (*evaluation, {"epoch_num": 1, **counted}),
        ("eval_stop", None, {"epoch_num": 1, **counted}),
        ("block_stop", None, {"first_epoch_num": 1}),
        ("run_stop", None, {"status": "success"}),
    ]


def ssd_of_06() -> Records:
    headers = {
        "global_batch_size": 512,
        "opt_base_learning_rate": 0.004,
        "opt_weight_decay": 0.0005,
        "opt_learning_rate_warmup_steps": 100,
        "opt_learning_rate_warmup_factor": 0,
        "max_samples": 1,
        "model_bn_span": 32,
    }
    more = {"submission_poc_name": "someone", "submission_entry": "entry"}
    return [*_submission("ssd", **more), *_run(headers, ("eval_accuracy", 0.23))]


def cosmoflow_of_hpc() -> Records:
    headers = {
        "number_of_nodes": 2,
        "accelerators_per_node": 8,
        "global_batch_size": 64,
        "opt_name": "sgd",
        "opt_base_learning_rate": 0.001,
        "opt_learning_rate_warmup_epochs": 1,
        "opt_learning_rate_warmup_factor": 1,
        "opt_learning_rate_decay_boundary_epochs": [32, 64],
        "opt_learning_rate_decay_factor": [0.25, 0.125],
        "train_samples": 524288,
        "eval_samples": 65536,
    }
    return [*_submission("cosmoflow"), *_run(headers, ("eval_error", 0.12))]


def flux1_of_61() -> Records:
    precisions = {f"lowest_numerical_precision_in_{part}": "fp8" for part in ("linear", "attn")}
    parallel = {f"{kind}_parallelism": 1 for kind in ("tensor", "pipeline", "context", "expert")}
    headers = {
        **precisions,
        "lowest_numerical_precision_in_comm": "bfloat16",
        **parallel,
        "micro_batch_size": 16,
        "config_filename": "config.sh",
        "gradient_accumulation_steps": 1,
        "global_batch_size": 1024,
        "evaluation_frequency": 262144,
        "opt_name": "adamw",
        "opt_adamw_beta_1": 0.9,
        "opt_adamw_beta_2": 0.95,
        "opt_adamw_epsilon": 1e-08,
        "opt_adamw_weight_decay": 0.1,
        "opt_base_learning_rate": 0.0002,
        "opt_learning_rate_warmup_steps": 0,
        "opt_gradient_clip_norm": 1.0,
        "train_samples": 1099776,
        "eval_samples": 29696,
    }
    return [*_submission("flux1"), *_run(headers, ("eval_accuracy", 0.58), samples_count=262144)]


def _write(path: Path, records: Records, round_name: str) -> RunLog:
    lines = []
    for second, (key, value, metadata) in enumerate(records, start=1_560_000_000):
        both = {"value": value, "metadata": metadata}
        if round_name == "0.6":
            lines.append(f":::MLL {second}.123456 {key}: {json.dumps(both)}")
        else:
            lines.append(f":::MLLOG {json.dumps({'time_ms': second * 1000, 'key': key} | both)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path)


def _outcome(path: Path, records: Records, round_name: str) -> Outcome:
    """What we say of the records, having made sure that the official checker says the same."""
    log, ruleset = _write(path, records, round_name), known_rulesets()[round_name]
    assert len(log.events) == len(records)
    outcome = run_tables(log, ruleset.first_table, resolve=ruleset.resolve)
    official = official_checker(path, ruleset)
    assert outcome.compliant is (official is not None and not official.has_messages())
    return outcome


CASES: list[tuple[str, Callable[[], Records], int]] = [
    ("0.6", ssd_of_06, 2),
    ("hpc-3.0", cosmoflow_of_hpc, 3),
    ("6.1", flux1_of_61, 3),
]


@pytest.mark.parametrize(("round_name", "make", "tables"), CASES, ids=[case[0] for case in CASES])
def test_a_good_log_has_nothing_wrong(
    round_name: str, make: Callable[[], Records], tables: int, tmp_path: Path
) -> None:
    outcome = _outcome(tmp_path / "result_0.txt", make(), round_name)
    assert outcome.findings == outcome.missing == ()
    assert len(outcome.tables) == tables


@pytest.mark.parametrize(
    ("round_name", "make", "key", "value", "rule"),
    [
        ("0.6", ssd_of_06, "model_bn_span", 0, "rules.model_bn_span.value"),
        ("0.6", ssd_of_06, "submission_benchmark", "bert", "rules.submission_benchmark.choice"),
        ("hpc-3.0", cosmoflow_of_hpc, "opt_name", "lars", "rules.opt_name.choice"),
        ("hpc-3.0", cosmoflow_of_hpc, "eval_error", 0.2, "rules.eval_error.target"),
        (
            "6.1",
            flux1_of_61,
            "evaluation_frequency",
            262145,
            "rules.evaluation_frequency.consistent",
        ),
        ("6.1", flux1_of_61, "tensor_parallelism", 0.5, "rules.tensor_parallelism.whole"),
        ("6.1", flux1_of_61, "eval_accuracy", 0.6, "rules.eval_accuracy.target"),
    ],
)
def test_a_wrong_value_is_found(
    round_name: str,
    make: Callable[[], Records],
    key: str,
    value: Any,
    rule: str,
    tmp_path: Path,
) -> None:
    records = [(name, value if name == key else was, more) for name, was, more in make()]
    outcome = _outcome(tmp_path / "result_0.txt", records, round_name)
    assert rule in {finding.rule for finding in outcome.findings}


def test_what_the_tables_say_can_be_sent_to_another_process(tmp_path: Path) -> None:
    outcome = _outcome(tmp_path / "result_0.txt", flux1_of_61()[:-1], "6.1")
    assert outcome.missing
    again = pickle.loads(pickle.dumps(outcome))
    assert again == outcome
    assert again.rules["opt_name"] == outcome.rules["opt_name"]


def test_round_06_counts_seconds(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    records = ssd_of_06()
    _write(path, records, "0.6")
    text = path.read_text(encoding="utf-8")
    stop = records.index(("init_stop", None, {}))
    for late, rules in ((1190, []), (1210, ["rules.init_stop.time"])):
        lines = text.splitlines()
        _, time, rest = lines[stop].split(" ", 2)
        lines[stop] = f":::MLL {float(time) + late:.6f} {rest}"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        ruleset = known_rulesets()["0.6"]
        outcome = run_tables(read(path), ruleset.first_table, resolve=ruleset.resolve)
        assert [finding.rule for finding in outcome.findings] == rules
    (finding,) = outcome.findings
    assert "it comes within 20 minutes of the first init_start" in finding.expected
    assert finding.found.endswith("over the limit of 20")
