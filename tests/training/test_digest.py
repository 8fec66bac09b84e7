import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from trainmark.training.digest import digest


@dataclass
class Packed:
    ids: Any
    lengths: list[int]


class Graphs:
    def __init__(self, x: Any) -> None:
        self._x = x

    def to_dict(self) -> dict[str, Any]:
        return {"x": self._x}


def make(number: float) -> list[Any]:
    return [
        torch.tensor([number, 2.0]),
        torch.tensor([number, 2.0], dtype=torch.bfloat16),
        torch.tensor([number, 2.0], requires_grad=True),
        np.array([[number], [2.0]]).T,
        {"images": torch.tensor([number]), "labels": [1, 2]},
        (torch.tensor([1]), "text", number, None),
        Packed(torch.tensor([number]), [1]),
        Graphs(torch.tensor([number])),
    ]


@pytest.mark.parametrize("kind", range(8))
def test_equal_content_is_equal_and_other_content_is_not(kind: int) -> None:
    assert digest(make(1.0)[kind]) == digest(make(1.0)[kind])
    assert digest(make(1.0)[kind]) != digest(make(3.0)[kind])


def test_shape_and_type_count() -> None:
    flat = np.zeros(4, dtype=np.int32)
    assert len({digest(flat), digest(flat.reshape(2, 2)), digest(flat.astype(np.float32))}) == 3
    assert digest(["ab", "c"]) != digest(["a", "bc"])


def test_what_cannot_be_seen_is_never_taken_for_equal() -> None:
    shared = object()
    assert digest([shared]) != digest([shared])


def test_another_process_comes_to_the_same() -> None:
    code = (
        "import torch; from trainmark.training.digest import digest; "
        "print(digest((torch.arange(6).reshape(2, 3), {'a': 1.5})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest((torch.arange(6).reshape(2, 3), {"a": 1.5}))
