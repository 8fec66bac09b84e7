from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalogue.repositories import own_result
from trainmark.catalogue.schema import (
    RESULT_COLUMNS,
    RUN_COLUMNS,
    result_from_row,
    result_to_row,
    run_from_row,
    run_to_row,
)
from trainmark.types import Doubt, Evaluation, Result, Run, Target


def test_every_field_has_a_column_in_its_order() -> None:
    assert [c.name for c in RESULT_COLUMNS] == [f.name for f in fields(Result)]
    assert [c.name for c in RUN_COLUMNS] == ["result_id", "run_index"] + [
        f.name for f in fields(Run)
    ]


@settings(max_examples=50)
@given(
    st.builds(
        own_result,
        round=st.none() | st.text(),
        system=st.text(),
        minutes=st.none() | st.floats(allow_nan=False),
        run_minutes=st.lists(st.floats(allow_nan=False)).map(tuple),
        accelerators=st.none() | st.integers(0, 2**31 - 1),
        raw=st.dictionaries(st.text(), st.text()),
        doubts=st.lists(
            st.builds(Doubt, kind=st.text(), text=st.text(), resolved=st.booleans())
        ).map(tuple),
        software=st.dictionaries(st.text(), st.text()),
        energy_joules=st.none() | st.floats(allow_nan=False),
        carried_over=st.booleans(),
    )
)
def test_a_result_comes_back_as_it_was(result: Result) -> None:
    row = dict(zip((c.name for c in RESULT_COLUMNS), result_to_row(result), strict=True))
    assert result_from_row(row) == result


def test_a_run_comes_back_as_it_was() -> None:
    run = Run(
        source="a/result_0.txt",
        minutes=1.5,
        status="success",
        seed=2**70,
        target=Target(metric="eval_accuracy", value=0.97),
        evaluations=(Evaluation(minutes=1.0, samples=None, quality=0.9),),
        settings={"layers": [1, 2], "name": "x"},
        efficiency={"share_of_peak": 0.25},
    )
    row = dict(zip((c.name for c in RUN_COLUMNS), run_to_row("own/1", 3, run), strict=True))
    assert (row["result_id"], row["run_index"]) == ("own/1", 3)
    assert run_from_row(row) == run


def test_columns_that_a_file_lacks_are_the_defaults_and_others_are_left_out() -> None:
    row = dict(zip((c.name for c in RESULT_COLUMNS), result_to_row(own_result()), strict=True))
    del row["carried_over"], row["raw"], row["doubts"]
    row["price_usd"] = 149_995
    assert result_from_row(row) == own_result()
