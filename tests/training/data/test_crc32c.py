from hypothesis import given
from hypothesis import strategies as st

from tests.training.data.tfrecord_files import slow_crc32c, slow_masked
from trainmark.training.data.crc32c import crc32c, masked_crc32c


def test_the_published_values() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, appendix B.4
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(b"") == 0


@given(st.binary(max_size=300))
def test_it_is_the_bitwise_one(data: bytes) -> None:
    assert crc32c(data) == slow_crc32c(data)
    assert masked_crc32c(data) == slow_masked(data)


def test_blocks_are_joined() -> None:
    for length in (2047, 2048, 2049, 2051, 4096, 5000):
        data = bytes(place * place % 251 for place in range(length))
        assert crc32c(data) == slow_crc32c(data)
