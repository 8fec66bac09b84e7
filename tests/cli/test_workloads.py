from pathlib import Path

import orjson
import pytest

from tests.cli.commands import trainmark, without


def test_workloads_are_listed_and_a_broken_one_does_not_hide_the_others(
    toy_plugin: None,
) -> None:
    done = trainmark("workloads")
    assert done.returncode == 0
    assert "resnet50: ResNet-50 v1.5 (torch)" in done.stdout
    assert "toy: Two clouds (plain)" in done.stdout
    assert "broken: broken" in done.stderr


def test_a_workloads_settings_are_shown_with_their_limits() -> None:
    done = trainmark("workloads", "resnet50")
    assert "--set global_batch_size=50  samples in one optimizer step" in done.stdout
    assert "fixed in the Closed division" in done.stdout


def test_settings_as_json() -> None:
    (found,) = orjson.loads(trainmark("workloads", "resnet50", "--json").stdout)["workloads"]
    assert set(found["scales"]) == {"desk", "full"}
    names = {setting["name"] for setting in found["scales"]["full"]}
    assert {"precision", "compile", "memory_format", "workers"} <= names


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
