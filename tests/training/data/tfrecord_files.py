"""TFRecord files of Examples, written for tests by the formats' descriptions, number by number."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np


def slow_crc32c(data: bytes) -> int:
    """CRC-32C bit by bit (RFC 3720)."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def slow_masked(data: bytes) -> int:
    value = slow_crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def example(features: Mapping[str, Sequence[int] | Sequence[float]]) -> bytes:
    entries = b""
    for name, values in features.items():
        if values and isinstance(values[0], float):
            value = field(2, field(1, np.array(values, "<f4").tobytes()))
        else:
            value = field(3, field(1, b"".join(varint(int(number)) for number in values)))
        entries += field(1, field(1, name.encode()) + field(2, value))
    return field(1, entries)


def write_records(path: Path, records: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        for record in records:
            length = struct.pack("<Q", len(record))
            stream.write(length + struct.pack("<I", slow_masked(length)))
            stream.write(record + struct.pack("<I", slow_masked(record)))
    return path


def bert_example(
    tokens: Sequence[int], first: int, hidden: Mapping[int, int], **other: int
) -> bytes:
    """A sequence as the MLPerf reference writes it, padded to 16 tokens and 4 predictions."""
    empty = [0] * (16 - len(tokens))
    none = [0] * (4 - len(hidden))
    return example(
        {
            "input_ids": [*tokens, *empty],
            "input_mask": [1] * len(tokens) + empty,
            "segment_ids": [0] * first + [1] * (len(tokens) - first) + empty,
            "masked_lm_positions": [*hidden, *none],
            "masked_lm_ids": [*hidden.values(), *none],
            "masked_lm_weights": [1.0] * len(hidden) + [0.0] * len(none),
            "next_sentence_labels": [other.get("random_next", 0)],
        }
    )
