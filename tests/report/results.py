"""Results that tests make up."""

from typing import Any

from trainmark.types import Result


def result(**changes: Any) -> Result:
    """An own result of 1.2 minutes on the test machine, with fields changed."""
    return Result(
        **{
            "id": "own/1",
            "origin": "own",
            "round": None,
            "division": "closed",
            "category": "",
            "submitter": "Test House",
            "system": "desk",
            "benchmark": "resnet50_desk",
            "accelerator": "",
            "accelerators": None,
            "nodes": 1,
            "framework": "PyTorch 2.12.0",
            "run_minutes": (1.15, 1.2, 1.25),
            "minutes": 1.2,
            "score_basis": "",
            "scaling_factor": 1.0,
            "global_batch_size": 64.0,
            "samples_to_target": 40000.0,
            "label": "unverified; MLPerf procedure, own target",
            "path": "/elsewhere",
            "machine": "0123abcd",
            "recorded": "2026-11-01T10:00:00+00:00",
            "samples_per_second": 950.0,
        }
        | changes
    )


def published(
    round_: str, system: str, chips: int | None, minutes: float | None, **changes: Any
) -> Result:
    """A published result."""
    return result(
        **{
            "id": f"v{round_}/{system}",
            "origin": "published",
            "round": round_,
            "system": system,
            "benchmark": "resnet",
            "accelerator": "Chip",
            "accelerators": chips,
            "minutes": minutes,
            "machine": "",
            "recorded": "",
        }
        | changes
    )
