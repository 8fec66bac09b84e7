"""CRC-32C (Castagnoli) with numpy, many bytes at a time.

The checksum of TFRecord files and of TensorFlow's checkpoints. It is linear over GF(2): each byte
of a block adds what a table holds for its value and its distance from the block's end, so that a
block is one look-up and one exclusive or over an array.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

__all__ = ["crc32c", "masked_crc32c"]

_POLYNOMIAL = 0x82F63B78  # reflected
_BLOCK = 2048
_MASK_DELTA = 0xA282EAD8
_ONES = 0xFFFFFFFF


def crc32c(data: bytes | memoryview) -> int:
    """The checksum of those bytes (RFC 3720, appendix B.4)."""
    values = np.frombuffer(data, np.uint8)
    state = _ONES
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK].astype(np.intp)
        head = np.frombuffer(state.to_bytes(4, "little"), np.uint8)[: len(block)]
        block[: len(head)] ^= head
        kept = state >> (8 * len(head)) if len(head) < 4 else 0
        found = _tables()[np.arange(len(block) - 1, -1, -1), block]
        state = int(np.bitwise_xor.reduce(found)) ^ kept
    return state ^ _ONES


def masked_crc32c(data: bytes | memoryview) -> int:
    """The checksum as TensorFlow stores it: rotated, and a constant added."""
    value = crc32c(data)
    return (((value >> 15) | (value << 17)) + _MASK_DELTA) & _ONES


@cache
def _tables() -> npt.NDArray[np.uint32]:
    """What a byte adds, (distance from the block's end, value of the byte)."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, (first >> 1) ^ np.uint32(_POLYNOMIAL), first >> 1)
    tables = np.empty((_BLOCK, 256), np.uint32)
    tables[0] = first
    for distance in range(1, _BLOCK):
        before = tables[distance - 1]
        tables[distance] = (before >> np.uint32(8)) ^ first[before & np.uint32(0xFF)]
    return tables
