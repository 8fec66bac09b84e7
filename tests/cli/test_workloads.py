from pathlib import Path

import orjson
import pytest

from tests.cli.commands import trainmark, without


@pytest.mark.parametrize("words", [(), ("list",)])
def test_workloads_are_listed_and_a_broken_one_does_not_hide_the_others(
    toy_plugin: None, words: tuple[str, ...]
) -> None:
    done = trainmark("workloads", *words)
    assert done.returncode == 0
    assert "resnet50: ResNet-50 v1.5 (torch)" in done.stdout
    assert (
        "--scale full  25,557,032 parameters, ImageNet-1k (ILSVRC 2012), to 75.9 %" in done.stdout
    )
    assert "toy: Two clouds (plain)" in done.stdout
    assert "broken: broken" in done.stderr


@pytest.mark.parametrize("words", [("resnet50",), ("show", "resnet50")])
def test_what_one_needs_to_know_of_a_workload(words: tuple[str, ...]) -> None:
    done = trainmark("workloads", *words)
    assert done.returncode == 0, done.stderr
    for fact in (
        "arXiv:1512.03385",
        "model       ResNet-50 v1.5, 25,557,032 parameters",
        "target      97.5 % top-1 accuracy, at least; guessing reaches 10 %",
        "result      unverified; MLPerf procedure, own target",
        "rules       trainmark rules show 4.0 resnet",
        "155 GB to download",
        "from        https://www.image-net.org/",
        "licence     for non-commercial research",
        "layout      DIR/train/<class>/*.JPEG",
        "check it    trainmark data check resnet50 DIR",
        "memory      21.5 GB (estimated",
        "time        41 to 74 seconds",
        "run it      trainmark run resnet50 --scale full --data DIR",
        "--set global_batch_size=50  samples in one optimizer step",
        "--set compile=false",
        "fixed in the Closed division",
    ):
        assert fact in done.stdout


def test_a_published_file_is_shown_with_size_and_checksum(toy_plugin: None) -> None:
    done = trainmark("workloads", "show", "toy")
    assert "points.txt, 5 bytes, md5:827ccb0eea8a706c4c34a16891f84e7b" in done.stdout


@pytest.mark.parametrize("words", [("resnet50", "--json"), ("--json", "show", "resnet50")])
def test_a_workload_as_json(words: tuple[str, ...]) -> None:
    (found,) = orjson.loads(trainmark("workloads", *words).stdout)["workloads"]
    assert found["papers"][0] == "https://arxiv.org/abs/1512.03385"
    full = found["scales"]["full"]
    names = {setting["name"] for setting in full["settings"]}
    assert {"precision", "compile", "memory_format", "workers"} <= names
    assert (full["spec"]["benchmark"], full["spec"]["target"]["value"]) == ("resnet", 0.759)
    assert full["needs"]["data"]["size_bytes"] > 1e11


def test_an_unknown_workload_is_a_wrong_request() -> None:
    done = trainmark("workloads", "resnet51")
    assert done.returncode == 2
    assert "Did you mean 'resnet50'?" in done.stderr


@pytest.mark.usefixtures("toy_plugin")
def test_plugins_names_the_broken_one_and_its_reason() -> None:
    done = trainmark("plugins")
    assert done.returncode == 1
    assert "resnet50" in done.stdout
    assert "broken: workload 'broken' (toy_workload:ABSENT) cannot be imported" in done.stdout
    rows = orjson.loads(trainmark("plugins", "--json").stdout)["plugins"]
    assert {row["name"] for row in rows if row["problem"]} == {"broken"}


def test_all_plugins_are_sound_without_strangers() -> None:
    assert trainmark("plugins").returncode == 0


def test_a_missing_framework_is_not_a_broken_plugin(tmp_path: Path) -> None:
    done = trainmark("plugins", env=without(tmp_path, "torch"))
    assert done.returncode == 0
    assert "not installed: framework 'torch' needs the package 'torch'" in done.stdout
