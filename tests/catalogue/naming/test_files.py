import json

import pytest

from tests.catalogue.described import FIELDS, described, kinds
from trainmark.catalogue.naming.doubts import Doubts
from trainmark.catalogue.naming.files import read_system_file

_V05 = {
    "division": "closed",
    "status": "on-prem",
    "hardware": "DGX-2",
    "framework": "MXNet NGC 18.11",
    "interconnect": "InfiniBand EDR 100Gb/s",
    "os": "Ubuntu 16.04",
    "libraries": "CUDA 10",
    "nodes": [
        {
            "num_nodes": 1,
            "cpu": "2x Intel(R) Xeon(R) Platinum 8168 CPU @ 2.7GHz",
            "num_cores": 48,
            "accelerator": "Tesla V100-SXM3-32GB",
            "num_accelerators": 16,
        }
    ],
}
_NODES = (
    "{'num_nodes': '3', 'cpu': '2x Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz', "
    "'accelerator': 'Tesla V100-SXM2-16GB', 'num_accelerators': '8', 'notes': ''}"
)
_ENTRY = (
    "{'hardware': 'DGX-1 with V100', 'framework': 'MXNet NVIDIA Release 19.05', "
    f"'interconnect': 'InfiniBand 100 Gb/sec (4X EDR)', 'os': 'Ubuntu 18.04', 'nodes': {_NODES!r}}}"
)


def _lines() -> bytes:
    values = {
        "org": "NVIDIA",
        "division": "closed",
        "status": "onprem",
        "platform": "3xDGX-1 with V100",
        "entry": _ENTRY,
        "poc_name": "somebody",
    }
    return "".join(
        f"{key}: {json.dumps({'value': value, 'metadata': {'file': 'x.py'}})}\n"
        for key, value in values.items()
    ).encode()


def test_the_form_of_the_first_round() -> None:
    found = described(data=json.dumps(_V05).encode(), submitter="nvidia", system="dgx2")
    fields = found.fields
    assert fields["system"] == "DGX-2"
    assert fields["submitter"] == "NVIDIA"
    assert fields["category"] == "available"
    assert (fields["nodes"], fields["accelerators"], fields["host_processors"]) == (1, 16, 2)
    assert fields["accelerator"] == "V100-SXM3-32GB"
    assert fields["host_processor"] == "Intel Xeon Platinum 8168"
    assert fields["interconnect"] == ""  # the field is the network between nodes
    assert fields["raw"]["network"] == "InfiniBand EDR 100Gb/s"
    assert fields["software"] == {
        "other_software_stack": "CUDA 10",
        "operating_system": "Ubuntu 16.04",
    }
    assert (fields["framework_name"], fields["framework_version"]) == ("MXNet", "NGC 18.11")
    assert found.doubts == ()


def test_several_kinds_of_nodes_are_said() -> None:
    both = _V05 | {"nodes": [*_V05["nodes"], {"num_nodes": 2}]}
    found = described(data=json.dumps(both).encode(), submitter="nvidia")
    assert found.fields["nodes"] == 1
    assert kinds(found, resolved=False) == ["several kinds of accelerators"]


def test_processors_counted_in_the_name_of_the_hardware() -> None:
    hardware = "8-nodes 2x Intel(R) Xeon(R) Platinum 8180 processor"
    node = {
        "num_nodes": 8,
        "cpu": "Intel(R) Xeon(R) Platinum 8180 CPU @ 2.50GHz",
        "accelerator": "NA",
    }
    file = _V05 | {"hardware": hardware, "nodes": [node | {"num_accelerators": 0}]}
    fields = described(data=json.dumps(file).encode(), submitter="intel").fields
    assert fields["host_processors"] == 16
    assert (fields["accelerator"], fields["accelerators"], fields["nodes"]) == ("", 0, 8)


def test_lines_of_a_log_with_python_literals() -> None:
    found = described(data=_lines(), submitter="NVIDIA", system="dgx1_n3")
    fields = found.fields
    assert kinds(found) == ["system file in an old form"]
    assert fields["system"] == "3xDGX-1 with V100"
    assert (fields["nodes"], fields["accelerators"]) == (3, 24)
    assert fields["accelerator"] == "V100-SXM2-16GB"
    assert fields["framework_version"] == "NGC 19.05"


@pytest.mark.parametrize(
    "entry", ["{'nodes': ", "[" * 5000, "-" * 5000 + "1", "{1: 2}", "9" * 30_000]
)
def test_literals_that_are_none_lose_only_themselves(entry: str) -> None:
    data = _lines().replace(json.dumps(_ENTRY).encode(), json.dumps(entry).encode())
    found = described(data=data, submitter="NVIDIA")
    assert found.fields["division"] == "closed"
    assert found.fields["nodes"] is None


@pytest.mark.parametrize(
    ("misspelt", "name", "field", "value"),
    [
        ("number of nodes", "number_of_nodes", "nodes", 4),
        ("divison", "division", "division", "closed"),
        ("sumitter", "submitter", "submitter", "Dell"),
    ],
)
def test_misspelt_fields_are_read(misspelt: str, name: str, field: str, value: object) -> None:
    found = described({name: None, misspelt: FIELDS[name]})
    assert found.fields[field] == value
    assert kinds(found, resolved=True) == ["misspelt field in the system file"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"Ubuntu 20.04"\n', b'"Ubuntu 20.04",\n'),
        (b'"8.4.0"\n', b'"8.4.0",\n'),  # in an object inside
    ],
)
def test_a_comma_too_many_loses_nothing(old: bytes, new: bytes) -> None:
    sound = json.dumps(FIELDS, indent=1).encode()
    data = sound.replace(old, new)
    assert data != sound
    found = described(data=data)
    assert found.fields == described().fields
    assert kinds(found, resolved=True) == ["damaged system file"]
    assert found.findings


def test_commas_inside_texts_stay() -> None:
    data = (
        json.dumps(FIELDS | {"system_name": "a, }"}, indent=1)
        .encode()
        .replace(b'"Ubuntu 20.04"\n', b'"Ubuntu 20.04",\n')
    )
    assert described(data=data).fields["system"] == "a, }"


def test_a_byte_order_mark_is_forgiven() -> None:
    found = described(data=b"\xef\xbb\xbf" + json.dumps(FIELDS).encode())
    assert found.fields == described().fields
    assert kinds(found, resolved=True) == ["damaged system file"]


def test_a_field_twice_with_two_values_is_said() -> None:
    data = json.dumps(FIELDS).encode()[:-1] + b', "status": "preview"}'
    found = described(data=data)
    assert found.fields["category"] == "preview"
    assert kinds(found, resolved=True) == ["field twice in the system file"]


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff\xfe{\0}\0", b"{", b"b0VIM 8.0\0"])
def test_what_is_no_description(data: bytes) -> None:
    doubts = Doubts()
    file = read_system_file(data, "a/systems/b.json", doubts)
    assert not file.found
    assert [doubt.kind for doubt in doubts.all()] == ["unreadable system file"]
    assert not doubts.all()[0].resolved


def test_a_file_that_breaks_off_keeps_what_stood_before() -> None:
    data = json.dumps(FIELDS, indent=1).encode()
    found = described(data=data[: data.index(b'"framework"')])
    assert found.fields["accelerators"] == 16
    assert kinds(found, resolved=False) == ["damaged system file", "unknown framework"]
