from pathlib import Path

import pytest

from tests.catalogue.repositories import own_result
from trainmark.catalogue.importing.carry import EDITED, SAME, SHARED, Identity, identities, mark
from trainmark.catalogue.schema import RUN_COLUMNS, run_to_row
from trainmark.catalogue.store import write_table
from trainmark.types import Doubt, Evaluation, Result, Run


def _result(name: str, round_name: str = "1.0", origin: str = "published") -> Result:
    return own_result(id=name, origin=origin, round=round_name)


def _identity(*runs: int, contents: str = "") -> Identity:
    return Identity(contents=frozenset(contents), runs=frozenset(runs))


def _marks(marked: dict[str, Result]) -> dict[str, tuple[bool, list[str]]]:
    return {name: (one.carried_over, [d.kind for d in one.doubts]) for name, one in marked.items()}


def test_the_first_by_round_counts() -> None:
    results = [_result("z", "10.0"), _result("b", "2.0"), _result("c", "2.0"), _result("d", "1.0")]
    same = _identity(1, 2, contents="pq")
    marked = mark(results, {"z": same, "b": same, "c": _identity(3, contents="r")})
    assert list(marked) == ["d", "b", "c", "z"]
    assert _marks(marked)["z"] == (True, [SAME])
    assert marked["z"].doubts[0].text == "the same logs as b"
    assert not any(marked[name].carried_over or marked[name].doubts for name in "bcd")


def test_edited_logs_are_told_apart() -> None:
    marked = mark(
        [_result("a"), _result("b", "1.1")],
        {"a": _identity(1, 2, contents="pq"), "b": _identity(1, 2, contents="pr")},
    )
    assert _marks(marked)["b"] == (True, [EDITED])


def test_some_runs_in_common_are_a_doubt_only() -> None:
    marked = mark([_result("a"), _result("b")], {"a": _identity(1, 2), "b": _identity(2, 3)})
    assert _marks(marked)["b"] == (False, [SHARED])
    assert marked["b"].doubts[0].text == "1 of 2 runs are those of a"


def test_runs_of_several_earlier_results() -> None:
    marked = mark(
        [_result("a"), _result("b"), _result("c")],
        {
            "a": _identity(1, contents="p"),
            "b": _identity(2, contents="q"),
            "c": _identity(1, 2, contents="pq"),
        },
    )
    assert _marks(marked)["c"] == (True, [SAME])
    assert marked["c"].doubts[0].text == "the same logs as a, b"


def test_what_is_not_published_comes_after_what_is() -> None:
    same = _identity(1)
    marked = mark(
        [_result("imported/a/b", "0.5", "imported"), _result("v5.1/x", "5.1")],
        {"imported/a/b": same, "v5.1/x": same},
    )
    assert marked["imported/a/b"].carried_over
    assert not marked["v5.1/x"].carried_over


def test_marks_are_made_anew() -> None:
    other = Doubt(kind="other", text="stays")
    before = own_result(
        id="a", round="1.0", carried_over=True, doubts=(other, Doubt(kind=SAME, text="old"))
    )
    after = mark([before], {"a": _identity(1)})["a"]
    assert (after.carried_over, after.doubts) == (False, (other,))


def _run(minutes: float | None, content: str, quality: float = 0.7, **more: object) -> Run:
    evaluations = (Evaluation(minutes=1.0, samples=more.pop("samples", None), quality=quality),)  # type: ignore[arg-type]
    return Run(source="x", minutes=minutes, content=content, evaluations=evaluations, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("times", [(1.5, 2.5), (1.5, None)])
def test_identities_are_those_of_times_and_qualities(
    tmp_path: Path, times: tuple[float | None, ...]
) -> None:
    runs = {
        "a": [_run(times[0], "p"), _run(times[1], "q")],
        "edited": [_run(times[0], "r", samples=5.0), _run(times[1], "q", submitter="X")],
        "other": [_run(times[0], "p", quality=0.8), _run(times[1], "s")],
        "absent": [_run(times[0], "p"), Run(source="x", available=False)],
        "untimed": [_run(None, "t"), _run(None, "u")],
    }
    rows = [run_to_row(name, i, run) for name, ones in runs.items() for i, run in enumerate(ones)]
    write_table(tmp_path / "runs.parquet", RUN_COLUMNS, rows)
    found = identities([tmp_path / "runs.parquet"])
    assert found.keys() == {"a", "edited", "other"}
    assert found["a"].runs == found["edited"].runs
    assert found["a"].contents == {"p", "q"}
    assert found["edited"].contents == {"r", "q"}
    assert len(found["a"].runs & found["other"].runs) == (1 if times[1] else 0)
    assert identities([]) == {}
