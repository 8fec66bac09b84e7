from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, Text, write_folder, write_resnet
from trainmark.mllog import read
from trainmark.rules import CheckOptions, SeedRule, check_paths
from trainmark.rules.seeds import check_seeds, seeds_of
from trainmark.types import RunLog, Severity

FIVE = [RunShape(seed=seed) for seed in range(1, 6)]
FILE = {"file": "train.py", "lineno": 7}


def log_with(path: Path, *values: Any, metadata: dict[str, Any] | None = None) -> RunLog:
    """A log with these seeds and no others."""
    text = Text.read(write_resnet(path))
    record = text.find("seed")
    place = text.records.index(record)
    text.drop("seed")
    for value in reversed(values):
        place_of_code = FILE if metadata is None else metadata
        text.records.insert(place, record | {"value": value, "metadata": place_of_code})
    return read(text.write())


def rules_of(*logs: RunLog) -> list[str]:
    return [
        finding.rule for finding in check_seeds("x", [(log.source, seeds_of(log)) for log in logs])
    ]


def test_different_seeds_are_fine(tmp_path: Path) -> None:
    assert rules_of(*(log_with(tmp_path / f"{seed}", seed) for seed in range(3))) == []


def test_a_shared_seed_is_named_with_its_runs(tmp_path: Path) -> None:
    logs = [log_with(tmp_path / f"result_{run}.txt", seed) for run, seed in enumerate((7, 8, "7"))]
    (finding,) = check_seeds("x", [(log.source, seeds_of(log)) for log in logs])
    assert finding.rule == "folder.seeds"
    assert "2 runs have the seed 7 (result_0.txt, result_2.txt)" in finding.message
    assert finding.path == "x"


def test_the_same_number_at_another_place_of_the_code_is_another_seed(tmp_path: Path) -> None:
    here = log_with(tmp_path / "0", 7)
    there = log_with(tmp_path / "1", 7, metadata={"file": "train.py", "lineno": 8})
    assert rules_of(here, there) == []


@pytest.mark.parametrize("value", ["seven", None, True, [7], float("inf")])
def test_a_seed_that_is_no_number(value: Any, tmp_path: Path) -> None:
    log = log_with(tmp_path / "0", value)
    (finding,) = check_seeds("x", [(log.source, seeds_of(log))])
    assert finding.rule == "folder.seed_value"
    assert finding.line_no == next(log.all("seed")).line_no


def test_no_seed_and_several(tmp_path: Path) -> None:
    assert rules_of(log_with(tmp_path / "0")) == ["folder.no_seed"]
    log = log_with(tmp_path / "1", 7, 8)
    (finding,) = check_seeds("x", [(log.source, seeds_of(log))])
    assert (finding.rule, finding.severity) == ("folder.several_seeds", Severity.WARNING)


@pytest.mark.parametrize("metadata", [{}, {"file": "train.py"}, {"lineno": 3}])
def test_a_seed_from_an_unknown_place(metadata: dict[str, Any], tmp_path: Path) -> None:
    assert rules_of(log_with(tmp_path / "0", 7, metadata=metadata)) == ["folder.seed_place"]


def test_many_shared_seeds_are_counted(tmp_path: Path) -> None:
    logs = [log_with(tmp_path / name, *range(20)) for name in ("a", "b")]
    found = list(check_seeds("x", [(log.source, seeds_of(log)) for log in logs]))
    shared = [one.message for one in found if one.rule == "folder.seeds"]
    assert len(shared) == 6
    assert shared[-1].startswith("15 more seeds")


@pytest.mark.parametrize(
    ("round_name", "seeds", "asked"),
    [("4.0", SeedRule.RULE, False), ("4.0", SeedRule.ALWAYS, True), ("own", SeedRule.RULE, True)],
)
def test_from_which_round_on(round_name: str, seeds: SeedRule, asked: bool, tmp_path: Path) -> None:
    folder = tmp_path / "v4.0" / "resnet"
    same = [RunShape(seed=7, minutes=12 + number) for number in range(5)]  # no copies
    write_folder(folder, same, write_resnet) if round_name == "4.0" else write_folder(folder, same)
    found = {f.rule for v in check_paths([folder], CheckOptions(seeds=seeds)) for f in v.findings}
    assert ("folder.seeds" in found) is asked


def test_open_results_need_no_seed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "v4.0" / "x", FIVE, write_resnet)
    options = CheckOptions(seeds=SeedRule.ALWAYS, division="open")
    found = {
        f.rule for v in check_paths([folder], options) for f in v.findings if v.kind == "folder"
    }
    assert not found & {"folder.no_seed", "folder.seeds", "folder.seed_place"}
