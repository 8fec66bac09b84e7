from typing import Any

import pytest

from tests.catalogue.described import described, kinds
from trainmark.catalogue.naming import names
from trainmark.catalogue.naming.name_tables import table
from trainmark.rules.submission.systems_claims import LoggedSystem


@pytest.mark.parametrize(
    ("nodes", "per_node", "total"),
    [("4", "8", 32), (4, 8, 32), (4.0, "8.0", 32), (" 4 ", "8", 32), ("1", "10", 10)],
)
def test_counts_as_text_numbers_or_floats(nodes: Any, per_node: Any, total: int) -> None:
    changes = {"number_of_nodes": nodes, "accelerators_per_node": per_node, "system_name": "box"}
    found = described(changes, system="box")
    assert found.fields["accelerators"] == total
    assert found.doubts == ()


@pytest.mark.parametrize("written", ["N/A", "", "2x4", "1-8", "many", "0", -4, None, 1e30])
def test_what_is_no_number_of_nodes_is_unknown_and_said(written: Any) -> None:
    found = described({"number_of_nodes": written})
    assert found.fields["nodes"] is None
    assert found.fields["accelerators"] is None
    assert found.fields["accelerators_per_node"] == 4
    assert kinds(found, resolved=False) == ["unknown number of nodes"]


def test_more_than_any_machine_has_is_unknown() -> None:
    found = described({"number_of_nodes": "9000000", "accelerators_per_node": "9000000"})
    assert found.fields["accelerators"] is None
    assert "unknown number of accelerators" in kinds(found, resolved=False)


def test_a_system_without_accelerators_has_none_and_no_name() -> None:
    found = described(
        {
            "accelerators_per_node": "0",
            "accelerator_model_name": "N/A",
            "accelerator_interconnect": "N/A",
            "system_name": "2-nodes-8s-8380H-pytorch",
            "number_of_nodes": "2",
            "host_processors_per_node": "4",
        },
        system="2-nodes-8s-8380H-pytorch",
    )
    fields = found.fields
    assert (fields["accelerator"], fields["accelerators"]) == ("", 0)
    assert (fields["nodes"], fields["hosts"], fields["host_processors"]) == (2, 2, 8)
    assert found.doubts == ()


@pytest.mark.parametrize(
    "changes", [{"accelerators_per_node": "0"}, {"accelerator_model_name": "N/A"}]
)
def test_a_name_without_a_number_and_a_number_without_a_name(changes: dict[str, str]) -> None:
    found = described(changes)
    assert kinds(found, resolved=False) == ["accelerator and its number disagree"]


@pytest.mark.parametrize(
    ("model", "nodes", "chips", "per_node"),
    [
        ("tpuv2-8", 1, 4, 4),
        ("tpuv2-512", 64, 256, 4),
        ("tpuv3-32", 2, 16, 8),
        ("tpuv3-512", 32, 256, 8),
    ],
)
def test_slices_of_the_first_round_are_counted_in_cores(
    model: str, nodes: int, chips: int, per_node: int
) -> None:
    changes = {
        "accelerator_model_name": model,
        "number_of_nodes": nodes,
        "accelerators_per_node": model.partition("-")[2],
        "system_name": model,
    }
    found = described(changes, submitter="google", round_name="0.5", system="tpu")
    assert found.fields["accelerators"] == chips
    assert found.fields["accelerators_per_node"] == per_node
    assert "cores counted as accelerators" in kinds(found, resolved=True)


def test_a_second_slice_is_not_counted_and_said() -> None:
    changes = {
        "accelerator_model_name": "tpuv3-32",
        "number_of_nodes": 2,
        "accelerators_per_node": 32,
        "system_name": "tpuv3-32 + tpuv2-8",
    }
    found = described(changes, submitter="google", round_name="0.5", system="tpu")
    assert found.fields["accelerators"] == 16
    assert "several kinds of accelerators" in kinds(found, resolved=False)


def test_a_slice_that_is_one_node_has_no_known_hosts() -> None:
    changes = {
        "accelerator_model_name": "tpu-v3",
        "number_of_nodes": "1",
        "accelerators_per_node": "512",
        "system_name": "tpu-v3",
        "submitter": "Google",
    }
    found = described(changes, submitter="Google", round_name="0.6", system="tpu-v3-1024")
    assert found.fields["accelerators"] == 512
    assert found.fields["hosts"] is None
    assert "unknown number of hosts" in kinds(found, resolved=False)


@pytest.mark.parametrize(("processors", "hosts"), [("2", 1), ("8", 4)])
def test_hosts_of_appliances_are_counted_by_their_processors(processors: str, hosts: int) -> None:
    changes = {
        "submitter": "Graphcore",
        "system_name": "IPU-POD64",
        "number_of_nodes": "1",
        "accelerators_per_node": "64",
        "accelerator_model_name": "Graphcore IPU GC200",
        "accelerator_interconnect": "IPULINK",
        "host_processors_per_node": processors,
    }
    found = described(changes, submitter="Graphcore", system="ipu-pod64-TF1")
    assert found.fields["hosts"] == hosts
    assert kinds(found) == ["hosts counted apart"]


@pytest.mark.parametrize("processors", ["3", "", "0"])
def test_hosts_of_appliances_without_their_processors_are_unknown(processors: str) -> None:
    changes = {
        "accelerator_model_name": "Graphcore Bow IPU",
        "number_of_nodes": "1",
        "host_processors_per_node": processors,
    }
    found = described(changes)
    assert found.fields["hosts"] is None
    assert "unknown number of hosts" in kinds(found, resolved=False)


def test_counts_that_the_submissions_code_proves_wrong_are_corrected() -> None:
    changes = {
        "accelerator_model_name": "Tesla V100-SXM3-H-32GB",
        "number_of_nodes": 36,
        "accelerators_per_node": 16,
        "submitter": "nvidia",
        "system_name": "DGX-2H Pod",
    }
    folder = "dgx2h_multi_ngc18.11_pytorch"
    found = described(changes, submitter="nvidia", round_name="0.5", system=folder, benchmark="ssd")
    assert (found.fields["nodes"], found.fields["accelerators_per_node"]) == (8, 8)
    assert found.fields["raw"]["nodes"] == "36"
    assert kinds(found) == ["number corrected from the submission's code"]
    assert "config_DGX2_multi.sh" in found.doubts[0].text


def test_every_correction_says_what_is_right_and_why() -> None:
    for row in table("corrections")["correction"]:
        assert row["benchmark"] in names.benchmarks()
        assert row["nodes"] > 0
        assert ".sh: DGXNNODES=" in row["source"]
    for row in table("corrections")["file"]:
        assert row["submitter"]
        assert row["source"]


@pytest.mark.parametrize(
    ("name", "nodes", "per_node"),
    [
        ("4xXE9680x8H100-SXM-80GB", 4, 8),
        ("dgxa100_n14_ngc21.05_merlin_hugectr", 14, 8),
        ("HPE-XL675d_A100-SXM-80GB_16N_pytorch", 16, 8),
        ("8xA100_80GB-baseline", 1, 8),
        ("2xa30_ngc22.04_mxnet", 1, 2),
        ("8xMI325X_2xEPYC_9575F", 1, 8),
        ("ESC-N8-E11", 1, 8),
        ("64xBM.GPU.H100.8", 8, 8),
        ("8xKinabalux18x4GB200", 144, 4),
        ("MI300X-LLMBoost-GPUBoost-2node", 2, 8),
        ("tyche_ngpu512_ngc25.04_nemo", 128, 4),
        ("Carina (16x NVIDIA GB200 NVL72)", 256, 4),
    ],
)
def test_numbers_in_names_that_agree(name: str, nodes: int, per_node: int) -> None:
    found = described(_counted(name, nodes, per_node), system=name)
    assert "system's name contradicts its counts" not in kinds(found)


@pytest.mark.parametrize(
    ("name", "nodes", "per_node"),
    [
        ("8xBM.GPU.H100.8", 9, 8),
        ("R5350G6x8A30-PCIE-24GB", 1, 10),
        ("dgxa100_n14", 16, 8),
        ("ngpu_x_ngpu512", 64, 4),
    ],
)
def test_numbers_in_names_that_contradict(name: str, nodes: int, per_node: int) -> None:
    found = described(_counted(name, nodes, per_node), system="box")
    assert found.fields["accelerators"] == nodes * per_node
    assert kinds(found, resolved=True) == ["system's name contradicts its counts"]


def _counted(name: str, nodes: int, per_node: int) -> dict[str, Any]:
    return {"system_name": name, "number_of_nodes": nodes, "accelerators_per_node": per_node}


def test_what_a_log_counted_otherwise_is_said_once() -> None:
    wrong = LoggedSystem(nodes=4, accelerators_per_node=8, accelerator="A100", line_no=3)
    right = LoggedSystem(nodes=4, accelerators_per_node=4, accelerator="A100", line_no=3)
    silent = LoggedSystem(nodes=None, accelerators_per_node=None, accelerator="", line_no=3)
    found = described(counted=[right, wrong, wrong, silent])
    assert found.fields["accelerators"] == 16
    assert kinds(found, resolved=True) == ["log counted other accelerators"]


def test_another_accelerator_in_a_log_is_said() -> None:
    found = described(
        counted=[
            LoggedSystem(
                nodes=4, accelerators_per_node=4, accelerator="NVIDIA H100 80GB HBM3", line_no=3
            ),
            LoggedSystem(
                nodes=4, accelerators_per_node=4, accelerator="No devices were found", line_no=3
            ),
        ]
    )
    assert found.fields["accelerator"] == "A100-SXM-80GB"
    assert kinds(found, resolved=True) == ["log named another accelerator"]
