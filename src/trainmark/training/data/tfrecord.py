"""TFRecord files and the ``tf.train.Example`` messages in them, read without TensorFlow.

A record is its length (8 bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, and
the masked CRC-32C of the data. An Example is a protocol buffer: a map from names to lists of
integers, floats or byte strings. Both formats are public:
tensorflow.org/tutorials/load_data/tfrecord and protobuf.dev/programming-guides/encoding.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainmark.training.data.crc32c import masked_crc32c
from trainmark.training.data.protobuf import DamagedError, fields, varints
from trainmark.types import UsageError

__all__ = ["FRAME_BYTES", "Features", "examples", "records"]

Features = Mapping[str, npt.NDArray[Any]]

_HEAD = struct.Struct("<QI")
_TAIL = struct.Struct("<I")
FRAME_BYTES = _HEAD.size + _TAIL.size
_LARGEST = 1 << 28  # an Example is some kilobytes: a larger length is damage
_READ_AHEAD = 4 << 20


def records(file: Path) -> Iterator[bytes]:
    """The records of a file in order, each checked against its checksums.

    Raises:
        UsageError: The file cannot be read, is damaged or is no TFRecord file.
    """
    try:
        with file.open("rb", buffering=_READ_AHEAD) as stream:
            start = 0
            while head := stream.read(_HEAD.size):
                length = _length(file, start, head)
                data, tail = stream.read(length), stream.read(_TAIL.size)
                if len(data) < length or len(tail) < _TAIL.size:
                    raise _damaged(file, start, "the file ends within a record")
                if masked_crc32c(data) != _TAIL.unpack(tail)[0]:
                    raise _damaged(file, start, "the checksum of the record does not fit its data")
                yield data
                start += FRAME_BYTES + length
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error}", hint="Is the disk or the network share still there?"
        ) from error


def examples(file: Path) -> Iterator[Features]:
    """The Examples of a file: each a map from name to a one-dimensional array.

    Raises:
        UsageError: As ``records``; or a record is no Example.
    """
    for number, record in enumerate(records(file), start=1):
        try:
            yield _example(memoryview(record))
        except DamagedError as error:
            raise UsageError(
                f"{file}: record {number} is no tf.train.Example: {error}",
                hint="The file must be one of Examples, as the MLPerf reference writes them.",
            ) from error


def _length(file: Path, start: int, head: bytes) -> int:
    if len(head) < _HEAD.size:
        raise _damaged(file, start, "the file ends within a record")
    length, checksum = _HEAD.unpack(head)
    if masked_crc32c(head[:8]) != checksum:
        raise _damaged(file, start, "the checksum of the record's length does not fit")
    if length > _LARGEST:
        raise _damaged(file, start, f"the record would have {length} bytes")
    return int(length)


def _damaged(file: Path, start: int, what: str) -> UsageError:
    return UsageError(
        f"{file}: byte {start}: {what}",
        hint="The file is damaged or no TFRecord file; uncompressed ones are read. Copy it again.",
    )


def _example(message: memoryview) -> Features:
    found: dict[str, npt.NDArray[Any]] = {}
    for number, features in fields(message):
        if number != 1:
            continue
        for _, entry in fields(_view(features)):
            pair = dict(fields(_view(entry)))
            name = bytes(_view(pair.get(1, b""))).decode("utf-8", "replace")
            found[name] = _values(_view(pair.get(2, b"")))
    return found


def _values(feature: memoryview) -> npt.NDArray[Any]:
    """The list in a Feature: bytes (1), floats (2) or integers (3)."""
    for kind, values in fields(feature):
        parts = [part for _, part in fields(_view(values))]
        if kind == 1:
            return np.array([bytes(_view(part)) for part in parts], object)
        if kind == 2:
            return _joined([_floats(part) for part in parts], np.float32)
        if kind == 3:
            return _joined([_integers(part) for part in parts], np.int64)
    return np.zeros(0, np.int64)


def _floats(part: int | memoryview) -> npt.NDArray[np.float32]:
    if isinstance(part, int) or len(part) % 4:
        raise DamagedError("a list of floats is no multiple of four bytes long")
    return np.frombuffer(part, "<f4")


def _integers(part: int | memoryview) -> npt.NDArray[np.int64]:
    return np.array([part], np.uint64).view(np.int64) if isinstance(part, int) else varints(part)


def _joined(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, kind), *parts])


def _view(value: int | bytes | memoryview) -> memoryview:
    if isinstance(value, int):
        raise DamagedError("a number stands where a message should")
    return memoryview(value)
