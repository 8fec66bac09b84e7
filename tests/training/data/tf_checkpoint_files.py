"""Checkpoints of TensorFlow, written for tests by the formats' descriptions."""

import struct
from collections.abc import Mapping, Sequence
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
    path = folder / "model.ckpt-7.index"
    write_index(path, _block(entries))
    return path


def describe(
    shape: Sequence[int], *, start: int = 0, size: int = 4, shard: int = 0, checksum: int = 0
) -> bytes:
    """What an index says of a tensor of floats."""
    sizes = b"".join(field(2, varint(1 << 3) + varint(length)) for length in shape)
    numbers = {1: 1, 3: shard, 4: start, 5: size}
    return (
        b"".join(varint(key << 3) + varint(value) for key, value in numbers.items())
        + field(2, sizes)
        + varint(6 << 3 | 5)
        + struct.pack("<I", checksum)
    )


def write_index(path: Path, block: bytes | Mapping[bytes, bytes]) -> None:
    """An index of one block, or of one with those entries, its checksums right."""
    content = block if isinstance(block, bytes) else _block(block)
    table = b""

    def add(part: bytes) -> bytes:
        nonlocal table
        start = len(table)
        table += part + b"\0" + struct.pack("<I", slow_masked(part + b"\0"))
        return varint(start) + varint(len(part))

    handle = add(content)
    filters = add(_block({}))
    top = add(_block({b"\xff": handle}))
    path.write_bytes(table + (filters + top).ljust(40, b"\0") + struct.pack("<Q", _MAGIC))
