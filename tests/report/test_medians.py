from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.sessions import write_session
from trainmark.report import load
from trainmark.report.medians import medians_of


def test_the_medians_are_of_the_runs_that_reached_the_target(tmp_path: Path) -> None:
    entry = load(write_session(tmp_path, epochs=(10, 11, 13))).entries[0]
    medians = medians_of(entry)
    assert (medians.runs, medians.reached, medians.compliant) == (3, 3, True)
    assert medians.minutes == pytest.approx(1.1)
    assert medians.samples == 44_000
    assert medians.samples_per_second == 1002
    assert medians.padding_share is None
    assert medians.fine
    failed = replace(entry.runs[2], status="aborted", samples_to_target=None)
    mixed = medians_of(replace(entry, runs=(*entry.runs[:2], failed)))
    assert (mixed.runs, mixed.reached, mixed.fine) == (3, 2, False)
    assert mixed.minutes == pytest.approx(1.05)
    none = medians_of(replace(entry, runs=(failed,)))
    assert (none.minutes, none.samples, none.reached) == (None, None, 0)


def test_no_runs_are_not_fine(tmp_path: Path) -> None:
    entry = replace(load(write_session(tmp_path)).entries[0], runs=())
    assert not medians_of(entry).fine


def test_the_padding_share_is_taken_from_the_runs_own_record(tmp_path: Path) -> None:
    entry = load(write_session(tmp_path)).entries[0]
    runs = [
        replace(run, efficiency={"padding_share": share})
        for run, share in zip(entry.runs, (0.1, 0.3, 0.2), strict=True)
    ]
    assert medians_of(replace(entry, runs=tuple(runs))).padding_share == 0.2
