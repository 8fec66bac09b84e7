from tests.report.results import published
from trainmark.catalogue import published as from_catalogue
from trainmark.report.published import KIN, kin_of, pick


def test_a_desk_benchmark_and_the_official_one_have_the_same_kin() -> None:
    desk, official = kin_of("resnet50_desk"), kin_of("resnet")
    assert desk is not None
    assert desk is official
    assert desk.benchmark == "resnet"


def test_an_unknown_benchmark_has_no_kin() -> None:
    assert kin_of("schnet_desk") is None
    assert kin_of("resnet50_desk_fashion") == kin_of("resnet")
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
    picked = pick(from_catalogue(benchmark="resnet"))
    assert [(one.round, one.accelerators) for one in picked] == [
        ("2.0", 4096),
        ("2.0", 16),
        ("2.0", 8),
        ("1.1", 4320),
        ("1.1", 16),
        ("1.1", 8),
        ("1.0", 3456),
        ("1.0", 16),
        ("1.0", 8),
    ]


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
