import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainmark.catalogue import Filters, query
from trainmark.catalogue.engine import Database
from trainmark.catalogue.filters import condition, resolved
from trainmark.catalogue.search import opened_once
from trainmark.catalogue.store import connect
from trainmark.types import Result, UsageError


@pytest.fixture(scope="module", autouse=True)
def _open_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The packaged catalogue alone, opened once for all tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("none")))
        with opened_once():
            yield


def _all(**asked: Any) -> list[str]:
    return [r.id for r in query(Filters(origin="published", **asked))]


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


def test_several_values_mean_any_of_them() -> None:
    both = query(Filters(submitter=("graphcore", "baidu"), rounds=("2.0",)))
    assert {r.submitter for r in both} == {"Baidu", "Graphcore"}
    several = query(Filters(benchmark=("ncf", "gnmt"), rounds=("0.5",)))
    assert {r.benchmark for r in several} == {"gnmt", "ncf"}


def test_chips() -> None:
    counts = {r.accelerators for r in query(Filters(chips_min=16, chips_max=64, benchmark="bert"))}
    assert min(c for c in counts if c is not None) == 16
    assert max(c for c in counts if c is not None) == 64
    assert None not in counts


def test_chips_within_any_of_several_spans() -> None:
    asked = Filters(chips=((8, 8), (4000, None), (None, 2)), benchmark="resnet")
    counts = {r.accelerators for r in query(asked)}
    assert {8, 2, 4096} <= counts
    assert all(c is not None and (c == 8 or c >= 4000 or c <= 2) for c in counts)


def test_hosts_are_nodes_where_they_are_not_counted_apart() -> None:
    found = query(Filters(hosts=((2, 4),), benchmark="bert"))
    assert {r.hosts if r.hosts is not None else r.nodes for r in found} == {2, 4}


@pytest.mark.parametrize(
    ("asked", "rounds"),
    [
        (("v1.0", "2.0"), {"1.0", "2.0"}),
        (("1.0-2.1",), {"1.0", "1.1", "2.0", "2.1"}),
        (("v1.1-v2.0", "3.1"), {"1.1", "2.0", "3.1"}),
        (("-0.6",), {"0.5", "0.6"}),
        (("0.9-1.05",), {"1.0", "1.1"}),
    ],
)
def test_rounds_and_ranges_of_them(asked: tuple[str, ...], rounds: set[str]) -> None:
    assert {r.round for r in query(Filters(rounds=asked))} == rounds


def test_an_open_range_goes_to_the_newest_round() -> None:
    rounds = {r.round for r in query(Filters(rounds=("4.1-",)))}
    assert {"4.1", "5.0", "5.1"} <= rounds
    assert "4.0" not in rounds


def test_resnet50_is_resnet() -> None:
    asked = _all(benchmark="ResNet50", rounds=("2.0",))
    assert asked == _all(benchmark="resnet", rounds=("2.0",)) != []


def test_a_task_is_what_was_trained_under_whatever_name() -> None:
    found = query(Filters(task="retinanet"))
    assert {(r.round, r.benchmark) for r in found} >= {("2.0", "ssd"), ("5.0", "retinanet")}
    assert not {r.round for r in found} & {"0.5", "1.0", "1.1"}


def test_text_is_sought_in_everything() -> None:
    def kept(result: Result) -> bool:
        said = (result.framework, result.host_processor, *result.software.values())
        return any("epyc" in text.lower() for text in (*said, *result.raw.values()))

    found = query(Filters(text=("EPYC", "nvidia"), rounds=("2.0",), benchmark="resnet"))
    assert found
    assert all(map(kept, found))
    assert _all(text=("no such thing \u2603",)) == []


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"scored": True}, lambda r: r.minutes is not None),
        ({"energy": True}, lambda r: r.energy_joules is not None),
        ({"not_carried_over": True}, lambda r: not r.carried_over),
        ({"category": "preview"}, lambda r: r.category == "preview"),
        ({"division": "Open"}, lambda r: r.division == "open"),
    ],
)
def test_what_holds_of_each_result(asked: dict[str, Any], holds: Callable[[Result], bool]) -> None:
    rounds = ("0.5", "1.0", "4.0")
    everything = query(Filters(rounds=rounds))
    found = query(Filters(rounds=rounds, **asked))
    assert found == [result for result in everything if holds(result)]
    assert 0 < len(found) < len(everything)


@pytest.mark.parametrize(
    ("filters", "message", "hint"),
    [
        (Filters(benchmark="resnt"), "there is no benchmark 'resnt'", "Did you mean 'resnet'?"),
        (Filters(task="reti"), "there is no task 'reti'", "retinanet"),
        (Filters(rounds=("7.0",)), "there is no round '7.0'", "1.0, 1.1, 2.0"),
        (Filters(rounds=("2.0", "7.0-8.0")), "there is no round within '7.0-8.0'", "1.1, 2.0"),
        (Filters(rounds=("a-b",)), "there is no round 'a-b'", "1.0, 1.1, 2.0"),
        (Filters(rounds=("1..0-2",)), "'1..0-2' is neither a round", "4.0-"),
        (Filters(rounds=("-",)), "there is no round '-'", "1.0, 1.1, 2.0"),
        (Filters(division="ajar"), "there is no division 'ajar'", "Valid: closed, open."),
        (Filters(category="new"), "there is no category 'new'", "preview"),
        (Filters(origin="mine"), "there is no origin 'mine'", "Valid: imported, own, published."),
    ],
)
def test_a_misspelt_name_lists_the_valid_ones(filters: Filters, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        query(filters)
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint


def test_given_and_without() -> None:
    filters = Filters(benchmark="bert", rounds=("1.0",), chips=((1, 2),), scored=True)
    assert filters.given() == ("benchmark", "rounds", "chips", "scored")
    assert filters.without("rounds").without("chips") == Filters(benchmark="bert", scored=True)
    assert Filters().given() == ()


@pytest.fixture(scope="module")
def opened() -> Iterator[Database]:
    with connect() as database:
        database.execute(
            "CREATE TABLE results AS SELECT 'bert' AS benchmark, '' AS task, '1.0' AS round"
        )
        yield database


@settings(max_examples=100, deadline=None)
@given(
    benchmark=st.none() | st.text(max_size=5),
    rounds=st.lists(st.text("0123.-v", max_size=5)).map(tuple),
)
def test_any_round_is_found_or_refused_with_a_hint(
    opened: Database, benchmark: str | None, rounds: tuple[str, ...]
) -> None:
    with contextlib.suppress(UsageError):
        found = resolved(Filters(benchmark=benchmark, rounds=rounds), opened)
        assert set(found.rounds) <= {"1.0"}
        assert found.benchmark in (None, ("bert",))


@given(st.text(st.characters(categories=["Cs", "Lu", "Po", "Cc"]), max_size=4))
@settings(max_examples=20, deadline=None)
def test_any_text_is_a_value_and_no_sql(text: str) -> None:
    sql, values = condition(Filters(submitter=text, text=(text, text), machine=text))
    with connect() as database:
        marks = ", ".join("?" for _ in values)
        assert sql.count("?") == len(values)
        assert database.execute(f"SELECT {marks}", values).fetchall()
