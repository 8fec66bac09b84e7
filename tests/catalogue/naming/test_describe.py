import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalogue.described import FIELDS, described, kinds
from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.describe import describe
from trainmark.catalogue.schema import RESULT_COLUMNS, result_from_row, result_to_row
from trainmark.types import Result, Run


def _result(fields: dict[str, Any]) -> Result:
    return Result(
        id="v2.0/Dell/x/bert",
        origin="published",
        round="2.0",
        benchmark="bert",
        run_minutes=(),
        minutes=None,
        score_basis="",
        scaling_factor=1.0,
        global_batch_size=None,
        samples_to_target=None,
        label="",
        **fields,
    )


def test_a_sound_file_is_read_without_a_doubt() -> None:
    found = described()
    assert found.doubts == ()
    assert found.findings == ()
    assert found.fields == {
        "system": "4xXE8545x4A100-SXM-80GB",
        "submitter": "Dell",
        "division": "closed",
        "category": "available",
        "accelerator": "A100-SXM-80GB",
        "accelerators": 16,
        "accelerators_per_node": 4,
        "nodes": 4,
        "hosts": 4,
        "host_processors": 8,
        "host_processor": "AMD EPYC 7713",
        "interconnect": "NVLink 3",
        "framework": "PyTorch NVIDIA Release 22.04",
        "framework_name": "PyTorch",
        "framework_version": "NGC 22.04",
        "software": {
            "cuda_version": "11.6",
            "cudnn_version": "8.4.0",
            "operating_system": "Ubuntu 20.04",
        },
        "raw": {
            "accelerator": "NVIDIA A100-SXM4-80GB (500W)",
            "accelerators_per_node": "4",
            "division": "closed",
            "host_processor": "AMD EPYC 7713 64-Core Processor",
            "host_processors_per_node": "2",
            "interconnect": "NVLINK 3.0 600GB/s",
            "memory": "80 GB",
            "network": "2x ConnectX-6 IB HDR 200Gb/Sec",
            "nodes": "4",
            "status": "onprem",
            "submitter": "Dell",
            "system": "4xXE8545x4A100-SXM-80GB",
            "place": "on-premise",
            "power_limit_watts": "500",
        },
    }


def test_the_fields_are_those_of_a_result() -> None:
    result = _result(dict(described().fields))
    row = dict(zip([column.name for column in RESULT_COLUMNS], result_to_row(result), strict=True))
    assert result_from_row(row) == result


def test_no_file_leaves_everything_open_but_the_folders() -> None:
    found = describe(
        None,
        path="Dell/systems/box.json",
        round_name="2.0",
        submitter="DellEMC",
        system="box",
        benchmark="bert",
        runs=[Run(source="a", division="Closed")],
    )
    assert kinds(found) == ["no system file", "division taken from the logs"]
    assert found.fields["submitter"] == "Dell"
    assert found.fields["system"] == "box"
    assert found.fields["division"] == "closed"
    assert found.fields["accelerators"] is None
    assert found.fields["hosts"] is None


@pytest.mark.parametrize(
    ("changes", "field", "value", "kind", "resolved"),
    [
        (
            {"accelerator_model_name": "Wonder 9"},
            "accelerator",
            "Wonder 9",
            "unknown accelerator",
            False,
        ),
        (
            {"accelerator_model_name": "NVIDIA V100"},
            "accelerator",
            "V100",
            "accelerator not stated exactly",
            False,
        ),
        (
            {
                "accelerator_model_name": "NVIDIA A100",
                "accelerator_interconnect": "NVLink 600 GB/s",
            },
            "accelerator",
            "A100-SXM-80GB",
            "accelerator completed by other fields",
            True,
        ),
        ({"division": "ajar"}, "division", "ajar", "unknown division", False),
        ({"status": "soon"}, "category", "soon", "unknown category", False),
        (
            {"host_processor_model_name": "TODO"},
            "host_processor",
            "",
            "host processor not named",
            False,
        ),
        (
            {"accelerator_interconnect": "string"},
            "interconnect",
            "string",
            "unknown interconnect",
            False,
        ),
        ({"submitter": "Acme"}, "submitter", "Dell", "submitter differs from the folder", True),
    ],
)
def test_what_a_rule_settles_and_what_stays_open(
    changes: dict[str, str], field: str, value: str, kind: str, resolved: bool
) -> None:
    found = described(changes)
    assert found.fields[field] == value
    assert kinds(found) == [kind]
    assert found.doubts[0].resolved is resolved
    (raw,) = [name for name in changes if name != "accelerator_interconnect"] or [*changes]
    assert changes[raw] in found.fields["raw"].values()


def test_two_kinds_of_accelerators_have_no_single_name() -> None:
    raw = "AMD Instinct MI300X 192GB HBM3, AMD Instinct MI325X 256GB HBM3E"
    found = described({"accelerator_model_name": raw})
    assert found.fields["accelerator"] == "MI300X + MI325X"
    assert names.accelerator_named("MI300X + MI325X") is None
    assert kinds(found, resolved=False) == ["several kinds of accelerators"]


@pytest.mark.parametrize(
    ("folder", "written", "name"),
    [
        ("NVIDIA", "NVIDIA+CoreWeave", "NVIDIA + CoreWeave"),
        ("PCL", "PCL & PKU", "PCL + PKU"),
        ("Red_Hat", "RedHat-Supermicro", "Red Hat + Supermicro"),
        ("smc-ac-power", "Sustainable Metal Cloud", "Sustainable Metal Cloud"),
        ("Intel-HabanaLabs", "HabanaLabs", "HabanaLabs"),
        ("DellEMC", "", "Dell"),
        ("krai", "Krai", "Krai"),
    ],
)
def test_the_folder_and_a_joint_name_agree(folder: str, written: str, name: str) -> None:
    found = described({"submitter": written}, submitter=folder)
    assert found.fields["submitter"] == name
    assert found.doubts == ()


def test_the_system_file_decides_the_division() -> None:
    runs = [Run(source="a", division="closed"), Run(source="b", division="open")]
    found = described({"division": "Open"}, runs=runs)
    assert found.fields["division"] == "open"
    assert kinds(found, resolved=True) == ["division differs in the logs"]
    assert '"closed"' in found.doubts[0].text


def test_the_file_of_graphcores_second_machine_names_it_not_the_folder() -> None:
    found = described(
        {
            "submitter": "Graphcore",
            "system_name": "Bow-Pod16",
            "number_of_nodes": "1",
            "accelerators_per_node": "16",
            "accelerator_model_name": "Graphcore Bow IPU",
            "framework": "TensorFlow 1.15 Poplar SDK 2.5.1",
        },
        submitter="Graphcore",
        system="ipu-pod16-TF1-closed",
        benchmark="resnet",
    )
    assert found.fields["system"] == "Bow-Pod16"
    assert found.fields["accelerator"] == "Bow-IPU"
    assert "folder named after another accelerator" in kinds(found, resolved=True)


def test_a_file_of_another_name_is_said() -> None:
    data = json.dumps(FIELDS | {"submitter": "Alibaba"}).encode()
    found = describe(
        data,
        path="Alibaba/systems/n160_pai_eflops.json",
        round_name="0.7",
        submitter="Alibaba",
        system="v100-1280",
        benchmark="resnet",
    )
    assert "system file of another name" in kinds(found, resolved=True)


def test_text_of_a_file_is_kept_short_and_shown_without_control() -> None:
    found = described({"accelerator_model_name": "\x1b[31m" + "x" * 2000})
    assert len(found.fields["raw"]["accelerator"]) <= 500
    (doubt,) = found.doubts
    assert "\x1b" not in doubt.text
    assert len(doubt.text) < 200


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_described(data: bytes) -> None:
    _result(dict(described(data=data).fields))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*FIELDS, "nodes", "entry", "hardware"]), _VALUES))
def test_any_values_are_described_and_can_be_stored(changes: dict[str, Any]) -> None:
    found = described(changes)
    result = _result({**found.fields, "doubts": found.doubts})
    row = dict(zip([column.name for column in RESULT_COLUMNS], result_to_row(result), strict=True))
    for name in ("accelerators", "nodes", "hosts", "host_processors", "accelerators_per_node"):
        assert row[name] is None or 0 <= row[name] < 2**31  # an INTEGER column


@settings(max_examples=40, deadline=None)
@given(st.integers(min_value=0), st.binary(max_size=4))
def test_a_damaged_file_is_described(place: int, damage: bytes) -> None:
    data = json.dumps(FIELDS, indent=1).encode()
    cut = place % len(data)
    _result(dict(described(data=data[:cut] + damage + data[cut + len(damage) :]).fields))
    described(data=data[:cut])


def test_published_files_leave_no_accelerator_framework_or_category_open(shared_logs: Path) -> None:
    files = [p for p in sorted(shared_logs.rglob("systems/*.json")) if not p.name.startswith(".")]
    assert len(files) > 100
    for path in files:
        found = describe(
            path.read_bytes(),
            path=path.name,
            round_name=path.relative_to(shared_logs).parts[0].removeprefix("v"),
            submitter=path.parent.parent.name,
            system=path.stem,
            benchmark="resnet",
        )
        fields = found.fields
        accelerator = names.accelerator_named(fields["accelerator"])
        assert fields["accelerators"] == 0 or (accelerator and accelerator.certain), path
        assert fields["division"] in ("closed", "open"), path
        assert fields["category"] in ("available", "preview", "research"), path
        assert fields["framework_name"] or "unknown framework" in kinds(found), path


def test_published_files_agree_with_the_official_scores(shared_logs: Path) -> None:
    scores = shared_logs.parent / "oracle" / "scores.csv"
    if not scores.is_file():
        pytest.skip("no table of official scores beside the sample of logs")
    compared = 0
    with scores.open(newline="") as stream:
        for row in csv.DictReader(stream):
            submitter, _, system, *_ = row["dir"].split("/")
            path = shared_logs / f"v{row['round']}" / submitter / "systems" / f"{system}.json"
            if not path.is_file():
                continue
            compared += 1
            benchmark = names.benchmark(row["dir"].rpartition("/")[2]).name
            fields = describe(
                path.read_bytes(),
                path=path.name,
                round_name=row["round"],
                submitter=submitter,
                system=system,
                benchmark=benchmark,
            ).fields
            assert fields["accelerator"] == row["accelerator"], path
            assert fields["nodes"] == int(float(row["number_of_nodes"])), path
            assert fields["accelerators"] == int(float(row["total_accelerators"])), path
            assert fields["division"] == row["division"], path
            assert fields["framework"] == row["framework"], path
            assert fields["submitter"] == names.submitter(row["submitter"]).name, path
            # The table calls what is available after its place.
            places = {"onprem": "available", "cloud": "available"}
            assert fields["category"] == places.get(row["category"], row["category"]), path
            task = names.task(benchmark, row["round"])
            assert task == {"ssd300": "ssd"}.get(row["task"], row["task"]), path
    assert compared > 200
