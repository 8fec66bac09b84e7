"""A whole catalogue that tests make up: as large and as varied as the published one."""

import random
from typing import Any

from tests.report.results import published
from trainmark.types import Doubt, Result

SIZE = 2258

_ROUNDS = ("0.6", "0.7", "1.0", "1.1", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0", "5.1")
_LATE = ("3.1", "4.0", "4.1", "5.0", "5.1")
# The work of one run, in accelerator minutes, and the rounds that had the benchmark.
_BENCHMARKS = {
    "resnet": (250.0, _ROUNDS[:9]),
    "bert": (160.0, _ROUNDS[1:11]),
    "rnnt": (260.0, _ROUNDS[2:8]),
    "unet3d": (180.0, _ROUNDS[2:9]),
    "dlrm_dcnv2": (30.0, _ROUNDS[6:]),
    "stable_diffusion": (700.0, _LATE),
    "llama2_70b_lora": (220.0, _LATE[1:]),
    "gpt3": (60000.0, _LATE[:4]),
}
_CHIPS = ("A100-SXM-80GB", "H100-SXM-80GB", "B200-SXM-180GB", "GC200-IPU", "Bow-IPU", "TPU-v4",
          "Gaudi2", "MI300X", "V100-SXM-32GB", "H200-SXM-141GB", "L40S", "A30")  # fmt: skip
_SUBMITTERS = tuple(f"Company {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FRAMEWORKS = ("PyTorch", "TensorFlow", "MXNet", "PopART", "PaddlePaddle", "JAX")
_COUNTS = (8, 8, 8, 16, 16, 32, 64, 64, 128, 256, 512, 1024, 4096)


def catalogue(size: int = SIZE, seed: int = 0) -> list[Result]:
    """Results as published ones are, the same every time."""
    dice = random.Random(seed)
    return [_result(dice, number) for number in range(size)]


def _result(dice: random.Random, number: int) -> Result:
    benchmark = dice.choice(tuple(_BENCHMARKS))
    work, rounds = _BENCHMARKS[benchmark]
    round_ = dice.choice(rounds)
    chip = dice.randrange(len(_CHIPS))
    chips = dice.choice(_COUNTS)
    submitter = dice.choice(_SUBMITTERS)
    speed = 1.0 + 0.4 * _ROUNDS.index(round_) / len(_ROUNDS) + 0.15 * chip
    minutes = work / speed / chips**0.85 * dice.uniform(0.9, 1.3)
    runs = tuple(minutes * dice.gauss(1.0, 0.03) for _ in range(10))
    system = f"{chips // 8}x{_CHIPS[chip].lower()}-node{number}"
    folder = f"{submitter.replace(' ', '')}/results/{system}/{benchmark}"
    more: dict[str, Any] = {
        "benchmark": benchmark,
        "task": benchmark,
        "submitter": submitter,
        "accelerator": _CHIPS[chip],
        "accelerators_per_node": 8,
        "nodes": chips // 8,
        "hosts": chips // 8,
        "division": "open" if dice.random() < 0.03 else "closed",
        "category": dice.choice(("available", "available", "available", "preview", "research")),
        "framework": "",
        "framework_name": dice.choice(_FRAMEWORKS),
        "framework_version": f"{dice.randrange(1, 3)}.{dice.randrange(12)}",
        "software": {"cuda": "12.4", "nccl": "2.21"},
        "run_minutes": runs,
        "score_basis": "official formula: 10 runs; mean of 8 without the fastest and the slowest",
        "global_batch_size": float(chips * 32),
        "samples_to_target": 4_000_000.0 + number,
        "label": "verified by MLCommons",
        "repository": f"mlcommons/training_results_v{round_}",
        "commit": f"{number % 12:040x}",
        "path": folder,
        "carried_over": dice.random() < 0.1,
        "raw": {"accelerator": f"vendor {_CHIPS[chip]} as written", "status": "onprem"},
        "energy_joules": minutes * chips * 42000 if dice.random() < 0.01 else None,
    }
    if dice.random() < 0.1:
        text = f"the system file says {chips // 8 + 1} nodes, the logs {chips // 8}"
        more["doubts"] = (Doubt(kind="nodes differ", text=text),)
    score = None if dice.random() < 0.02 else minutes
    identity = f"v{round_}/{folder.replace('/results', '')}"
    return published(round_, system, chips, score, **(more | {"id": identity}))
