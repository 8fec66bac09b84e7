"""Reading the file of a system description: any bytes, with the right line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.submission.systems_files import GOOD, write, write_text
from trainmark.rules.submission.systems_json import (
    MAX_BYTES,
    MAX_DEPTH,
    Form,
    Reading,
    read_description,
)

TEXT = json.dumps(GOOD, indent=2)
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def read(folder: Path, text: str | bytes) -> Reading:
    return read_description(write_text(folder, text))


def rules(reading: Reading) -> list[str]:
    return [finding.rule for finding in reading.findings]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_field_keeps_its_line(tmp_path: Path, end: str) -> None:
    reading = read(tmp_path, TEXT.replace("\n", end))
    assert reading.description is not None
    assert not reading.findings
    assert reading.description.fields == GOOD
    lines = reading.description.lines
    assert (lines["submitter"], lines["division"]) == (2, 3)
    assert lines["sw_notes"] - lines["operating_system"] == 1
    # the object in the one before takes three lines
    assert lines["operating_system"] - lines["other_software_stack"] == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('"closed",', '"closed",,', 3, "a comma too many"),
        ('"closed"', "'closed'", 3, "double quotes"),
        ('"closed"', '"clo\nsed"', 3, "goes on over its end"),
        ('"closed"', '"clo\tsed"', 3, "a tab in a text"),
        ('"closed"', '"clo\\sed"', 3, "a backslash"),
        ('"closed"', '"clo\0sed"', 3, "NUL byte"),
        ('"closed"', "None", 3, "written null"),
        ('"closed"', "True", 3, "small letters"),
        ('"closed"', "\N{LEFT DOUBLE QUOTATION MARK}closed", 3, "typographic"),
        ('"closed"', "closed", 3, "not expected here"),
        ('"division"', "// a note\n", 3, "no comments"),
        ('"division": ', '"division" ', 3, "not JSON at line 3"),
        ('"cuda_version": "12.6"', '"cuda_version": "12.6",', 33, "a trailing comma at line 33"),
        ('"cuda_version"', '"x": 1 "cuda_version"', 33, "a comma is missing after this"),
    ],
)
def test_a_fault_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert TEXT.count(old) == 1
    reading = read(tmp_path, TEXT.replace(old, new))
    (finding,) = reading.findings
    assert (finding.rule, finding.line_no) == ("system.json", line)
    assert said in finding.message
    assert finding.line.isprintable()
    assert finding.fix
    assert reading.description is not None
    assert not reading.description.complete


def test_a_trailing_comma_is_bridged(tmp_path: Path) -> None:
    text = TEXT[:-2] + ",\n}\n"
    reading = read(tmp_path, text)
    (finding,) = reading.findings
    assert finding.rule == "system.json"
    assert finding.message.startswith("a trailing comma at line 36")
    assert (finding.line_no, finding.line) == (36, '"sw_notes": "some sw_notes",')
    assert reading.description is not None
    assert reading.description.complete
    assert reading.description.fields == GOOD


def test_a_missing_comma_is_bridged(tmp_path: Path) -> None:
    reading = read(tmp_path, TEXT.replace('"closed",', '"closed"'))
    (finding,) = reading.findings
    assert (finding.line_no, finding.line) == (3, '"division": "closed"')
    assert "a comma is missing after this" in finding.message
    assert reading.description is not None
    assert reading.description.fields == GOOD


def test_bridging_ends(tmp_path: Path) -> None:
    text = "{" + " ".join(f'"f{number}": 1' for number in range(1000)) + "}"
    reading = read(tmp_path, text)
    assert 10 < len(reading.findings) < 30
    assert reading.description is not None
    assert not reading.description.complete


@pytest.mark.parametrize(
    ("content", "rule", "said"),
    [
        (b"", "system.json", "empty"),
        (b" \r\n\t", "system.json", "empty"),
        (TEXT.encode("utf-16"), "system.encoding", "UTF-16"),
        (TEXT.encode("utf-16-be"), "system.encoding", "UTF-16"),
        (TEXT.encode("utf-32"), "system.encoding", "UTF-32"),
        (b"[" + TEXT.encode() + b"]", "system.object", "a list"),
        (b'"x"', "system.object", '"x"'),
        (b"8 \x1b[31m", "system.object", "8"),
        (b"hello\nthere\n", "system.json", "not JSON at line 1, column 1"),
        (b" " * (MAX_BYTES + 1), "system.length", "4 MiB"),
        (b"[" * 100_000, "system.json", "not JSON"),
    ],
)
def test_what_holds_no_description(tmp_path: Path, content: bytes, rule: str, said: str) -> None:
    reading = read(tmp_path, content)
    (finding,) = reading.findings
    assert reading.description is None
    assert finding.rule == rule
    assert said in finding.message


def test_a_byte_order_mark_is_an_error_and_the_rest_is_read(tmp_path: Path) -> None:
    reading = read(tmp_path, b"\xef\xbb\xbf" + TEXT.encode())
    assert rules(reading) == ["system.encoding"]
    assert reading.description is not None
    assert reading.description.fields == GOOD


def test_latin_1_is_an_error_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    text = TEXT.replace("testbox", "testb\u00f6x").encode("latin-1")
    reading = read(tmp_path, text)
    (finding,) = reading.findings
    assert (finding.rule, finding.line_no) == ("system.encoding", 5)
    assert "0xf6" in finding.message
    assert reading.description is not None
    assert reading.description.text("system_name") == "testb\u00f6x"


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 100_000])
@pytest.mark.parametrize("brackets", ["[]", ("{'a':", "}")])
def test_deep_nesting_is_named(tmp_path: Path, depth: int, brackets: tuple[str, str]) -> None:
    opened, closed = brackets
    deep = opened.replace("'", '"') * depth + ("1" if len(opened) > 1 else "") + closed * depth
    reading = read(tmp_path, '{"a": 1,\n"b": ' + deep + "}")
    (finding,) = reading.findings
    assert (finding.rule, finding.line_no) == ("system.json", 2)
    assert "in one another" in finding.message
    assert reading.description is not None
    assert reading.description.fields == {"a": 1}


def test_nesting_up_to_the_limit_is_read(tmp_path: Path) -> None:
    reading = read(tmp_path, '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}")
    assert not reading.findings


def test_a_number_of_9000_digits_is_read(tmp_path: Path) -> None:
    reading = read(tmp_path, '{"number_of_nodes": ' + "9" * 9000 + "}")
    assert not reading.findings
    assert reading.description is not None
    assert reading.description.count("number_of_nodes") is None


def test_too_many_fields_are_not_read(tmp_path: Path) -> None:
    text = "{" + ",".join(f'"f{number}":1' for number in range(10_002)) + "}"
    assert rules(read(tmp_path, text)) == ["system.length"]


def test_repeated_fields_are_kept(tmp_path: Path) -> None:
    reading = read(tmp_path, '{"a": 1, "b": 2,\n"a": 3}')
    assert reading.description is not None
    assert reading.description.fields == {"a": 3, "b": 2}
    assert reading.description.repeated == {"a": (1, 3)}
    assert reading.description.lines == {"a": 2, "b": 1}


def test_the_lines_of_round_0_6_are_read(tmp_path: Path) -> None:
    lines = [
        'org: {"value": "Example", "metadata": {"lineno": 1}}',
        'division: {"value": "closed", "metadata": {}}',
        "",
        'platform: {"value": "testbox"}',
    ]
    reading = read(tmp_path, "\n".join(lines))
    assert reading.description is not None
    assert reading.description.form is Form.LINES
    assert reading.description.fields == {
        "submitter": "Example",
        "division": "closed",
        "system_name": "testbox",
    }
    assert reading.description.lines == {"submitter": 1, "division": 2, "system_name": 4}


def test_what_cannot_be_opened_is_a_finding(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "ring.json").symlink_to(tmp_path / "ring.json")
    for name in ("none.json", "pipe.json", "ring.json", ".", "a\0b.json", "a" * 300):
        reading = read_description(tmp_path / name)
        assert rules(reading) == ["system.unreadable"], name
        assert reading.description is None


def _standard(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


ATOMS = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"a"', '"b"', '"', "1", "-", "null", " ", "\n", "\r", "\\", "x"]
)


@SAME_FOLDER
@given(middle=st.lists(ATOMS, max_size=12).map("".join))
def test_what_the_standard_library_reads_is_read_the_same(tmp_path: Path, middle: str) -> None:
    """Accepted and refused texts, and the values, are those of json.loads."""
    text = '{"a": 1' + middle + "}"
    reading = read(tmp_path, text)
    standard = _standard(text)
    if isinstance(standard, dict):
        assert not reading.findings
        assert reading.description is not None
        assert reading.description.complete
        assert reading.description.fields == standard
    else:
        assert reading.findings
        assert all(finding.is_error for finding in reading.findings)


@SAME_FOLDER
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.tuples(st.integers(0, len(TEXT)), st.integers(0, 20), st.binary(max_size=8)).map(
            lambda cut: TEXT.encode()[: cut[0]] + cut[2] + TEXT.encode()[cut[0] + cut[1] :]
        ),
    )
)
def test_any_bytes_are_read_or_named(tmp_path: Path, content: bytes) -> None:
    reading = read(tmp_path, content)
    assert reading.findings or reading.description is not None
    lines = content.replace(b"\r", b"\n").count(b"\n") + 1
    for finding in reading.findings:
        assert finding.message.isprintable()
        assert finding.line.isprintable()
        assert finding.line_no is None or finding.line_no <= lines


def test_text_and_count_are_forgiving(tmp_path: Path) -> None:
    reading = read_description(
        write(tmp_path, system_name=" a ", number_of_nodes=" 8.0 ", accelerators_per_node=[8])
    )
    assert reading.description is not None
    assert reading.description.text("system_name") == "a"
    assert reading.description.count("number_of_nodes") == 8
    assert reading.description.count("accelerators_per_node") is None
    assert reading.description.text("accelerators_per_node") is None
