"""``trainmark history`` as a user sees it."""

import json

import pytest
from click.testing import CliRunner

from tests.cli.calls import calls
from trainmark.cli.history import command

_GC200 = ("--benchmark", "resnet", "--accelerator", "gc200")


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def _row(text: str, round_name: str) -> str:
    (line,) = [line for line in text.splitlines() if line.lstrip().startswith(f"{round_name} ")]
    return line


def test_24_per_cent_with_its_interval() -> None:
    text = _run(*_GC200)
    assert "resnet on 16 GC200-IPU, closed, round by round" in text
    assert "Results of Graphcore" in text
    assert "23.7%  [23.5, 23." in _row(text, "1.1")
    assert "%" not in _row(text, "1.0").split("TensorFlow")[0]
    assert "ResNet-50, 75.9 %, target 0.759" in text
    assert "not official" in text


def test_all_numbers_and_one() -> None:
    assert "41.3%" in _run(*_GC200, "--chips", "64")
    text = _run(*_GC200, "--chips", "all")
    assert "23.7%" in text
    assert "41.3%" in text


def test_noise_is_marked() -> None:
    text = _run(
        "--benchmark", "bert", "--accelerator", "a100-sxm-80gb", "--chips", "8",
        "--submitter", "nvidia",
    )  # fmt: skip
    assert "] ~" in _row(text, "1.1")
    assert "~ within noise" in text


def test_json_holds_the_formula_and_both_gains() -> None:
    found = json.loads(_run(*_GC200, "--json"))
    assert found["task"] == "resnet"
    assert found["formula"].startswith("gain = 1 -")
    points = found["chains"][0]["points"]
    assert points[0]["gain_since_before"] is None
    assert points[1]["gain_since_before"]["value"] == pytest.approx(0.2366, abs=1e-4)


def test_explain() -> None:
    assert "1 - minutes / minutes of the round before" in _run(*_GC200, "--explain")


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("--benchmark", "resnet"), 2, "--accelerator"),
        ((*_GC200, "--chips", "many"), 2, "neither a number"),
        ((*_GC200, "--chips", "-3"), 2, "neither a number"),
        ((*_GC200, "--chips", "17"), 1, "16, 64"),
        (("--benchmark", "nope", "--accelerator", "a100"), 2, "Valid:"),
        (("--benchmark", "resnet", "--accelerator", "\x1b[1mx"), 1, "Accelerators with such"),
    ],
)
def test_mistakes_are_texts(
    arguments: tuple[str, ...],
    status: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, errors = calls("history", monkeypatch, capsys)(*arguments)
    assert code == status
    assert word in errors
    assert "\x1b" not in errors


def test_other_machines_are_named_as_they_are_asked_for() -> None:
    text = _run("--benchmark", "bert", "--accelerator", "a100")
    (line,) = [line for line in text.splitlines() if "A100-PCIe-40GB" in line]
    assert line.strip() == "--accelerator A100-PCIe-40GB --chips 8"
    _, name, _, chips = line.split()
    asked = _run("--benchmark", "bert", "--accelerator", name, "--chips", chips)
    assert asked.startswith("bert on 8 A100-PCIe-40GB")
