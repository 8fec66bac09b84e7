"""Checking system descriptions: fields, words and numbers, by round and as the official tool."""

import ast
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mlperf_logging.system_desc_checker.system_desc_checker import check_system_desc

from tests.rules.submission.systems_files import GOOD, write, write_text
from trainmark.machine import write_system
from trainmark.rules.rulesets import known_rulesets
from trainmark.rules.submission import systems
from trainmark.rules.submission.systems import check_system, find_descriptions, read_system
from trainmark.rules.submission.systems_fields import (
    CATEGORIES_OF_4_1,
    FIELD_NAMES,
    FIELDS,
    category,
    division,
    is_placeholder,
)
from trainmark.rules.verdict import Verdict
from trainmark.types import Finding, Severity, System

ROUNDS = [name for name, ruleset in known_rulesets().items() if ruleset.official]
OFFICIAL_FIELDS = 33
WORDS = [*CATEGORIES_OF_4_1.values(), "onprem", "Available cloud ", "available", "", "nonsense"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The official checker logs each verdict."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def check(path: Path, round_name: str | None = "5.0") -> Verdict:
    return check_system(path, ruleset=known_rulesets()[round_name] if round_name else None)


def said(verdict: Verdict, rule: str) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.rule == f"system.{rule}"]


def one(verdict: Verdict, rule: str) -> Finding:
    (finding,) = said(verdict, rule)
    return finding


def official(path: Path, round_name: str) -> bool:
    """The official verdict; no where it crashes."""
    usage, _, number = round_name.rpartition("-")
    try:
        return bool(check_system_desc(str(path), usage or "training", f"{number}.0")[0])
    except Exception:  # noqa: BLE001 - whatever it stops at
        return False


@pytest.mark.parametrize("round_name", [*ROUNDS, "own", None])
def test_a_good_description_passes_in_every_round(tmp_path: Path, round_name: str | None) -> None:
    verdict = check(write(tmp_path), round_name)
    assert verdict.findings == ()
    assert verdict.ok
    assert (verdict.kind, verdict.division) == ("system", "closed")
    assert verdict.official_compliant is (True if round_name in ROUNDS else None)


def test_there_are_33_fields_and_the_official_ones_in_the_official_order() -> None:
    assert len(FIELD_NAMES) == OFFICIAL_FIELDS
    assert set(System().to_dict()) == set(FIELD_NAMES)


def test_a_description_as_trainmark_writes_it_passes_its_own_rules(tmp_path: Path) -> None:
    described = System(
        submitter="tester",
        system_name="box",
        host_processors_per_node=1,
        host_processor_core_count=2,
        accelerator_model_name="N/A",
    )
    path = write_text(tmp_path, json.dumps(described.to_dict()))
    assert [finding.rule for finding in check(path, "own").findings] == ["system.empty"]
    assert check(path, "own").ok


@pytest.mark.parametrize("status", ["onprem", "cloud", "preview", "research"])
@pytest.mark.parametrize("seen", [0, 2])
def test_a_description_as_trainmark_writes_it_passes_the_official_checker(
    tmp_path: Path, status: str, seen: int
) -> None:
    described = System(
        submitter="tester",
        status=status,
        system_name="box",
        host_processors_per_node=seen,
        host_processor_core_count=seen,
        other_software_stack={"CUDA": "12.4"},
    )
    path = tmp_path / "box.json"
    write_system(described, path)
    verdict = check(path, "5.0")
    assert [finding.rule for finding in verdict.findings] == ["system.empty"]
    assert verdict.findings[0].severity is Severity.NOTE
    assert ("host_processors_per_node" in verdict.findings[0].message) == (seen == 0)
    assert verdict.official_compliant is official(path, "5.0") is True


@pytest.mark.parametrize("field", FIELD_NAMES)
def test_a_missing_field_is_an_error(tmp_path: Path, field: str) -> None:
    path = write(tmp_path, field)
    verdict = check(path)
    assert one(verdict, "missing").expected == field
    assert not verdict.ok
    assert verdict.official_compliant is official(path, "5.0") is False


def test_missing_fields_are_one_finding_and_a_warning_in_round_0_6(tmp_path: Path) -> None:
    path = write(tmp_path, "cooling", "submitter")
    finding = one(check(path, "0.6"), "missing")
    assert finding.severity is Severity.WARNING
    assert "2 fields are missing: submitter, cooling" in finding.message
    assert one(check(path, "0.7"), "missing").is_error
    assert one(check(path, None), "missing").is_error


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ("sumitter", "submitter"),
        ("Number of nodes", "number_of_nodes"),
        ("accelerator_on_chip_memories", "accelerator_on-chip_memories"),
        ("COOLING", "cooling"),
    ],
)
def test_a_misspelt_field_is_named_once(tmp_path: Path, wrong: str, field: str) -> None:
    verdict = check(write(tmp_path, field, **{wrong: "8"}))
    finding = one(verdict, "missing")
    assert f'Rename "{wrong}" to {field}.' == finding.fix
    assert finding.line_no == OFFICIAL_FIELDS + 3  # it stands last; one field takes three lines
    assert not said(verdict, "unknown_field")


def test_unknown_fields_are_warnings(tmp_path: Path) -> None:
    verdict = check(write(tmp_path, sumitter="x", **{"system-type": "y", "z\x1b[31m": "z"}))
    first, second, third = said(verdict, "unknown_field")
    assert "submitter is there too" in first.message
    assert "Rename it to system_type" in second.fix
    assert "\x1b" not in third.message
    assert verdict.ok


def test_known_extra_fields_pass(tmp_path: Path) -> None:
    assert not check(
        write(tmp_path, system_type="datacenter", framework_name="", notes="")
    ).findings


def test_many_unknown_fields_are_bounded(tmp_path: Path) -> None:
    many = {f"made_up_{number}": "" for number in range(3000)}
    findings = said(check(write(tmp_path, **many)), "unknown_field")
    assert len(findings) == 20
    assert "2980 more" in findings[-1].message


@pytest.mark.parametrize("field", [field.name for field in FIELDS if field.joined])
@pytest.mark.parametrize("value", [8, ["x"], None, True, {"a": 1}])
def test_what_the_official_tool_stops_at_is_an_error(
    tmp_path: Path, field: str, value: Any
) -> None:
    path = write(tmp_path, **{field: value})
    verdict = check(path)
    assert one(verdict, "type").is_error
    assert verdict.official_compliant is official(path, "5.0") is False


def test_a_number_that_it_stops_at_is_a_warning_while_no_round_is_known(tmp_path: Path) -> None:
    finding = one(check(write(tmp_path, accelerators_per_node=8), None), "type")
    assert finding.severity is Severity.WARNING
    assert finding.fix == 'Write it in quotes: "accelerators_per_node": "8".'


@pytest.mark.parametrize(
    ("field", "value", "severity"),
    [
        ("number_of_nodes", "two", Severity.ERROR),
        ("number_of_nodes", "2 nodes", Severity.ERROR),
        ("number_of_nodes", "0", Severity.ERROR),
        ("number_of_nodes", "-1", Severity.ERROR),
        ("number_of_nodes", "N/A", Severity.ERROR),
        ("number_of_nodes", 1.5, Severity.ERROR),
        ("number_of_nodes", None, Severity.ERROR),
        ("number_of_nodes", True, Severity.ERROR),
        ("number_of_nodes", 2.0, Severity.WARNING),
        ("accelerators_per_node", "8x", Severity.ERROR),
        ("accelerators_per_node", "\u0663", Severity.ERROR),  # an Arabic digit
        ("host_processor_core_count", "Node1: 128, Node2: 64", Severity.WARNING),
        ("host_processors_per_node", "0", Severity.WARNING),
        ("host_processor_vcpu_count", [1], Severity.WARNING),
    ],
)
def test_a_count_that_is_none(tmp_path: Path, field: str, value: Any, severity: Severity) -> None:
    finding = one(check(write(tmp_path, **{field: value})), "number")
    assert finding.severity is severity
    assert finding.line_no is not None
    assert "a whole number" in finding.expected
    assert finding.found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number_of_nodes", 2),
        ("number_of_nodes", " 2 "),
        ("host_processor_vcpu_count", ""),
        ("host_processor_vcpu_count", "N/A"),
        ("host_processor_core_count", "-"),
    ],
)
def test_counts_that_pass(tmp_path: Path, field: str, value: Any) -> None:
    assert not check(write(tmp_path, **{field: value})).findings


@pytest.mark.parametrize(
    "field",
    ["submitter", "division", "status", "system_name", "number_of_nodes", "accelerators_per_node"],
)
def test_identity_may_not_be_empty(tmp_path: Path, field: str) -> None:
    for text in ("", " \t"):
        verdict = check(write(tmp_path, **{field: text}), "3.0")
        assert [finding.rule for finding in verdict.findings] == ["system.empty"]
        assert not verdict.ok


def test_other_empty_fields_are_one_note(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        cooling="",
        hw_notes="",
        other_software_stack=[],
        host_processor_core_count="",
        host_processor_vcpu_count="",
    )
    finding = one(check(path), "empty")
    assert finding.severity is Severity.NOTE
    assert "3 fields" in finding.message
    assert "cooling, other_software_stack, host_processor_core_count or" in finding.message


@pytest.mark.parametrize(
    ("round_name", "status", "severity"),
    [
        ("5.0", "onprem", Severity.ERROR),
        ("5.0", "available on-premise", Severity.ERROR),
        ("4.1", "Available On-Premise", Severity.ERROR),
        ("6.1", "Research", Severity.ERROR),
        ("4.0", "onprem", Severity.WARNING),
        ("4.0", "Cloud", Severity.WARNING),
        ("4.0", "nonsense", Severity.WARNING),
        ("3.0", "nonsense", Severity.WARNING),
        ("hpc-3.0", "nonsense", Severity.WARNING),
        (None, "nonsense", Severity.WARNING),
        ("4.0", "Preview", None),
        ("3.1", "onprem", None),
        ("1.0", "available on premise", None),
        ("0.6", "on-premise", None),
        ("hpc-3.0", "cloud", None),
        (None, "research", None),
    ],
)
def test_the_vocabulary_of_status_by_round(
    tmp_path: Path, round_name: str | None, status: str, severity: Severity | None
) -> None:
    verdict = check(write(tmp_path, status=status), round_name)
    assert [finding.severity for finding in said(verdict, "status")] == (
        [] if severity is None else [severity]
    )
    assert len(verdict.findings) == len(said(verdict, "status"))


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        ("onprem", 'Write "Available on-premise".'),
        ("available", 'Write "Available on-premise" or "Available cloud".'),
        ("Availabel clowd", 'Write "Available cloud".'),
        ("rdi", 'Write "Research, Development, or Internal (RDI)".'),
        ("x", "Write one of "),
    ],
)
def test_the_right_word_for_status_is_given(tmp_path: Path, status: str, fix: str) -> None:
    assert one(check(write(tmp_path, status=status)), "status").fix.startswith(fix)


@pytest.mark.parametrize("text", ["close", "Closed", "CLOSED", " closed"])
def test_a_division_spelt_otherwise_is_a_warning(tmp_path: Path, text: str) -> None:
    verdict = check(write(tmp_path, division=text))
    assert verdict.ok
    assert verdict.division == "closed"
    assert one(verdict, "division").fix == "Write closed."


def test_another_division_is_an_error(tmp_path: Path) -> None:
    verdict = check(write(tmp_path, division="../closed"))
    assert one(verdict, "division").is_error
    assert verdict.division == "../closed"


def test_accelerators_and_their_name(tmp_path: Path) -> None:
    none = {"accelerators_per_node": "0", "accelerator_model_name": "N/A"}
    assert not check(write(tmp_path, **none)).findings
    assert said(check(write(tmp_path, **none | {"accelerators_per_node": "8"})), "accelerator")
    assert said(check(write(tmp_path, accelerators_per_node="0")), "accelerator")


def test_repeated_fields(tmp_path: Path) -> None:
    text = json.dumps(GOOD)
    same = check(write_text(tmp_path, '{"cooling": "some cooling", ' + text[1:]))
    assert one(same, "repeated_field").severity is Severity.NOTE
    differing = check(write_text(tmp_path, '{"cooling": "air", ' + text[1:]))
    finding = one(differing, "repeated_field")
    assert finding.severity is Severity.WARNING
    assert '"some cooling", counts' in finding.message


def test_placeholders_are_one_warning(tmp_path: Path) -> None:
    finding = one(check(write(tmp_path, cooling="TODO", hw_notes="tbd")), "placeholder")
    assert "2 fields still have" in finding.message
    assert "cooling, hw_notes" in finding.message


def test_the_form_of_round_0_6(tmp_path: Path) -> None:
    path = write_text(tmp_path, 'org: {"value": "x"}\ndivision: {"value": "close"}\n')
    verdict = check(path, "0.6")
    assert [finding.rule for finding in verdict.findings] == ["system.form", "system.division"]
    assert verdict.ok
    assert verdict.official_compliant is False
    assert one(check(path), "form").is_error


def test_any_fault_of_the_file_makes_the_verdict_official_too(tmp_path: Path) -> None:
    path = write_text(tmp_path, json.dumps(GOOD)[:-1] + ",}")
    verdict = check(path)
    assert [finding.rule for finding in verdict.findings] == ["system.json"]
    assert verdict.official_compliant is official(path, "5.0") is False


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 99),
    st.floats(),
    st.sampled_from(["", "8", "N/A", "TODO", "closed", "\x1b[31m", "\ud800", *WORDS]),
    st.text(max_size=6),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    without=st.sets(st.sampled_from(FIELD_NAMES), max_size=2),
    changes=st.dictionaries(
        st.one_of(st.sampled_from(FIELD_NAMES), st.text(max_size=8)), VALUES, max_size=3
    ),
    status=st.one_of(st.sampled_from(WORDS), VALUES),
    round_name=st.sampled_from(ROUNDS),
)
def test_the_official_verdict_is_told_on_any_description(
    tmp_path: Path, without: set[str], changes: dict[str, Any], status: Any, round_name: str
) -> None:
    """What the official tool refuses is said, and where it stops too; no finding is empty."""
    fields = GOOD | {"status": status} | changes
    fields = {name: value for name, value in fields.items() if name not in without}
    path = write_text(tmp_path, json.dumps(fields))
    verdict = check(path, round_name)
    assert verdict.official_compliant is official(path, round_name)
    if not verdict.official_compliant:
        assert verdict.findings
    if verdict.ok:
        assert verdict.official_compliant or round_name in ("0.6", "4.0")
    for finding in verdict.findings:
        assert finding.message.isprintable()
        assert finding.fix.isprintable()
        assert finding.line.isprintable()
        assert finding.message.isascii()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.recursive(VALUES, lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_any_json_is_checked(tmp_path: Path, text: Any) -> None:
    path = write_text(tmp_path, json.dumps(text))
    for round_name in ("0.6", "5.0", None):
        assert not check(path, round_name).ok or round_name == "0.6"


def test_published_descriptions_have_the_official_verdict(shared_logs: Path) -> None:
    found = 0
    for path in sorted(shared_logs.glob("v*/*/systems/*.json")):
        round_name = path.relative_to(shared_logs).parts[0].removeprefix("v")
        verdict = check(path, round_name)
        assert verdict.official_compliant is official(path, round_name), path
        assert verdict.ok, path
        found += 1
    assert found > 50


def test_descriptions_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "systems"
    (folder / "below").mkdir(parents=True)
    for name in ("b 2.json", "a.json", ".a.json.swp", ".hidden.json", "README.md", "a.json~"):
        (folder / name).write_text("{}")
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    (folder / "out.json").symlink_to(outside)
    (folder / "in.json").symlink_to("a.json")
    files, findings = find_descriptions(folder)
    assert [file.name for file in files] == ["a.json", "b 2.json", "in.json"]
    assert sorted((finding.rule, Path(finding.path).name) for finding in findings) == [
        ("system.link", "out.json"),
        ("system.other_file", ".a.json.swp"),
        ("system.other_file", ".hidden.json"),
        ("system.other_file", "README.md"),
        ("system.other_file", "a.json~"),
    ]


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", write(tmp_path)):
        files, (finding,) = find_descriptions(folder)
        assert files == []
        assert finding.rule == "system.unreadable"


def test_read_system_gives_data_or_nothing(tmp_path: Path) -> None:
    description = read_system(write(tmp_path))
    assert description is not None
    assert description.count("accelerators_per_node") == 8
    assert read_system(tmp_path / "none.json") is None


@pytest.mark.parametrize(
    ("status", "means"),
    [
        ("onprem", "on premise"),
        ("on-premise", "on premise"),
        ("Available on-premise", "on premise"),
        ("available on premise", "on premise"),
        ("available in cloud", "cloud"),
        ("Cloud", "cloud"),
        ("available", "available"),
        ("Preview", "preview"),
        ("Research, Development, or Internal (RDI)", "research"),
        ("researcher", None),
        ("", None),
    ],
)
def test_what_a_status_means(status: str, means: str | None) -> None:
    assert category(status) == means


def test_what_a_division_means() -> None:
    assert [division(text) for text in ("Closed", "close", " OPEN ", "", "closedly")] == [
        "closed",
        "closed",
        "open",
        None,
        None,
    ]


def test_what_a_placeholder_is() -> None:
    for text in ("TODO", "tbd", "<name>", "1xSUBMISSION_PLATFORM_PLACEHOLDER", "xxx", "???"):
        assert is_placeholder(text), text
    for text in ("N/A", "none", "-", "", "8x 80GB <-> NVLink", "A100 TODO list", "xx"):
        assert not is_placeholder(text), text


def test_every_rule_is_explained_and_documented() -> None:
    folder = Path(systems.__file__).parent
    names = set()
    for path in folder.glob("systems*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names |= {node.value} if node.value.startswith("system.") else set()
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                place = 1 if called == "_at" else 0
                if called in ("_at", "find", "finding", "_stop") and len(node.args) > place:
                    rule = node.args[place]
                    if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
                        names.add(f"system.{rule.value}")
    explained = yaml.safe_load((folder.parent / "explanations" / "system.yaml").read_text())
    assert names - {"system."} == set(explained)
    document = Path(__file__).resolve().parents[3] / "docs" / "systems.md"
    text = document.read_text(encoding="utf-8")
    assert {name for name in explained if f"`{name}`" not in text} == set()
