import math
import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalogue.repositories import own_result
from trainmark.analysis.statistics import Sample, bootstrap, estimate, ratio, score_of
from trainmark.catalogue import query
from trainmark.rules import score
from trainmark.types import Result, Run


def _sample(*minutes: float, benchmark: str = "bert", failed: int = 0) -> Sample:
    return Sample(minutes=minutes, benchmark=benchmark, failed=failed)


def _spread(generator: random.Random, runs: int, middle: float = 20.0, cv: float = 0.04) -> Sample:
    return _sample(*(generator.gauss(middle, cv * middle) for _ in range(runs)))


@pytest.fixture(scope="module")
def published() -> dict[str, Result]:
    return {result.id: result for result in query()}


@given(
    minutes=st.lists(st.floats(0.01, 1e4), max_size=45),
    failed=st.integers(0, 6),
    benchmark=st.sampled_from(["bert", "resnet", "unet3d", "mine"]),
    scaling=st.floats(1, 2),
)
def test_the_score_is_that_of_the_rules(
    minutes: list[float], failed: int, benchmark: str, scaling: float
) -> None:
    runs = [Run(source="", minutes=one, status="success") for one in minutes]
    runs += [Run(source="", minutes=1.0, status="aborted")] * failed
    expected = score(runs, benchmark=benchmark, scaling=scaling).minutes
    found = score_of(minutes, benchmark=benchmark, failed=failed, scaling=scaling)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))


def test_the_failed_runs_of_every_published_result_are_found(published: dict[str, Result]) -> None:
    scored = [result for result in published.values() if result.minutes is not None]
    samples = [Sample.of(result) for result in scored]
    assert None not in samples
    said = ["of them failed" in result.score_basis for result in scored]
    assert [sample is not None and sample.failed > 0 for sample in samples] == said
    assert any(said)


def test_a_result_whose_score_is_not_that_of_its_runs_has_no_sample() -> None:
    result = own_result()
    sample = Sample.of(result)
    assert sample is not None
    assert sample.score == result.minutes
    assert result.minutes is not None
    assert Sample.of(replace(result, minutes=result.minutes * 1.01)) is None
    assert Sample.of(replace(result, minutes=None)) is None


def test_the_claims_of_two_vendors_have_an_interval(published: dict[str, Result]) -> None:
    def times(a: str, b: str) -> tuple[list[float], bool | None]:
        sides = Sample.of(published[a]), Sample.of(published[b])
        assert sides[0] is not None
        assert sides[1] is not None
        found = ratio(sides[0], sides[1])
        assert found.low is not None
        assert found.high is not None
        return [found.value, found.low, found.high], found.within_noise

    bow = "v2.0/Graphcore/ipu-pod16-POPART-closed/bert"
    found, noise = times(bow, "v1.1/Graphcore/ipu-pod16-POPART-closed/bert")
    assert found == pytest.approx([1 - 0.368, 1 - 0.398, 1 - 0.338], abs=0.003)
    assert noise is False
    found, noise = times("v2.0/Baidu/IPU_POD16_PaddlePaddle/bert", bow)
    assert found == pytest.approx([1.008, 0.956, 1.066], abs=0.004)
    assert noise is True


def test_the_same_runs_give_the_same_numbers() -> None:
    a, b = _spread(random.Random(1), 10), _spread(random.Random(2), 10)
    assert ratio(a, b) == ratio(a, b)
    assert ratio(a, b) != ratio(a, b, seed=1)
    assert estimate(a) == estimate(a)


def test_the_order_of_the_runs_hardly_matters_and_turning_sides_turns_the_ratio() -> None:
    a, b = _spread(random.Random(1), 10), _spread(random.Random(2), 10, 21)
    there, back = ratio(a, b, resamples=5000), ratio(b, a, resamples=5000)
    assert there.low is not None
    assert back.high is not None
    assert there.share_faster is not None
    assert back.share_faster is not None
    assert there.value == pytest.approx(1 / back.value)
    assert there.low == pytest.approx(1 / back.high, rel=0.01)
    assert there.share_faster == pytest.approx(1 - back.share_faster, abs=0.03)
    assert there.share_faster > 0.5


@pytest.mark.parametrize("runs", [1, 2])
def test_of_one_or_two_runs_no_interval_is_made_up(runs: int) -> None:
    few, many = _sample(*[10.0, 11.0][:runs]), _spread(random.Random(1), 10)
    for found in (ratio(few, many), ratio(many, few)):
        assert (found.low, found.high, found.within_noise, found.share_faster) == (None,) * 4
        assert found.note.startswith(f"no interval: {runs} run")
    alone = estimate(few)
    assert alone is not None
    assert (alone.low, alone.high) == (None, None)
    assert alone.note.startswith("no interval")


def test_of_three_runs_the_interval_is_called_rough() -> None:
    found = ratio(_sample(10, 11, 12), _spread(random.Random(1), 10))
    assert found.low is not None
    assert found.note == "rough: the interval of only 3 runs is too narrow"
    alone = estimate(_sample(10, 11, 12))
    assert alone is not None
    assert (alone.low, alone.high) == (10, 12)
    assert "rough" in alone.note
    assert ratio(_spread(random.Random(1), 5), _spread(random.Random(2), 5)).note == ""


def test_failed_runs_are_drawn_too() -> None:
    nine = tuple(20 + 0.1 * place for place in range(9))
    with_failure, without = _sample(*nine, failed=1), _sample(*nine, 20.9)
    assert with_failure.score == without.score
    drawn = bootstrap(with_failure)
    lost = sum(map(math.isinf, drawn)) / len(drawn)
    # 1 - 0.9^10 - 10 * 0.1 * 0.9^9: two or more of ten draws are the failed one
    assert lost == pytest.approx(0.264, abs=0.03)
    found = ratio(with_failure, without)
    assert found.high is not None
    assert math.isfinite(found.high)
    assert "too many failed runs" in found.note
    assert not any(map(math.isinf, bootstrap(without)))


def test_a_side_without_a_score_is_no_ratio() -> None:
    assert _sample(10, 11, failed=3).score is None
    assert estimate(_sample(10, 11, failed=3)) is None
    assert estimate(_sample()) is None
    for broken in (_sample(10, 11, failed=3), _sample(0, 0, 0), _sample(-3, -2, -1)):
        with pytest.raises(ValueError, match="score above 0 on either side"):
            ratio(broken, _sample(10, 11, 12))
        with pytest.raises(ValueError, match="score above 0 on either side"):
            ratio(_sample(10, 11, 12), broken)


def test_times_of_zero_end_nothing() -> None:
    found = ratio(_sample(0, 0, 10, 11, 12), _sample(10, 11, 12, 0, 0))
    assert found.high is not None
    assert math.isfinite(found.high)


def test_equal_times_are_said_to_show_no_spread() -> None:
    found = ratio(_sample(*[10.0] * 5), _sample(*[11.0] * 5))
    assert found.low == found.high == pytest.approx(10 / 11)
    assert found.within_noise is False
    assert "no spread" in found.note


def test_scaling_moves_the_interval() -> None:
    plain = _spread(random.Random(1), 10)
    scaled = Sample(minutes=plain.minutes, benchmark="bert", scaling=1.25)
    one, other = estimate(plain), estimate(scaled)
    assert one is not None
    assert other is not None
    assert one.low is not None
    assert other.low == pytest.approx(one.low * 1.25)


@pytest.mark.parametrize(("runs", "least", "most"), [(10, 0.91, 0.98), (5, 0.90, 0.98)])
def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says(
    runs: int, least: float, most: float
) -> None:
    generator = random.Random(7)
    held = 0
    for trial in range(400):
        a, b = _spread(generator, runs), _spread(generator, runs, middle=30)
        found = ratio(a, b, resamples=200, seed=trial)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 20 / 30 <= found.high
    assert least <= held / 400 <= most


def test_a_wider_confidence_is_a_wider_interval() -> None:
    a, b = _spread(random.Random(1), 10), _spread(random.Random(2), 10)
    narrow, wide = ratio(a, b, confidence=0.8), ratio(a, b, confidence=0.99)
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low
    assert wide.confidence == 0.99


def test_two_sides_of_ten_runs_take_little_time() -> None:
    a, b = _spread(random.Random(1), 10), _spread(random.Random(2), 10)
    times = []
    for _ in range(5):
        started = time.process_time()
        ratio(a, b)
        times.append(time.process_time() - started)
    assert min(times) < 0.08


def test_the_order_of_the_runs_changes_nothing() -> None:
    runs = (20.0, 21.5, 19.2, 20.4, 22.0)
    other = _sample(30.0, 31.0, 29.5, 30.2)
    assert ratio(_sample(*runs), other) == ratio(_sample(*reversed(runs)), other)
    assert estimate(_sample(*runs)) == estimate(_sample(*reversed(runs)))
