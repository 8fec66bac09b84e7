import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.moments import make_spec
from trainmark.types import Direction, Target, WorkloadSpec

targets = st.builds(
    Target,
    metric=st.sampled_from(["eval_accuracy", "eval_error"]),
    value=st.floats(allow_nan=False, allow_infinity=False),
    direction=st.sampled_from(Direction),
)


@given(targets, st.floats(allow_nan=False))
def test_a_quality_beyond_the_target_reaches_it_and_one_short_does_not(
    target: Target, quality: float
) -> None:
    higher = target.direction is Direction.HIGHER
    assert target.reached(quality) == (
        quality >= target.value if higher else quality <= target.value
    )
    assert target.reached(target.value)
    assert not target.reached(math.nan)


@given(targets)
def test_a_target_survives_the_log(target: Target) -> None:
    assert Target.from_dict(target.to_dict()) == target


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"metric": "m", "value": "0.9", "direction": "higher"},
        {"metric": "m", "value": True, "direction": "higher"},
        {"metric": "m", "value": math.nan, "direction": "higher"},
        {"metric": 3, "value": 0.9, "direction": "higher"},
        {"metric": "m", "value": 0.9, "direction": "up"},
    ],
)
def test_what_is_no_target_is_none(data: object) -> None:
    assert Target.from_dict(data) is None


def test_a_spec_survives_the_way_to_a_worker() -> None:
    spec = make_spec(variant="v", typical_samples=7)
    assert WorkloadSpec.from_dict(spec.to_dict()) == spec


def test_the_benchmarks_name_and_label_say_what_it_is() -> None:
    assert make_spec().benchmark == "made_desk"
    assert make_spec(variant="fashion").benchmark == "made_desk_fashion"
    assert make_spec(mlperf_name="resnet").benchmark == "resnet"
    assert make_spec().label == "unverified; MLPerf procedure, own target"
    assert make_spec(mlperf_name="resnet").label == "unverified"
