"""Targets are those of the official rule tables."""

import re
from pathlib import Path

import mlperf_logging.compliance_checker
import pytest

from trainmark.catalogue.targets import target_of
from trainmark.types.workload import Direction

_TABLES = Path(mlperf_logging.compliance_checker.__file__).parent
_LIMIT = re.compile(r"(>=|>|<=|<) *(\d[\d.]*)")
_OTHER_LIMITS = {"1", "1.0", "0.0", "2.6", "8192", "0.706", "0.339"}  # ranges, and second qualities


def _in_table(path: Path) -> set[tuple[str, float]]:
    """The limits on the evaluation that must be met once."""
    texts = re.findall(r'ATLEAST_ONE_CHECK: *"(.*)"', path.read_text())
    text = next((text for text in texts if "v['value']" in text), "")
    found = {(sign[0], limit) for sign, limit in _LIMIT.findall(text)}
    return {(sign, float(limit)) for sign, limit in found if limit not in _OTHER_LIMITS}


@pytest.mark.parametrize(
    "round_name", ["0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1"]
)
def test_the_official_tables_have_the_same_targets(round_name: str) -> None:
    compared = 0
    for path in sorted((_TABLES / f"training_{round_name}.0").glob("closed_*.yaml")):
        benchmark = path.stem.removeprefix("closed_")
        target = target_of(benchmark, round_name)
        limits = _in_table(path)
        if target is None or not limits or benchmark in ("stable_diffusion", "gnn"):
            continue
        sign = ">" if target.direction is Direction.HIGHER else "<"
        assert limits == {(sign, target.value)}, path
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize(
    ("benchmark", "round_name", "value"),
    [
        ("resnet", "0.5", 0.749),
        ("resnet", "4.0", 0.759),
        ("ssd", "1.1", 0.23),
        ("ssd", "2.0", 0.34),
        ("bert", "0.6", None),
        ("flux1", "5.0", None),
        ("resnet50_desk", "5.0", None),
        ("resnet", "own", None),
        ("resnet", "", None),
        ("resnet", "10.1", 0.759),
    ],
)
def test_a_target_has_a_first_round(benchmark: str, round_name: str, value: float | None) -> None:
    target = target_of(benchmark, round_name)
    assert (None if target is None else target.value) == value
