from pathlib import Path

import pytest

from tests.logs import Text, write_desk
from trainmark.mllog import count_ranks, first_rank, read, summarize


@pytest.fixture
def text(tmp_path: Path) -> Text:
    return Text.read(write_desk(tmp_path / "result_0.txt"))


def test_a_well_made_log_has_one_rank_and_stays_as_it_is(text: Text) -> None:
    log = read(text.path)
    assert count_ranks(log) == 1
    assert first_rank(log) is log


@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize("together", [True, False], ids=["line by line", "one after another"])
def test_each_record_is_taken_once(ranks: int, together: bool, text: Text) -> None:
    alone = read(text.path)
    records = text.records
    if together:
        text.records = [dict(record) for record in records for _ in range(ranks)]
    else:
        text.records = [dict(record) for _ in range(ranks) for record in records]
    log = read(text.write())
    assert count_ranks(log) == ranks
    once = first_rank(log)
    assert [event.key for event in once.events] == [event.key for event in alone.events]
    assert summarize(log).minutes == summarize(alone).minutes
    assert summarize(log).evaluations == summarize(alone).evaluations


def test_ranks_may_measure_different_speeds(text: Text) -> None:
    text.records = [dict(record) for record in text.records for _ in range(2)]
    for number, record in enumerate(text.all("tracked_stats")):
        record["value"] = {"throughput": 100 + number}
    assert count_ranks(read(text.write())) == 2


def test_two_runs_in_one_file_are_no_ranks(text: Text) -> None:
    again = [dict(record) for record in text.records]
    again[-3]["value"] = 0.999
    text.records += again
    assert count_ranks(read(text.write())) == 1


def test_a_second_start_alone_is_no_rank(text: Text) -> None:
    text.repeat("run_start")
    assert count_ranks(read(text.write())) == 1
