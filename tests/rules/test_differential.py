"""The tables of every round against the official checker, on random logs, message by message."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mlperf_logging.compliance_checker import mlp_compliance

from trainmark.mllog import read
from trainmark.rules import Ruleset, known_rulesets
from trainmark.rules.constraints import Compare, Has, OneOf
from trainmark.rules.engine import Outcome, run_tables
from trainmark.rules.nodes import Node
from trainmark.rules.tables import known_tables, load_table
from trainmark.types import Event, RunLog

OFFICIAL = [ruleset for ruleset in known_rulesets().values() if ruleset.official]
_ANY: tuple[Any, ...] = (None, True, 0, 1, -1, 0.5, "", "x", "closed", [], [1, 2], {"BBOX": 1})


def _tables(ruleset: Ruleset) -> list[str]:
    folder = ruleset.first_table.split("/")[0]
    return [name for name in known_tables() if name.startswith(f"{folder}/")]


def _constants(value: Any) -> list[Any]:
    """Every constant that the constraints of a rule compare with."""
    match value:
        case Compare(limit=limit):
            return [limit]
        case OneOf(options=options):
            return list(options)
        case tuple():
            return [constant for one in value for constant in _constants(one)]
        case Node():
            return _constants(value.values_())
    return []


def _names(value: Any) -> list[str]:
    """Every entry of the metadata that the constraints of a rule ask for."""
    match value:
        case Has(name=name):
            return [name]
        case tuple():
            return [name for one in value for name in _names(one)]
        case Node():
            return _names(value.values_())
    return []


_OF_KEY: dict[str, dict[str, tuple[list[Any], list[str]]]] = {}


def _vocabulary(ruleset: Ruleset) -> dict[str, tuple[list[Any], list[str]]]:
    """For each key of a round the values and the metadata names that its rules speak of."""
    if ruleset.name not in _OF_KEY:
        found: dict[str, tuple[list[Any], list[str]]] = {}
        for name in _tables(ruleset):
            for key, rule in load_table(name).keys.items():
                values, names = found.setdefault(key, ([], []))
                values += _constants(rule)
                names += _names(rule)
        _OF_KEY[ruleset.name] = found
    return _OF_KEY[ruleset.name]


@st.composite
def _logs(draw: st.DrawFn) -> tuple[Ruleset, list[tuple[str, Any, dict[str, Any]]]]:
    """A round, and records that its rules know, many of them right."""
    ruleset = draw(st.sampled_from(OFFICIAL))
    vocabulary = _vocabulary(ruleset)
    known = vocabulary["submission_benchmark"][0]
    records: list[tuple[str, Any, dict[str, Any]]] = [
        ("submission_division", draw(st.sampled_from(["closed", "open"])), {}),
        ("submission_benchmark", draw(st.sampled_from(known)), {}),
    ]
    keys = [*vocabulary, "init_start", "init_stop", "run_start", "eval_accuracy", "unknown_key"]
    for _ in range(draw(st.integers(0, 25))):
        key = draw(st.sampled_from(keys))
        values, names = vocabulary.get(key, ([], []))
        value = draw(st.sampled_from([*values, *values, *values, *_ANY]))
        metadata = {
            name: draw(st.sampled_from([1, 2, 0, "success", "FID", None]))
            for name in draw(st.lists(st.sampled_from([*names, "epoch_num", "status"]), max_size=3))
        }
        records.insert(draw(st.integers(0, len(records))), (key, value, metadata))
    return ruleset, records


def _write(path: Path, ruleset: Ruleset, records: list[tuple[str, Any, dict[str, Any]]]) -> None:
    lines = []
    for second, (key, value, metadata) in enumerate(records, start=1_000_000):
        both = {"value": value, "metadata": metadata}
        if ruleset.name == "0.6":
            lines.append(f":::MLL {second}.25 {key}: {json.dumps(both)}")
        else:
            record = {"time_ms": second * 1000 + 250, "key": key, **both}
            lines.append(f":::MLLOG {json.dumps(record)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def official_checker(path: Path, ruleset: Ruleset) -> Any:
    """The official checker after it has seen the log; None if it crashed."""
    mlp_compliance.enqueued_configs.clear()  # a crash leaves some behind
    usage, _, number = ruleset.first_table.split("/")[0].partition("_")
    checker = mlp_compliance.make_checker(usage, number, quiet=False, werror=False)
    try:
        checker.check_file(str(path), ruleset.first_table)
    except Exception:  # noqa: BLE001 -- it has no exceptions of its own: whatever it dies of
        return None
    return checker


def _error_keys(outcome: Outcome) -> set[str]:
    """The keys whose own errors stand at the end, those about tables as a whole left out."""
    named = [one.rule for one in outcome.findings if one.is_error and one.rule != "rules.table"]
    named += [one.finding.rule for one in outcome.missing if len(one.keys) == 1]
    parts = [rule.removeprefix("rules.").rpartition(".") for rule in named]
    whole = {table.split("/")[1].removesuffix(".yaml") for table in outcome.tables}
    return {key for key, _, kind in parts if kind != "target" and key not in whole}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=_logs())
def test_the_same_keys_are_wrong(
    case: tuple[Ruleset, list[tuple[str, Any, dict[str, Any]]]], tmp_path: Path
) -> None:
    ruleset, records = case
    path = tmp_path / "result_0.txt"
    _write(path, ruleset, records)
    official = official_checker(path, ruleset)
    log = read(path)
    ours = run_tables(log, ruleset.first_table, resolve=ruleset.resolve)
    if official is None:
        assert not ours.compliant
        return
    assert ours.compliant is not bool(official.has_messages())
    assert _error_keys(ours) == set(official.overwritable)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["closed", "open", "../x", "{0.__class__}", "bert", "sgd"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["BBOX", "value", "metric", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), ruleset=st.sampled_from([*known_rulesets().values()]))
def test_no_value_breaks_the_rules(data: st.DataObject, ruleset: Ruleset) -> None:
    """Whatever a log holds becomes findings, and each can be shown."""
    keys = [*_vocabulary(ruleset), "submission_benchmark", "submission_division"]
    benchmark = data.draw(st.sampled_from(_vocabulary(ruleset)["submission_benchmark"][0] or ["x"]))
    events = [
        _event("submission_division", data.draw(st.sampled_from(["closed", "open", "x"])), {}),
        _event("submission_benchmark", benchmark, {}),
    ]
    for _ in range(data.draw(st.integers(0, 20))):
        names = st.sampled_from(["metric", "samples_count", "epoch_num", "step_num", "status"])
        metadata = data.draw(st.dictionaries(names, _JSON, max_size=3))
        events.append(_event(data.draw(st.sampled_from(keys)), data.draw(_JSON), metadata))
    log = RunLog(events=tuple(events), source="result_0.txt")
    outcome = run_tables(log, ruleset.first_table, resolve=ruleset.resolve)
    for finding in (*outcome.findings, *(one.finding for one in outcome.missing)):
        assert finding.message.isprintable()
        assert len(finding.message) < 3000


def _event(key: str, value: Any, metadata: dict[str, Any]) -> Event:
    return Event(
        key=key, value=value, metadata=metadata, time_ms=1e12, kind="POINT_IN_TIME", line_no=1
    )
