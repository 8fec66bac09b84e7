import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.data.tfrecord_files import field
from tests.training.data.tfrecord_files import varint as written
from trainmark.training.data.protobuf import DamagedError, fields, varint, varints

NUMBERS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(NUMBERS))
def test_packed_numbers_come_back(numbers: list[int]) -> None:
    data = b"".join(written(number) for number in numbers)
    assert varints(memoryview(data)).tolist() == numbers


@given(st.integers(0, 2**64 - 1), st.binary(max_size=5))
def test_one_number_and_the_place_behind_it(number: int, rest: bytes) -> None:
    data = b"x" + written(number)
    assert varint(memoryview(data + rest), 1) == (number, len(data))


def test_fields_of_every_kind() -> None:
    message = field(3, b"text") + written(1 << 3) + written(300)
    message += written(2 << 3 | 5) + b"four" + written(4 << 3 | 1) + b"eight888"
    found = [
        (number, bytes(v) if isinstance(v, memoryview) else v)
        for number, v in fields(memoryview(message))
    ]
    assert found == [(3, b"text"), (1, 300), (2, b"four"), (4, b"eight888")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80", "ends within a number"),
        (b"\x80" * 10 + b"\x01", "more than ten bytes"),
        (b"\x0a\x05ab", "ends within a field"),
        (b"\x0b", "unknown kind 3"),
    ],
)
def test_damage_is_told(data: bytes, why: str) -> None:
    with pytest.raises(DamagedError, match=why):
        list(fields(memoryview(data)))


@pytest.mark.parametrize("data", [b"\x01\x80", b"\x80" * 10 + b"\x01"])
def test_damaged_packed_numbers_are_told(data: bytes) -> None:
    with pytest.raises(DamagedError):
        varints(memoryview(data))


@given(st.binary())
def test_any_bytes_are_fields_or_damage(data: bytes) -> None:
    try:
        list(fields(memoryview(data)))
        varints(memoryview(data))
    except DamagedError:
        pass
