import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, write_folder, write_resnet
from trainmark.mllog import read, summarize

_SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "check_parity.py"
_LOG = "tester/results/testbox/resnet/result_{}.txt"


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of a round with one folder: two good logs, an aborted one."""
    root = tmp_path_factory.mktemp("rounds")
    missed = RunShape(seed=3, status="aborted", qualities=(0.6, 0.75))
    shapes = [RunShape(seed=1), RunShape(seed=2), missed]
    folder = root / "training_results_v4.0" / "tester" / "results" / "testbox" / "resnet"
    write_folder(folder, shapes, write_resnet)
    return root


def _row(rounds: Path, number: int, *, compliant: bool | None) -> dict[str, Any]:
    path = _LOG.format(number)
    run = summarize(read(rounds / "training_results_v4.0" / path))
    return {
        "round": "4.0",
        "path": path,
        "ruleset": "4.0.0",
        "compliant": compliant,
        "crash": "KeyError" if compliant is None else None,
        "minutes": run.minutes,
        "errors": [],
    }


def _oracle(rounds: Path, file: Path, said: tuple[bool | None, ...]) -> Path:
    rows = [_row(rounds, number, compliant=one) for number, one in enumerate(said)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    file.write_bytes(lzma.compress(text.encode()) if file.suffix == ".xz" else text.encode())
    return file


def _parity(rounds: Path, *options: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, _SCRIPT, "--rounds", rounds, "--jobs", "1", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def test_agreement(rounds: Path, tmp_path: Path) -> None:
    oracle = _oracle(rounds, tmp_path / "said.jsonl.xz", (True, True, False))
    status, text = _parity(rounds, "--oracle", oracle)
    assert status == 0, text
    assert "every difference is listed" in text
    status, text = _parity(rounds, "--oracle", oracle, "--json")
    assert json.loads(text)["counts"]["verdict"] == {"4.0": {"agrees": 3}}


def test_a_difference_has_to_be_listed_with_its_count(rounds: Path, tmp_path: Path) -> None:
    oracle = _oracle(rounds, tmp_path / "said.jsonl", (False, None, False))
    known = tmp_path / "known.md"
    known.write_text("nothing\n")
    status, text = _parity(rounds, "--oracle", oracle, "--known", known)
    assert status == 1
    assert "NOT LISTED: 'verdict 4.0 tester/results/testbox/resnet/result_0.txt'" in text
    assert "1 x verdict of 4.0: valid" in text  # the one without an answer, told apart
    entry = '- {what: [verdict], round: "4.0", path: "*_0.txt", count: %d, reason: a test}'
    known.write_text(f"A list:\n\n```yaml\n{entry % 1}\n```\n")
    assert _parity(rounds, "--oracle", oracle, "--known", known)[0] == 0
    known.write_text(f"A list:\n\n```yaml\n{entry % 2}\n```\n")
    status, text = _parity(rounds, "--oracle", oracle, "--known", known)
    assert status == 1
    assert "2 listed, 1 found" in text


def test_minutes_are_compared(rounds: Path, tmp_path: Path) -> None:
    row = _row(rounds, 0, compliant=True) | {"minutes": 11.5}
    oracle = tmp_path / "said.jsonl"
    oracle.write_text(json.dumps(row))
    status, text = _parity(rounds, "--oracle", oracle)
    assert status == 1
    assert "theirs 11.5, ours 12.0" in text


def test_scores_and_scaling_are_compared(rounds: Path, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    folder = "tester/results/testbox/resnet"
    table.write_text(
        "round,dir,n_files,n_ok,scaling_factor,score\n" + f"4.0,{folder},3,2,1.0,12.0\n"
    )
    assert _parity(rounds, "--scores", table)[0] == 0
    table.write_text(table.read_text().replace(",12.0", ",13.0"))
    status, text = _parity(rounds, "--scores", table)
    assert status == 1
    assert "theirs 13.0, ours 12.0" in text


def test_convergence_is_compared(rounds: Path, tmp_path: Path) -> None:
    row = {
        "round": "4.0",
        "folder": "tester/results/testbox/resnet",
        "desc_division": "closed",
        "n_files": 3,
        "rcp_pruned": [None, "KeyError: 'resnet'", None],
    }
    oracle = tmp_path / "folders.jsonl"
    oracle.write_text(json.dumps(row))
    status, text = _parity(rounds, "--folders", oracle, "--rcp", "--official", "--json")
    assert status == 0
    counts = json.loads(text)["counts"]
    assert counts["convergence"] == {"4.0": {"crash": 1}}
    assert counts["convergence now"] == {"4.0": {"agrees": 1}}
    oracle.write_text(json.dumps(row | {"rcp_pruned": [True, "RCP found", 1.5]}))
    assert _parity(rounds, "--folders", oracle, "--rcp")[0] == 1


def test_wrong_requests(rounds: Path, tmp_path: Path) -> None:
    oracle = _oracle(rounds, tmp_path / "said.jsonl", (True,))
    assert _parity(tmp_path, "--oracle", oracle)[0] == 2  # no repository there
    assert _parity(rounds)[0] == 2
    assert _parity(rounds, "--oracle", oracle, "--rcp")[0] == 2
