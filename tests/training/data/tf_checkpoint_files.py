"""Checkpoints of TensorFlow, written for tests by the formats' descriptions."""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.training.data.tfrecord_files import field, slow_masked, varint

_MAGIC = 0xDB4775248B80FB57


def _block(entries: Mapping[bytes, bytes]) -> bytes:
    found = b"".join(
        varint(0) + varint(len(key)) + varint(len(value)) + key + value
        for key, value in entries.items()
    )
    return found + struct.pack("<II", 0, 1)


def write_checkpoint(folder: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> Path:
    """``model.ckpt-7.index`` and its data file; the index's path."""
    folder.mkdir(parents=True, exist_ok=True)
    data, entries = b"", {b"": varint(1 << 3) + varint(1)}
    for name, tensor in sorted(tensors.items()):
        content = np.ascontiguousarray(tensor).tobytes()
        shape = b"".join(field(2, varint(1 << 3) + varint(size)) for size in tensor.shape)
        entries[name.encode()] = (
            varint(1 << 3)
            + varint({"f": 1, "i": 9}[tensor.dtype.kind])
            + field(2, shape)
            + varint(4 << 3)
            + varint(len(data))
            + varint(5 << 3)
            + varint(len(content))
            + varint(6 << 3 | 5)
            + struct.pack("<I", slow_masked(content))
        )
        data += content
    (folder / "model.ckpt-7.data-00000-of-00001").write_bytes(data)
    table = b""

    def add(block: bytes) -> bytes:
        nonlocal table
        start = len(table)
        table += block + b"\0" + struct.pack("<I", slow_masked(block + b"\0"))
        return varint(start) + varint(len(block))

    handle = add(_block(entries))
    filters = add(_block({}))
    top = add(_block({max(entries) + b"\xff": handle}))
    footer = (filters + top).ljust(40, b"\0") + struct.pack("<Q", _MAGIC)
    path = folder / "model.ckpt-7.index"
    path.write_bytes(table + footer)
    return path
