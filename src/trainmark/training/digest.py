"""What is in a micro-batch, as a short text that two processes can compare."""

import dataclasses
import hashlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["digest"]

_PLAIN = (str, int, float, bool, bytes, type(None))


def digest(batch: Any) -> str:
    """The SHA-256 of a micro-batch's content, equal in every process for equal content.

    Arrays of any framework count with shape, type and bytes; containers with what they hold. A
    thing whose content cannot be seen makes the digest one of its own: better no suspicion than
    a wrong one.

    Args:
        batch: What ``Task.batches`` gives.
    """
    found = hashlib.sha256()
    for part in _parts(batch):
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__}{value!r}".encode()
    elif hasattr(value, "__array__"):
        yield from _array(value)
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from _parts(key)
            yield from _parts(held)
    elif isinstance(value, list | tuple):
        yield f"{len(value)}".encode()
        for held in value:
            yield from _parts(held)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))
    elif callable(to_dict := getattr(value, "to_dict", None)):  # batches of PyTorch Geometric
        yield from _parts(to_dict())
    else:
        yield secrets.token_bytes(16)


def _array(value: Any) -> Iterator[bytes]:
    import numpy as np  # a workload without arrays needs no numpy

    if hasattr(value, "detach"):  # PyTorch and Paddle: an array on a device, with a gradient
        value = value.detach().cpu()
    yield f"{value.dtype}{tuple(value.shape)}".encode()
    if "bfloat16" in str(value.dtype) and hasattr(value, "float"):  # numpy has no such type
        value = value.float()
    yield np.ascontiguousarray(value).tobytes()
