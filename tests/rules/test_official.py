"""Our verdict against the official checker's, on logs that our writer wrote."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.logs import RESNET_ROUNDS, RunShape, Text, write_resnet
from tests.rules.official import official_verdict
from tests.rules.test_mutations import CASES, Case
from trainmark.mllog import read
from trainmark.rules import check_log

# Where we deliberately read more than the official parser does (docs/checking.md).
READ_BY_US_ONLY = {"no_space_after_token", "token_in_value"}


@pytest.mark.parametrize("round_name", RESNET_ROUNDS)
def test_a_good_log_passes_both(round_name: str, tmp_path: Path) -> None:
    path = write_resnet(tmp_path / "result_0.txt", round_name=round_name)
    assert official_verdict(path, round_name)
    verdict = check_log(read(path), ruleset=round_name)
    assert verdict.official_compliant
    assert verdict.findings == ()


@pytest.mark.parametrize("round_name", [RESNET_ROUNDS[0], RESNET_ROUNDS[-1]])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_spoilt_log_gets_the_same_official_verdict(
    case: Case, round_name: str, tmp_path: Path
) -> None:
    text = Text.read(write_resnet(tmp_path / "result_0.txt", round_name=round_name))
    raw = case.change(text)
    if isinstance(raw, bytes):
        text.path.write_bytes(raw)
    else:
        text.write()
    verdict = check_log(read(text.path), ruleset=round_name)
    assert verdict.official_compliant is (
        official_verdict(text.path, round_name) or case.name in READ_BY_US_ONLY
    )


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5000),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["", "lars", "sgd", "resnet", "closed", "0.8", "open"]),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["status", "epoch_num", "epoch_count"]), st.integers(-1, 2)),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), round_name=st.sampled_from(RESNET_ROUNDS))
def test_a_random_change_gets_the_same_official_verdict(
    data: st.DataObject, round_name: str, tmp_path: Path
) -> None:
    path = tmp_path / "result_0.txt"
    path.unlink(missing_ok=True)
    text = Text.read(write_resnet(path, RunShape(qualities=(0.5, 0.76)), round_name=round_name))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text.records) - 1))
        match data.draw(st.sampled_from(["drop", "value", "metadata", "repeat", "swap"])):
            case "drop":
                del text.records[place]
            case "value":
                text.records[place]["value"] = data.draw(_VALUES)
            case "metadata":
                metadata = data.draw(
                    st.dictionaries(st.sampled_from(["status", "epoch_num"]), _VALUES)
                )
                text.records[place]["metadata"] = metadata
            case "repeat":
                text.records.insert(place, dict(text.records[place]))
            case "swap":
                other = data.draw(st.integers(0, len(text.records) - 1))
                records = text.records
                records[place], records[other] = records[other], records[place]
    text.write()
    verdict = check_log(read(path), ruleset=round_name)
    assert verdict.official_compliant is official_verdict(path, round_name)


def _verdicts(shared_logs: Path) -> Iterator[dict[str, Any]]:
    oracle = shared_logs.parent / "oracle" / "verdicts.jsonl.xz"
    with lzma.open(oracle, "rt") as lines:
        yield from map(json.loads, lines)


def test_published_logs_get_the_published_verdict(shared_logs: Path) -> None:
    """Every sample log from round 1.0 on: verdict, extra findings and minutes agree."""
    differing, checked = [], 0
    for known in _verdicts(shared_logs):
        path = shared_logs / f"v{known['round']}" / known["path"]
        if known["round"] == "0.6" or not path.exists():
            continue
        verdict = check_log(read(path))
        checked += 1
        assert verdict.ruleset is not None or not verdict.ok
        if verdict.ruleset is not None:
            assert verdict.ruleset.name == known["round"]
        same = verdict.official_compliant == verdict.ok == known["compliant"]
        assert verdict.run is not None
        if not same or verdict.run.minutes != pytest.approx(known["minutes"]):
            differing.append((known["path"], verdict.findings[:3], verdict.run.minutes))
    assert checked > 400
    assert differing == []
