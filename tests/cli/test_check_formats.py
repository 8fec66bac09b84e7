import json
import os
import urllib.parse
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.calls import Call, calls
from tests.cli.findings import FINDINGS, NAMES, block, finding, printed, verdict
from tests.logs import RunShape, Text, write_desk, write_folder
from trainmark.cli.check_github import GithubOutput
from trainmark.cli.check_json import JsonOutput
from trainmark.cli.check_junit import JunitOutput
from trainmark.cli.check_output import Block
from trainmark.cli.check_sarif import SarifOutput
from trainmark.types import Finding, Severity


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return calls("check", monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three logs, one of them aborted as one may be, below the working folder."""
    monkeypatch.chdir(tmp_path)
    shapes = [RunShape(), RunShape(seed=2, status="aborted"), RunShape(seed=3)]
    return write_folder(tmp_path / "a b" / "résnet", shapes)


def test_github_annotations(check: Call, folder: Path) -> None:
    status, out, err = check("a b", "--format", "github")
    assert (status, err) == (0, "")
    stop = Text.read(folder / "result_1.txt").line_of("run_stop")
    first, note, last = out.splitlines()
    assert first.startswith(
        f"::warning file=a b/résnet/result_1.txt,line={stop},title=run.status::the run did not "
    )
    assert "%0AA run counts only with status success" in first
    assert note.startswith("::notice file=a b/résnet,title=folder.failed_runs::1 of 3 logs does")
    assert last.startswith("Valid: 3 logs")
    assert last.endswith("; 1 log does not count, as may be.")


def test_github_escapes() -> None:
    one = finding("run.x", "50% of a,b:c", fix="x\x1by", path="a,b:c%/log.txt")
    out = printed(GithubOutput(), Block("a", files=[verdict("a,b:c%/log.txt", one)]))
    assert out.splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25/log.txt,title=run.x::50%25 of a,b:c%0Ax\ufffdy"
    )


def test_github_says_how_many_more() -> None:
    many = [finding("log.json", f"{number}") for number in range(25)]
    out = printed(GithubOutput(), Block("a", files=[verdict("a/x.txt", *many)]))
    assert out.count("::error") == 20
    assert "a/x.txt: 5 more of log.json" in out


@settings(max_examples=40, deadline=None)
@given(name=NAMES, findings=st.lists(FINDINGS, max_size=3))
def test_github_prints_one_line_for_each_finding(name: str, findings: list[Finding]) -> None:
    lines = printed(
        GithubOutput(), Block("a", files=[verdict(f"a/{name}", *findings)])
    ).splitlines()
    assert len(lines) == len(findings) + 1
    for line, one in zip(lines, findings, strict=False):
        _, properties, message = line.split("::", 2)
        command, _, rest = properties.partition(" ")
        assert command == {"note": "notice"}.get(one.severity, str(one.severity))
        names = [part.partition("=")[0] for part in rest.split(",")]
        assert names == (["file", "line", "title"] if one.line_no else ["file", "title"])
        assert all(c.isprintable() for c in message)


def test_json_tells_counts_and_every_finding(check: Call, folder: Path) -> None:
    status, out, _ = check("a b", "--format", "json")
    data = json.loads(out)
    assert (status, data["ok"]) == (0, True)
    assert data["counts"] == {
        "checked": {"log": 3, "folder": 1},
        "failed": {},
        "tolerated": 1,
        "findings": {"error": 1, "note": 1},
        "errors_by_rule": {"run.status": 1},
    }
    assert [one["kind"] for one in data["verdicts"]] == ["log", "log", "log", "folder"]
    assert data["verdicts"][1]["findings"][0]["rule"] == "run.status"
    assert [one["ok"] for one in data["verdicts"]] == [True, False, True, True]
    assert [one["tolerated"] for one in data["verdicts"]] == [False, True, False, False]
    assert out == check("a b", "--json")[1]


def test_json_is_bounded_and_says_so() -> None:
    many = [finding("log.json", f"{number}") for number in range(1100)]
    data = json.loads(
        printed(JsonOutput(), Block("a", files=[verdict("a/x.txt", *many, finding())]))
    )
    one = data["verdicts"][0]
    assert len(one["findings"]) == 1001
    assert one["findings_left_out"] == {"log.json": 100}
    assert data["counts"]["findings"] == {"error": 1101}


def test_json_of_nothing_is_whole() -> None:
    assert json.loads(printed(JsonOutput())) == {
        "verdicts": [],
        "counts": {
            "checked": {},
            "failed": {},
            "tolerated": 0,
            "findings": {},
            "errors_by_rule": {},
        },
        "ok": True,
    }


@settings(max_examples=40, deadline=None)
@given(name=NAMES, findings=st.lists(FINDINGS, max_size=3))
def test_json_is_utf8_for_any_text(name: str, findings: list[Finding]) -> None:
    out = printed(JsonOutput(), Block("a", files=[verdict(f"a/{name}", *findings)]))
    assert out.isascii()
    data = json.loads(out)
    json.dumps(data, ensure_ascii=False).encode("utf-8")  # no lone surrogate is left
    assert len(data["verdicts"][0]["findings"]) == len(findings)


def sarif_faults(data: Any) -> list[str]:
    """What SARIF 2.1.0 requires of the parts that are used here, and is not so."""
    faults = []

    def need(holds: bool, what: str) -> None:
        if not holds:
            faults.append(what)

    need(data.get("version") == "2.1.0", "version")
    need(set(data) <= {"$schema", "version", "runs", "properties"}, "top")
    (run,) = data["runs"]
    known = {"tool", "results", "columnKind", "invocations", "properties", "artifacts"}
    need(set(run) <= known, "run")
    need(run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints"), "columnKind")
    need(all(isinstance(one["executionSuccessful"], bool) for one in run["invocations"]), "invoked")
    driver = run["tool"]["driver"]
    need(bool(driver["name"]) and bool(driver["version"]), "driver")
    ids = [rule["id"] for rule in driver["rules"]]
    need(len(set(ids)) == len(ids), "rules are unique")
    for rule in driver["rules"]:
        texts = {"shortDescription", "fullDescription", "help"}
        need(set(rule) <= texts | {"id", "properties"}, "rule")
        need(all(rule[name]["text"] for name in texts & set(rule)), "rule text")
    for result in run["results"]:
        need(result["ruleId"] in ids, "ruleId")
        need(result["level"] in ("none", "note", "warning", "error"), "level")
        need(bool(result["message"]["text"]), "message")
        for location in result["locations"]:
            physical = location["physicalLocation"]
            uri = physical["artifactLocation"]["uri"]
            need(uri.isascii() and " " not in uri and "\\" not in uri, f"uri {uri}")
            need(urllib.parse.urlsplit(uri).scheme in ("", "file"), "scheme")
            if not uri.startswith("file:///"):
                need(physical["artifactLocation"]["uriBaseId"] == "%SRCROOT%", "base")
                need(not uri.startswith("/"), "relative")
            need(physical.get("region", {}).get("startLine", 1) >= 1, "region")
    return faults


def test_sarif(check: Call, folder: Path) -> None:
    status, out, _ = check("a b", "--format", "sarif")
    data = json.loads(out)
    assert status == 0
    assert sarif_faults(data) == []
    first, note = data["runs"][0]["results"]
    assert (first["ruleId"], first["level"]) == ("run.status", "warning")  # it may fail
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/r%C3%A9snet/result_1.txt"
    assert place["region"]["startLine"] == Text.read(folder / "result_1.txt").line_of("run_stop")
    assert (note["ruleId"], note["level"]) == ("folder.failed_runs", "note")
    rules = {rule["id"]: rule for rule in data["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["folder.failed_runs"]["shortDescription"]["text"]


def test_sarif_rules_carry_their_explanation(check: Call, tmp_path: Path) -> None:
    text = Text.read(write_desk(tmp_path / "result_0.txt"))
    text.drop("seed")
    data = json.loads(check(text.write(), "--format", "sarif")[1])
    (rule,) = data["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == "rules.seed.missing"
    assert rule["shortDescription"]["text"].startswith("A record that every log must have")
    assert sarif_faults(data) == []


def test_sarif_outside_the_working_folder_is_absolute(
    check: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    data = json.loads(check("../a b", "--format", "sarif")[1])
    uri = data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri == {"uri": f"{tmp_path.as_uri()}/a%20b/r%C3%A9snet/result_1.txt"}
    assert sarif_faults(data) == []


def test_sarif_of_nothing_is_whole() -> None:
    data = json.loads(printed(SarifOutput()))
    assert sarif_faults(data) == []
    assert data["runs"][0]["results"] == []


@settings(max_examples=40, deadline=None)
@given(name=NAMES, findings=st.lists(FINDINGS, max_size=3))
def test_sarif_is_whole_for_any_text(name: str, findings: list[Finding]) -> None:
    out = printed(SarifOutput(), Block("a", files=[verdict(f"a/{name}", *findings)]))
    assert out.isascii()
    data = json.loads(out)
    assert sarif_faults(data) == []
    assert len(data["runs"][0]["results"]) == len(findings)


def test_junit(check: Call, folder: Path) -> None:
    write_desk(folder / "result_3.txt", RunShape(seed=4, status="aborted"))
    status, out, _ = check("a b", "--format", "junit")
    assert status == 1
    root = ElementTree.fromstring(out)
    (suite,) = root.findall("testsuite")
    assert suite.attrib == {
        "name": "a b/résnet",
        "tests": "5",
        "failures": "3",
        "errors": "0",
        "skipped": "0",
    }
    cases = suite.findall("testcase")
    names = [case.attrib["name"] for case in cases]
    assert names == [*(f"result_{run}.txt" for run in range(4)), "résnet"]
    failure, _, whole = suite.iter("failure")
    assert failure.attrib["type"] == "run.status"
    assert failure.attrib["message"].startswith("the run did not succeed")
    assert failure.text is not None
    assert "[run.status] A run counts only" in failure.text
    assert cases[1].find("failure") is failure
    assert whole.attrib["message"].startswith("2 of 4 logs do not count")


def test_junit_does_not_fail_for_a_run_that_may_fail(check: Call, folder: Path) -> None:
    status, out, _ = check("a b", "--format", "junit")
    assert status == 0
    (suite,) = ElementTree.fromstring(out).findall("testsuite")
    assert suite.attrib["failures"] == "0"
    assert list(suite.iter("failure")) == []
    said = [case.findtext("system-out") for case in suite.findall("testcase")]
    assert said[1] is not None
    assert "the run did not succeed" in said[1]
    assert said[3] is not None
    assert said[3].startswith("note: 1 of 3 logs does not count")


def test_junit_shows_the_table_and_what_was_left_out() -> None:
    many = [finding("rcp.too_fast", f"{number}") for number in range(1010)]
    out = printed(JunitOutput(), block("a", [[]], *many, table=("batch  mean",)))
    failure = ElementTree.fromstring(out).find(".//failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.text.endswith("\nand 10 more of rcp.too_fast\nbatch  mean")


@settings(max_examples=40, deadline=None)
@given(name=NAMES, findings=st.lists(FINDINGS, max_size=3))
def test_junit_is_well_formed_for_any_text(name: str, findings: list[Finding]) -> None:
    out = printed(JunitOutput(), Block("a", files=[verdict(f"a/{name}", *findings)]))
    case = ElementTree.fromstring(out).find("testsuite/testcase")
    assert case is not None
    assert (case.find("failure") is not None) is any(one.is_error for one in findings)


@pytest.mark.parametrize("style", ["text", "sarif"])
def test_names_that_are_no_utf8(style: str, tmp_path: Path) -> None:
    """As a whole command, whose output must be valid UTF-8."""
    from tests.cli.commands import trainmark

    name = os.fsdecode(b"result_\xff\x1b&.txt")
    try:
        text = Text.read(write_desk(tmp_path / name))
    except OSError:
        pytest.skip("this file system takes no such names")
    text.drop("seed")
    text.write()
    done = trainmark("check", tmp_path, "--format", style, encoding="utf-8")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
    assert ("%FF" if style == "sarif" else "xff") in done.stdout


def _thousands() -> Block:
    """A log with more findings of a rule than are kept of it."""
    kept = [finding("log.json", line_no=number) for number in range(1, 1001)]
    return block("a", [[finding("log.json", "99,000 more findings of this kind: x"), *kept]])


def test_findings_that_were_not_kept_are_counted_in_every_format() -> None:
    data = json.loads(printed(JsonOutput(), _thousands()))
    assert len(data["verdicts"][0]["findings"]) == 1000
    assert data["verdicts"][0]["findings_left_out"] == {"log.json": 99_000}
    assert data["counts"]["findings"] == {"error": 100_000}
    assert "99,980 more of log.json" in printed(GithubOutput(), _thousands())
    assert "and 99,000 more of log.json" in printed(JunitOutput(), _thousands())
    results = json.loads(printed(SarifOutput(), _thousands()))["runs"][0]["results"]
    assert len(results) == 1001
    assert results[-1]["message"]["text"] == "99,000 more findings of this kind"
    assert results[-1]["level"] == "error"


def test_only_a_run_that_may_fail_is_no_error_for_a_service() -> None:
    failed = verdict("a/result_0.txt", finding(), finding("x", severity=Severity.NOTE))
    for one, level in ((replace(failed, tolerated=True), "warning"), (failed, "error")):
        out = printed(GithubOutput(), Block("a", files=[one]))
        assert [line.split()[0] for line in out.splitlines()[:2]] == [f"::{level}", "::notice"]
        results = json.loads(printed(SarifOutput(), Block("a", files=[one])))["runs"][0]["results"]
        assert [result["level"] for result in results] == [level, "note"]
