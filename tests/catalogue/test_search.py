from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue import SORTS, Filters, choices, query, record
from trainmark.catalogue.search import opened_once, page, runs_by_result, runs_of, similar_ids
from trainmark.types import Finding, Result, UsageError

_RESNET = Filters(benchmark="resnet", rounds=("2.0",))


def test_an_unknown_sort_key_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="there is no sort key 'speed'"):
        query(sort="speed")


def test_every_sort_key_sorts_with_missing_values_last() -> None:
    field = {"chips": "accelerators", "batch": "global_batch_size", "samples": "samples_to_target"}
    with opened_once():
        everything = {result.id for result in query(_RESNET)}
        for sort in SORTS:
            found = query(_RESNET, sort=sort)
            assert {result.id for result in found} == everything, sort
            values = [getattr(result, field.get(sort, sort)) for result in found]
            known = [v.lower() if isinstance(v, str) else v for v in values if v is not None]
            if sort != "round":  # a number that is written as text
                assert known == sorted(known), sort
            assert values[len(known) :] == [None] * (len(values) - len(known)), sort


def test_rounds_sort_as_numbers() -> None:
    rounds = [result.round for result in query(Filters(benchmark="gnmt"), sort="round")]
    assert rounds == sorted(rounds, key=lambda name: float(name or 0))


def test_minutes_ascend_and_results_without_a_score_come_last() -> None:
    asked = Filters(rounds=("1.0",), benchmark=("bert", "resnet"))
    for descending in (False, True):
        minutes = [r.minutes for r in query(asked, descending=descending)]
        scored = [m for m in minutes if m is not None]
        assert scored == sorted(scored, reverse=descending)
        assert None in minutes
        assert minutes[len(scored) :] == [None] * (len(minutes) - len(scored))


def test_the_limit_and_how_many_there_are() -> None:
    everything = page(_RESNET)
    assert everything.total == len(everything.results) > 50
    first = page(_RESNET, limit=3)
    assert first.results == everything.results[:3]
    assert first.total == everything.total
    exactly = page(_RESNET, limit=everything.total)
    assert exactly == everything
    assert page(_RESNET, limit=everything.total + 1) == everything


def test_choices_are_what_is_there() -> None:
    rounds = choices("round", Filters(origin="published"))
    assert rounds == sorted(rounds, key=float)
    assert {"0.5", "2.0", "5.1"} <= set(rounds)
    assert choices("benchmark", Filters(rounds=("0.5",), submitter="intel")) == [
        "minigo",
        "ncf",
        "resnet",
    ]


def _published(name: str) -> Result:
    (found,) = query(Filters(ids=(name,)))
    return found


def test_the_runs_of_a_result_are_those_of_its_score() -> None:
    result = _published("v2.0/Graphcore/ipu-pod16-TF1-closed/resnet")
    runs = runs_of(result)
    assert tuple(run.minutes for run in runs) == result.run_minutes
    assert all(run.succeeded and run.evaluations for run in runs)


def test_the_runs_of_several_results() -> None:
    results = query(Filters(benchmark="resnet", rounds=("2.0",), submitter="graphcore"))[:2]
    own = own_result()
    found = runs_by_result([*results, own])
    assert list(found) == [result.id for result in [*results, own]]
    assert found[own.id] == []
    assert all(found[result.id] == runs_of(result) for result in results)
    record(own, runs_of(results[0]))
    assert runs_by_result([own, results[1]])[own.id] == runs_of(results[0])


def test_similar_ids_are_nearest_first() -> None:
    near = similar_ids("v2.0/graphcore/ipu-pod16-TF1-close/resnet")
    assert near[0] == "v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"
    assert len(near) == 5
    assert similar_ids("\udc80") == []


def test_opened_once_answers_the_same_and_does_not_see_what_comes_later(tmp_path: Path) -> None:
    bad = record(own_result(id="own/bad"), (), tmp_path)
    bad.write_bytes(b"damaged")
    runs = runs_of(_published("v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"))
    record(own_result(), runs, tmp_path)
    own = Filters(origin="own")
    findings: list[Finding] = []
    with opened_once(tmp_path, findings.append):
        (found,) = query(own, where=tmp_path, on_finding=findings.append)
        assert runs_of(found, where=tmp_path) == runs
        (other,) = query(_RESNET, limit=1, where=tmp_path)
        assert runs_of(other, where=tmp_path) == runs_of(other)
        record(own_result(id="own/2"), (), tmp_path)
        assert query(own, where=tmp_path) == [found]
        assert query(own) == []
    assert [finding.path for finding in findings] == [str(bad)]
    assert len(query(own, where=tmp_path, on_finding=lambda _: None)) == 2
