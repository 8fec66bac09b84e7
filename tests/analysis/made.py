"""Results for tests, made from a few facts."""

from typing import Any

from trainmark.types import Result


def made(minutes: float | None = 10.0, **facts: Any) -> Result:
    """A published result of ResNet in round 2.0 on eight chips, but for the facts given."""
    own = facts.get("origin") == "own"
    base: dict[str, Any] = {
        "id": f"v{facts.get('round', '2.0')}/Acme/box/{facts.get('benchmark', 'resnet')}",
        "origin": "published",
        "round": None if own else "2.0",
        "division": "closed",
        "category": "available",
        "submitter": "Acme",
        "system": "box",
        "benchmark": "resnet",
        "accelerator": "X1",
        "accelerators": 8,
        "nodes": 1,
        "framework": "PyTorch 1.0",
        "run_minutes": () if minutes is None else tuple(minutes * f for f in _FACTORS),
        "minutes": minutes,
        "score_basis": "made",
        "scaling_factor": 1.0,
        "global_batch_size": 1024.0,
        "samples_to_target": 50_000_000.0,
        "label": "unverified" if own else "verified by MLCommons",
    }
    return Result(**{**base, **facts})


_FACTORS = (0.99, 1.0, 1.0, 1.0, 1.01)
