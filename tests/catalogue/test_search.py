import pytest

from trainmark.catalogue import SORTS, Filters, choices, query
from trainmark.types import UsageError


def _all(**asked: object) -> list[str]:
    return [r.id for r in query(Filters(origin="published", **asked))]  # type: ignore[arg-type]


def test_text_filters_find_any_part_in_any_case() -> None:
    assert {r.submitter for r in query(Filters(submitter="GRAPH"))} == {"Graphcore"}
    assert {r.accelerator for r in query(Filters(accelerator="bow"))} == {"Bow-IPU"}
    found = query(Filters(framework="paddle", rounds=("2.0",)))
    assert {r.submitter for r in found} == {"Baidu", "Graphcore"}


def test_a_filter_finds_the_raw_spelling_and_the_folder_as_well() -> None:
    assert {r.accelerator for r in query(Filters(accelerator="SXM4-80GB (500W)"))} == {
        "A100-SXM-80GB"
    }
    by_folder = query(Filters(system="ipu-pod16-TF1", rounds=("2.0",)))
    assert [r.system for r in by_folder] == ["Bow-Pod16"]


def test_every_word_is_found_somewhere() -> None:
    found = _all(words=("graphcore", "Pod16", "V2.0", "resnet"))
    assert found == ["v2.0/Graphcore/ipu-pod16-TF1-closed/resnet"]
    assert _all(words=("gc200", "v2.0/Graphcore")) == []
    assert _all(words=("Baidu", "ipu-gc200")) == _all(words=("'",)) == []


def test_percent_and_underscore_are_letters() -> None:
    assert _all(submitter="%") == []
    assert _all(submitter="_raphcore") == []
    assert _all(submitter="'; DROP TABLE results; --") == []


def test_chips() -> None:
    counts = {r.accelerators for r in query(Filters(chips_min=16, chips_max=64))}
    assert min(c for c in counts if c is not None) == 16
    assert max(c for c in counts if c is not None) == 64
    assert None not in counts


def test_a_round_may_have_its_v_and_be_several() -> None:
    assert {r.round for r in query(Filters(rounds=("v1.0", "2.0"), origin="published"))} == {
        "1.0",
        "2.0",
    }


def test_resnet50_is_resnet() -> None:
    assert _all(benchmark="ResNet50") == _all(benchmark="resnet") != []


@pytest.mark.parametrize(
    ("filters", "message", "hint"),
    [
        (Filters(benchmark="resnt"), "there is no benchmark 'resnt'", "Did you mean 'resnet'?"),
        (Filters(rounds=("7.0",)), "there is no round '7.0'", "Valid: 1.0, 1.1, 2.0."),
        (Filters(division="ajar"), "there is no division 'ajar'", "Valid: closed, open."),
        (Filters(origin="mine"), "there is no origin 'mine'", "Valid: imported, own, published."),
    ],
)
def test_a_misspelt_name_lists_the_valid_ones(filters: Filters, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        query(filters)
    assert caught.value.message == message
    assert hint in caught.value.hint


def test_an_unknown_sort_key_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="there is no sort key 'speed'"):
        query(sort="speed")


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_every_sort_key_sorts_with_missing_values_last(sort: str) -> None:
    assert len(query(Filters(origin="published"), sort=sort)) == 249


def test_minutes_ascend_and_results_without_a_score_come_last() -> None:
    for descending in (False, True):
        minutes = [r.minutes for r in query(Filters(origin="published"), descending=descending)]
        scored = [m for m in minutes if m is not None]
        assert scored == sorted(scored, reverse=descending)
        assert minutes[len(scored) :] == [None] * (len(minutes) - len(scored))


def test_the_limit() -> None:
    assert len(query(Filters(origin="published"), limit=3)) == 3
    assert query(limit=3) == query()[:3]


def test_choices_are_what_is_there() -> None:
    assert choices("round") == ["1.0", "1.1", "2.0"]
    assert choices("benchmark", Filters(origin="published")) == ["bert", "resnet"]


def test_given_and_without() -> None:
    filters = Filters(benchmark="bert", rounds=("1.0",))
    assert filters.given() == ("benchmark", "rounds")
    assert filters.without("rounds") == Filters(benchmark="bert")
