"""Results and files of figures for the tests of prices and of what is derived from them."""

from typing import Any

from trainmark.types import Result

ROW = {
    "id": '"mine"',
    "product": '"My box"',
    "amount": "1000",
    "currency": '"USD"',
    "accelerator": '"A30"',
    "accelerators": "2",
    "system": '["my box"]',
    "source": '"an offer"',
    "date": "2024-05-06",
}


def result(**changed: Any) -> Result:
    """An IPU-POD16 of round 1.0 that took 30 minutes, but for what is changed."""
    fields: dict[str, Any] = {
        "id": "v1.0/Graphcore/ipu-pod16-TF1/resnet",
        "origin": "published",
        "round": "1.0",
        "division": "closed",
        "category": "available",
        "submitter": "Graphcore",
        "system": "IPU-POD16",
        "benchmark": "resnet",
        "accelerator": "GC200-IPU",
        "accelerators": 16,
        "nodes": 1,
        "framework": "TensorFlow",
        "run_minutes": (30.0,) * 5,
        "minutes": 30.0,
        "score_basis": "official",
        "scaling_factor": 1.0,
        "global_batch_size": 1920.0,
        "samples_to_target": 5e7,
        "label": "verified by MLCommons",
        "repository": "mlcommons/training_results_v1.0",
        "path": "Graphcore/results/ipu-pod16-TF1/resnet",
    }
    return Result(**(fields | changed))


def dgx(**changed: Any) -> Result:
    """A DGX A100 640GB that took 20 minutes, but for what is changed."""
    fields: dict[str, Any] = {
        "id": "v1.0/NVIDIA/dgxa100_ngc21.05_mxnet/resnet",
        "submitter": "NVIDIA",
        "system": "dgxa100_ngc21.05_mxnet",
        "accelerator": "A100-SXM-80GB",
        "accelerators": 8,
        "minutes": 20.0,
        "path": "NVIDIA/results/dgxa100_ngc21.05_mxnet/resnet",
    }
    return result(**(fields | changed))


def row(kind: str = "list", **changed: str | None) -> str:
    """A row as it stands in a file; None leaves a key out."""
    keys: dict[str, str | None] = {**ROW, **changed}
    return f"[[{kind}]]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items() if v is not None)
