import json
from pathlib import Path

import pytest

from tests.cli.calls import Call, calls
from trainmark import machine
from trainmark.types import System


@pytest.fixture
def trainmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs the verb: exit status, standard output, standard error."""
    return calls("system", monkeypatch, capsys)


def test_the_table_is_the_default(trainmark: Call) -> None:
    status, out, err = trainmark()
    here = machine.describe()
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == machine.describe_short(here)
    assert f"fingerprint {machine.fingerprint(here)}" in out
    assert "host memory capacity" in out
    assert "not visible from software: submitter," in out
    assert trainmark("describe")[1].splitlines()[0] == out.splitlines()[0]


@pytest.mark.parametrize("arguments", [("--json",), ("describe", "--json"), ("--json", "describe")])
def test_json_is_the_official_object(trainmark: Call, arguments: tuple[str, ...]) -> None:
    status, out, _ = trainmark(*arguments)
    official = json.loads(out)
    assert status == 0
    assert list(official) == list(System().to_dict())
    assert len(official) == 33
    assert official["accelerator_on-chip_memories"] == ""


def test_options_fill_what_software_cannot_know(trainmark: Call) -> None:
    options = ("--submitter", "House", "--name", "box", "--division", "open", "--status", "cloud")
    official = json.loads(trainmark("describe", "--json", *options)[1])
    found = [official[name] for name in ("submitter", "system_name", "division", "status")]
    assert found == ["House", "box", "open", "Available cloud"]


def test_out_writes_the_official_object(trainmark: Call, tmp_path: Path) -> None:
    target = tmp_path / "box.json"
    status, out, _ = trainmark("describe", "--out", target, "--name", "box")
    assert status == 0
    assert f"Written: {target}" in out
    assert json.loads(target.read_text())["system_name"] == "box"


def test_an_unwritable_place_is_misuse(trainmark: Call, tmp_path: Path) -> None:
    status, _, err = trainmark("describe", "--out", tmp_path / "absent" / "box.json")
    assert status == 2
    assert "cannot create" in err
    assert "Traceback" not in err


def test_an_unknown_status_lists_the_valid_ones(trainmark: Call) -> None:
    status, _, err = trainmark("describe", "--status", "ajar")
    assert status == 2
    assert "'onprem', 'cloud', 'preview', 'research'" in err


def test_a_hostile_name_is_harmless(trainmark: Call) -> None:
    hostile = "\x1b[31m[bold]x[/]\x07"
    for arguments in (("describe",), ("describe", "--json")):
        _, out, _ = trainmark(*arguments, "--name", hostile)
        assert not {c for c in out if not c.isprintable()} - {"\n"}
        assert "[bold]x[/]" in out
