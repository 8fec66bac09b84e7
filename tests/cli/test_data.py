from pathlib import Path

import orjson
import pytest

from tests.cli.commands import trainmark
from tests.training.images import write_tree


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "data")


def test_what_the_workload_sees_is_told_and_a_warning_fails_nothing(pictures: Path) -> None:
    done = trainmark("data", "check", "resnet50", pictures)
    assert done.returncode == 0, done.stderr
    assert "warning data.count: this is not the whole of ImageNet-1k" in done.stdout
    assert "expected 1,281,167 training" in done.stdout
    assert f"resnet50 at full scale, {pictures}: nothing is wrong" in done.stdout


def test_an_error_is_told_with_what_to_do(pictures: Path) -> None:
    (pictures / "val" / "n01440764").rename(pictures / "val" / "n99999999")
    done = trainmark("data", "check", "resnet50", pictures)
    assert done.returncode == 1
    assert "error data.folders:" in done.stdout
    assert "fix      Both need the same class folders." in done.stdout
    told = orjson.loads(trainmark("data", "check", "resnet50", pictures, "--json").stdout)
    assert (told["workload"], told["scale"], told["ok"]) == ("resnet50", "full", False)
    assert [one["rule"] for one in told["findings"]] == ["data.folders"]


@pytest.mark.usefixtures("toy_plugin")
def test_published_files_are_checked(tmp_path: Path) -> None:
    """The toy publishes one file: five bytes of one content."""
    data = tmp_path / "points.txt"
    data.write_text("12345")
    done = trainmark("data", "check", "toy", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "checked 1 file by checksum; nothing is wrong" in done.stdout
    data.write_text("12354")
    done = trainmark("data", "check", "toy", tmp_path, "--json")
    assert done.returncode == 1
    told = orjson.loads(done.stdout)
    assert told["files"][0]["verified"] == ""
    assert told["findings"][0]["rule"] == "data.checksum"
    assert "trainmark workloads show toy" in trainmark("data", "check", "toy", tmp_path).stdout


@pytest.mark.parametrize("words", [(), ("list",)])
def test_the_data_sets_are_listed(words: tuple[str, ...]) -> None:
    done = trainmark("data", *words)
    assert done.returncode == 0
    assert "resnet50: ImageNet-1k (ILSVRC 2012), 155 GB to download" in done.stdout
    found = orjson.loads(trainmark("data", *words, "--json").stdout)["data"]
    assert "resnet50" in {one["workload"] for one in found}
    assert all(one["licence"] and one["url"] for one in found)


def test_a_name_of_any_bytes_is_no_traceback(tmp_path: Path) -> None:
    folder = tmp_path / "d\udcff"
    folder.mkdir()
    for options in ((), ("--json",)):
        done = trainmark("data", "check", "resnet50", folder, *options)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("resnet5", "."), "Did you mean 'resnet50'?"),
        (("resnet50", "absent"), "absent is no folder"),
        (("resnet50", "."), "no scale 'huge'"),
    ],
)
def test_wrong_requests(tmp_path: Path, words: tuple[str, str], says: str) -> None:
    scale = ("--scale", "huge") if "huge" in says else ()
    done = trainmark("data", "check", *words, *scale, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
