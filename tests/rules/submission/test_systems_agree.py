"""Whether logs and the description of their system say the same."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import Text, write_desk
from tests.rules.submission.systems_files import GOOD
from trainmark.mllog import keys, read
from trainmark.rules.submission.systems_agree import agree, same_organisation
from trainmark.rules.submission.systems_claims import (
    Claims,
    LoggedSystem,
    claims,
    logged_system,
)
from trainmark.rules.submission.systems_json import Description
from trainmark.types import Finding, Severity

SAID = Claims(
    organisation="example labs",
    division="closed",
    status="onprem",
    platform="2xtestbox",
    benchmark="resnet",
    lines={
        keys.SUBMISSION_BENCHMARK: 1,
        keys.SUBMISSION_ORG: 2,
        keys.SUBMISSION_DIVISION: 3,
        keys.SUBMISSION_STATUS: 4,
        keys.SUBMISSION_PLATFORM: 5,
    },
)


def described(**changes: Any) -> Description:
    fields = GOOD | changes
    lines = {name: number for number, name in enumerate(fields, start=2)}
    return Description(path="/of/x/systems/testbox.json", fields=fields, lines=lines)


def compare(*said: Claims, submitter: str | None = None, **changes: Any) -> list[Finding]:
    logs = [(f"result_{number}.txt", one) for number, one in enumerate(said)]
    return agree(described(**changes), logs, submitter=submitter)


def test_what_agrees_is_not_spoken_of() -> None:
    assert compare(SAID, SAID, submitter="Example_Labs") == []
    assert compare(Claims()) == []
    assert compare() == []


def test_another_division_is_one_error_for_all_logs() -> None:
    wrong = replace(SAID, division="open")
    (finding,) = compare(SAID, wrong, wrong)
    assert (finding.rule, finding.severity) == ("system.division_differs", Severity.ERROR)
    assert (finding.path, finding.line_no) == ("result_1.txt", 3)
    assert '"open" (in 2 of 3 logs)' in finding.message
    assert 'division "closed" (systems/testbox.json:3)' in finding.message


@pytest.mark.parametrize(
    ("log", "description", "differ"),
    [
        ("closed", "close", False),
        ("Closed", "closed", False),
        ("open", "Open", False),
        ("open", "close", True),
        ("closed", "open", True),
        ("closed", "neither", False),  # said where the description is checked
        ("neither", "closed", False),  # said where the log is checked
    ],
)
def test_spellings_of_a_division(log: str, description: str, differ: bool) -> None:
    findings = compare(replace(SAID, division=log), division=description)
    assert [finding.rule for finding in findings] == ["system.division_differs"] * differ


def test_a_single_log_is_not_counted() -> None:
    (finding,) = compare(replace(SAID, division="open"))
    assert "logs)" not in finding.message


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Supermicro", "SUPERMICRO", True),
        ("Graphcore Ltd.", "Graphcore", True),
        ("Habana", "Intel-HabanaLabs", True),
        ("NVIDIA+CoreWeave", "NVIDIA_CoreWeave", True),
        ("IBM+CoreWeave+NVIDIA", "CoreWeave + IBM + NVIDIA", True),
        ("NVIDIA", "NVIDIA+CoreWeave", True),
        ("PCL", "PCL & PKU", True),
        ("smc-ac-power", "Sustainable Metal Cloud", True),
        ("Red_Hat", "RedHat-Supermicro", True),
        ("Clemson", "Clemson University Research Computing and Data", True),
        ("Juniper Networks", "JuniperNetworks", True),
        ("NVIDIA", "Supermicro", False),
        ("AMD", "Oracle", False),
        ("reference_implementation", "Intel", False),
        ("IBM", "HPE", False),
        ("A", "Asus", False),
        ("Co", "Cohere", False),
        ("Dell", "Lenovo", False),
        ("\u4e2d\u56fd", "\u65e5\u672c", False),
        ("", "Dell", True),
    ],
)
def test_names_of_organisations(one: str, other: str, same: bool) -> None:
    assert same_organisation(one, other) is same
    assert same_organisation(other, one) is same


@given(st.text(), st.text())
def test_names_agree_both_ways(one: str, other: str) -> None:
    assert same_organisation(one, other) is same_organisation(other, one)
    assert same_organisation(one, one)


def test_another_organisation_is_a_warning() -> None:
    (finding,) = compare(replace(SAID, organisation="NVIDIA"), submitter="ExampleLabs")
    assert (finding.rule, finding.severity) == ("system.org_differs", Severity.WARNING)
    assert finding.line_no == 2
    assert 'submitter "Example Labs Inc."' in finding.message


def test_the_name_of_the_folder_will_do() -> None:
    joint = replace(SAID, organisation="Partner")
    assert [f.rule for f in compare(joint, submitter="Partner")] == ["system.submitter_differs"]
    assert [f.rule for f in compare(joint)] == ["system.org_differs"]


def test_placeholders() -> None:
    wrong = replace(
        SAID,
        organisation="SUBMISSION_ORG_PLACEHOLDER",
        platform="2xSUBMISSION_PLATFORM_PLACEHOLDER",
    )
    org, platform = compare(wrong)
    assert org.rule == "system.placeholder_org"
    assert org.fix.startswith('Set submission_org to "Example Labs Inc."')
    assert platform.rule == "system.placeholder_platform"
    assert '"testbox"' in platform.fix


def test_the_submitter_of_another_folder() -> None:
    (finding,) = compare(submitter="Stranger")
    assert finding.rule == "system.submitter_differs"
    assert (finding.path, finding.line_no) == ("/of/x/systems/testbox.json", 2)


@pytest.mark.parametrize(
    ("log", "description", "differ"),
    [
        ("onprem", "available", False),
        ("cloud", "available", False),
        ("cloud", "Available cloud", False),
        ("research", "Research, Development, or Internal (RDI)", False),
        ("onprem", "Available cloud", True),
        ("cloud", "Available on-premise", True),
        ("onprem", "Preview", True),
        ("preview", "available", True),
        ("onprem", "nonsense", False),
        ("nonsense", "Preview", False),
    ],
)
def test_statuses(log: str, description: str, differ: bool) -> None:
    findings = compare(replace(SAID, status=log), status=description)
    assert [finding.rule for finding in findings] == ["system.status_differs"] * differ


@pytest.mark.parametrize(
    ("platform", "differ"),
    [
        ("2xbox", False),  # nodes
        ("8xA100", False),  # accelerators of one
        ("16xA100", False),  # of all
        ("box", False),
        ("x8", False),
        ("4xbox", True),
        ("1xSUBMISSION_PLATFORM", True),
        ("99999999999xbox", False),
    ],
)
def test_a_number_at_the_start_of_the_platform(platform: str, differ: bool) -> None:
    findings = compare(replace(SAID, platform=platform))
    assert [finding.rule for finding in findings] == ["system.nodes_differ"] * differ


def test_a_number_before_a_machine_without_accelerators_may_be_of_anything() -> None:
    said = replace(SAID, platform="2xEPYC-cores")
    assert compare(said, accelerators_per_node="0", number_of_nodes="1") == []


@pytest.mark.parametrize(
    ("nodes", "per_node", "differ"),
    [(2, 8, False), (None, 8, False), (None, None, False), (1, 8, True), (2, 4, True)],
)
def test_what_the_log_counted(nodes: int | None, per_node: int | None, differ: bool) -> None:
    counted = LoggedSystem(nodes=nodes, accelerators_per_node=per_node, accelerator="", line_no=9)
    findings = compare(SAID, replace(SAID, counted=counted))
    assert [finding.rule for finding in findings] == ["system.counted_differs"] * differ
    for finding in findings:
        assert (finding.path, finding.line_no) == ("result_1.txt", 9)
        assert finding.expected == "2 x 8"
        assert "(in 1 of 2 logs)" in finding.message


def test_a_description_without_numbers_is_compared_with_nothing() -> None:
    counted = LoggedSystem(nodes=1, accelerators_per_node=1, accelerator="", line_no=1)
    said = replace(SAID, counted=counted, platform="4xbox")
    assert compare(said, number_of_nodes="two", accelerators_per_node=None) == []


def test_claims_of_a_log(tmp_path: Path) -> None:
    log = read(write_desk(tmp_path / "result_0.txt"))
    said = claims(log)
    assert (said.organisation, said.division, said.status) == ("tester", "closed", "onprem")
    assert (said.platform, said.benchmark) == ("testbox", "resnet50_desk")
    assert said.lines[keys.SUBMISSION_ORG] == 3
    assert said.counted is None


def test_claims_that_are_no_text_or_endless(tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.find(keys.SUBMISSION_ORG)["value"] = ["x"]
    text.find(keys.SUBMISSION_PLATFORM)["value"] = "x" * 100_000
    text.drop(keys.SUBMISSION_STATUS)
    said = claims(read(text.write()))
    assert said.organisation is None
    assert said.lines[keys.SUBMISSION_ORG] == 3
    assert len(said.platform or "") == 200
    assert said.status is None
    assert keys.SUBMISSION_STATUS not in said.lines


SYSTEM_LINE = (
    '+ echo \':::SYSJSON {"number_of_nodes":"2","accelerators_per_node":"8",'
    '"accelerator_model_name":"NVIDIA H200"}\'\n'
)


def test_the_line_that_scripts_write_is_found(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_text("first\n:::SYSJSON none\n:::SYSJSON [1]\n" + SYSTEM_LINE + "last\n")
    counted = logged_system(path)
    assert counted == LoggedSystem(
        nodes=2, accelerators_per_node=8, accelerator="NVIDIA H200", line_no=4
    )
    assert claims(read(write_desk(tmp_path / "log.txt")), counted=counted).counted == counted


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b":::SYSJSON",
        b":::SYSJSON {",
        b':::SYSJSON {"a": ' + b"[" * 50_000 + b"\n",
        b"\xff:::SYSJSON {}" + b" " * 70_000,
        b"x\n" * 200_000 + SYSTEM_LINE.encode(),
    ],
)
def test_logs_without_such_a_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "result_0.txt"
    path.write_bytes(content)
    assert logged_system(path) is None


def test_a_line_that_says_nothing_of_use(tmp_path: Path) -> None:
    path = tmp_path / "result_0.txt"
    path.write_bytes(b':::SYSJSON {"number_of_nodes": "\xff", "accelerator_model_name": 3}\r\n')
    assert logged_system(path) == LoggedSystem(
        nodes=None, accelerators_per_node=None, accelerator="", line_no=1
    )


def test_what_is_no_file_has_no_such_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("none.txt", "pipe", "a\0b", "."):
        assert logged_system(tmp_path / name) is None


@given(st.binary(max_size=80).map(lambda tail: b":::SYSJSON {" + tail))
def test_any_bytes_after_the_token(tmp_path_factory: pytest.TempPathFactory, tail: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(tail)
    logged_system(path)
