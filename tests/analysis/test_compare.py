from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.made import made
from trainmark.analysis.compare import compare
from trainmark.analysis.comparison import Against, Comparison, Measure
from trainmark.analysis.selection import Selection
from trainmark.analysis.selection import sides as selected
from trainmark.catalogue.figures.tables import Tables, load_tables
from trainmark.cli.compare_text import text
from trainmark.types import Result, TrainmarkError, UsageError


@pytest.fixture(scope="module")
def tables() -> Tables:
    """The packaged figures, and none of whoever runs this."""
    return Tables()


def _published(tables: Tables, *sides: str, **options: Any) -> Comparison:
    return compare(selected(sides), tables=tables, **options)


def _one(tables: Tables, *sides: str, **options: Any) -> Against:
    (versus,) = _published(tables, *sides, **options).versus
    (against,) = versus.against
    return against


def _made(tables: Tables, *results: Result | tuple[Result, ...], **options: Any) -> Comparison:
    sides = [
        Selection(label=f"side {n}", results=one if isinstance(one, tuple) else (one,))
        for n, one in enumerate(results)
    ]
    return compare(sides, tables=tables, **options)


def _measure(against: Against, name: str) -> Measure:
    return next(measure for measure in against.measures if measure.name == name)


_V1_0 = "v1.0/Graphcore/ipu-pod16"
_V1_1 = "v1.1/Graphcore/ipu-pod"
_BOW = "v2.0/Graphcore/ipu-pod16"
_DGX_1_0 = "round=1.0 submitter=nvidia system=dgxa100 chips=8"
_DGX_2_0 = "round=2.0 submitter=nvidia system=dgxa100 chips=8"


# What two vendor reports of 2021 and 2022 claim: the sides, the share of time that A saves, and
# the figure that stands there.
@pytest.mark.parametrize(
    ("a", "b", "less_time", "claim"),
    [
        (f"{_BOW}-TF1-closed/resnet", f"{_DGX_2_0} benchmark=resnet", 0.3155, 31),
        (f"{_BOW}-POPART-closed/bert", f"{_V1_1}16-POPART-closed/bert", 0.3683, 37),
        (f"{_V1_1}16-TF1/resnet", f"{_V1_0}-TF1/resnet", 0.2366, 24),
        (f"{_V1_1}64-TF1/resnet", "v1.0/Graphcore/ipu-pod64-TF1/resnet", 0.4129, 41),
    ],
)
def test_what_vendors_call_faster_is_less_time(
    tables: Tables, a: str, b: str, less_time: float, claim: int
) -> None:
    found = _one(tables, a, b)
    assert found.less_time == pytest.approx(less_time, abs=0.0001)
    assert abs(100 * less_time - claim) < 0.6
    assert found.speed == pytest.approx(1 / (1 - less_time), rel=0.001)
    assert found.time is not None
    assert found.time.within_noise is False


def test_a_third_of_less_time_is_nearly_half_of_more_speed(tables: Tables) -> None:
    found = _one(tables, f"{_BOW}-TF1-closed/resnet", f"{_DGX_2_0} benchmark=resnet")
    assert found.speed == pytest.approx(28.685 / 19.635, abs=0.0002)
    assert found.speed is not None
    assert found.speed_low is not None
    assert found.speed_high is not None
    assert 1.44 < found.speed_low < found.speed < found.speed_high < 1.47


@pytest.mark.parametrize(("pod", "value"), [("16", 1.0076), ("64", 1.0056)])
def test_two_frameworks_on_one_machine_differ_by_noise(
    tables: Tables, pod: str, value: float
) -> None:
    found = _one(
        tables, f"baidu ipu_pod{pod} v2.0", f"v2.0/Graphcore/ipu-pod{pod}-POPART-closed/bert"
    )
    assert found.time is not None
    assert found.time.value == pytest.approx(value, abs=0.0001)
    assert found.time.within_noise is True


@pytest.mark.parametrize(
    ("a", "benchmark", "per_dollar", "claim", "per_unit"),
    [
        (f"{_V1_0}-TF1/resnet", "resnet", 1.550, 1.6, 0.930),
        (f"{_V1_0}-POPART-closed/bert", "bert", 1.258, 1.3, 0.755),
    ],
)
def test_the_claims_per_dollar_and_what_per_rack_unit_says(
    tables: Tables, a: str, benchmark: str, per_dollar: float, claim: float, per_unit: float
) -> None:
    found = _one(tables, a, f"{_DGX_1_0} benchmark={benchmark}")
    dollars, units = _measure(found, "dollar_minutes"), _measure(found, "rack_unit_minutes")
    assert dollars.against.value == pytest.approx(per_dollar, abs=0.001)
    assert round(per_dollar + 0.05, 1) == claim  # rounded up, both of them
    assert units.against.value == pytest.approx(per_unit, abs=0.001)
    assert any("Graphcore" in source for source in dollars.against.sources)
    assert dollars.low is not None
    assert dollars.high is not None
    assert dollars.low < per_dollar < dollars.high
    assert found.less_time is not None
    assert found.less_time < 0  # per dollar ahead, and slower


def test_the_nine_minutes_are_of_the_open_division(tables: Tables) -> None:
    sides = "v1.0/Graphcore/ipu-pod64-POPART-open/bert", "v1.0/Graphcore/ipu-pod64-POPART-closed"
    (versus,) = _published(tables, *sides).versus
    assert [side.result.minutes for side in versus.sides] == pytest.approx(
        [9.392, 11.076], abs=1e-3
    )
    assert any("closed with open" in mark for mark in versus.marks)
    assert ("division", ("open", "closed")) in [(d.name, d.values) for d in versus.differences]


def test_speed_is_fewer_samples_times_more_of_them_a_second(tables: Tables) -> None:
    found = _one(tables, f"{_BOW}-TF1-closed/resnet", f"{_DGX_2_0} benchmark=resnet")
    assert found.split is not None
    assert found.split.samples < 1 < found.split.rate
    product = found.split.samples * found.split.rate * found.split.scaling
    assert product == pytest.approx(found.speed)


def test_samples_of_different_tasks_explain_nothing(tables: Tables) -> None:
    (versus,) = _made(tables, made(), made(benchmark="bert"), anyway=True).versus
    assert versus.against[0].split is None


def test_a_factor_of_convergence_is_no_rate(tables: Tables) -> None:
    plain, scaled = made(10.0), made(10.0, scaling_factor=1.25, run_minutes=(8.0,) * 5)
    (versus,) = _made(tables, plain, scaled).versus
    split = versus.against[0].split
    assert split is not None
    assert (split.samples, split.scaling) == (1, 1.25)
    assert split.rate == pytest.approx(0.8)
    assert versus.against[0].speed == pytest.approx(1)
    assert any("multiplied by 1.25" in mark for mark in versus.marks)


def test_every_task_that_all_sides_have_is_compared(tables: Tables) -> None:
    system = "round=1.0 submitter=graphcore system=pod16 division=closed"
    found = _published(tables, system, _DGX_1_0)
    assert [versus.task for versus in found.versus] == ["bert", "resnet"]
    found = _published(tables, f"{_V1_0}-TF1/resnet", _DGX_1_0, system)
    assert [versus.task for versus in found.versus] == ["resnet"]
    assert [side.letter for side in found.versus[0].sides] == ["A", "B", "C"]
    assert [one.letter for one in found.versus[0].against] == ["B", "C"]


def test_a_side_of_several_systems_is_refused_only_where_it_matters(tables: Tables) -> None:
    with pytest.raises(UsageError, match="means 4 systems"):
        _published(tables, "graphcore v2.0 resnet", f"{_DGX_2_0} benchmark=resnet")
    # the BERT results of this system are several, and not asked about
    found = _published(tables, "round=2.0 submitter=graphcore system=pod16", f"{_DGX_2_0} resnet")
    assert [versus.task for versus in found.versus] == ["resnet"]


def test_what_does_not_compare_is_refused_with_its_reason_or_marked(tables: Tables) -> None:
    early, late = made(round="0.5", id="v0.5/Acme/box/resnet"), made(20.0)
    with pytest.raises(TrainmarkError) as caught:
        _made(tables, early, late)
    assert caught.value.exit_code == 1
    assert "v0.5/Acme/box/resnet and v2.0/Acme/box/resnet" in caught.value.message
    assert "0.749 top-1 accuracy" in caught.value.message
    assert "--anyway" in caught.value.hint
    (versus,) = _made(tables, early, late, anyway=True).versus
    assert "0.749 top-1 accuracy" in versus.forced[0]
    assert versus.against[0].speed == pytest.approx(2)
    assert versus.target == ""


def test_results_of_different_benchmarks_are_told_why_they_do_not_compare(tables: Tables) -> None:
    with pytest.raises(TrainmarkError, match="different tasks"):
        _made(tables, made(), made(benchmark="bert"))
    several = (made(), made(benchmark="bert"))
    with pytest.raises(TrainmarkError) as caught:
        _made(tables, several, made(benchmark="dlrm"))
    assert "A has bert, resnet; B has dlrm" in caught.value.message


def test_one_task_that_compares_is_shown_beside_one_that_does_not(tables: Tables) -> None:
    old = (
        made(round="0.7", benchmark="bert", id="v0.7/a/b/bert"),
        made(round="0.7", id="v0.7/a/b/resnet"),
    )
    new = (made(benchmark="bert", id="v2.0/a/b/bert"), made(id="v2.0/a/b/resnet"))
    found = _made(tables, old, new)
    assert [versus.task for versus in found.versus] == ["resnet"]
    (refused,) = found.refused
    assert (refused.task, refused.ids) == ("bert", ("v0.7/a/b/bert", "v2.0/a/b/bert"))
    assert "0.712" in refused.reasons[0]


def test_own_results_stand_unverified_beside_published_ones(tables: Tables) -> None:
    own = made(12.0, origin="own", label="unverified", id="own/m/resnet/1")
    (versus,) = _made(tables, own, made()).versus
    assert any("unverified results beside verified ones" in mark for mark in versus.marks)


def test_without_a_score_nothing_is_derived(tables: Tables) -> None:
    none = made(None, score_basis="no score: 2 of 5 runs did not succeed")
    (versus,) = _made(tables, made(), none).versus
    against = versus.against[0]
    assert (against.time, against.speed, against.less_time, against.split) == (None,) * 4
    assert all(measure.against.value is None for measure in against.measures)
    reason = _measure(against, "accelerator_minutes").against.missing
    assert reason == "B: there is no score: no score: 2 of 5 runs did not succeed"


@pytest.mark.parametrize("minutes", [0.0, -1.0])
def test_times_that_no_run_can_have_are_not_compared(tables: Tables, minutes: float) -> None:
    broken = made(minutes, run_minutes=(minutes,) * 5)
    for results in ((made(), broken), (broken, made())):
        (versus,) = _made(tables, *results).versus
        assert versus.against[0].speed is None


def test_without_a_price_there_is_none_and_the_next_step_is_said(tables: Tables) -> None:
    (versus,) = _made(tables, made(), made(), made()).versus
    for against in versus.against:
        dollars = _measure(against, "dollar_minutes")
        assert dollars.against.value is None
        assert (dollars.low, dollars.high) == (None, None)
        assert "trainmark prices add" in dollars.against.missing
        assert f"{against.letter}: no public list price" in dollars.against.missing


def test_energy_is_compared_where_it_was_measured(tables: Tables) -> None:
    (versus,) = _made(tables, made(energy_joules=2e6), made(energy_joules=3e6)).versus
    joules = _measure(versus.against[0], "energy_joules")
    assert joules.against.value == pytest.approx(1.5)
    assert (joules.low, joules.high) == (None, None)
    (versus,) = _made(tables, made(energy_joules=2e6), made()).versus
    assert _measure(versus.against[0], "energy_joules").against.value is None


def test_a_score_that_does_not_follow_from_its_runs_has_no_interval(tables: Tables) -> None:
    odd = made(10.0, run_minutes=(1.0, 2.0, 3.0, 4.0, 5.0))
    (versus,) = _made(tables, odd, made(12.0)).versus
    time = versus.against[0].time
    assert time is not None
    assert (time.low, time.within_noise) == (None, None)
    assert "does not follow from the runs of v2.0/Acme/box/resnet" in time.note
    assert versus.sides[0].estimate is None
    assert versus.against[0].speed == pytest.approx(1.2)


def test_cloud_prices_and_years_decide_the_running_cost(tables: Tables) -> None:
    sides = f"{_BOW}-TF1-closed/resnet", f"{_DGX_2_0} benchmark=resnet"
    amounts: list[float | None] = []
    for years in (2, 4):
        (versus,) = _published(tables, *sides, years=years).versus
        amounts.append(versus.sides[0].derived["run_cost_usd"].value)
    assert amounts[1] is not None
    assert amounts[0] == pytest.approx(2 * amounts[1])
    assert amounts[0] == pytest.approx(19.635 / 60 * 149_995 / (2 * 8766), rel=1e-4)
    (versus,) = _published(tables, sides[1], sides[1], price="cloud").versus
    assert "USD/hour" in versus.sides[0].derived["run_cost_usd"].formula
    with pytest.raises(UsageError):
        _published(tables, *sides, years=0)
    with pytest.raises(UsageError):
        _published(tables, *sides, price="no such price")


def test_a_user_price_changes_the_ratio(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        "[[list]]\n"
        'id = "mine"\nproduct = "box"\namount = 1000\ncurrency = "USD"\naccelerator = "X1"\n'
        'accelerators = 8\nsystem = ["box"]\nsource = "an offer"\ndate = "2026-11-01"\n'
        'basis = "quote"\nconfidence = "high"\n'
    )
    (versus,) = _made(load_tables(file), made(10.0), made(15.0)).versus
    dollars = _measure(versus.against[0], "dollar_minutes").against
    assert dollars.value == pytest.approx(1.5)
    assert any("own figure" in mark for mark in dollars.marks)


def test_the_number_of_sides_is_bounded(tables: Tables) -> None:
    with pytest.raises(UsageError, match="cannot compare 1 sides"):
        _made(tables, made())
    with pytest.raises(UsageError, match="cannot compare 27 sides"):
        _made(tables, *[made()] * 27)
    (versus,) = _made(tables, *[made()] * 26).versus
    assert versus.sides[-1].letter == "Z"


_AMOUNTS = st.none() | st.sampled_from([-1.0, 0.0, 1e-300, 1e300]) | st.floats(0.1, 1e6)


@st.composite
def _any_result(draw: st.DrawFn) -> Result:
    return made(
        draw(_AMOUNTS),
        run_minutes=tuple(draw(st.lists(st.floats(allow_nan=False), max_size=6))),
        scaling_factor=draw(st.sampled_from([0.0, 1.0, 1.5, -1.0])),
        accelerators=draw(st.none() | st.integers(-1, 9)),
        nodes=draw(st.none() | st.integers(-1, 2)),
        samples_to_target=draw(_AMOUNTS),
        global_batch_size=draw(_AMOUNTS),
        energy_joules=draw(_AMOUNTS),
        accelerator=draw(st.sampled_from(["", "X1", "A100-SXM-80GB", "A100"])),
        system=draw(st.sampled_from(["", "box", "DGX A100"])),
        round=draw(st.sampled_from([None, "2.0", "9.9", "x"])),
        benchmark=draw(st.sampled_from(["resnet", "bert", "mine", ""])),
    )


@settings(max_examples=15, deadline=None)
@given(a=_any_result(), b=_any_result(), c=_any_result())
def test_nothing_that_a_catalogue_holds_ends_a_comparison(
    tables: Tables, a: Result, b: Result, c: Result
) -> None:
    found = _made(tables, a, b, c, anyway=True, years=2.0)
    lines = list(text(found, explain=True, costs=True))
    assert lines
    assert found.to_dict()


def test_everything_is_plain_data(tables: Tables) -> None:
    import json

    found = _made(tables, made(), made(None), made(12.0, round="1.0", division="open"))
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))["versus"][0]
    assert [side["letter"] for side in again["sides"]] == ["A", "B", "C"]
    assert again["against"][1]["speed"] == pytest.approx(1.2)
    assert again["sides"][0]["derived"]["accelerator_minutes"]["value"] == 80
