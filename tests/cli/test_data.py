from pathlib import Path

import orjson
import pytest

from tests.cli.commands import trainmark, without
from tests.training.images import write_tree


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "data")


def test_what_the_workload_sees_is_told_and_a_warning_fails_nothing(pictures: Path) -> None:
    done = trainmark("data", "check", "resnet50", pictures)
    assert done.returncode == 0, done.stderr
    assert "warning data.count: this is not the whole of ImageNet-1k" in done.stdout
    assert "expected 1,281,167 training" in done.stdout
    assert f"resnet50 at full scale, {pictures}: 1 warning\n" in done.stdout


def test_an_error_is_told_with_what_to_do(pictures: Path) -> None:
    (pictures / "val" / "n01440764").rename(pictures / "val" / "n99999999")
    done = trainmark("data", "check", "resnet50", pictures)
    assert done.returncode == 1
    assert "error data.folders:" in done.stdout
    assert "fix      Both need the same class folders." in done.stdout
    told = orjson.loads(trainmark("data", "check", "resnet50", pictures, "--json").stdout)
    assert (told["workload"], told["scale"], told["ok"]) == ("resnet50", "full", False)
    assert [one["rule"] for one in told["findings"]] == ["data.folders"]


def test_files_that_are_no_pictures_are_told(pictures: Path) -> None:
    first, *_, last = sorted((pictures / "val" / "n01440764").iterdir())
    first.write_bytes(b"")
    last.write_bytes(last.read_bytes()[:20])  # decoding it is the run's work
    done = trainmark("data", "check", "resnet50", pictures, "--json")
    assert done.returncode == 1
    found = {one["path"]: one["rule"] for one in orjson.loads(done.stdout)["findings"]}
    assert found == {str(first): "data.format", str(pictures): "data.count"}


@pytest.mark.usefixtures("toy_plugin")
def test_what_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "points.txt").write_text("12345")
    (tmp_path / "more.txt").mkdir()
    done = trainmark("data", "check", "toy", tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"error data.unreadable: {tmp_path / 'more.txt'} cannot be read: Is a" in done.stdout


def test_a_picture_that_cannot_be_read_is_a_finding(pictures: Path) -> None:
    file = pictures / "train" / "n01440764" / "a.JPEG"
    file.symlink_to("/proc/self/mem")  # its first bytes: input/output error, for root as well
    done = trainmark("data", "check", "resnet50", pictures, "--json")
    assert done.returncode == 1, done.stderr
    found = {one["path"]: one["rule"] for one in orjson.loads(done.stdout)["findings"]}
    assert found == {str(file): "data.unreadable", str(pictures): "data.count"}


@pytest.mark.parametrize(
    ("name", "package"), [("bert", "tokenizers"), ("rnnt", "soundfile"), ("resnet50", None)]
)
def test_a_package_that_is_not_installed_is_named(
    tmp_path: Path, pictures: Path, name: str, package: str | None
) -> None:
    """What the formats of a workload need may be missing where only the folder is looked at."""
    (tmp_path / "tfrecord").mkdir()
    for file in ("eval_10k", "tfrecord/part-0"):
        (tmp_path / file).write_text("x")
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    for split in ("train-clean-100", "dev-clean"):
        speech = tmp_path / split / "1" / "2"
        speech.mkdir(parents=True)
        (speech / "1-2.trans.txt").write_text("1-2-0000 A\n")
        (speech / "1-2-0000.flac").write_bytes(b"x")
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    lacking = without(blocked, "torch", "tokenizers", "soundfile", "PIL")
    folder = tmp_path if package else pictures
    done = trainmark("data", "check", name, folder, env=lacking)
    if package is None:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2, done.stderr
        assert f"needs the package {package!r}, which is not installed" in done.stderr
        assert f"pip install 'trainmark[{name}]'" in done.stderr


def test_a_file_that_is_missing_is_told_once(tmp_path: Path) -> None:
    done = trainmark("data", "check", "schnet", tmp_path, "--json")
    assert done.returncode == 1
    told = [(one["rule"], one["message"]) for one in orjson.loads(done.stdout)["findings"]]
    assert told == [
        ("data.missing", "dsgdb9nsd.xyz.tar.bz2 is not there"),
        ("data.missing", "uncharacterized.txt is not there"),
    ]


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
