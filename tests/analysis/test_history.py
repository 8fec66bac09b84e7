"""Chains of the same hardware: whose, which rounds, what was gained, where they break."""

from typing import Any

import pytest

from tests.analysis.made import made
from trainmark.analysis.history import Chain, chains_of, gain_of, history
from trainmark.analysis.series import Asked
from trainmark.types import Result, TrainmarkError


def _result(round_name: str, minutes: float, **facts: Any) -> Result:
    submitter = facts.get("submitter", "Acme")
    name = f"v{round_name}/{submitter}/{minutes}"
    return made(minutes, id=name, round=round_name, **facts)


def _one(*results: Result, any_submitter: bool = False) -> Chain:
    (chain,) = chains_of(results, any_submitter=any_submitter)
    return chain


@pytest.mark.parametrize(("chips", "gain", "interval"), [(16, 0.237, 0.005), (64, 0.413, 0.012)])
def test_the_claims_of_24_and_41_per_cent(chips: int, gain: float, interval: float) -> None:
    """ResNet-50 from v1.0 to v1.1 on the same POD: 24 % and 41 % less time."""
    found = history(Asked(benchmark="resnet", accelerator="GC200", round=None), chips=chips)
    (chain,) = found.chains
    assert chain.accelerator.startswith("GC200")
    assert chain.basis == "Graphcore"
    first, second = chain.points[:2]
    assert (first.result.round, second.result.round) == ("1.0", "1.1")
    assert first.since_before is None
    assert second.since_before is not None
    assert second.since_before.value == pytest.approx(gain, abs=5e-4)
    assert second.since_before.within_noise is False
    assert second.since_before.low is not None
    assert second.since_before.high is not None
    assert 0 < second.since_before.high - second.since_before.low < interval


def test_gains_are_against_the_round_before_and_the_first() -> None:
    chain = _one(_result("2.0", 8.0), _result("1.0", 10.0), _result("2.1", 6.0))
    assert [point.result.round for point in chain.points] == ["1.0", "2.0", "2.1"]
    last = chain.points[2]
    assert last.since_before is not None
    assert last.since_first is not None
    assert last.since_before.value == pytest.approx(0.25)
    assert last.since_first.value == pytest.approx(0.4)


def test_rounds_are_in_order_of_time_not_of_letters() -> None:
    chain = _one(*(_result(r, 10.0) for r in ("4.0", "0.7", "2.1", "1.1")))
    assert [point.result.round for point in chain.points] == ["0.7", "1.1", "2.1", "4.0"]


def test_noise_is_told() -> None:
    noisy = {"run_minutes": (9.0, 9.5, 10.0, 10.5, 11.0)}
    gain = gain_of(_result("2.0", 10.0, **noisy), _result("1.0", 10.0, **noisy))
    assert gain.within_noise
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < 0 < gain.high


def test_runs_that_do_not_give_the_score_leave_the_gain_without_interval() -> None:
    gain = gain_of(_result("2.0", 5.0, run_minutes=(1.0, 2.0, 3.0)), _result("1.0", 10.0))
    assert gain.value == pytest.approx(0.5)
    assert gain.within_noise is None
    assert gain.note


def test_the_chain_starts_anew_where_rounds_do_not_compare() -> None:
    chain = _one(_result("0.5", 20.0), _result("0.6", 10.0), _result("0.7", 9.0))
    assert chain.points[1].since_before is None
    assert chain.points[1].samples_change is None
    assert "raised the target" in chain.points[1].parted[0]
    assert chain.points[2].parted == ()
    assert chain.points[2].since_first is not None
    assert chain.points[2].since_first.value == pytest.approx(0.1)


def test_throughput_and_samples_are_told_apart() -> None:
    chain = _one(
        _result("1.0", 10.0, samples_to_target=50e6), _result("1.1", 8.0, samples_to_target=45e6)
    )
    point = chain.points[1]
    assert point.samples_change == pytest.approx(-0.1)
    assert point.rate_change == pytest.approx(0.9 / 0.8 - 1)


def test_another_number_or_accelerator_is_another_chain() -> None:
    chains = chains_of(
        [
            _result("1.0", 10.0),
            _result("1.1", 9.0),
            _result("1.1", 5.0, accelerators=16),
            _result("1.1", 8.0, accelerator="X2"),
        ]
    )
    assert [(c.accelerator, c.chips, len(c.points)) for c in chains] == [
        ("X1", 8, 2),
        ("X2", 8, 1),
        ("X1", 16, 1),
    ]


def test_the_vendor_is_preferred_then_who_has_most_rounds() -> None:
    chip = {"accelerator": "A100-SXM-80GB"}
    both = [
        _result(r, m, submitter=s, **chip)
        for s, m in (("NVIDIA", 10.0), ("Dell", 9.0))
        for r in ("1.0", "1.1")
    ]
    assert _one(*both).basis == "NVIDIA, who makes the accelerator"
    more = [_result("2.0", 8.0, submitter="Dell", **chip)]
    assert _one(*both, *more).basis == "NVIDIA, who makes the accelerator"
    once = [result for result in both if (result.submitter, result.round) != ("NVIDIA", "1.1")]
    assert _one(*once).basis == "Dell, who has most rounds"


def test_one_submitter_s_fastest_of_each_round() -> None:
    results = [
        _result("1.0", 10.0),
        _result("1.0", 9.5),
        _result("1.1", 9.0),
        _result("1.1", 8.0, submitter="Other"),
    ]
    chain = _one(*results)
    assert [point.result.minutes for point in chain.points] == [9.5, 9.0]
    assert [point.of for point in chain.points] == [2, 1]
    chain = _one(*results, any_submitter=True)
    assert [point.result.minutes for point in chain.points] == [9.5, 8.0]
    assert "different submitters" in chain.marks[0]


def test_the_vendor_s_chain_comes_before_a_longer_one_and_mixed_ones_last() -> None:
    def results(chips: int, submitters: str, rounds: tuple[str, ...]) -> list[Result]:
        who = submitters.split() * len(rounds)
        facts = {"accelerator": "A100-SXM-80GB", "accelerators": chips}
        return [_result(r, 9.0, submitter=s, **facts) for r, s in zip(rounds, who, strict=False)]

    chains = chains_of(
        results(4, "A B C", ("1.0", "1.1", "2.0"))
        + results(8, "Dell", ("1.0", "1.1", "2.0"))
        + results(64, "NVIDIA", ("1.0", "1.1"))
    )
    assert [chain.chips for chain in chains] == [64, 8, 4]


def test_nobody_with_two_rounds_gives_everybody_s_and_says_so() -> None:
    chain = _one(_result("1.0", 10.0), _result("1.1", 9.0, submitter="Other"))
    assert "none of them has two rounds" in chain.basis
    assert len(chain.points) == 2


def test_a_number_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(TrainmarkError) as raised:
        history(Asked(benchmark="resnet", accelerator="GC200"), chips=17)
    assert "16" in raised.value.hint


def test_every_chain_has_two_rounds_and_the_rest_is_named() -> None:
    asked = Asked(benchmark="resnet", accelerator="GC200")
    every = history(asked, every_chain=True)
    assert {chain.chips for chain in every.chains} >= {16, 64}
    assert all(len(chain.points) > 1 for chain in every.chains)
    one = history(asked)
    assert one.chains[0].chips == 16
    assert (one.chains[0].accelerator, 64) in one.others
