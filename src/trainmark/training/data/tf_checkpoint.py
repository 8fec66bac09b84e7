"""TensorFlow's checkpoints ("bundles"), read without TensorFlow.

NAME.index is a sorted table of keys and messages, the table format of LevelDB
(github.com/google/leveldb, doc/table_format.md); each message (tensorflow/core/protobuf/
tensor_bundle.proto) says type, shape, file, place and checksum of one tensor, whose little-endian
numbers lie in NAME.data-00000-of-0000N.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainmark.training.data.crc32c import masked_crc32c
from trainmark.training.data.protobuf import DamagedError, fields, varint
from trainmark.types import UsageError

__all__ = ["Tensor", "index", "read"]

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5  # kind of compression, checksum
_LARGEST_INDEX = 1 << 28  # bytes; that of BERT-Large has 17,371
_LONGEST_KEY = 1 << 12  # bytes
_TYPES = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
_HINT = "It must be the .index file of a TensorFlow checkpoint, with its .data file beside it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """Where a tensor lies.

    Attributes:
        dtype: Its type in numpy's words.
        shape: Its shape.
        shard: Number of its data file.
        shards: Number of data files.
        start: First byte.
        size: Bytes.
        checksum: Masked CRC-32C of the bytes.
    """

    dtype: str
    shape: tuple[int, ...]
    shard: int
    shards: int
    start: int
    size: int
    checksum: int


def index(file: Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint by name.

    Args:
        file: The ``.index`` file. Tensors of other types than floats and integers are left out.

    Raises:
        UsageError: The file cannot be read or is none.
    """
    data = memoryview(_bytes(file))
    try:
        if len(data) < _FOOTER or int.from_bytes(data[-8:], "little") != _MAGIC:
            raise DamagedError("it does not end as a table ends")  # noqa: TRY301
        _, place = varint(data, len(data) - _FOOTER)
        _, place = varint(data, place)  # the table of filters
        entries = {
            key: value
            for _, handle in _entries(_block(data, data, place))
            for key, value in _entries(_block(data, handle))
        }
        shards = _number(dict(fields(entries.pop(b"", memoryview(b"")))), 1)
        found = {key.decode(): _tensor(value, shards) for key, value in entries.items()}
    except (DamagedError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}", hint=_HINT) from error
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def read(file: Path, tensor: Tensor) -> npt.NDArray[Any]:
    """The numbers of one tensor.

    Args:
        file: The ``.index`` file.
        tensor: What ``index`` says of it.

    Raises:
        UsageError: The data file cannot be read, is too short or damaged.
    """
    path = file.with_suffix(f".data-{tensor.shard:05}-of-{tensor.shards:05}")
    try:
        with path.open("rb") as stream:
            # What the index says may be damage: no more is asked for than there is.
            whole = tensor.start + tensor.size <= os.fstat(stream.fileno()).st_size
            stream.seek(tensor.start if whole else 0)
            data = stream.read(tensor.size if whole else 0)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}", hint=_HINT) from error
    if not whole or masked_crc32c(data) != tensor.checksum:
        raise UsageError(
            f"{path}: byte {tensor.start}: the checksum of the tensor does not fit its data",
            hint="The file is damaged or cut short. Copy it again.",
        )
    try:
        return np.frombuffer(data, tensor.dtype).reshape(tensor.shape)
    except (ValueError, OverflowError) as error:  # too many dimensions, or too large beside a 0
        raise UsageError(
            f"{file}: a tensor has a shape that no array can have: {error}", hint=_HINT
        ) from error


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST_INDEX + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error}", hint=_HINT) from error
    if len(data) > _LARGEST_INDEX:
        raise UsageError(f"{file} has more than {_LARGEST_INDEX:,} bytes", hint=_HINT)
    return data


def _block(data: memoryview, handle: memoryview, place: int = 0) -> memoryview:
    """The block of the file that the handle at that place points to."""
    start, place = varint(handle, place)
    size, _ = varint(handle, place)
    trailer = data[start + size : start + size + _TRAILER]
    if len(trailer) < _TRAILER:
        raise DamagedError("a block lies beyond its end")
    if trailer[0]:
        raise DamagedError("its blocks are compressed, which TensorFlow's own are not")
    if masked_crc32c(data[start : start + size + 1]) != int.from_bytes(trailer[1:], "little"):
        raise DamagedError("the checksum of a block does not fit")
    return data[start : start + size]


def _entries(block: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """Key and value of each entry; a key repeats part of the one before."""
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    key, place = b"", 0
    while place < end:
        shared, place = varint(block, place)
        own, place = varint(block, place)
        length, place = varint(block, place)
        if shared > len(key) or place + own + length > end:
            raise DamagedError("an entry reaches beyond its block")
        if shared + own > _LONGEST_KEY:  # which repeats a part of the one before: it could grow
            raise DamagedError(f"a name has more than {_LONGEST_KEY} bytes")
        key = key[:shared] + bytes(block[place : place + own])
        place += own
        yield key, block[place : place + length]
        place += length


def _tensor(entry: memoryview, shards: int) -> Tensor | None:
    """What a BundleEntryProto says; None for a type that is not read."""
    found: dict[int, int | memoryview] = dict(fields(entry))
    dtype = _TYPES.get(_number(found, 1))
    if dtype is None:
        return None
    checksum = found.get(6, b"\0\0\0\0")
    shape = found.get(2, memoryview(b""))
    if isinstance(checksum, int) or isinstance(shape, int):
        raise DamagedError("an entry is no description of a tensor")
    sizes = tuple(_size(part) for number, part in fields(shape) if number == 2)
    size = _number(found, 5)
    if size != math.prod(sizes) * np.dtype(dtype).itemsize:
        raise DamagedError("the size of a tensor does not fit its shape")
    return Tensor(
        dtype=dtype,
        shape=sizes,
        shard=_number(found, 3),
        shards=shards,
        start=_number(found, 4),
        size=size,
        checksum=int.from_bytes(checksum, "little"),
    )


def _size(dimension: int | memoryview) -> int:
    if isinstance(dimension, int):
        raise DamagedError("a shape is none")
    return _number(dict(fields(dimension)), 1)


def _number(found: dict[int, int | memoryview], key: int) -> int:
    value = found.get(key, 0)
    if not isinstance(value, int):
        raise DamagedError("an entry is no description of a tensor")
    return value
