"""Results repositories and results that tests make up."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.logs import RunShape, write_resnet
from trainmark.mllog import LogWriter, keys
from trainmark.types import Result

SYSTEM = {
    "submitter": "House",
    "division": "closed",
    "status": "onprem",
    "system_name": "Box One",
    "number_of_nodes": "2",
    "accelerators_per_node": "8",
    "accelerator_model_name": "NVIDIA A100-SXM4-80GB (400W)",
    "framework": "MXNet 21.05",
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


def git(folder: Path, *arguments: str) -> str:
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
    )
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    """Make the folder a git repository with everything in it; the commit."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "results")
    return git(folder, "rev-parse", "HEAD")


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
