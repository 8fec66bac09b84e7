from tests.report.results import published
from trainmark.catalogue import published as from_catalogue
from trainmark.report.published import KIN, comparable, kin_of, pick


def test_a_desk_benchmark_and_the_official_one_have_the_same_kin() -> None:
    desk, official = kin_of("resnet50_desk"), kin_of("resnet")
    assert desk is not None
    assert desk is official
    assert desk.benchmark == "resnet"


def test_an_unknown_benchmark_has_no_kin() -> None:
    assert kin_of("schnet_desk") is None
    assert kin_of("resnet50_desk_fashion") == kin_of("resnet")
    assert kin_of("rnnt_desk") == kin_of("rnnt") is not None
    assert kin_of("") is None


def test_every_kin_has_published_results() -> None:
    for kin in KIN:
        assert from_catalogue(benchmark=kin.benchmark), kin


def test_pick_takes_the_fastest_of_all_and_of_the_common_sizes_newest_round_first() -> None:
    results = [
        published("1.0", "big", 64, 5.0),
        published("1.0", "sixteen", 16, 20.0),
        published("1.0", "eight-slow", 8, 40.0),
        published("1.0", "eight-fast", 8, 30.0),
        published("1.0", "four", 4, 60.0),
        published("10.0", "only", 8, 3.0),
        published("2.0", "uncounted", None, 1.0),
        published("2.0", "four", 4, 9.0),
    ]
    assert [one.system for one in pick(results)] == [
        "only",
        "uncounted",
        "big",
        "sixteen",
        "eight-fast",
    ]


def test_of_the_published_resnet_results_three_a_round_are_picked() -> None:
    results = comparable(from_catalogue(benchmark="resnet"))
    picked = pick(results)
    rounds = [one.round for one in picked]
    assert rounds == sorted(rounds, key=lambda name: float(name or 0), reverse=True)
    assert [one.accelerators for one in picked[1::3]] == [16] * (len(picked) // 3)
    assert [one.accelerators for one in picked[2::3]] == [8] * (len(picked) // 3)
    for best in picked[::3]:
        rivals = [
            one.minutes
            for one in results
            if one.round == best.round
            and one.division == "closed"
            and one.minutes is not None
            and not one.carried_over
        ]
        assert best.minutes == min(rivals)


def test_results_of_another_target_are_left_out() -> None:
    early, late = published("0.5", "old", 8, 1.0), published("4.0", "new", 8, 9.0)
    middle = published("0.6", "middle", 8, 5.0)
    assert comparable([early, late, middle]) == (late, middle)
    assert comparable([]) == ()


def test_open_unscored_and_carried_over_results_do_not_compete() -> None:
    results = [
        published("1.0", "open", 64, 1.0, division="open"),
        published("1.0", "unscored", 1, None),
        published("1.0", "again", 2, 2.0, carried_over=True),
        published("1.0", "closed", 8, 9.0),
    ]
    assert [one.system for one in pick(results)] == ["closed"]


def test_pick_keeps_whole_rounds_within_its_limit() -> None:
    results = [
        published(f"{number}.0", f"{number}-{size}", size, 100.0 / size)
        for number in range(1, 6)
        for size in (64, 8)
    ]
    assert [one.round for one in pick(results, limit=5)] == ["5.0", "5.0", "4.0", "4.0"]
    assert pick([]) == ()
