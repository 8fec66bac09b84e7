"""The wire format of protocol buffers: fields of a message, packed numbers.

Public: protobuf.dev/programming-guides/encoding. Enough for the few messages that are read here.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["DamagedError", "fields", "varint", "varints"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT = 10


class DamagedError(ValueError):
    """These bytes are no such message; the text says why."""


def varint(data: memoryview, place: int) -> tuple[int, int]:
    """The number at a place, and the place behind it.

    Raises:
        DamagedError: The bytes end within it, or it is longer than any may be.
    """
    value = 0
    for shift in range(_LONGEST_VARINT):
        if place + shift >= len(data):
            raise DamagedError("it ends within a number")
        byte = data[place + shift]
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + shift + 1
    raise DamagedError("a number has more than ten bytes")


def varints(data: memoryview) -> npt.NDArray[np.int64]:
    """Numbers packed one after another.

    Raises:
        DamagedError: The bytes end within one, or one is longer than any may be.
    """
    values = np.frombuffer(data, np.uint8)
    if not len(values):
        return np.zeros(0, np.int64)
    last = values < 0x80
    if last.all():
        return values.astype(np.int64)
    if not last[-1]:
        raise DamagedError("it ends within a number")
    ends = np.flatnonzero(last)
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    longest = int((ends - starts).max())
    if longest >= _LONGEST_VARINT:
        raise DamagedError("a number has more than ten bytes")
    low_bits = (values & 0x7F).astype(np.uint64)
    found = low_bits[starts]
    for place in range(1, longest + 1):
        places = starts + place
        part = low_bits[np.minimum(places, ends)] << np.uint64(7 * place)
        found |= np.where(places <= ends, part, np.uint64(0))
    return found.view(np.int64)


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message in order: number, and a number or the bytes.

    Fixed-width numbers are given as their bytes.

    Raises:
        DamagedError: The bytes are no message.
    """
    place = 0
    while place < len(message):
        tag, place = varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, place = varint(message, place)
            yield number, value
            continue
        if kind == _BYTES:
            length, place = varint(message, place)
        elif kind in _WIDTHS:
            length = _WIDTHS[kind]
        else:
            raise DamagedError(f"a field has the unknown kind {kind}")
        if place + length > len(message):
            raise DamagedError("it ends within a field")
        yield number, message[place : place + length]
        place += length
