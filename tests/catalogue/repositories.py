"""Results repositories and results that tests make up."""

import json
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.logs import RunShape, write_resnet
from trainmark.catalogue.importing import imports
from trainmark.catalogue.schema import RESULT_COLUMNS, RUN_COLUMNS, result_to_row, run_to_row
from trainmark.catalogue.store import write_table
from trainmark.mllog import LogWriter, keys
from trainmark.types import Result, Run

SYSTEM = {
    "submitter": "House",
    "division": "closed",
    "status": "onprem",
    "system_name": "Box One",
    "number_of_nodes": "2",
    "accelerators_per_node": "8",
    "accelerator_model_name": "NVIDIA A100-SXM4-80GB (400W)",
    "framework": "MXNet 21.05",
    "host_processor_model_name": "AMD EPYC 7742",
    "host_processors_per_node": 2,
}


def write_system(root: Path, folder: str = "House", system: str = "box", **changes: Any) -> Path:
    path = root / folder / "systems" / f"{system}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(SYSTEM | changes))
    return path


def write_entry(
    root: Path,
    minutes: tuple[float, ...] = (12.0, 10.0, 11.0, 14.0, 13.0),
    *,
    place: str = "House/results/box/resnet",
    failed: int = 0,
    **shape: Any,
) -> Path:
    """A benchmark folder with closed ResNet logs; the last ``failed`` ones did not converge."""
    folder = root / place
    folder.mkdir(parents=True)
    for number, time in enumerate(minutes):
        status = keys.ABORTED if number >= len(minutes) - failed else keys.SUCCESS
        run = RunShape(seed=number + 1, minutes=time, status=status, **shape)
        write_resnet(folder / f"result_{number}.txt", run)
    return folder


def write_bert(path: Path, epochs: list[int], total: int | None) -> Path:
    """A BERT log: evaluations with that epoch_num, and train_samples at the end."""
    now = [1_700_000_000_000]

    def clock() -> int:
        now[0] += 60_000
        return now[0]

    with LogWriter(path, now_ms=clock) as log:
        log.point(keys.SUBMISSION_BENCHMARK, "bert")
        log.point(keys.SUBMISSION_DIVISION, "closed")
        log.point(keys.GLOBAL_BATCH_SIZE, 448)
        log.start(keys.RUN_START)
        for number, epoch in enumerate(epochs):
            log.point(keys.EVAL_ACCURACY, 0.70 + number / 100, epoch_num=epoch)
        if total is not None:
            log.point(keys.TRAIN_SAMPLES, total)
        log.stop(keys.RUN_STOP, status=keys.SUCCESS)
    return path


def write_v05(
    root: Path, *, minutes: tuple[float, ...] = (12.0, 10.0, 11.0, 14.0, 13.0), failed: int = 0
) -> Path:
    """An entry as in round 0.5: its own lines, entry.json, submission.json."""
    submission = root / "v0.5.0/house/group"
    folder = submission / "results/box/resnet"
    folder.mkdir(parents=True)
    (submission / "submission.json").write_text('{"org": "House", "poc_email": "a@b.c"}')
    entry = OLD_ENTRY | {"nodes": [OLD_NODE]}
    (submission / "results/box/entry.json").write_text(json.dumps(entry))
    for number, time in enumerate(minutes):
        reached = number < len(minutes) - failed
        lines = [
            (0, 'submission_note: "text"'),
            (0, "run_start"),
            (1, "preproc_num_train_examples: 1281167"),
            (60 * time - 1, 'eval_accuracy: {"epoch": 80, "value": 0.75}'),
            (60 * time, f'run_stop: {{"success": {str(reached).lower()}}}'),
        ]
        text = "".join(
            f":::MLPv0.5.0 resnet {1_541_720_386 + number + second:.9f} (a/b.py:49) {record}\n"
            for second, record in lines
        )
        (folder / f"result_{number}.txt").write_text(text)
    return folder


OLD_NODE: dict[str, Any] = {
    "num_nodes": 2,
    "cpu": "Xeon",
    "accelerator": "Tesla V100",
    "num_accelerators": 8,
}
OLD_ENTRY: dict[str, Any] = {
    "division": "closed",
    "status": "onprem",
    "hardware": "Old Box",
    "framework": "MXNet 1.3",
}


def write_v06(
    root: Path, *, minutes: tuple[float, ...] = (12.0, 10.0, 11.0, 14.0, 13.0), lines: bool = True
) -> Path:
    """An entry as in round 0.6; its system file is lines of a log, or an entry.json."""
    folder = root / "House/results/box/resnet"
    folder.mkdir(parents=True)
    if lines:
        system = root / "House/systems/box.json"
        system.parent.mkdir()
        entry = {**OLD_ENTRY, "nodes": str(OLD_NODE)}
        said = {"org": "House", "division": "closed", "status": "onprem", "entry": str(entry)}
        system.write_text(
            "".join(f"{key}: {json.dumps({'value': value})}\n" for key, value in said.items())
        )
    else:
        entry = OLD_ENTRY | {"nodes": [OLD_NODE]}
        (folder.parent / "entry.json").write_text(json.dumps(entry))
    for number, time in enumerate(minutes):
        records: list[tuple[float, str, Any, dict[str, Any]]] = [
            (0, "submission_benchmark", "resnet", {}),
            (0, "submission_division", "closed", {}),
            (0, "run_start", None, {}),
            (1, "global_batch_size", 1664, {}),
            (60 * time - 1, "eval_accuracy", 0.76, {"epoch_num": 60}),
            (60 * time, "run_stop", None, {"status": "success"}),
        ]
        text = "".join(
            f":::MLL {1_560_881_700 + number + second:.3f} {key}: "
            f"{json.dumps({'value': value, 'metadata': metadata})}\n"
            for second, key, value, metadata in records
        )
        (folder / f"result_{number}.txt").write_text(text)
    return folder


def write_power(folder: Path, *, watts: float = 500.0, nodes: int = 2) -> None:
    """Power logs of every run: each node takes the same watts all the time."""
    for log in sorted(folder.glob("result_*.txt")):
        times = [
            json.loads(line.split(" ", 1)[1])["time_ms"]
            for line in log.read_text().splitlines()
            if '"run_start"' in line or '"run_stop"' in line
        ]
        place = folder / "power" / log.stem
        place.mkdir(parents=True)
        seconds = range(int(times[0]) - 2000, int(times[-1]) + 3000, 1000)
        for node in range(nodes):
            records = [
                (seconds[0], "INTERVAL_START", "power_measurement_start", None),
                (seconds[0], "POINT_IN_TIME", "conversion_eff", 1.0),
                *((time, "POINT_IN_TIME", "power_reading", watts) for time in seconds),
                (seconds[-1], "INTERVAL_END", "power_measurement_stop", None),
            ]
            text = "".join(
                ":::MLLOG "
                + json.dumps(
                    {
                        "namespace": "",
                        "time_ms": time,
                        "event_type": kind,
                        "key": key,
                        "value": value,
                        "metadata": {"lineno": 1, "file": "power.py"},
                    }
                )
                + "\n"
                for time, kind, key, value in records
            )
            (place / f"node_{node}.txt").write_text(text)


def git(folder: Path, *arguments: str, given: Path | None = None) -> str:
    """What git prints; its standard input is a file or nothing."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.org",
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        input=None if given is None else given.read_text(),
    )
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    """Make the folder a git repository with everything in it; the commit."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "results")
    return git(folder, "rev-parse", "HEAD")


def packaged(folder: Path, monkeypatch: pytest.MonkeyPatch, *results: Result, **runs: Run) -> None:
    """Let imports see these as the packaged results, and no others: the real ones take long.

    Args:
        folder: Where to write them.
        monkeypatch: For the test.
        results: The results.
        runs: Runs of the first of them.
    """
    rows = [run_to_row(results[0].id, index, run) for index, run in enumerate(runs.values())]
    _package(_written(folder, list(map(result_to_row, results)), rows), monkeypatch)


def nothing_packaged(factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let imports see no packaged results; the two empty files are written once.

    Args:
        factory: For folders that last as long as the tests do.
        monkeypatch: For the test.
    """
    _package(_empty(factory.getbasetemp()), monkeypatch)


@cache
def _empty(base: Path) -> tuple[Path, Path]:
    (base / "nothing-packaged").mkdir()
    return _written(base / "nothing-packaged", [], [])


def _written(folder: Path, results: Sequence[Any], runs: Sequence[Any]) -> tuple[Path, Path]:
    files = (folder / "packaged_results.parquet", folder / "packaged_runs.parquet")
    write_table(files[0], RESULT_COLUMNS, results)
    write_table(files[1], RUN_COLUMNS, runs)
    return files


def _package(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "PUBLISHED_RESULTS", files[0])
    monkeypatch.setattr(imports, "PUBLISHED_RUNS", files[1])


def own_result(**changes: Any) -> Result:
    """An own result of 1.2 minutes."""
    fields: dict[str, Any] = {
        "id": "own/1",
        "origin": "own",
        "round": None,
        "division": "closed",
        "category": "research",
        "submitter": "Test House",
        "system": "desk",
        "benchmark": "resnet50_desk",
        "accelerator": "",
        "accelerators": 0,
        "nodes": 1,
        "framework": "PyTorch 2.13.0",
        "run_minutes": (1.15, 1.2, 1.25),
        "minutes": 1.2,
        "score_basis": "the middle value",
        "scaling_factor": 1.0,
        "global_batch_size": 64.0,
        "samples_to_target": 40000.0,
        "label": "unverified; MLPerf procedure, own target",
        "machine": "0123abcd",
        "recorded": "2026-11-01T10:00:00+00:00",
        "samples_per_second": 950.0,
    }
    return Result(**fields | changes)
