"""Our reading of the official power tools against the tools themselves."""

import ast
import importlib.util
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mlperf_logging.compliance_checker.mlp_parser import parse_file
from mlperf_logging.package_checker.power_checker import PowerChecker

from tests.rules.submission.test_power import GOOD, START_MS, Folder, record
from trainmark.rules.submission.power_energy import official_joules_of
from trainmark.rules.submission.power_logs import read_power_log
from trainmark.types import Severity

DURATION_MS = 120_000
ESTIMATE = record("interconnect_power_est", 1000, 0)


@pytest.fixture(scope="module")
def summarizer() -> SimpleNamespace:
    """The summarizer's two functions alone: all of it would take seconds for pandas and scipy."""
    spec = importlib.util.find_spec("mlperf_logging.result_summarizer.result_summarizer")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    wanted = ("_compute_power_node", "_compute_power_sw")
    tree.body = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    found: dict[str, Any] = {}
    exec(compile(tree, spec.origin, "exec"), found)
    return SimpleNamespace(node=found[wanted[0]], switch=found[wanted[1]])


def _lines(seed: int) -> list[str]:
    """A power log, orderly or not."""
    chance = random.Random(seed)
    lines = [record("power_measurement_start", None, chance.choice([-5, 0, 3]))]
    if chance.random() < 0.5:
        lines.append(record("conversion_eff", round(chance.uniform(0.5, 1), 2), -5))
    lines += [
        record("power_reading", chance.randint(-5, 900), second + chance.choice([0, 5]))
        for second in range(chance.choice([0, 1, 2, 50]))
    ]
    if chance.random() < 0.8:
        lines.append(record("power_measurement_stop", None, chance.choice([-5, 0, 40, 60])))
    return lines


@pytest.mark.parametrize("seed", range(60))
def test_the_official_energy_of_a_node(
    tmp_path: Path, summarizer: SimpleNamespace, seed: int
) -> None:
    path = tmp_path / "node_0.txt"
    path.write_text("\n".join(_lines(seed)) + "\n", encoding="utf-8")
    logged, failed = parse_file(str(path), ruleset="5.0.0")
    assert not failed
    try:
        theirs = summarizer.node(logged, DURATION_MS)
    except (ZeroDivisionError, ValueError):
        theirs = None
    ours = official_joules_of(read_power_log(path), DURATION_MS)
    assert ours == (theirs if theirs is None else pytest.approx(theirs))


@pytest.mark.parametrize("estimates", [[], [1000], [1000, 2000]])
def test_the_official_energy_of_a_switch(
    tmp_path: Path, summarizer: SimpleNamespace, estimates: list[int]
) -> None:
    path = tmp_path / "sw_0.txt"
    lines = [record("conversion_eff", 0.9, 0)]
    lines += [record("interconnect_power_est", watts, 1) for watts in estimates]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    logged, _ = parse_file(str(path), ruleset="5.0.0")
    theirs = summarizer.switch(logged, DURATION_MS)
    assert official_joules_of(read_power_log(path), DURATION_MS) == pytest.approx(theirs)


@pytest.mark.parametrize("seed", range(30))
def test_what_the_official_power_checker_refuses_is_an_error(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = Folder(tmp_path, runs=4)
    for number in range(4):
        for node in range(chance.choice([2, 2, 2, 3])):
            name = f"node_{node + chance.choice([0] * 9 + [1])}.txt"
            folder.put(f"result_{number}/{name}", GOOD)
        folder.put(f"result_{number}/sw_{chance.choice([0] * 9 + [1])}.txt", [ESTIMATE])
    valid, failed = PowerChecker("5.0.0").check_power(
        str(tmp_path / "power"), [str(run.log) for run in folder.timed()]
    )
    errors = [one for one in folder.measure().findings if one.severity is Severity.ERROR]
    assert bool(errors) == (bool(failed) or not valid), (failed, errors)


def test_the_written_log_is_what_the_official_parser_reads(tmp_path: Path) -> None:
    path = tmp_path / "node_0.txt"
    path.write_text(record("power_reading", 7, 0) + "\n", encoding="utf-8")
    ((line,), failed) = parse_file(str(path), ruleset="5.0.0")
    assert not failed
    assert (line.key, line.timestamp) == ("power_reading", START_MS)
    assert json.loads(path.read_text().removeprefix(":::MLLOG "))["value"] == 7
