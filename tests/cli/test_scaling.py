"""``trainmark scaling`` as a user sees it."""

import json

import pytest
from click.testing import CliRunner

from tests.cli.calls import calls
from tests.cli.commands import trainmark
from trainmark.cli.scaling import command


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_table_names_group_columns_and_fit() -> None:
    text = _run("resnet", "--accelerator", "bow", "--round", "2.0")
    assert "resnet on Bow-IPU, closed" in text
    assert "rounds 0.6 to 4.0, target 0.759 top-1 accuracy" in text
    (line,) = [line for line in text.splitlines() if line.lstrip().startswith("256 ")]
    assert "2.672" in line
    assert "46%" in line
    assert "54%" in line
    assert "Fit: minutes = 137.9 x chips^-0.720 over 4 numbers" in text
    assert "not official" in text


def test_all_shows_every_result_and_marks_the_fastest() -> None:
    options = ("resnet", "--accelerator", "a100-sxm-80gb", "--round", "2.0")
    best, every = _run(*options), _run(*options, "--all")
    assert "--all shows all" in best
    assert len(every.splitlines()) > len(best.splitlines()) + 10
    starred = [line for line in every.splitlines() if line.startswith("*  ")]
    assert len(starred) == len({line.split()[1] for line in starred}) > 4


def test_json_has_every_step_and_its_basis() -> None:
    found = json.loads(_run("bert", "--accelerator", "bow", "--json"))
    assert found["group"] == "BERT, 0.720"
    assert "not official" in found["basis"]
    (curve,) = found["curves"]
    assert curve["accelerator"] == "Bow-IPU"
    assert [s["accelerators"] for s in curve["steps"] if s["best"]] == [16, 64, 128, 256]
    assert curve["fit"]["exponent"] == pytest.approx(0.68, abs=0.05)


def test_a_family_has_a_table_for_each_accelerator_with_two_numbers() -> None:
    text = _run("bert", "--accelerator", "h100")
    heads = [line for line in text.splitlines() if line.startswith("bert on ")]
    assert heads[0].startswith("bert on H100-SXM-80GB, closed")
    assert len(heads) == 2
    assert "One number alone: 4 H100-SXM-96GB" in text
    assert text.count("derived, not official") == 1


def test_a_single_number_is_shown_all_the_same() -> None:
    text = _run("resnet", "--accelerator", "h200", "--round", "4.0")
    assert "resnet on H200-SXM-141GB" in text
    assert "One number alone" not in text


def test_explain_gives_the_formulas() -> None:
    assert "speed-up / (chips / chips of the smallest)" in _run(
        "resnet", "--accelerator", "bow", "--explain"
    )


def test_nothing_found_is_no_traceback() -> None:
    done = trainmark("scaling", "bert", "--accelerator", "\x1b[2Jx")
    assert done.returncode == 1
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_misspelt_benchmark_is_a_wrong_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, errors = calls("scaling", monkeypatch, capsys)("nope", "--accelerator", "a100")
    assert code == 2
    assert "Valid:" in errors
