import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.training.data.tf_checkpoint_files import describe, write_checkpoint, write_index
from tests.training.data.tfrecord_files import varint
from trainmark.training.data.crc32c import masked_crc32c
from trainmark.training.data.tf_checkpoint import index, read
from trainmark.types import UsageError

TENSORFLOW = Path(__file__).with_name("tensorflow") / "model.ckpt.index"  # see README there


def test_a_checkpoint_that_tensorflow_wrote() -> None:
    found = index(TENSORFLOW)
    assert len(found) == 153
    table = read(TENSORFLOW, found["bert/embeddings/word_embeddings"])
    assert np.array_equal(table, np.arange(12).reshape(4, 3) / 8)
    assert read(TENSORFLOW, found["bert/embeddings/LayerNorm/gamma"]).tolist() == [1, 2, 3]
    assert read(TENSORFLOW, found["global_step"]) == 28252
    for number in range(150):
        name = f"a_longer_name_so_that_two_blocks_are_needed/variable_{number}"
        assert read(TENSORFLOW, found[name]).tolist() == [number]


def test_ours_for_tests_reads_the_same(tmp_path: Path) -> None:
    wanted = {"a": np.eye(3, dtype=np.float32), "b/c": np.array(5), "d": np.zeros((2, 0))}
    wanted["d"] = wanted["d"].astype(np.float32)
    path = write_checkpoint(tmp_path, wanted)
    found = index(path)
    assert {name: read(path, tensor).tolist() for name, tensor in found.items()} == {
        name: tensor.tolist() for name, tensor in wanted.items()
    }


def test_damaged_numbers_are_told(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, {"a": np.ones(4, np.float32), "b": np.ones(4, np.float32)})
    data = path.with_suffix(".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1] + b"!")
    found = index(path)
    assert read(path, found["a"]).tolist() == [1] * 4
    with pytest.raises(UsageError, match="byte 16: the checksum of the tensor does not fit"):
        read(path, found["b"])
    data.unlink()
    with pytest.raises(UsageError, match=r"cannot read .*data-00000-of-00001"):
        read(path, found["a"])


@pytest.mark.parametrize(
    ("place", "why"),
    [(-1, "does not end as a table ends"), (3, "checksum of a block does not fit")],
)
def test_a_damaged_index_is_told(tmp_path: Path, place: int, why: str) -> None:
    path = write_checkpoint(tmp_path, {"a": np.ones(4, np.float32)})
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(UsageError, match=why):
        index(path)


def test_a_missing_index_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        index(tmp_path / "none.index")


HEADER = varint(1 << 3) + varint(1)
EMPTY = 0xA282EAD8  # the masked checksum of no bytes


def read_all(path: Path) -> None:
    for tensor in index(path).values():
        read(path, tensor)


@pytest.mark.parametrize(
    "entry",
    [
        describe([1], start=2**64 - 1),
        describe([2**45], size=2**47),
        describe([1], shard=2**64 - 1),
        describe([1] * 70),
        describe([2**63, 0], size=0, checksum=EMPTY),
        describe([0, 2**48, 2**48], size=0, checksum=EMPTY),
    ],
    ids=["start", "size", "file", "dimensions", "dimension", "dimensions of nothing"],
)
def test_numbers_that_no_file_can_have_are_told(tmp_path: Path, entry: bytes) -> None:
    """The index's own checksums are right: such a file can be made."""
    path = tmp_path / "model.index"
    write_index(path, {b"": HEADER, b"w": entry})
    (tmp_path / "model.data-00000-of-00001").write_bytes(bytes(4))
    with pytest.raises(UsageError, match="model"):
        read_all(path)


def test_names_that_grow_from_entry_to_entry_are_told(tmp_path: Path) -> None:
    """Each repeats the whole one before: a file of n bytes would hold n^2 bytes of names."""
    first = varint(0) + varint(4096) + varint(0) + b"a" * 4096
    more = b"".join(varint(4096 + n) + varint(1) + varint(0) + b"b" for n in range(100))
    path = tmp_path / "model.index"
    write_index(path, first + more + bytes(4) + b"\1\0\0\0")
    with pytest.raises(UsageError, match="a name has more than 4096 bytes"):
        index(path)


def test_an_index_of_any_size_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainmark.training.data.tf_checkpoint._LARGEST_INDEX", 1000)
    (tmp_path / "model.index").write_bytes(bytes(1001))
    with pytest.raises(UsageError, match="more than 1,000 bytes"):
        index(tmp_path / "model.index")


def test_numbers_in_several_files_are_found(tmp_path: Path) -> None:
    path = tmp_path / "model.index"
    content = np.ones(1, np.float32).tobytes()
    entry = describe([1], shard=1, checksum=masked_crc32c(content))
    write_index(path, {b"": varint(1 << 3) + varint(2), b"w": entry})
    (tmp_path / "model.data-00001-of-00002").write_bytes(content)
    assert read(path, index(path)["w"]).tolist() == [1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.binary(max_size=100), st.booleans())
def test_any_bytes_behind_right_checksums_are_numbers_or_a_users_mistake(
    tmp_path: Path, data: bytes, whole: bool
) -> None:
    path = tmp_path / "model.index"
    write_index(path, data if whole else {b"": HEADER, b"w": data})
    (tmp_path / "model.data-00000-of-00001").write_bytes(bytes(4))
    with contextlib.suppress(UsageError):
        read_all(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.binary(max_size=100), st.booleans())
def test_any_bytes_are_an_index_or_a_users_mistake(tmp_path: Path, data: bytes, ends: bool) -> None:
    path = tmp_path / "x.index"
    path.write_bytes(data + TENSORFLOW.read_bytes()[-8:] if ends else data)
    with pytest.raises(UsageError):
        index(path)
