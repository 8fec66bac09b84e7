"""Logs of round 0.5, in the words of later rounds."""

import io

import pytest

from trainmark.mllog import scan, summarize
from trainmark.mllog.round_0_5 import KEYS
from trainmark.types import Run

_WANTED = KEYS | {"run_start", "run_stop", "eval_accuracy", "seed"}


def run(*records: str) -> Run:
    lines = [
        f":::MLPv0.5.0 resnet {1_541_000_000 + 60 * n} (a.py:1) {text}"
        for n, text in enumerate(("run_start", *records))
    ]
    return summarize(scan(io.BytesIO("\n".join(lines).encode()), "log", _WANTED))


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ('run_stop: {"success": true}', "success"),
        ('run_stop: {"success": "true"}', "success"),
        ('run_stop: {"success": false}', "aborted"),
        ("run_stop", None),
        ("run_stop: {}", None),
        ("run_stop: 7", None),
    ],
)
def test_how_a_run_ended(stop: str, status: str | None) -> None:
    found = run('eval_accuracy: {"epoch": 0, "value": 0.5}', stop)
    assert (found.status, found.minutes, found.quality) == (status, 2.0, 0.5)


@pytest.mark.parametrize(
    ("quality", "target", "status"),
    [
        ("0.75", "0.749", "success"),
        ("0.74", "0.749", None),
        ('"x"', "0.7", None),
        ("1", '"a"', None),
    ],
)
def test_a_stop_without_a_word_is_a_success_when_the_stated_target_is_met(
    quality: str, target: str, status: str | None
) -> None:
    accuracy = f'eval_accuracy: {{"epoch": 61, "value": {quality}}}'
    assert run(accuracy, f"eval_target: {target}", "run_stop").status == status


def test_epochs_of_an_unknown_origin_give_no_samples() -> None:
    found = run(
        "preproc_num_train_examples: 1281167",
        "preproc_num_eval_examples: 50000",
        'eval_accuracy: {"epoch": 3, "value": 0.5}',
        'run_stop: {"success": true}',
    )
    assert (found.train_samples, found.eval_samples) == (1_281_167, 50_000)
    assert found.samples_to_target is None
    assert [(e.samples, e.quality) for e in found.evaluations] == [(None, 0.5)]


@pytest.mark.parametrize(
    ("seeds", "seed"), [(("7", "7"), 7), (("7", "8"), None), (('"none"', "9"), 9), ((), None)]
)
def test_a_seed_counts_when_all_processes_have_it(seeds: tuple[str, ...], seed: int | None) -> None:
    assert run(*(f"run_set_random_seed: {one}" for one in seeds)).seed == seed
