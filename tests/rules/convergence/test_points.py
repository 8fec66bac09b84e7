"""The installed references, and what is not one."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.convergence.cases import ROUND_4, ROUND_5, published
from trainmark.rules.convergence import references as lookup
from trainmark.rules.convergence import references_table
from trainmark.rules.convergence.points import (
    References,
    make_points,
    parse_records,
    references_of_round,
)
from trainmark.rules.rulesets import OWN, known_rulesets, ruleset_named
from trainmark.types import TrainmarkError


def test_every_installed_table_is_read() -> None:
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    files = sorted(Path(checker.__file__).parent.glob("*_*/rcps_*.json"))
    assert len(files) > 80
    rulesets = {one.first_table.split("/")[0]: one for one in known_rulesets().values()}
    for file in files:
        table = lookup(rulesets[file.parent.name], file.stem.removeprefix("rcps_"))
        assert table is not None, file
        sizes = [point.batch_size for point in table.points]
        assert sizes == sorted(set(sizes))
        assert all(0 < point.least <= point.mean for point in table.points)


def test_the_numbers_of_runs_are_those_of_the_official_checker() -> None:
    checker = pytest.importorskip("mlperf_logging.rcp_checker.rcp_checker")
    for name, ruleset in known_rulesets().items():
        usage = "hpc" if name.startswith("hpc") else "training"
        for benchmark, runs in checker.submission_runs[usage].items():
            table = lookup(ruleset, benchmark)
            assert table is None or table.runs == runs


@pytest.mark.parametrize(
    "benchmark", ["no_such", "", "../resnet", "resnet/../resnet", "RESNET", "x" * 5000, "a\0b"]
)
def test_a_name_from_a_log_finds_no_file(benchmark: str) -> None:
    assert lookup(ROUND_4, benchmark) is None
    assert references_table(ROUND_4, benchmark) == []


def test_our_own_benchmarks_have_none() -> None:
    assert lookup(OWN, "resnet") is None


def test_what_is_particular_to_a_table() -> None:
    assert published(ROUND_4, "unet3d").left_out == 4
    assert published(ROUND_4, "resnet").left_out == 1
    assert published(ROUND_5, "llama31_405b").slack == 46_080
    assert published(ROUND_5, "bert").slack == 0
    assert not published(ruleset_named("2.0"), "dlrm").judged
    assert not published(ruleset_named("2.0"), "resnet").scales
    assert published(ruleset_named("2.1"), "resnet").scales


@pytest.mark.parametrize(
    ("round_name", "benchmark", "unit"),
    [
        ("4.0", "resnet", "epochs"),
        ("4.0", "gpt3", "tokens"),
        ("4.0", "bert", "samples"),
        ("4.0", "llama2_70b_lora", "samples"),
        ("3.1", "stable_diffusion", "steps"),
        ("4.0", "stable_diffusion", "samples"),
        ("1.0", "unet3d", "epochs"),
        ("4.0", "unet3d", "samples"),
    ],
)
def test_what_is_counted(round_name: str, benchmark: str, unit: str) -> None:
    assert published(ruleset_named(round_name), benchmark).unit == unit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"a": {"BS": 1}}',
        '{"a": {"BS": "x", "Epochs to converge": [1, 2, 3]}}',
        '{"a": {"BS": 1, "Epochs to converge": [1, 2]}}',
        '{"a": {"BS": 1, "Epochs to converge": [1, 2, NaN]}}',
        '{"a": {"BS": 1, "Epochs to converge": 3}}',
    ],
)
def test_a_damaged_file_is_said(text: str) -> None:
    with pytest.raises(TrainmarkError, match="cannot read the reference points"):
        parse_records(text, "training_4.0.0/resnet")


def test_points_are_in_the_order_of_their_batch_sizes() -> None:
    points = make_points({20: [5, 6, 7], 10: [3, 4, 9]}, benchmark="resnet", runs=5)
    assert [point.batch_size for point in points] == [10, 20]
    assert list(points[0].amounts) == [3, 4, 9]
    assert points[0].mean == 4


def test_the_table_of_a_round() -> None:
    lines = references_table(ROUND_4, "resnet")
    assert lines[0] == "resnet, round 4.0: epochs until the target"
    assert lines[1] == "5 runs a submission; means without the fastest and the slowest"
    assert lines[2].split() == ["batch", "size", "runs", "mean", "deviation", "least", "acceptable"]
    assert lines[3].split() == ["1,632", "17", "35", "1.0847", "33.8023"]
    assert lines[5].split() == ["4,096", "10", "39.875", "1", "38.634", "pruned"]
    assert len(lines) == 3 + 10 + 1
    assert all(len(line) <= 100 for line in lines)


def test_a_table_says_what_is_particular() -> None:
    assert "allows beyond the t-test" in references_table(ROUND_5, "llama31_405b")[-1]
    assert "cannot judge" in references_table(ruleset_named("1.1"), "dlrm")[-1]
    assert isinstance(published(ROUND_5, "bert"), References)


def test_nothing_heavy_is_imported() -> None:
    program = (
        "import sys; from trainmark.rules.convergence import references_table; "
        "from trainmark.rules.rulesets import ruleset_named; "
        "assert references_table(ruleset_named('4.0'), 'bert'); "
        "print(*({'numpy', 'scipy', 'pandas'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_a_round_by_name_gives_what_its_rules_give() -> None:
    for name in ("1.0", "4.1"):
        assert references_of_round(name, "bert") == lookup(ruleset_named(name), "bert")
    assert references_of_round("1.0", "no_such") is None
    assert references_of_round("0.7", "bert") is None
    assert references_of_round("../1.0", "bert") is None
    assert references_of_round("1.0", "../bert") is None
